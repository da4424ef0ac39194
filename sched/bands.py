"""Levels of urgency in bands: with many levels, neighbours are summed up together and told apart when asked.

So that what is kept grows with the run, and not with the run times its levels.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sched.log import Ints, Log
from sched.occupancy import Bools, Pieces, Timeline, meet, spans

MOST_BANDS = 8
CELLS_AT_ONCE = 300_000
"""Pairs of a moment and a holder that are looked at together; bounds the memory."""


@dataclass(frozen=True, eq=False)
class Bands:
    """The band of each level, the first level of each band, and whether a level shares its band."""

    of_level: Ints
    first: Ints
    is_shared: Bools


def bands(levels: int, cuts: Iterable[int]) -> Bands:
    """A band for each of few levels. Of many the most urgent has its own; one begins at each of the cuts."""
    first = np.arange(levels)
    if levels > MOST_BANDS:
        even = np.linspace(1, levels - 1, MOST_BANDS).astype(np.int64)
        first = np.unique([0, *even.tolist(), *(cut for cut in cuts if 0 < cut < levels)])
    size = np.diff(first, append=levels)
    of_level = np.repeat(np.arange(len(first)), size)
    return Bands(of_level, first, size[of_level] > 1)


@dataclass(frozen=True, eq=False)
class Holders:
    """Who held what in a run, to be summed up by level for the moments that are asked for."""

    log: Log
    time: Timeline
    held: Pieces
    of_request: Ints

    def above(self, level: Ints, slot: Ints) -> tuple[Ints, Ints, Ints]:
        """Blocks, tokens and seats of each asked level and all above it in the asked slots."""
        found = np.zeros((3, len(slot)), dtype=np.int64)
        asked = np.flatnonzero(self.time.iteration[slot] >= 0)
        when, place = np.unique(self.time.iteration[slot[asked]], return_inverse=True)
        order = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place, minlength=len(when)))
        size = self.log.stretches.running[self.log.stretch_of_iteration[when]]
        for a, b in spans(size, CELLS_AT_ONCE):
            some = order[(int(ends[a - 1]) if a else 0) : int(ends[b - 1])]
            rows = asked[some]
            found[:, rows] = self._sums(when[a:b], place[some] - a, level[rows])
        return found[0], found[1], found[2]

    def _sums(self, when: Ints, row: Ints, level: Ints) -> Ints:
        """The same of the iterations `when`, each asked for by its row, shape (3, len(row))."""
        held = self.held.take((self.held.iteration <= when[-1]) & (self.held.end > when[0]))
        moment, piece = meet(held, when)
        levels = int(self.of_request.max()) + 1
        key = moment * levels + self.of_request[held.request[piece]]
        order = np.argsort(key)
        key, moment, piece = key[order], moment[order], piece[order]
        units = (
            held.claimed(piece, when[moment], self.log.machine),
            held.tokens(piece, when[moment]),
            np.ones_like(piece),
        )
        first = np.searchsorted(key, row * levels)
        end = np.searchsorted(key, row * levels + level, "right")
        sums = [np.concatenate(([0], np.cumsum(part))) for part in units]
        return np.stack([part[end] - part[first] for part in sums])
