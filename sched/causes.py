"""Why each request waited, moment by moment: one cause for every interval between two decisions.

The first test that holds names the cause:

1. quantum: from the arrival to the first decision. The iteration in progress cannot be stopped, so this is
   nobody's fault; what share of its tokens was of lower urgency is shown where a wait is explained, and is
   not inversion.
2. legitimate: it would wait even if every lower request vanished, because its need, the need of those of its
   level or above that stand before it in the queue, and what the running ones of these levels hold exceed
   what there is.
3. reserved: it fits into what is free and still stays out (a reserve, a cap or a quota of the policy, an
   preemption just before, the queue's rule).
4. otherwise inversion, by the blocks, tokens or seats that are short; several may bind.

Source: Sha, Rajkumar and Lehoczky, Priority inheritance protocols, IEEE Transactions on Computers 39(9),
1990, carried over to pools of like units.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sched.ahead import ahead
from sched.log import Ints, Log
from sched.occupancy import Bools, Timeline, expand, groups, spans
from sched.supply import CODE_OF_BITS, LEGITIMATE, Codes, Demand, Levels, Supply, Three, bits
from sched.waits import Waits, needed_blocks, needed_tokens, queue_order

PAIRS_AT_ONCE = 300_000
"""Pairs of a waiting request and a moment that are looked at together; bounds the memory."""


@dataclass(frozen=True, eq=False)
class CauseRuns:
    """Maximal runs of one cause in one wait, in order of wait and time: slots [first, end)."""

    wait: Ints
    first: Ints
    end: Ints
    code: Codes

    def __len__(self) -> int:
        return len(self.wait)

    def take(self, rows: Ints | Bools) -> "CauseRuns":
        """Some of the runs."""
        return CauseRuns(self.wait[rows], self.first[rows], self.end[rows], self.code[rows])

    def joined(self) -> "CauseRuns":
        """Neighbours of one wait and cause joined."""
        new = np.ones(len(self), dtype=bool)
        new[1:] = self.wait[1:] != self.wait[:-1]
        new[1:] |= (self.code[1:] != self.code[:-1]) | (self.first[1:] != self.end[:-1])
        start, last = groups(new)
        return CauseRuns(self.wait[start], self.first[start], self.end[last], self.code[start])


@dataclass(frozen=True, eq=False)
class _Queue:
    """Waits in the order of the queue. Between two `edges` (slots) nobody joins or leaves it: a segment.

    Row r waits during segments [left, right). `is_mixed` where a lower one may stand before a higher one.
    """

    wait: Ints
    level: Ints
    need: Three
    left: Ints
    right: Ints
    edges: Ints
    is_mixed: bool
    there: Supply
    most: Supply
    least: Supply


def cause_runs(
    log: Log,
    time: Timeline,
    levels: Levels,
    there: Supply,
    found: Waits,
    watch: Callable[[], object] | None = None,
) -> CauseRuns:
    """The cause of every whole slot of every wait. `watch` is called before every part of a long run."""
    first = np.searchsorted(time.begin_ps, found.from_ps)
    end = np.searchsorted(time.begin_ps, found.to_ps)
    wait = queue_order(log, found)
    wait = wait[first[wait] < end[wait]]
    edges = np.unique(np.concatenate((first[wait], end[wait])))
    if not len(wait):
        return CauseRuns(wait, wait, wait, np.zeros(0, np.int8))
    left, right = np.searchsorted(edges, first[wait]), np.searchsorted(edges, end[wait])
    need = (needed_blocks(log, found)[wait], needed_tokens(log, found)[wait], np.ones(len(wait), np.int64))
    level = levels.of_request[found.request[wait]]
    queue = _Queue(
        wait=wait,
        level=level,
        need=need,
        left=left,
        right=right,
        edges=edges,
        is_mixed=bool((np.diff(level) < 0).any()),
        there=there,
        most=there.over(edges, is_most=True),
        least=there.over(edges, is_most=False),
    )
    length = np.cumsum(np.bincount(left, minlength=len(edges)) - np.bincount(right, minlength=len(edges)))
    parts = list[CauseRuns]()
    for a, b in spans(length[:-1], PAIRS_AT_ONCE):
        if watch is not None:
            watch()
        parts += _window(queue, a, b)
    wait, first, end = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("wait", "first", "end")
    )
    code = np.concatenate([part.code for part in parts])
    order = np.argsort(wait * (len(time.begin_ps) + 1) + first)
    return CauseRuns(wait, first, end, code).take(order).joined()


def _window(queue: _Queue, a: int, b: int) -> Iterator[CauseRuns]:
    """Causes in the segments [a, b)."""
    rows = np.flatnonzero((queue.left < b) & (queue.right > a))
    low, high = np.maximum(queue.left[rows], a), np.minimum(queue.right[rows], b)
    deep = _deep(queue, rows, (low == a) & (high == b), a, b)
    yield CauseRuns(
        queue.wait[rows[deep]],
        queue.edges[low[deep]],
        queue.edges[high[deep]],
        np.full(int(deep.sum()), LEGITIMATE, np.int8),
    )
    rows, low, high = rows[~deep], low[~deep], high[~deep]
    owner, segment = expand(low, high - low)
    row = rows[owner]
    # Sixteen bits are sorted by counting.
    order = np.argsort((segment - a).astype(np.uint16), kind="stable")
    by_moment, level = segment[order], queue.level[row]
    kinds = (0, 1) if queue.need[1].max() == 1 else (0, 1, 2)
    before = [np.empty_like(segment) for _ in kinds]
    needs = [queue.need[k][row][order] for k in kinds]
    for part, sums in zip(before, ahead(level[order], needs, by_moment, queue.is_mixed), strict=True):
        part[order] = sums
    need = (queue.need[0][row], queue.need[1][row], queue.need[2][row])
    asked = Demand(level, need, (before[0], before[1], before[-1]))
    best, worst = bits(queue.most, segment, asked), bits(queue.least, segment, asked)
    settled = (best == worst) | (best & 7 > 0)
    first, end = queue.edges[segment], queue.edges[segment + 1]
    count = np.where(settled, 1, end - first)
    for c, d in spans(count, PAIRS_AT_ONCE):
        pair, slot = expand(first[c:d], count[c:d])
        pair += c
        code = CODE_OF_BITS[best[pair]]
        loose = np.flatnonzero(~settled[pair])
        code[loose] = CODE_OF_BITS[bits(queue.there, slot[loose], asked.take(pair[loose]))]
        until = np.where(settled[pair], end[pair], slot + 1)
        yield CauseRuns(queue.wait[row[pair]], slot, until, code).joined()


def _deep(queue: _Queue, rows: Ints, stays: Bools, a: int, b: int) -> Bools:
    """Rows so far back in a long queue that those who wait before them all the while take all there is."""
    deep = np.zeros(len(rows), dtype=bool)
    if not stays.any():
        return deep
    level, together = queue.level[rows], np.zeros(len(rows), dtype=np.int64)
    needs = [np.where(stays, part[rows], 0) for part in queue.need]
    for k, before in enumerate(ahead(level, needs, together, queue.is_mixed)):
        # One's own need counts as 1, so that whoever stands behind a deep one is deep too and misses nobody.
        deep |= before >= queue.most.room[k][:, a:b].max(axis=1)[queue.there.bands.of_level[level]]
    return deep
