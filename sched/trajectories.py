"""What each tenant has had by each moment of a run: service, the share of what is scarce.

All of it is derived from the log by the policies' own rules, so it can be told of a run under any policy.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sched.engine import settings_of
from sched.inversion import Inversion
from sched.log import Ints, Log
from sched.model import NEVER, PS_PER_S
from sched.occupancy import held_by_group
from sched.policies.base import as_written
from sched.policies.usage import EPOCHS, FADE, SHIFT
from sched.scenario import Scenario
from sched.service import tokens_out
from sched.several import JoinedInversion

Floats = NDArray[np.float64]
MOST_DRAWN = 12
"""Trajectories are told of so many tenants, those who ask for the most."""
RESOURCES = ("kv", "seats", "tokens")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One value a tenant, from each moment `at_ps` on: `values` has shape (tenants, moments)."""

    tenants: tuple[str, ...]
    at_ps: Ints
    values: Floats
    dominant: Ints | None = None
    """Of shares: which of RESOURCES is the largest, in the shape of `values`."""


def most_asking(log: Log) -> Ints:
    """The tenants who ask for the most tokens, most first, at most MOST_DRAWN: whatever the policy."""
    listed = log.requests
    tokens = listed.prompt_tokens + listed.output_tokens
    total = np.bincount(listed.tenant_index, weights=tokens, minlength=len(listed.weights))
    first = np.argsort(-total, kind="stable")
    return first[total[first] > 0][:MOST_DRAWN]


def outputs_of(log: Log, inversion: Inversion, tenants: Ints) -> Ints:
    """Output tokens of these tenants before each iteration and after the last, (tenants, iterations + 1)."""
    out, places = tokens_out(log, inversion.seen.held), log.iterations + 2
    found = np.zeros((len(tenants), log.iterations + 1), dtype=np.int64)
    for row, tenant in enumerate(tenants.tolist()):
        mine = log.requests.tenant_index[out.request] == tenant
        flow = np.bincount(out.iteration[mine] + 1, minlength=places)
        flow -= np.bincount(out.iteration[mine] + out.count[mine] + 1, minlength=places)
        found[row] = np.cumsum(np.cumsum(flow))[:-1]
    return found


def first_stays(log: Log) -> Ints:
    """The rows of the stays that are their request's first: the ones whose prompt is charged."""
    return np.flatnonzero(log.stays.start_ps == log.first_scheduled_ps[log.stays.request])


def moments_of(log: Log) -> Ints:
    """The start of each iteration, and the end of the last."""
    return np.append(log.iteration_start_ps, log.end_ps)


def service(log: Log, scenario: Scenario, inversion: Inversion) -> Trajectory:
    """Weighted tokens that each tenant has received: prompts at admission, output tokens as they come.

    The weights of tokens are those of `vtc`. The last value is the tenant's total. Of several engines it is
    what all of them gave together.
    """
    some, vtc = most_asking(log), settings_of(scenario, "vtc")
    parts = list(zip(log.replicas, inversion.parts, strict=True)) if isinstance(
        inversion, JoinedInversion
    ) else [(log, inversion)]  # fmt: skip
    at_ps = np.unique(np.concatenate([moments_of(one) for one, _ in parts]))
    total = np.zeros((len(some), len(at_ps)))
    for one, seen in parts:
        # Each engine numbers its own tenants.
        known = {name: number for number, name in enumerate(one.requests.tenant_names)}
        there = np.array([known.get(name, NEVER) for name in names_of(log, some)], dtype=np.int64)
        values = vtc.output_weight * outputs_of(one, seen, there)
        first = first_stays(one)
        for row, tenant in enumerate(there.tolist()):
            mine = first[one.requests.tenant_index[one.stays.request[first]] == tenant]
            prompts = one.requests.prompt_tokens[one.stays.request[mine]]
            charged = np.bincount(one.stays.iteration[mine], weights=prompts, minlength=one.iterations + 1)
            values[row] += vtc.prompt_weight * np.cumsum(charged)
        place = np.searchsorted(moments_of(one), at_ps, "right") - 1
        total += np.where(place >= 0, values[:, np.maximum(place, 0)], 0.0)
    return Trajectory(names_of(log, some), at_ps, total)


def names_of(log: Log, tenants: Ints) -> tuple[str, ...]:
    return tuple(log.requests.tenant_names[tenant] for tenant in tenants.tolist())


def dominant_shares(log: Log, scenario: Scenario, inversion: Inversion) -> Trajectory:
    """The largest share of capacity that each tenant has, of blocks, seats and recent tokens, by its weight.

    By the rule of `drf`, with its half-life: blocks and seats as the decision left them, tokens computed
    before it over those offered. Cores are no part of it. Of one engine.
    Source: Ghodsi et al., Dominant resource fairness, NSDI 2011.
    """
    listed, machine, time = log.requests, log.machine, inversion.seen.time
    some = most_asking(log)
    held = held_by_group(log, inversion.seen.held, listed.tenant_index, len(listed.weights))
    tokens = recent(log, held.tokens, settings_of(scenario, "drf").half_life_s)[0]
    # While the engine stands idle nobody holds anything, and nothing is added to what was used.
    runs = (time.iteration >= 0).astype(np.int64)
    before = np.cumsum(runs) - runs
    parts = np.stack((
        time.spread(held.claimed[some]) / machine.kv_blocks,
        time.spread(held.seats[some]) / machine.max_num_seqs,
        tokens[some][:, before],
    ))  # fmt: skip
    weight = np.array([float(1 / listed.weights[tenant]) for tenant in some.tolist()])[:, None]
    return Trajectory(
        names_of(log, some), time.begin_ps[:-1], parts.max(axis=0) * weight, parts.argmax(axis=0)
    )


def recent(log: Log, tokens: Ints, half_life_s: float) -> tuple[Floats, dict[int, int], int]:
    """Each tenant's part of the tokens offered of late at each decision and after the last iteration.

    Shape (tenants, iterations + 1); and what is used by tenant and offered at the end, as `drf` counts it.
    Both are halved by every half-life, at fixed epochs and in integers.
    """
    count, found = log.iterations, np.zeros((len(tokens), log.iterations + 1))
    epoch_ps = int(as_written(half_life_s) * PS_PER_S) // EPOCHS
    used, offered = dict.fromkeys(range(len(tokens)), 0), 0
    if not epoch_ps:
        return found, used, offered
    epochs = moments_of(log) // epoch_ps
    cumulated = np.concatenate((np.zeros((len(tokens), 1), np.int64), np.cumsum(tokens, axis=1)), axis=1)
    edges = np.flatnonzero(np.diff(epochs, prepend=0) > 0).tolist()
    begin = passed = 0
    for end in [*edges, count + 1]:
        span = np.arange(begin, end)
        if len(span):
            offers = offered + (log.machine.max_num_batched_tokens << SHIFT) * (span - begin).astype(float)
            for row in used:
                mine = used[row] + ((cumulated[row, span] - cumulated[row, begin]) << SHIFT).astype(float)
                found[row, span] = mine / np.maximum(offers, 1)
        if end > count:
            break
        # What was computed up to the epoch fades with it.
        for row in used:
            used[row] += int(cumulated[row, end] - cumulated[row, begin]) << SHIFT
        offered += (end - begin) * (log.machine.max_num_batched_tokens << SHIFT)
        begin, due = end, int(epochs[end]) - passed
        passed = int(epochs[end])
        while due and offered:
            due, offered = due - 1, offered * FADE >> 32
            used = {row: one * FADE >> 32 for row, one in used.items()}
    for row in used:
        used[row] += int(cumulated[row, count] - cumulated[row, begin]) << SHIFT
    offered += (count - begin) * (log.machine.max_num_batched_tokens << SHIFT)
    return found, used, offered
