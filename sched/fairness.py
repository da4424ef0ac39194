"""Whether tenants were served alike: Jain's index, and how far apart two got while both had work waiting."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sched.inversion import Inversion
from sched.log import Ints, Log
from sched.model import Outcome
from sched.occupancy import Bools, groups
from sched.service import Tokens

MOST_TENANTS = 12
"""Pairs are formed among so many tenants, those with the most service."""


def jain(log: Log, tokens: Ints, counted: Bools) -> float | None:
    """Jain's index of fairness over the tenants' tokens by weight: 1 is even, 1/n is all to one.

    `tokens` and `counted` are by request, shape (n,); None where no tenant got a token.
    Source: Jain, Chiu and Hawe, DEC-TR-301, 1984.
    """
    tenants = log.requests.tenant_index[counted]
    served = np.bincount(tenants, weights=tokens[counted], minlength=len(log.requests.weights))
    present = np.unique(tenants).tolist()
    exact = [int(served[tenant]) / log.requests.weights[tenant] for tenant in present]
    most = max(exact, default=0) or 1
    shares = [float(share / most) for share in exact]
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else None


@dataclass(frozen=True, slots=True)
class Difference:
    """How far apart two tenants got in service by weight while both had requests waiting, and its bound.

    `bound` = 2 U / weight, U = max(prompt weight · longest prompt, output weight · most tokens in a batch):
    what VTC promises of tenants that wait, whatever comes. Weighted tokens.
    """

    tokens: float
    bound: float
    tenants: tuple[str, str]


def service_difference(
    log: Log, inversion: Inversion, out: Tokens, prompt_weight: float, output_weight: float
) -> Difference | None:
    """The largest difference in service of two tenants over any time in which both had requests waiting.

    Service is prompt_weight · prompt tokens at admission and output_weight · output tokens as they come, by
    the tenant's weight. None where no two tenants waited at the same time. Where several differ as much, the
    first pair is named.
    Source: Sheng et al., Fairness in serving large language models, OSDI 2024, section 4.
    """
    some = _most_served(log, prompt_weight, output_weight)
    before, after = _service(log, out, some, prompt_weight, output_weight)
    waiting = [_has_waiting(log, inversion, tenant) for tenant in some.tolist()]
    # Between two iterations with a pause somebody may have been without work.
    end_ps = log.iteration_start_ps + log.iteration_duration_ps
    follows = np.append(False, end_ps[:-1] == log.iteration_start_ps[1:])
    longest, most = int(log.requests.prompt_tokens.max(initial=0)), most_tokens(log)
    unit = 2 * max(prompt_weight * longest, output_weight * most)
    found = None
    for one, other in combinations(range(len(some)), 2):
        both = np.flatnonzero(waiting[one] & waiting[other])
        if not len(both):
            continue
        new = np.ones(len(both), dtype=bool)
        new[1:] = (np.diff(both) > 1) | ~follows[both[1:]]
        first, last = groups(new)
        # Before and after each decision, from before the first one to after the last iteration.
        lead = np.stack((before[one] - before[other], after[one] - after[other]), axis=1).ravel()
        edges = np.stack((2 * both[first], 2 * both[last] + 3), axis=1).ravel()
        lead = np.append(lead, lead[-1])
        apart = np.maximum.reduceat(lead, edges)[::2] - np.minimum.reduceat(lead, edges)[::2]
        most_apart = float(apart.max())
        if found is None or most_apart > found.tokens:
            pair = int(some[one]), int(some[other])
            weight = float(min(log.requests.weights[tenant] for tenant in pair))
            first_name, second_name = (log.requests.tenant_names[tenant] for tenant in pair)
            found = Difference(most_apart, unit / weight, (first_name, second_name))
    return found


def most_tokens(log: Log) -> int:
    """Most tokens that a batch can hold: what the memory has, or the longest requests on all seats."""
    listed, machine = log.requests, log.machine
    length = np.sort((listed.prompt_tokens + listed.output_tokens)[log.outcome != Outcome.REFUSED])
    return min(machine.kv_blocks * machine.block_size, int(length[-machine.max_num_seqs :].sum()))


def _most_served(log: Log, prompt_weight: float, output_weight: float) -> Ints:
    """The tenants with the most service by weight, at most MOST_TENANTS of them, in their order."""
    listed = log.requests
    served = prompt_weight * listed.prompt_tokens * (log.first_scheduled_ps >= 0)
    served = served + output_weight * log.emitted_tokens
    total = np.bincount(listed.tenant_index, weights=served, minlength=len(listed.weights))
    share = np.array([float(1 / weight) for weight in listed.weights])
    return np.sort(np.argsort(-total * share, kind="stable")[:MOST_TENANTS])


def _service(
    log: Log, out: Tokens, tenants: Ints, prompt_weight: float, output_weight: float
) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.float64]]", ...]:
    """Weighted tokens of these tenants before and after each decision, shape (tenants, iterations + 1)."""
    listed, stays = log.requests, log.stays
    # The tokens of all others go into a last row that is not used.
    shape = (len(tenants) + 1, log.iterations + 2)
    place = np.full(len(listed.weights), len(tenants), dtype=np.int64)
    place[tenants] = np.arange(len(tenants))
    row = place[listed.tenant_index] * shape[1]
    at = np.concatenate(
        (row[out.request] + out.iteration + 1, row[out.request] + out.iteration + out.count + 1)
    )
    step = np.repeat((1, -1), len(out.request))
    size = shape[0] * shape[1]
    flow = np.bincount(at, weights=step, minlength=size)[:size].reshape(shape)
    outputs = np.cumsum(np.cumsum(flow[:-1], axis=1), axis=1)[:, :-1]
    first = np.flatnonzero(stays.start_ps == log.first_scheduled_ps[stays.request])
    charged = np.bincount(
        row[stays.request[first]] + stays.iteration[first],
        weights=listed.prompt_tokens[stays.request[first]],
        minlength=size,
    ).reshape(shape)[:-1, :-1]
    prompts = np.cumsum(charged, axis=1)
    share = np.array([float(1 / listed.weights[tenant]) for tenant in tenants.tolist()])[:, None]
    before = share * (prompt_weight * (prompts - charged) + output_weight * outputs)
    return before, before + share * prompt_weight * charged


def _has_waiting(log: Log, inversion: Inversion, tenant: int) -> Bools:
    """Whether a tenant has requests waiting throughout each iteration, shape (iterations,)."""
    found = inversion.seen.waits
    mine = np.flatnonzero(log.requests.tenant_index[found.request] == tenant)
    places = log.iterations + 1
    first = np.searchsorted(log.iteration_start_ps, found.from_ps[mine])
    end = np.searchsorted(log.iteration_start_ps, found.to_ps[mine])
    change = np.bincount(first, minlength=places) - np.bincount(end, minlength=places)
    return np.asarray(np.cumsum(change)[:-1] > 0)
