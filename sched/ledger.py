"""What a policy is told of the run, and what is counted for it alone: tenants' holdings, and the moments at
which a running request's standing changes.

There is one only where a policy asks for any of this, so that the others pay nothing.
"""

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Protocol

from sched.job import Job
from sched.kv import Decoders, PrefixPool
from sched.model import Holding, Machine, Pool, Standing, StayEnd
from sched.policies.base import Policy, overrides


class Crowd(Protocol):
    """What the ledger reads of a batch."""

    machine: Machine
    policy: Policy
    pool: PrefixPool | None
    iteration: int
    running: list[Job]

    def standing(self, job: Job) -> Standing:
        """How far a request has come."""


def asks_for_ledger(policy: Policy) -> bool:
    """Whether the policy wants to hear of anything, or counts what tenants hold."""
    heard = ("served", "computed", "ran", "arrived", "admitted", "left", "ended", "turns_ps", "turns_tokens")
    return (
        policy.fair
        or policy.counts_holdings
        or policy.pools is not None
        or overrides(policy, *heard, "queued", "unqueued", "choosing", "work")
    )


class Ledger:
    """Keeps the policy informed. Per tenant: straight decoders (`decoding`), explicit blocks, seats."""

    def __init__(self, batch: Crowd) -> None:
        self.batch, self.policy = batch, batch.policy
        self.decoding: dict[str, int] = {}
        self.counts_served = overrides(self.policy, "served")
        self.counts_computed = overrides(self.policy, "computed")
        self.counts_runs = overrides(self.policy, "ran")
        self.tells_admitted = overrides(self.policy, "admitted")
        self.tells_left = overrides(self.policy, "left")
        self.turns = overrides(self.policy, "turns_ps")
        self.outlives = overrides(self.policy, "turns_tokens")
        self.by_tenant = self.policy.counts_holdings or self.policy.pools is not None
        self.straight: dict[str, Decoders] = {}
        self.explicit: dict[str, int] = {}
        self.promised: dict[str, int] = {}
        self.seats: dict[str, int] = {}
        self.works = overrides(self.policy, "work")
        self.work_of: dict[int, int] = {}
        self.work = 0
        self.turning: list[tuple[int, int, Job]] = []
        self.outliving: list[tuple[int, int, Job]] = []
        self.tokens_left: dict[str, int] = {}
        """Of the tenants' pools, in the iteration at hand."""
        self.policy.holding = self.holding

    # -- tenants

    def holding(self, tenant: str) -> Holding:
        """What a tenant's running requests hold in the iteration at hand; shared blocks once."""
        return Holding(self.blocks_of(tenant, self.batch.iteration), self.seats.get(tenant, 0))

    def blocks_of(self, tenant: str, iteration: int) -> int:
        """Blocks of a tenant in an iteration; under the peak gate: those promised."""
        if self.batch.machine.gate == "peak":
            return self.promised.get(tenant, 0)
        return self.physical_blocks(tenant, iteration)

    def physical_blocks(self, tenant: str, iteration: int) -> int:
        """Blocks that a tenant's running requests really hold in an iteration; shared blocks once."""
        if self.batch.pool:
            own = (job for job in self.batch.running if job.request.tenant == tenant)
            return len({block for job in own for block in job.blocks})
        straight, held = self.straight.get(tenant), self.explicit.get(tenant, 0)
        return held + straight.held(iteration) if straight and straight.count else held

    def held(self, job: Job, more: int) -> None:
        """An explicit request holds so many more blocks."""
        if self.by_tenant:
            tenant = job.request.tenant
            self.explicit[tenant] = self.explicit.get(tenant, 0) + more

    def pools_stand(self, pools: Iterable[tuple[str, Pool]], iteration: int) -> bool:
        """Whether no tenant has outgrown its pool by that iteration, if all decode straight."""
        return all(self.blocks_of(tenant, iteration) <= pool.kv_blocks for tenant, pool in pools)

    # -- the batch

    def admitted(self, job: Job, cached_tokens: int) -> None:
        """A request enters, before its place in the running pass is decided; so much of it was cached."""
        policy, tenant = self.policy, job.request.tenant
        if self.tells_admitted:
            standing = self.batch.standing(job)
            if cached_tokens:
                standing = standing._replace(cached_tokens=cached_tokens)
            policy.admitted(job.request, standing)
        if self.by_tenant:
            self.seats[tenant] = self.seats.get(tenant, 0) + 1
            self.promised[tenant] = self.promised.get(tenant, 0) + job.peak
        if self.works:
            self.work_of[job.ordinal] = policy.work(job.request, self.batch.standing(job))
            self.work += self.work_of[job.ordinal]
        if self.turns:
            self.plan_turn(job, self.batch.standing(job).now_ps)

    def left(self, job: Job, end: StayEnd, at_ps: int, unheard: int) -> None:
        """A request leaves; it is explicit by now. `unheard` tokens came out after its client had gone."""
        tenant = job.request.tenant
        if self.by_tenant:
            self.seats[tenant] -= 1
            self.promised[tenant] -= job.peak
        if self.works:
            self.work -= self.work_of.pop(job.ordinal)
        if self.tells_left:
            standing = self.batch.standing(job)
            emitted = standing.emitted_tokens - unheard
            self.policy.left(job.request, standing._replace(now_ps=at_ps, emitted_tokens=emitted), end)

    def went_straight(self, job: Job) -> None:
        """A request decodes straight from now on."""
        tenant = job.request.tenant
        self.decoding[tenant] = self.decoding.get(tenant, 0) + 1
        if self.by_tenant:
            if tenant not in self.straight:
                self.straight[tenant] = Decoders(self.batch.machine.block_size)
            self.straight[tenant].add(job.offset)
        if self.outlives:
            self.plan_outliving(job, job.computed + 1 - job.request.prompt_tokens)

    def stopped(self, job: Job) -> None:
        """It does so no more."""
        self.decoding[job.request.tenant] -= 1
        if self.by_tenant:
            self.straight[job.request.tenant].remove(job.offset)

    def flown(self, count: int, pieces: list[tuple[Job, int]]) -> None:
        """So many iterations have run with these pieces beside the straight decoders."""
        policy = self.policy
        if self.counts_served:
            for tenant, straight in self.decoding.items():
                policy.served(tenant, straight * count)
            for job, tokens in pieces:
                if job.computed + tokens == job.known:
                    policy.served(job.request[3], 1)
        if self.counts_computed:
            for tenant, straight in self.decoding.items():
                policy.computed(tenant, straight * count)
            for job, tokens in pieces:
                policy.computed(job.request[3], tokens)
        if self.counts_runs:
            policy.ran(count)

    # -- moments at which a standing changes

    def plan_turn(self, job: Job, now_ps: int) -> None:
        """Ask when this running request's standing changes by time."""
        at_ps = self.policy.turns_ps(job.request, now_ps)
        if at_ps is not None:
            heappush(self.turning, (at_ps, job.admission, job))

    def due(self, now_ps: int) -> list[Job]:
        """Running requests whose time has come, in that order."""
        found: dict[Job, None] = {}
        while self.turning and self.turning[0][0] <= now_ps:
            _, admission, job = heappop(self.turning)
            if job.admission == admission:
                found[job] = None
        return list(found)

    def next_turn_ps(self) -> int | None:
        """When the next of them comes."""
        while self.turning and self.turning[0][2].admission != self.turning[0][1]:
            heappop(self.turning)
        return self.turning[0][0] if self.turning else None

    def plan_outliving(self, job: Job, emitted_tokens: int) -> None:
        """Ask at which token this straight decoder's standing changes."""
        tokens = self.policy.turns_tokens(job.request, emitted_tokens)
        if tokens is not None:
            at = tokens + job.request.prompt_tokens - 1 - job.offset
            heappush(self.outliving, (at, job.admission, job))

    def next_outliving(self, iteration: int) -> int | None:
        """The first later iteration in which a straight decoder's standing changes by its tokens."""
        heap = self.outliving
        while heap:
            at, admission, job = heap[0]
            if job.straight and job.admission == admission:
                if at > iteration:
                    return at
                heappop(heap)
                self.plan_outliving(job, iteration + job.offset + 1 - job.request.prompt_tokens)
            else:
                heappop(heap)
        return None
