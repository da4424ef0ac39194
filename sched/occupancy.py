"""Who held what in each iteration, worked out from the log: blocks, tokens and seats.

An iteration is one decision. Time between iterations in which the engine stood idle is a slot of its own, so
that the slots of a timeline have no gaps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sched.log import Ints, Log
from sched.model import Machine

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Timeline:
    """Time cut at every decision: slot s lasts from `begin_ps[s]` to `begin_ps[s + 1]`.

    `iteration` of a slot is NEVER where the engine stood idle; `slot` is the slot of each iteration.
    """

    begin_ps: Ints
    iteration: Ints
    slot: Ints

    @cached_property
    def length_ps(self) -> Ints:
        """Length of each slot, shape (slots,)."""
        return np.diff(self.begin_ps)

    def spread(self, by_iteration: Ints) -> Ints:
        """A column by iteration as one by slot, zero while the engine stands idle. The last axis is time."""
        if len(self.iteration) == len(self.slot):
            return by_iteration
        by_slot = np.zeros((*by_iteration.shape[:-1], len(self.iteration)), dtype=np.int64)
        by_slot[..., self.slot] = by_iteration
        return by_slot


def timeline(log: Log) -> Timeline:
    """The slots of a run, from 0 until its last iteration ended or its last request was given up."""
    start = log.iteration_start_ps
    number = np.arange(len(start), dtype=np.int64)
    until = max(int(log.ended_ps.max(initial=0)), log.horizon_ps, log.end_ps)
    if not len(start):
        return Timeline(np.array([0, max(until, 1)]), np.array([-1]), number)
    end = start + log.iteration_duration_ps
    idle = np.flatnonzero(end[:-1] < start[1:])
    begin, iteration = start, number
    if len(idle):
        begin = np.insert(start, idle + 1, end[idle])
        iteration = np.insert(number, idle + 1, -1)
    head = [0] if start[0] > 0 else []
    tail = [int(end[-1]), until] if until > end[-1] else [int(end[-1])]
    before, after = np.full(len(head), -1), np.full(len(tail) - 1, -1)
    iteration = np.concatenate((before, iteration, after))
    return Timeline(
        np.concatenate((head, begin, tail)).astype(np.int64), iteration, np.flatnonzero(iteration >= 0)
    )


@dataclass(frozen=True, eq=False)
class Pieces:
    """What each request was given, in order of request and iteration: a prefill chunk, or a run of decodes.

    A piece speaks for the iterations [iteration, end): in the first `count` of them the request got `step`
    tokens each, after that none until its next piece. It had `before` tokens computed before it. `promised`
    are the blocks of the request's peak, which is what it holds under a gate that reserves the peak.
    """

    request: Ints
    stay: Ints
    iteration: Ints
    end: Ints
    before: Ints
    step: Ints
    count: Ints
    promised: Ints
    is_first: Bools
    """The first piece of its stay."""

    def __len__(self) -> int:
        return len(self.request)

    def take(self, rows: Ints | Bools) -> "Pieces":
        """Some of the pieces."""
        return Pieces(*(getattr(self, name)[rows] for name in Pieces.__dataclass_fields__))

    def claimed(self, piece: Ints, iteration: Ints, machine: Machine) -> Ints:
        """Blocks that the gate counts for these pieces' requests in these iterations: held, or promised."""
        return self.promised[piece] if machine.gate == "peak" else self.blocks(piece, iteration, machine)

    def blocks(self, piece: Ints, iteration: Ints, machine: Machine) -> Ints:
        """Blocks held by the requests of these pieces in these iterations."""
        steps = np.minimum(iteration - self.iteration[piece] + 1, self.count[piece])
        return ceil_div(self.before[piece] + steps * self.step[piece], machine.block_size)

    def tokens(self, piece: Ints, iteration: Ints) -> Ints:
        """Tokens given to the requests of these pieces in these iterations."""
        return np.where(iteration - self.iteration[piece] < self.count[piece], self.step[piece], 0)


def ceil_div(tokens: Ints, size: int) -> Ints:
    """Blocks that hold so many tokens."""
    return -(-tokens // size)


def expand(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Rows `first[i] .. first[i] + count[i]` one after the other: which i each belongs to, and the row."""
    owner = np.repeat(np.arange(len(count), dtype=np.int64), count)
    offset = first - (np.cumsum(count) - count)
    return owner, np.arange(len(owner), dtype=np.int64) + offset[owner]


def groups(is_new: Bools) -> tuple[Ints, Ints]:
    """First and last row of each group of neighbours, from where a new one begins."""
    first = np.flatnonzero(is_new)
    return first, np.append(first[1:], len(is_new))[: len(first)] - 1


def spans(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges whose sizes sum to about `most`, and of at most 65,535 members."""
    total = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + most, "right")))
        stop = min(stop, start + 65_535, len(sizes))
        yield start, stop
        start = stop


def meet(held: Pieces, when: Ints) -> tuple[Ints, Ints]:
    """Pairs of a moment and a piece that speaks for it, sorted by moment; `when` are iterations in order."""
    first, end = np.searchsorted(when, held.iteration), np.searchsorted(when, held.end)
    piece, row = expand(first, end - first)
    # Sixteen bits are sorted by counting; there are never more moments at once.
    order = np.argsort(row.astype(np.uint16), kind="stable")
    return row[order], piece[order]


def latest(owner: Ints, since: Ints, asked: Ints, at: Ints) -> Ints:
    """For each asked owner and time: its row with the latest `since` not after `at`, or -1.

    Rows are in order of owner and time.
    """
    moments = np.unique(np.concatenate((since, at)))
    key = owner * len(moments) + np.searchsorted(moments, since)
    row = np.searchsorted(key, asked * len(moments) + np.searchsorted(moments, at), "right") - 1
    return np.where((row >= 0) & (np.append(owner, -1)[row] == asked), row, -1)


def peak_blocks(log: Log) -> Ints:
    """Blocks of each request's peak: its last token's KV is never computed. Shape (n,)."""
    machine, total = log.machine, log.requests.prompt_tokens + log.requests.output_tokens
    if machine.max_model_len:
        total = np.minimum(total, machine.max_model_len)
    return ceil_div(total - 1, machine.block_size)


def pieces(log: Log) -> Pieces:
    """Every scheduled piece of a run with its stay and the iterations it speaks for."""
    chunks, runs, stays = log.chunks, log.runs, log.stays
    width = log.iterations + 1
    ones = np.ones(max(len(chunks.request), len(runs.request)), dtype=np.int64)
    key = np.concatenate((chunks.request, runs.request)) * width
    key += np.concatenate((chunks.iteration, runs.iteration))
    order = np.argsort(key)
    key = key[order]
    before = np.concatenate((chunks.before, runs.before))[order]
    step = np.concatenate((chunks.tokens, ones[: len(runs.request)]))[order]
    count = np.concatenate((ones[: len(chunks.request)], runs.count))[order]
    stay_key = stays.request * width + stays.iteration
    stay_order = np.argsort(stay_key)
    stay = stay_order[np.searchsorted(stay_key[stay_order], key, "right") - 1]
    request, iteration = np.divmod(key, width)
    is_first = np.ones(len(stay), dtype=bool)
    is_first[1:] = stay[1:] != stay[:-1]
    end = stays.end_iteration[stay]
    end[:-1] = np.where(is_first[1:], end[:-1], iteration[1:])
    return Pieces(request, stay, iteration, end, before, step, count, peak_blocks(log)[request], is_first)


@dataclass(frozen=True, eq=False)
class Sums:
    """What groups of requests held together, by iteration: arrays of shape (groups, iterations).

    `claimed` are the blocks that the admission gate counts: those held or, if it reserves the peak, those
    promised.
    """

    blocks: Ints
    claimed: Ints
    tokens: Ints
    seats: Ints


def held_by_group(log: Log, held: Pieces, group_of_request: Ints, groups: int) -> Sums:
    """Sums of blocks, tokens and seats by group (a class, a tenant, a priority) and iteration."""
    shape, size = (groups, log.iterations + 1), log.machine.block_size
    row = group_of_request[held.request] * shape[1]
    begin, is_first = row + held.iteration, held.is_first
    is_last = held.end == log.stays.end_iteration[held.stay]
    end = (row + held.end)[is_last]
    seats = _steps(shape, begin[is_first], 1, end, -1)
    tokens = _steps(shape, begin, held.step, begin + held.count, -held.step)

    after_first = ceil_div(held.before + held.step, size)
    final = ceil_div(held.before + held.step * held.count, size)
    held_before = np.where(is_first, 0, np.concatenate(([0], final[:-1])))
    # A run of decodes takes a block whenever the last one is full.
    crossing = np.flatnonzero(final > after_first)
    phase = -held.before[crossing] % size
    owner, turn = expand(np.zeros(len(crossing), dtype=np.int64), (final - after_first)[crossing])
    filled = (begin[crossing] + np.where(phase > 0, phase, size))[owner] + size * turn
    more = np.concatenate((after_first - held_before, np.ones(len(owner), dtype=np.int64)))
    blocks = _steps(shape, np.concatenate((begin, filled)), more, end, -final[is_last])
    claimed = blocks
    if log.machine.gate == "peak":
        claimed = _steps(shape, begin[is_first], held.promised[is_first], end, -held.promised[is_last])
    return Sums(blocks, claimed, tokens, seats)


def _steps(shape: tuple[int, int], up: Ints, rise: Ints | int, down: Ints, fall: Ints | int) -> Ints:
    """Running sums along the iterations of what begins and what ends. Exact: far below 2^53."""
    at = np.concatenate((up, down))
    by = np.concatenate((np.broadcast_to(rise, up.shape), np.broadcast_to(fall, down.shape)))
    change = np.bincount(at, weights=by, minlength=shape[0] * shape[1]).reshape(shape)
    total: Ints = np.cumsum(change, axis=1)[:, :-1].astype(np.int64)
    return total


def used_blocks(log: Log, total: Ints) -> Ints:
    """Blocks in use in each iteration, shared ones counted once; `total` is what all requests hold."""
    if not log.machine.enable_prefix_caching:
        return total
    row, first = log.stretch_of_iteration, log.stretches.iteration
    used: Ints = log.stretches.kv_used[row] + total - total[first[row]]
    return used
