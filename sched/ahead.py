"""What those who stand before somebody in a queue need, of those whose level of urgency is not lower."""

from collections.abc import Sequence

import numpy as np

from sched.log import Ints

FEW_LEVELS = 16
"""Up to so many levels are gone through one by one."""


def ahead(level: Ints, needs: Sequence[Ints], group: Ints, is_mixed: bool) -> list[Ints]:
    """Each of the needs, within each group of neighbours, of those before whose level is not lower, summed.

    `is_mixed` where a lower one may stand before a higher one.
    """
    index = np.arange(len(group), dtype=np.int64)
    is_start = np.ones(len(group), dtype=bool)
    is_start[1:] = group[1:] != group[:-1]
    start = np.maximum.accumulate(np.where(is_start, index, 0))
    if not is_mixed:
        return [_running(need, start) for need in needs]
    different, rank = np.unique(level, return_inverse=True)
    if len(different) > FEW_LEVELS:
        return _by_halves(rank, needs, start)
    found = [np.zeros_like(need) for need in needs]
    for one in range(len(different)):
        for k, need in enumerate(needs):
            found[k] = np.where(rank == one, _running(np.where(rank <= one, need, 0), start), found[k])
    return found


def _running(need: Ints, start: Ints) -> Ints:
    before = np.cumsum(need) - need
    sums: Ints = before - before[start]
    return sums


def _by_halves(rank: Ints, needs: Sequence[Ints], start: Ints) -> list[Ints]:
    """The same for many levels: in blocks of 2, 4, 8, ... places, each second half is told of the first."""
    index = np.arange(len(rank), dtype=np.int64)
    place, levels = index - start, int(rank.max(initial=0)) + 1
    found = [np.zeros_like(need) for need in needs]
    for bit in range(int(place.max(initial=0)).bit_length()):
        half, block = place >> bit & 1, start + (place >> bit + 1 << bit + 1)
        # A block lies in the same range of places before and after this sorting.
        order = np.argsort((block * levels + rank) * 2 + half)
        is_second, base = half[order] == 1, block[order]
        for k, need in enumerate(needs):
            first = np.where(is_second, 0, need[order])
            until = np.cumsum(first)
            found[k][order] += np.where(is_second, until - (until - first)[base], 0)
    return found
