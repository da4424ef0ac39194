"""Levels that requests sink through as they use time in the batch: what the feedback queues share."""

from typing import Any

from sched.model import PS_PER_S, Request, Standing, StayEnd
from sched.policies.base import Policy, Rank, Scene, as_written


class Levels(Policy):
    """Level 0 goes first, and a waiting request preempts those of lower levels than its own."""

    running_by_rank = True
    displaces_for_waiters = True
    steps = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.quanta_ps = [int(as_written(one) * PS_PER_S) for one in options.quanta]
        self.last = max(0, len(self.quanta_ps) - 1)
        # By ordinal: the level, the time used of it, and, in the batch, since when more is being used.
        self.level: dict[int, int] = {}
        self.used_ps: dict[int, int] = {}
        self.from_ps: dict[int, int] = {}
        self.sank_ps: dict[int, int] = {}

    def entry(self, request: Request) -> int:
        """The level of a new request."""
        return 0

    def risen(self, level: int, waited_ps: int) -> int:
        """The level of one that has waited so long."""
        return level

    def effective(self, request: Request, standing: Standing) -> int:
        """The level in force now."""
        level = self.level.get(request.ordinal, 0)
        waits = request.ordinal not in self.from_ps
        return self.risen(level, standing.now_ps - standing.since_ps) if waits else level

    def rank(self, request: Request, standing: Standing) -> Rank:
        return (self.effective(request, standing), request.arrival_ps, request.id)

    def yields(self, request: Request, standing: Standing) -> Rank:
        return (self.effective(request, standing), request.arrival_ps)

    def displaces(self, waiter: Request, waiting: Standing, holder: Request, held: Standing) -> Rank | None:
        level, own = self.level[holder.ordinal], self.effective(waiter, waiting)
        if level == own and self.sank_ps.get(holder.ordinal) == held.now_ps:
            # Whoever has just sunk begins anew on its level, behind those who came before it.
            is_behind = (holder.arrival_ps, holder.id) > (waiter.arrival_ps, waiter.id)
            return (level, held.admission) if is_behind else None
        return (level, held.admission) if level > own else None

    def arrived(self, request: Request, now_ps: int) -> None:
        self.level[request.ordinal], self.used_ps[request.ordinal] = self.entry(request), 0

    def admitted(self, request: Request, standing: Standing) -> None:
        ordinal, level = request.ordinal, self.effective(request, standing)
        if level < self.level[ordinal]:
            self.level[ordinal], self.used_ps[ordinal] = level, 0
        self.from_ps[ordinal] = standing.now_ps

    def left(self, request: Request, standing: Standing, end: StayEnd) -> None:
        self.used_ps[request.ordinal] += standing.now_ps - self.from_ps.pop(request.ordinal)

    def ended(self, request: Request, emitted_tokens: int) -> None:
        del self.level[request.ordinal], self.used_ps[request.ordinal]
        self.sank_ps.pop(request.ordinal, None)

    def turns_ps(self, request: Request, now_ps: int) -> int | None:
        ordinal = request.ordinal
        level = self.level[ordinal]
        if level >= self.last:
            return None
        return self.from_ps[ordinal] + self.quanta_ps[level] - self.used_ps[ordinal]

    def turned(self, request: Request, now_ps: int) -> None:
        due_ps = self.turns_ps(request, now_ps)
        # A boost meanwhile has moved the moment on.
        if due_ps is not None and due_ps <= now_ps:
            self.level[request.ordinal] += 1
            self.sank_ps[request.ordinal] = now_ps
            self.used_ps[request.ordinal], self.from_ps[request.ordinal] = 0, now_ps
