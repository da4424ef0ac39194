"""Waiting queues whose order is made when it is asked for, because ranks move."""

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Iterator

from sched.job import Job
from sched.model import Standing
from sched.policies.base import Policy, Rank

StandingOf = Callable[[Job], Standing]


class MovingQueue:
    """A rank that depends on the clock: asked anew at each decision. O(n)."""

    def __init__(self, policy: Policy, standing: StandingOf) -> None:
        self.policy, self.standing = policy, standing
        self.crowd: list[Job] = []

    def __len__(self) -> int:
        return len(self.crowd)

    def push(self, waiter: Job) -> None:
        """Anywhere: the order is made when it is asked for."""
        self.crowd.append(waiter)

    def _rank(self, waiter: Job) -> Rank:
        return self.policy.rank(waiter.request, self.standing(waiter))

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        return min(self.crowd, key=self._rank)

    def head_beside(self, passed: set[Hashable], now_ps: int) -> Job | None:
        """Who is next of those whose line was not passed over."""
        line = self.policy.line
        others = [waiter for waiter in self.crowd if line(waiter.request) not in passed]
        return min(others, key=self._rank, default=None)

    def tenants(self) -> list[str]:
        """Tenants with somebody waiting, in no order that matters."""
        return list(dict.fromkeys(waiter.request.tenant for waiter in self.crowd))

    def take(self, waiter: Job) -> None:
        """Remove one."""
        self.crowd.remove(waiter)

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """All of them, first first."""
        return iter(sorted(self.crowd, key=self._rank))

    def stands_until_ps(self, now_ps: int) -> int | None:
        """When the order may next change by the clock alone."""
        return self.policy.order_stands_until_ps(
            [(waiter.request, self.standing(waiter)) for waiter in self.crowd]
        )


class StepQueue(MovingQueue):
    """A rank that changes only at the moments that its policy names: O(log n).

    Whoever joins, or whose moment has come, is ranked when the head is next asked for.
    """

    def __init__(self, policy: Policy, standing: StandingOf) -> None:
        super().__init__(policy, standing)
        self.ranks: dict[Job, Rank | None] = {}
        self.heap: list[tuple[Rank, Job]] = []
        self.unranked: list[Job] = []
        self.moments: list[tuple[int, Rank, Job]] = []

    def __len__(self) -> int:
        return len(self.ranks)

    def push(self, waiter: Job) -> None:
        """To be ranked."""
        self.ranks[waiter] = None
        self.unranked.append(waiter)

    def rerank(self) -> None:
        """The policy's timer has changed what it thinks of everybody."""
        self.unranked, self.heap, self.moments = list(self.ranks), [], []

    def tenants(self) -> list[str]:
        """Tenants with somebody waiting, in no order that matters."""
        return list(dict.fromkeys(waiter.request.tenant for waiter in self.ranks))

    def take(self, waiter: Job) -> None:
        """Remove one; what the heaps still say of it no longer counts."""
        del self.ranks[waiter]

    def _settle(self, now_ps: int) -> None:
        """Rank whoever has no rank for this moment."""
        while self.moments and self.moments[0][0] <= now_ps:
            _, rank, waiter = heapq.heappop(self.moments)
            if self.ranks.get(waiter) == rank:
                self.unranked.append(waiter)
        for waiter in self.unranked:
            if waiter not in self.ranks:
                continue
            standing = self.standing(waiter)
            rank = self.ranks[waiter] = self._enter(waiter, standing)
            moment = self.policy.stands_until_ps(waiter.request, standing)
            if moment is not None:
                heapq.heappush(self.moments, (moment, rank, waiter))
        self.unranked.clear()

    def _enter(self, waiter: Job, standing: Standing) -> Rank:
        """Into the heap; returns by what the entry is known to be the last one."""
        rank = self.policy.rank(waiter.request, standing)
        heapq.heappush(self.heap, (rank, waiter))
        return rank

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        self._settle(now_ps)
        while self.ranks.get(self.heap[0][1]) != self.heap[0][0]:
            heapq.heappop(self.heap)
        return self.heap[0][1]

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """All of them, first first."""
        self._settle(now_ps)
        return (waiter for _, waiter in sorted((rank, waiter) for waiter, rank in self.ranks.items()))

    def stands_until_ps(self, now_ps: int) -> int | None:
        """When the order may next change by the clock alone."""
        self._settle(now_ps)
        while self.moments and self.ranks.get(self.moments[0][2]) != self.moments[0][1]:
            heapq.heappop(self.moments)
        return self.moments[0][0] if self.moments else None


class LineQueue(StepQueue):
    """Lines whose order among each other is asked anew at each choice; within a line it is that of arrival.
    Whom a line holds changes only at the moments that the policy names. O(lines) a choice.
    """

    def __init__(self, policy: Policy, standing: StandingOf) -> None:
        super().__init__(policy, standing)
        self.lines: dict[Hashable, list[tuple[Rank, Job]]] = {}
        self.of_tenant: Counter[str] = Counter()

    def push(self, waiter: Job) -> None:
        """To be ranked."""
        super().push(waiter)
        self.of_tenant[waiter.request.tenant] += 1

    def take(self, waiter: Job) -> None:
        """Remove one."""
        super().take(waiter)
        self.of_tenant[waiter.request.tenant] -= 1

    def tenants(self) -> list[str]:
        """Tenants with somebody waiting, in no order that matters."""
        return [tenant for tenant, count in self.of_tenant.items() if count]

    def rerank(self) -> None:
        """The policy's timer has changed what it thinks of everybody."""
        self.lines = {}
        super().rerank()

    def _enter(self, waiter: Job, standing: Standing) -> Rank:
        """Into its line, behind those who came before."""
        request = waiter.request
        line, place = self.policy.lined(request, standing), (request.arrival_ps, request.id)
        heapq.heappush(self.lines.setdefault(line, []), (place, waiter))
        return (line, *place)

    def _heads(self, passed: set[Hashable]) -> list[Job]:
        """The first of every line that was not passed over."""
        found = []
        for line, heap in list(self.lines.items()):
            while heap and self.ranks.get(heap[0][1]) != (line, *heap[0][0]):
                heapq.heappop(heap)
            if not heap:
                del self.lines[line]
            elif line not in passed:
                found.append(heap[0][1])
        return found

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        self._settle(now_ps)
        heads = self._heads(set())
        return heads[0] if len(heads) == 1 else min(heads, key=self._rank)

    def head_beside(self, passed: set[Hashable], now_ps: int) -> Job | None:
        """Who is next of those whose line was not passed over."""
        self._settle(now_ps)
        heads = self._heads(passed)
        return heads[0] if len(heads) == 1 else min(heads, key=self._rank, default=None)

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """All of them, first first."""
        return iter(sorted(self.ranks, key=self._rank))
