"""Who is to blame for an inversion: those of lower urgency who hold what is missing, by what each holds.

Blame answers who was holding, not what would have helped; the replay in `explain` answers that. Its kinds:
direct, held before the wait began; growth, what such a holder took since; bypass, held by one admitted during
the wait.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched.causes import CauseRuns
from sched.evidence import Evidence
from sched.log import Ints
from sched.occupancy import Bools, Pieces, meet, spans
from sched.shares import RESOURCES, Rows, Split, floor_share, rows_of, splits

DIRECT, GROWTH, BYPASS = range(3)
KINDS = ("direct", "growth", "bypass")
CELLS_AT_ONCE = 300_000
"""Pairs of an interval and a holder that are looked at together; bounds the memory."""


Exact = NDArray[Any]
"""Whole numbers that may exceed 64 bits: int64 where they do not, else Python ints."""


class ExactSums:
    """Sums of picoseconds by index that may exceed 64 bits, kept in two parts that cannot."""

    def __init__(self, size: int) -> None:
        self.low = np.zeros(size, dtype=np.int64)
        self.high = np.zeros(size, dtype=np.int64)

    def add(self, index: Ints, values: Ints) -> None:
        """Add non-negative values; `bincount` adds in doubles, which is exact for parts of 26 bits."""
        size = len(self.low)
        self.low += np.bincount(index, weights=values & (2**26 - 1), minlength=size).astype(np.int64)
        self.high += np.bincount(index, weights=values >> 26, minlength=size).astype(np.int64)

    def total(self) -> Exact:
        """The sums: 64 bits where all of them together fit, else Python ints."""
        kind = np.int64 if int(self.high.astype(object).sum()) < 2**36 else object
        return (self.high.astype(kind) << 26) + self.low


@dataclass(frozen=True, eq=False)
class Cells:
    """Pairs of a row and a piece of a less urgent request that is in the batch then, sorted by row.

    `head` is the first cell of the row that a cell belongs to.
    """

    rows: Rows
    held: Pieces
    row: Ints
    piece: Ints
    head: Ints
    iteration: Ints

    def only(self, is_chosen: Bools) -> "Cells":
        """The cells of some of the rows."""
        some = np.flatnonzero(is_chosen[self.row])
        row = (np.cumsum(is_chosen) - 1)[self.row[some]]
        rows = self.rows.take(np.flatnonzero(is_chosen))
        return Cells(rows, self.held, row, self.piece[some], _heads(row), self.iteration[some])


def _heads(row: Ints) -> Ints:
    return np.maximum.accumulate(np.where(np.diff(row, prepend=-1) > 0, np.arange(len(row)), 0))


def cells(seen: Evidence, rows: Rows) -> Iterator[Cells]:
    """For rows in order of slot: who of lower level was in the batch, a bounded part of them at a time."""
    level_of_request, of_level = seen.levels.of_request, seen.levels.bands.of_level
    band = of_level[rows.level]
    lower = seen.lower_at(rows.level, rows.slot)[2]
    for one in np.unique(band).tolist():
        some = np.flatnonzero(band == one)
        own, many = rows.take(some), lower[some]
        holders = seen.held.take(of_level[level_of_request[seen.held.request]] >= one)
        for a, b in spans(many, CELLS_AT_ONCE):
            part = own.take(slice(a, b))
            when = seen.time.iteration[part.slot]
            held = holders.take((holders.iteration <= when[-1]) & (holders.end > when[0]))
            row, piece = meet(held, when)
            is_lower = np.flatnonzero(level_of_request[held.request[piece]] > part.level[row])
            row, piece = row[is_lower], piece[is_lower]
            yield Cells(part, held, row, piece, _heads(row), when[row])


@dataclass(frozen=True, eq=False)
class Blame:
    """Picoseconds by kind, resource and request, shape (2, kinds, resources, n).

    The first half is for the waits of the most urgent level, the second for all others.
    """

    ps: Exact

    def by_kind(self, kind: int, *, of_urgent: bool = False) -> list[int]:
        """Of one kind, by request: Python ints. All of it, or what the most urgent level had to wait."""
        of = self.ps[:1] if of_urgent else self.ps
        found: list[int] = of[:, kind].sum(axis=(0, 1)).tolist()
        return found


def blame(seen: Evidence, runs: CauseRuns) -> Blame:
    """Who is to blame for these runs of inversion, to the picosecond: the parts add up to their inversion."""
    count = len(seen.log.requests.ids)
    sums = ExactSums(2 * len(KINDS) * len(RESOURCES) * count)

    def add(kind: Ints | int, k: int, request: Ints, share: Ints) -> None:
        level = int(part.rows.level[0] > 0)
        sums.add(((level * len(KINDS) + kind) * len(RESOURCES) + k) * count + request, share)

    for whole in cells(seen, rows_of(seen, runs)):
        for k, part in _by_resource(whole):
            request, stay = part.held.request[part.piece], part.held.stay[part.piece]
            since = seen.waits.from_ps[part.rows.wait]
            passed = seen.log.stays.start_ps[stay] >= since[part.row]
            units = _units(seen, part, k)
            share = _shares(part, splits(seen, part.rows)[k], units)
            kind = np.where(passed, BYPASS, DIRECT)
            if k == 0 and seen.log.machine.gate != "peak":
                grown = np.flatnonzero(~passed)
                earlier = np.minimum(_held_at_the_start(seen, part, grown), units[grown])
                since_then = share[grown] - floor_share(share[grown], earlier, units[grown])
                share[grown] -= since_then
                add(GROWTH, k, request[grown], since_then)
            if k == 1:
                # Tokens are granted anew in every iteration: all but the first moment's were taken since.
                later = (seen.time.begin_ps[part.rows.slot] > since)[part.row]
                kind = np.where(~passed & later, GROWTH, kind)
            add(kind, k, request, share)
    return Blame(sums.total().reshape(2, len(KINDS), len(RESOURCES), count))


def _by_resource(part: Cells) -> Iterator[tuple[int, Cells]]:
    """The rows in which each resource binds: where it alone does, and apart from them where several do."""
    for k, bit in enumerate(RESOURCES):
        for is_chosen in (part.rows.code == bit, (part.rows.code & bit > 0) & (part.rows.code != bit)):
            if is_chosen.all():
                yield k, part
            elif is_chosen.any():
                yield k, part.only(is_chosen)


def _units(seen: Evidence, part: Cells, k: int) -> Ints:
    """What the holder of each cell holds of a resource."""
    if k == 0:
        return part.held.claimed(part.piece, part.iteration, seen.log.machine)
    return part.held.tokens(part.piece, part.iteration) if k == 1 else np.ones_like(part.piece)


def _shares(part: Cells, cut: Split, units: Ints) -> Ints:
    """Each holder's share of its row, by units held, in picoseconds."""
    running = np.cumsum(units)
    so_far = running - (running - units)[part.head]
    until = cut.boundary(part.row, so_far)
    begin = np.zeros_like(until)
    begin[1:] = until[:-1]
    heads = np.flatnonzero(part.head == np.arange(len(part.head)))
    begin[heads] = cut.boundary(part.row[heads], np.zeros(len(heads), dtype=np.int64))
    return until - begin


def _held_at_the_start(seen: Evidence, part: Cells, some: Ints) -> Ints:
    """Blocks that the holders in some cells held already when the wait of their row began."""
    waits = np.unique(part.rows.wait)
    began = np.searchsorted(seen.log.iteration_start_ps, seen.waits.from_ps[waits], "right") - 1
    order = np.argsort(began)
    when = began[order]
    stays = np.unique(part.held.stay)
    held = seen.held.take((seen.held.iteration <= when[-1]) & (seen.held.end > when[0]))
    held = held.take(np.isin(held.stay, stays))
    row, piece = meet(held, when)
    blocks = np.zeros((len(waits), len(stays)), dtype=np.int32)
    blocks[order[row], np.searchsorted(stays, held.stay[piece])] = held.claimed(
        piece, when[row], seen.log.machine
    )
    of_row, of_piece = np.searchsorted(waits, part.rows.wait), np.searchsorted(stays, part.held.stay)
    return blocks[of_row[part.row[some]], of_piece[part.piece[some]]].astype(np.int64)


def exposure(seen: Evidence, runs: CauseRuns, k: int) -> list[int]:
    """Units of a resource times picoseconds held by each less urgent request while somebody waited for it."""
    total = np.zeros((4, len(seen.log.requests.ids)), dtype=np.int64)
    for part in cells(seen, rows_of(seen, runs)):
        some = np.flatnonzero((part.rows.code & RESOURCES[k] > 0)[part.row])
        units, length = _units(seen, part, k)[some], part.rows.length_ps[part.row[some]]
        for limb in range(4):
            # Sixteen bits at a time: the sums then stay within 64 bits.
            np.add.at(
                total[limb], part.held.request[part.piece[some]], (length >> 16 * limb & 0xFFFF) * units
            )
    return [sum(part << 16 * limb for limb, part in enumerate(parts)) for parts in total.T.tolist()]
