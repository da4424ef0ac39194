"""Waiting queues: who is at the head under arrival order, a static rank, or fairness among tenants."""

import heapq
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable, Iterator

from sched.choosing import LineQueue, MovingQueue, StandingOf, StepQueue
from sched.job import Job
from sched.policies.base import Policy, Rank


class ArrivalQueue:
    """First come, first served. O(1)."""

    def __init__(self) -> None:
        self.line: deque[Job] = deque()

    def __len__(self) -> int:
        return len(self.line)

    def push(self, waiter: Job) -> None:
        """To the end of the line."""
        self.line.append(waiter)

    def push_front(self, waiter: Job) -> None:
        """To the head of the line."""
        self.line.appendleft(waiter)

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        return self.line[0]

    def take(self, waiter: Job) -> None:
        """Remove one, usually the head."""
        if self.line[0] is waiter:
            self.line.popleft()
        else:
            self.line.remove(waiter)

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """All of them, first first."""
        return iter(tuple(self.line))


class RankQueue:
    """The smallest static rank first. O(log n)."""

    def __init__(self, policy: Policy, standing: StandingOf) -> None:
        self.policy, self.standing = policy, standing
        self.heap: list[tuple[Rank, Job]] = []

    def __len__(self) -> int:
        return len(self.heap)

    def push(self, waiter: Job) -> None:
        """By its rank, which ends in the id and so is never tied."""
        waiter.rank = self.policy.rank(waiter.request, self.standing(waiter))
        heapq.heappush(self.heap, (waiter.rank, waiter))

    def rerank(self) -> None:
        """The policy's timer has changed what it thinks of everybody."""
        waiters, self.heap = [waiter for _, waiter in self.heap], []
        for waiter in waiters:
            self.push(waiter)

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        return self.heap[0][1]

    def take(self, waiter: Job) -> None:
        """Remove one, usually the head."""
        if self.heap[0][1] is waiter:
            heapq.heappop(self.heap)
        else:
            self.heap.remove((waiter.rank, waiter))
            heapq.heapify(self.heap)

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """All of them, first first."""
        return (waiter for _, waiter in sorted(self.heap))


class Bucket:
    """Neighbours in rank order, with the least that any of them asks for and the most that passed any of
    them.
    """

    __slots__ = ("least", "passed", "rows")

    def __init__(self, rows: list[tuple[Rank, Job]]) -> None:
        self.rows = rows
        self.refresh()

    def refresh(self) -> None:
        """After a change of its rows or of their counts."""
        self.least = min((waiter.floor for _, waiter in self.rows), default=0)
        self.passed = max((waiter.passed for _, waiter in self.rows), default=0)


class ScanQueue:
    """A static rank, kept sorted in buckets, for policies that scan past a misfit: buckets that cannot fit
    are skipped.
    """

    _FULL = 64

    def __init__(self, policy: Policy, standing: StandingOf) -> None:
        self.policy, self.standing = policy, standing
        self.buckets = [Bucket([])]
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def _place(self, rank: Rank) -> int:
        """Which bucket a rank belongs to."""
        low, high = 0, len(self.buckets) - 1
        while low < high:
            middle = (low + high) // 2
            if self.buckets[middle].rows[-1][0] < rank:
                low = middle + 1
            else:
                high = middle
        return low

    def push(self, waiter: Job) -> None:
        """By its rank, which ends in the id and so is never tied."""
        waiter.rank = self.policy.rank(waiter.request, self.standing(waiter))
        place = self._place(waiter.rank)
        bucket = self.buckets[place]
        insort(bucket.rows, (waiter.rank, waiter))
        self.length += 1
        if len(bucket.rows) > self._FULL:
            half = len(bucket.rows) // 2
            self.buckets.insert(place + 1, Bucket(bucket.rows[half:]))
            del bucket.rows[half:]
        bucket.refresh()

    def rerank(self) -> None:
        """The policy's timer has changed what it thinks of everybody."""
        waiters = list(self.in_order(0))
        self.buckets, self.length = [Bucket([])], 0
        for waiter in waiters:
            self.push(waiter)

    def take(self, waiter: Job) -> None:
        """Remove one."""
        place = self._place(waiter.rank)
        bucket = self.buckets[place]
        del bucket.rows[bisect_left(bucket.rows, (waiter.rank,))]
        self.length -= 1
        if bucket.rows or len(self.buckets) == 1:
            bucket.refresh()
        else:
            del self.buckets[place]

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        return self.buckets[0].rows[0][1]

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """All of them, first first; whoever has been given out may be taken meanwhile."""
        for bucket in tuple(self.buckets):
            yield from [waiter for _, waiter in bucket.rows]


class FairQueue:
    """One queue a tenant by rank; the tenant with the smallest counter is next. O(tenants)."""

    def __init__(self, policy: Policy, standing: StandingOf) -> None:
        self.policy, self.standing = policy, standing
        self.of_tenant: dict[str, list[tuple[Rank, Job]]] = {}
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def push(self, waiter: Job) -> None:
        """To its tenant's queue."""
        waiter.rank = self.policy.rank(waiter.request, self.standing(waiter))
        heapq.heappush(self.of_tenant.setdefault(waiter.request.tenant, []), (waiter.rank, waiter))
        self.length += 1

    def tenants(self) -> list[str]:
        """Tenants with somebody waiting, next first."""
        return sorted(self.of_tenant, key=self._turn)

    def _turn(self, tenant: str) -> tuple[Rank, Rank]:
        rank, head = self.of_tenant[tenant][0]
        return self.policy.counter(tenant, head.request), rank

    def head(self, now_ps: int) -> Job:
        """Who is next; the queue is not empty."""
        heaps = self.of_tenant
        one = next(iter(heaps)) if len(heaps) == 1 else min(heaps, key=self._turn)
        return heaps[one][0][1]

    def head_beside(self, passed: set[Hashable], now_ps: int) -> Job | None:
        """Who is next of those whose line was not passed over; a tenant is one line here."""
        heaps = self.of_tenant
        others = [one for one, heap in heaps.items() if self.policy.line(heap[0][1].request) not in passed]
        if not others:
            return None
        return heaps[others[0] if len(others) == 1 else min(others, key=self._turn)][0][1]

    def take(self, waiter: Job) -> None:
        """Remove one, usually a tenant's head."""
        heap = self.of_tenant[waiter.request.tenant]
        if heap[0][1] is waiter:
            heapq.heappop(heap)
        else:
            heap.remove((waiter.rank, waiter))
            heapq.heapify(heap)
        if not heap:
            del self.of_tenant[waiter.request.tenant]
        self.length -= 1

    def in_order(self, now_ps: int) -> Iterator[Job]:
        """Tenant by tenant, next first, as they would be passed over."""
        for tenant in self.tenants():
            yield from (waiter for _, waiter in sorted(self.of_tenant[tenant]))


Queue = ArrivalQueue | RankQueue | ScanQueue | MovingQueue | FairQueue


def queue_for(policy: Policy, standing: StandingOf) -> Queue:
    """The queue that a policy's switches ask for."""
    if policy.arrival_order:
        return ArrivalQueue()
    if policy.fair:
        return FairQueue(policy, standing)
    if policy.by_line and policy.moving:
        return LineQueue(policy, standing)
    if policy.steps and policy.moving and policy.misfit != "pass":
        return StepQueue(policy, standing)
    if policy.moving or policy.reads_cache:
        return MovingQueue(policy, standing)
    return ScanQueue(policy, standing) if policy.misfit == "skip" else RankQueue(policy, standing)
