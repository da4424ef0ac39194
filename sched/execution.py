"""Execution inversion: how much longer its iterations took because of lower requests, once a request is in.

Of every iteration with the request in the batch, what the whole batch takes less what it would take without
those of lower urgency, in whole picoseconds. It is not part of the wait. Between two changes of the batch an
iteration's length is linear in its number, so a stretch of any length is one product.
Source: what users of priorities see in vLLM, issue 24365: twice as slow beside thirty lower ones, not queued.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sched.cost import IterationCost
from sched.evidence import Evidence
from sched.inversion import Inversion
from sched.log import Ints, Log
from sched.several import JoinedInversion
from sched.sums import exact_sum

FEW_LEVELS, STRETCHES_AT_ONCE = 16, 256
"""Up to so many levels the whole run is looked at in one, else so many stretches at a time."""


@dataclass(frozen=True, eq=False)
class Execution:
    """Columns by request, shape (n,), in picoseconds.

    `running_ps` is the time it was in the batch, `inversion_ps` what of that less urgent requests added.
    """

    running_ps: Ints
    inversion_ps: Ints

    def by_group(self, group_of_request: Ints, groups: int) -> list[int]:
        """Inversion of each class, tenant or other group: Python ints."""
        return [exact_sum(self.inversion_ps[group_of_request == one]) for one in range(groups)]


@dataclass(frozen=True, eq=False)
class Work:
    """What each level of urgency has in the first iteration of each stretch, shape (levels, stretches).

    `context` are the cached tokens of the decodes, `squares` the sum of q (2 before + q) over the prefill
    chunks, `prefix` the longest prefix of one.
    """

    decodes: Ints
    context: Ints
    chunks: Ints
    prefill: Ints
    squares: Ints
    prefix: Ints

    def down_to(self) -> "Work":
        """Of each level and all above it together."""
        sums = (self.decodes, self.context, self.chunks, self.prefill, self.squares)
        decodes, context, chunks, prefill, squares = (np.cumsum(part, axis=0) for part in sums)
        return Work(decodes, context, chunks, prefill, squares, np.maximum.accumulate(self.prefix, axis=0))


def execution(seen: Evidence, cost: IterationCost) -> Execution:
    """What less urgent requests added to the iterations of each request while it was in the batch."""
    log, levels = seen.log, len(seen.levels.priority)
    stays, rows = log.stays, log.stretches
    count = len(log.requests.ids)
    running, inverted = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    np.add.at(running, stays.request, stays.end_ps - stays.start_ps)
    if levels < 2 or not len(rows.count):
        return Execution(running, inverted)
    first = np.searchsorted(rows.iteration, stays.iteration)
    end = np.searchsorted(rows.iteration, stays.end_iteration)
    level = seen.levels.of_request[stays.request]
    # Of many levels only a few are in the batch in a part of the run.
    size = len(rows.count) if levels <= FEW_LEVELS else STRETCHES_AT_ONCE
    for a in range(0, len(rows.count), size):
        b = min(a + size, len(rows.count))
        there = np.flatnonzero((first < b) & (end > a))
        found, rank = np.unique(level[there], return_inverse=True)
        if len(found) < 2:
            continue
        took = durations(work_by_level(seen, found, a, b), cost, rows.count[a:b])
        added = np.zeros((len(found), b - a + 1), dtype=np.int64)
        np.cumsum(took[-1] - took, axis=1, out=added[:, 1:])
        begin, until = np.maximum(first[there], a) - a, np.minimum(end[there], b) - a
        np.add.at(inverted, stays.request[there], added[rank, until] - added[rank, begin])
    return Execution(running, inverted)


def execution_of(inversion: Inversion, cost: IterationCost) -> Execution:
    """The same of a whole run, on one engine or on several."""
    if not isinstance(inversion, JoinedInversion):
        return execution(inversion.seen, cost)
    count = len(inversion.bypasses)
    columns = [np.zeros(count, dtype=np.int64) for _ in range(2)]
    for own, part in zip(inversion.rows, inversion.parts, strict=True):
        found = execution(part.seen, cost)
        columns[0][own], columns[1][own] = found.running_ps, found.inversion_ps
    return Execution(*columns)


def work_by_level(seen: Evidence, levels: Ints, a: int, b: int) -> Work:
    """The decodes and prefill chunks of these levels in the stretches [a, b), in which nobody else is there.

    The batch changes only from one stretch to the next.
    """
    log, stretches = seen.log, seen.log.stretches.iteration
    limits = np.append(stretches, log.iterations)
    held = seen.held
    held = held.take((held.iteration < limits[b]) & (held.iteration + held.count > limits[a]))
    shape = (len(levels), b - a)
    level = np.searchsorted(levels, seen.levels.of_request[held.request])
    first = np.searchsorted(stretches[a:b], held.iteration)
    end = np.searchsorted(stretches[a:b], held.iteration + held.count)
    is_decode = held.before >= log.stays.known_tokens[held.stay]
    some = np.flatnonzero(is_decode)
    of, begin, until = level[some], first[some], end[some]
    # A decode has one token more before it in each iteration: the difference to the iteration's number stays.
    offset = held.before[some] - held.iteration[some]
    decodes = _between(shape, of, begin, until, np.ones_like(some))
    context = _between(shape, of, begin, until, offset) + decodes * stretches[a:b]
    some = np.flatnonzero(~is_decode)
    at = (level[some], first[some])
    tokens, before = held.step[some], held.before[some]
    found = {name: np.zeros(shape, dtype=np.int64) for name in ("chunks", "prefill", "squares", "prefix")}
    np.add.at(found["chunks"], at, 1)
    np.add.at(found["prefill"], at, tokens)
    np.add.at(found["squares"], at, tokens * (2 * before + tokens))
    np.maximum.at(found["prefix"], at, before)
    return Work(decodes, context, **found)


def _between(shape: tuple[int, int], level: Ints, first: Ints, end: Ints, value: Ints) -> Ints:
    """Sums by level and stretch of values that count in the stretches [first, end)."""
    change = np.zeros((shape[0], shape[1] + 1), dtype=np.int64)
    np.add.at(change, (level, first), value)
    np.subtract.at(change, (level, end), value)
    total: Ints = np.cumsum(change, axis=1)[:, :-1]
    return total


def durations(work: Work, cost: IterationCost, count: Ints) -> Ints:
    """Picoseconds that each stretch of `count` iterations takes with each level and all above it alone.

    Shape (levels, stretches). The last level's are those of the whole batch. A stretch with prefill is one
    iteration.
    """
    all_above = work.down_to()
    decodes, context, prefill = all_above.decodes, all_above.context, all_above.prefill
    is_mixed = prefill > 0
    per_token: Ints = np.where(is_mixed, cost.kv_token_mixed_ps, cost.kv_token_ps)
    # What depends on the number of new tokens alone, and what is added by sequence and by decode.
    new = _table(lambda tokens: cost.mixed_ps(0, tokens, 0), decodes + prefill)
    sequence = cost.mixed_ps(0, 0, 1) - cost.mixed_ps(0, 0, 0)
    decode = cost.mixed_ps(1, 0, 0) - cost.mixed_ps(0, 1, 0)
    first: Ints = new + sequence * (decodes + all_above.chunks) + decode * decodes + per_token * context
    # As attention_ps * squares // 2, whose product may exceed 64 bits where its half does not.
    half, odd = divmod(cost.attention_ps, 2)
    first += half * all_above.squares + odd * all_above.squares // 2 + cost.prefix_ps * all_above.prefix
    return count * first + per_token * decodes * (count * (count - 1) // 2)


def _table(compute: Callable[[int], int], arguments: Ints) -> Ints:
    """A function of whole numbers, asked once for each of them."""
    values, place = np.unique(arguments, return_inverse=True)
    found: Ints = np.array([compute(one) for one in values.tolist()], dtype=np.int64)
    return found[place].reshape(arguments.shape)


def slowest(log: Log) -> int:
    """The longest iteration of a run, in picoseconds; 0 of a run without any."""
    rows = log.stretches
    last = rows.first_ps + rows.step_ps * (rows.count - 1)
    return int(np.maximum(rows.first_ps, last).max(initial=0))
