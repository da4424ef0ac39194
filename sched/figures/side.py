"""One run, ready to be drawn at any moment: who waits and since when, who is in the batch, how it looks."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.figures.engines import drawn, one_engine, spread
from sched.figures.looks import level_of_class, look_of_class
from sched.figures.payload import end_ps
from sched.inversion import CauseSpans, Inversion
from sched.log import Ints, Log, Stays
from sched.model import NEVER
from sched.several import JoinedInversion
from sched.supply import LEGITIMATE


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits at a moment; picoseconds. `code` is the cause at that moment.

    `needs` are the blocks that the gate asks for.
    """

    request: int
    from_ps: int
    to_ps: int
    code: int
    needs: int


@dataclass(frozen=True)
class Side:
    """A run of one engine; of several the one that the stage draws. `order` is that of the stays there."""

    log: Log
    spans: CauseSpans
    need: Ints
    """Blocks that the gate asks for in each wait."""

    @cached_property
    def stays(self) -> Stays:
        """Stays in order of request and time."""
        rows = self.log.stays
        order = np.lexsort((rows.iteration, rows.request))
        return Stays(**{name: getattr(rows, name)[order] for name in Stays.__dataclass_fields__})

    @cached_property
    def level(self) -> Ints:
        """Urgency of each request among those present, 0 the most urgent, shape (n,)."""
        return np.unique(self.log.requests.priority, return_inverse=True)[1]

    @cached_property
    def is_flat(self) -> bool:
        """Whether all requests are equally urgent."""
        return len(self.level) == 0 or not self.level.any()

    @cached_property
    def level_of_class(self) -> list[int]:
        """Urgency of each class: that of its most urgent request; beyond all where it has none."""
        return level_of_class(self.log.requests)

    @cached_property
    def role_of_class(self) -> list[int]:
        """Look of each class: the most urgent level 0, the least urgent 2, all between 1; else in turn."""
        return look_of_class(self.log.requests)

    @cached_property
    def role(self) -> Ints:
        """Look of each request, shape (n,)."""
        return np.array(self.role_of_class, np.int64)[self.log.requests.class_index]

    @cached_property
    def inverted(self) -> CauseSpans:
        """Stretches in which a most urgent request waited for lower ones, in order of request and time."""
        spans = self.spans
        rows = np.flatnonzero((spans.code < LEGITIMATE) & (self.level[spans.request] == 0))
        return CauseSpans(**{name: getattr(spans, name)[rows] for name in CauseSpans.__dataclass_fields__})

    @cached_property
    def first_wait_ps(self) -> Ints:
        """Of each row of the spans: when the wait that it belongs to began."""
        wait = self.spans.wait
        begins = np.concatenate(([True], wait[1:] != wait[:-1])) if len(wait) else np.zeros(0, bool)
        return self.spans.from_ps[begins][np.cumsum(begins) - 1] if len(wait) else self.spans.from_ps

    @cached_property
    def last_wait_ps(self) -> Ints:
        """Of each row of the spans: when the wait that it belongs to ended."""
        wait = self.spans.wait
        ends = np.concatenate((wait[1:] != wait[:-1], [True])) if len(wait) else np.zeros(0, bool)
        place = np.concatenate(([0], np.cumsum(ends)[:-1])) if len(wait) else np.zeros(0, np.int64)
        return self.spans.to_ps[ends][place] if len(wait) else self.spans.to_ps

    @cached_property
    def end_ps(self) -> int:
        """Where the replay ends."""
        return end_ps(self.log)

    def moment(self, at_ps: int) -> tuple[int, bool]:
        """The iteration that holds a moment, -1 before the first, and whether it is still in progress."""
        begin = self.log.iteration_start_ps
        place = int(np.searchsorted(begin, at_ps + 1000, "right")) - 1
        if place < 0:
            return -1, False
        return place, at_ps < int(begin[place] + self.log.iteration_duration_ps[place])

    def waiting(self, at_ps: int) -> list[Waiting]:
        """Who waits then: the most urgent first, of those the oldest."""
        spans = self.spans
        rows = np.flatnonzero((spans.from_ps <= at_ps) & (at_ps < spans.to_ps)).tolist()
        arrival = self.log.requests.arrival_ps
        found = [
            Waiting(
                int(spans.request[row]),
                int(self.first_wait_ps[row]),
                int(self.last_wait_ps[row]),
                int(spans.code[row]),
                int(self.need[spans.wait[row]]),
            )
            for row in rows
        ]
        return sorted(found, key=lambda one: (self.level[one.request], arrival[one.request], one.request))

    def running(self, iteration: int, is_busy: bool) -> list[int]:
        """Stays in the batch in an iteration, in order of their admission."""
        if not is_busy:
            return []
        rows = np.flatnonzero((self.stays.iteration <= iteration) & (iteration < self.stays.end_iteration))
        return [int(row) for row in rows[np.argsort(self.stays.seq[rows], kind="stable")]]

    @cached_property
    def worst(self) -> tuple[int, int, int] | None:
        """The most urgent request that waited longest in all, and its longest wait; None if none waited."""
        spans = self.spans
        mine = np.flatnonzero(self.level[spans.request] == 0)
        total = np.zeros(len(self.level), np.int64)
        np.add.at(total, spans.request[mine], (spans.to_ps - spans.from_ps)[mine])
        if not len(total) or not total.max(initial=0):
            return None
        one = int(total.argmax())
        rows = np.flatnonzero(spans.request == one)
        longest = rows[int((self.last_wait_ps - self.first_wait_ps)[rows].argmax())]
        return one, int(self.first_wait_ps[longest]), int(self.last_wait_ps[longest])

    def resting_ps(self) -> int:
        """Where the playhead rests when nobody placed it: late in the worst wait."""
        if self.worst is None:
            return 0
        _, begin, end = self.worst
        return begin + int(0.62 * (end - begin))


def side(log: Log, inversion: Inversion) -> Side:
    """A run to be drawn; of several engines the one that is drawn, over all requests."""
    if log.replicas and isinstance(inversion, JoinedInversion):
        place = drawn(log)
        own = inversion.parts[place]
        return Side(one_engine(log, place), spread(own.spans, log.rows[place]), own.seen.need[0])
    return Side(log, inversion.spans, inversion.seen.need[0])


def until_ps(log: Log) -> Ints:
    """When each request ended; the end of the replay for one that did not."""
    return np.where(log.ended_ps == NEVER, end_ps(log), log.ended_ps)
