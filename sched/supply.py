"""What there was for a waiting request at each moment, and whether it sufficed."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sched.bands import Bands, Holders, bands
from sched.log import Ints, Log
from sched.model import Machine, SetAside
from sched.occupancy import Pieces, Sums, Timeline, held_by_group, used_blocks

KV, TOKENS, SEATS = 1, 2, 4
"""Resources, as bits of a cause: the cause of an inversion is the sum of those that bind."""
LEGITIMATE, RESERVED, QUANTUM = 8, 9, 10

Codes = NDArray[np.int8]
Three = tuple[Ints, Ints, Ints]
"""Something by resource: blocks, tokens, seats."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of urgency: their priorities, most urgent first, and whose each request is.

    `held` is what each band of levels held, `holders` tells the levels of a band apart.
    """

    priority: Ints
    of_request: Ints
    bands: Bands
    held: Sums
    holders: Holders


def levels(log: Log, time: Timeline, held: Pieces) -> Levels:
    """What the requests of each priority held in each iteration."""
    priority, of_request = np.unique(log.requests.priority, return_inverse=True)
    cuts = [int(np.searchsorted(priority, one.for_priority, "right")) for one in _asides(log) if one]
    found = bands(len(priority), cuts)
    sums = held_by_group(log, held, found.of_level[of_request], len(found.first))
    return Levels(priority, of_request, found, sums, Holders(log, time, held, of_request))


@dataclass(frozen=True, eq=False)
class Supply:
    """What there is at each moment for a level of urgency, by resource.

    `room` is what the level and those above leave of the whole, shape (bands, moments): for a level that
    shares its band no more than that, and no less than the room of the band. `free` is what nobody holds,
    shape (moments,); `kept` is what of that is set aside and idle, None where nothing ever is, shape (bands,
    moments). With `levels` the room of each level is told exactly.
    """

    room: Three
    most_room: Three
    free: Three
    kept: Three | None
    bands: Bands
    levels: Levels | None
    machine: Machine

    def over(self, edges: Ints, is_most: bool) -> "Supply":
        """The most, or the least, of each in the stretches of moments between these edges."""

        def of(parts: Three, most: bool) -> Three:
            reduce = np.maximum.reduceat if most else np.minimum.reduceat
            blocks, tokens, seats = (reduce(part[..., : edges[-1]], edges[:-1], axis=-1) for part in parts)
            return blocks, tokens, seats

        kept = None if self.kept is None else of(self.kept, not is_most)
        room = of(self.most_room if is_most else self.room, is_most)
        return Supply(room, room, of(self.free, is_most), kept, self.bands, None, self.machine)

    def room_at(self, level: Ints, moment: Ints) -> list[Ints]:
        """Of levels at moments."""
        at = self.bands.of_level[level] * self.free[0].shape[-1] + moment
        found = [part.ravel()[at] for part in self.room]
        if self.levels is not None and len(some := np.flatnonzero(self.bands.is_shared[level])):
            above = self.levels.holders.above(level[some], moment[some])
            for part, most, held in zip(found, whole(self.machine), above, strict=True):
                part[some] = most - held
            found[0][some] -= self.machine.watermark_blocks * (above[2] > 0)
        return found


def whole(machine: Machine) -> tuple[int, int, int]:
    """All blocks, tokens of an iteration, and seats."""
    return machine.kv_blocks, machine.max_num_batched_tokens, machine.max_num_seqs


def supply(log: Log, time: Timeline, levels: Levels) -> Supply:
    """What there is in each slot. While anything runs the watermark counts as taken."""
    machine = log.machine
    own = [time.spread(part) for part in (levels.held.claimed, levels.held.tokens, levels.held.seats)]
    used = [part.sum(axis=0) for part in own]
    if machine.gate != "peak":
        used[0] = time.spread(used_blocks(log, levels.held.blocks.sum(axis=0)))
    above = [np.cumsum(part, axis=0) for part in own]
    room = [most - part for most, part in zip(whole(machine), above, strict=True)]
    free = [most - part for most, part in zip(whole(machine), used, strict=True)]
    kept = _kept(log, time, levels, above, free)
    if machine.watermark_blocks:
        room[0] = room[0] - machine.watermark_blocks * (above[2] > 0)
        free[0] = free[0] - machine.watermark_blocks * (used[2] > 0)
    # The room of levels that share a band lies between those of this band and the one above it.
    shared = levels.bands.is_shared[levels.bands.first]
    most_room = room
    if shared.any():
        row = np.arange(len(shared)) - shared
        most_room = [part[row] for part in room]
    return Supply(
        (room[0], room[1], room[2]),
        (most_room[0], most_room[1], most_room[2]),
        (free[0], free[1], free[2]),
        kept,
        levels.bands,
        levels,
        machine,
    )


def closed(aside: SetAside, idle: Ints) -> Ints:
    """Of an idle set-aside, what lower levels may not even borrow; what is lent is rounded half up."""
    if not aside.lend:
        return idle
    share = Fraction(repr(aside.lend_share))
    twice, whole = 2 * share.numerator, 2 * share.denominator
    # A share of many decimals leaves 64 bits; there are no more different numbers of idle blocks than levels.
    amounts, place = np.unique(idle, return_inverse=True)
    lent = [(twice * amount + share.denominator) // whole for amount in amounts.tolist()]
    found: Ints = idle - np.array(lent, dtype=np.int64)[place].reshape(idle.shape)
    return found


def _asides(log: Log) -> list[SetAside | None]:
    """What was set aside, first and whenever a controller changed it."""
    return [log.set_aside, *(aside for _, aside in log.asides)]


def _kept(log: Log, time: Timeline, levels: Levels, above: list[Ints], free: list[Ints]) -> Three | None:
    """The idle part of what is set aside that is closed to lower levels: all of it, or what is not lent.

    A controller may change what is set aside as the run goes on.
    """
    found = (np.zeros_like(above[0]), np.zeros_like(above[1]), np.zeros_like(above[2]))
    begin = [0, *np.searchsorted(time.begin_ps, [at for at, _ in log.asides]).tolist()]
    for first, end, aside in zip(begin, [*begin[1:], len(time.iteration)], _asides(log), strict=True):
        if aside is None or first >= end:
            continue
        urgent = int(np.searchsorted(levels.priority, aside.for_priority, "right"))
        urgent = int(np.searchsorted(levels.bands.first, urgent))
        amounts = (aside.kv_blocks, 0 if aside.lend else aside.tokens, aside.seats)
        for amount, held, is_free, kept in zip(amounts, above, free, found, strict=True):
            idle_now = is_free[first:end]
            held_now = held[urgent - 1, first:end] if urgent else np.zeros_like(idle_now)
            idle = np.maximum(amount - held_now, 0)
            kept[urgent:, first:end] = np.minimum(closed(aside, idle), np.maximum(idle_now, 0))
    return found if any(part.any() for part in found) else None


def _codes_of_bits() -> Codes:
    """Cause by the outcomes of the nine tests."""
    bits = np.arange(512)
    inversion = bits >> 6 | bits >> 3 & 7
    codes = np.where(bits >> 3 & 7, inversion, RESERVED)
    return np.where(bits & 7, LEGITIMATE, codes).astype(np.int8)


CODE_OF_BITS = _codes_of_bits()


@dataclass(frozen=True, eq=False)
class Demand:
    """What a request in the queue needs, and what those before it need, by resource."""

    level: Ints
    need: Three
    ahead: Three

    def take(self, rows: Ints) -> "Demand":
        """Some of them."""
        need, ahead = ([part[rows] for part in parts] for parts in (self.need, self.ahead))
        return Demand(self.level[rows], (need[0], need[1], need[2]), (ahead[0], ahead[1], ahead[2]))


def bits(there: Supply, moment: Ints, asked: Demand) -> Ints:
    """Outcomes of the tests as bits: k, it would wait without lower ones too; 3 + k, short of what is free;
    6 + k, short of what it may take; k = 0, 1, 2 for blocks, tokens, seats.
    """
    at = there.bands.of_level[asked.level] * there.free[0].shape[-1] + moment
    room = there.room_at(asked.level, moment)
    found = np.zeros(len(moment), dtype=np.int64)
    for k in range(3):
        short = asked.need[k] - there.free[k][moment]
        found |= (asked.need[k] + asked.ahead[k] > room[k]).astype(np.int64) << k
        found |= (short > 0).astype(np.int64) << (3 + k)
        if there.kept is not None:
            found |= (short + there.kept[k].ravel()[at] > 0).astype(np.int64) << (6 + k)
    return found
