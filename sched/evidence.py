"""Everything about one run that causes and blame are worked out from, put together once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.causes import CauseRuns, cause_runs
from sched.log import Ints, Log
from sched.occupancy import Pieces, Timeline, pieces, timeline
from sched.supply import Levels, Supply, levels, supply
from sched.waits import Waits, needed_blocks, needed_tokens, queue_order, waits


@dataclass(frozen=True, eq=False)
class Evidence:
    """A run's timeline, who held what, who waited when, and the cause of every wait."""

    log: Log
    time: Timeline
    held: Pieces
    levels: Levels
    there: Supply
    waits: Waits
    runs: CauseRuns

    @cached_property
    def need(self) -> tuple[Ints, Ints, Ints]:
        """What each wait needs to end, by resource."""
        found = self.waits
        return needed_blocks(self.log, found), needed_tokens(self.log, found), np.ones(len(found), np.int64)

    @cached_property
    def lower(self) -> tuple[Ints, Ints, Ints]:
        """What the bands of levels below each one hold in each slot, by resource, shape (bands, slots)."""
        held = self.levels.held
        own = (held.claimed, held.tokens, held.seats)
        blocks, tokens, seats = (self.time.spread(part.sum(axis=0) - np.cumsum(part, axis=0)) for part in own)
        return blocks, tokens, seats

    def lower_at(self, level: Ints, slot: Ints) -> tuple[Ints, Ints, Ints]:
        """What the levels below each of these hold in these slots, by resource."""
        bands = self.levels.bands
        at = bands.of_level[level] * len(self.time.iteration) + slot
        blocks, tokens, seats = (part.ravel()[at] for part in self.lower)
        if len(some := np.flatnonzero(bands.is_shared[level])):
            held, above = self.levels.held, self.levels.holders.above(level[some], slot[some])
            own = (held.claimed, held.tokens, held.seats)
            for found, part, upper in zip((blocks, tokens, seats), own, above, strict=True):
                found[some] = self.time.spread(part.sum(axis=0))[slot[some]] - upper
        return blocks, tokens, seats

    @cached_property
    def place(self) -> Ints:
        """Place of each wait in the order of the queue."""
        order = queue_order(self.log, self.waits)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return place

    def passed(self, wait: int, until_ps: int) -> list[int]:
        """Lower requests admitted during a wait up to and including a moment, in order of admission."""
        stays = self.log.stays
        lower = self.levels.of_request[stays.request] > self.levels.of_request[self.waits.request[wait]]
        lower &= (stays.start_ps >= self.waits.from_ps[wait]) & (stays.start_ps < self.waits.to_ps[wait])
        rows = np.flatnonzero(lower & (stays.start_ps <= until_ps))
        found: list[int] = stays.request[rows[np.argsort(stays.seq[rows])]].tolist()
        return found

    def level(self, wait: Ints) -> Ints:
        """Level of urgency of these waits' requests, 0 the most urgent."""
        return self.levels.of_request[self.waits.request[wait]]


def evidence(log: Log, watch: Callable[[], object] | None = None) -> Evidence:
    """Work out who held what and why each request waited. `watch` is called now and then."""
    time, held, found = timeline(log), pieces(log), waits(log)
    by_level = levels(log, time, held)
    there = supply(log, time, by_level)
    runs = cause_runs(log, time, by_level, there, found, watch)
    return Evidence(log, time, held, by_level, there, found, runs)
