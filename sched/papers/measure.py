"""Figures of a run that the published rows speak of and `metrics` has no place for."""

import numpy as np

from sched.log import Ints, Log
from sched.model import PS_PER_S
from sched.occupancy import expand, pieces
from sched.service import tokens_out
from sched.sums import exact_sum


def emissions(log: Log) -> tuple[Ints, Ints]:
    """Every output token: whose it is and the iteration that made it, in order of request and iteration."""
    out = tokens_out(log, pieces(log))
    run, iteration = expand(out.iteration, out.count)
    return out.request[run], iteration


def ends_ps(log: Log) -> Ints:
    """When each iteration ended, shape (iterations,), in ps."""
    return log.iteration_start_ps + log.iteration_duration_ps


def gaps_ps(log: Log) -> Ints:
    """Every gap between two tokens of one request, in ps: what is called ITL or TBT."""
    request, iteration = emissions(log)
    at_ps = ends_ps(log)[iteration]
    found: Ints = np.diff(at_ps)[request[1:] == request[:-1]]
    return found


def percentile_s(values_ps: Ints, percent: int) -> float:
    """Nearest-rank percentile of picoseconds, in seconds; values must not be empty."""
    rank = -(-percent * len(values_ps) // 100) - 1
    return int(np.partition(values_ps, rank)[rank]) / PS_PER_S


def service(log: Log, at_ps: Ints, prompt_weight: int = 1, output_weight: int = 2) -> Ints:
    """Weighted tokens that each tenant has had by these moments, shape (tenants, moments).

    A prompt counts when it is first scheduled, an output token when it is made. Source: VTC, section 3.
    """
    request, iteration = emissions(log)
    made_ps = ends_ps(log)[iteration]
    rows = []
    for tenant in range(len(log.requests.tenant_names)):
        own = log.requests.tenant_index == tenant
        begun = np.flatnonzero(own & (log.first_scheduled_ps >= 0))
        begun = begun[np.argsort(log.first_scheduled_ps[begun], kind="stable")]
        prompts = np.concatenate(([0], np.cumsum(log.requests.prompt_tokens[begun])))
        taken = prompts[np.searchsorted(log.first_scheduled_ps[begun], at_ps, "right")]
        tokens = np.searchsorted(np.sort(made_ps[own[request]]), at_ps, "right")
        rows.append(prompt_weight * taken + output_weight * tokens)
    return np.stack(rows)


def tokens_per_s(log: Log) -> float:
    """Prompt and output tokens of all requests over the time until the last has ended."""
    total = int(log.requests.prompt_tokens.sum() + log.emitted_tokens.sum())
    return total * PS_PER_S / log.end_ps


def output_per_s(log: Log, from_s: float, to_s: float) -> float:
    """Output tokens made per second between two moments."""
    _, iteration = emissions(log)
    made_ps = ends_ps(log)[iteration]
    inside = (made_ps > round(from_s * PS_PER_S)) & (made_ps <= round(to_s * PS_PER_S))
    return int(inside.sum()) / (to_s - from_s)


def mean_s(values_ps: Ints) -> float:
    """Mean of picoseconds, in seconds."""
    return exact_sum(values_ps) / (len(values_ps) * PS_PER_S)
