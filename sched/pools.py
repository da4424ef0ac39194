"""What tenants may still take of their pools while the batch is walked, request by request."""

from sched.books import Books
from sched.job import Job


class PoolShares:
    """Blocks held and tokens left of each tenant with a pool, as the running pass goes on."""

    def __init__(self, batch: Books) -> None:
        pools, ledger = batch.policy.pools, batch.ledger
        assert pools is not None and ledger
        self.ledger, self.iteration, self.shares = ledger, batch.iteration, batch.pool is not None
        self.pools = pools
        self.held = {tenant: ledger.physical_blocks(tenant, batch.iteration - 1) for tenant in pools}
        self.tokens = ledger.tokens_left = {tenant: pool.tokens for tenant, pool in pools.items()}

    def most(self, job: Job, tokens: int) -> int:
        """Tokens that this request may have of its tenant's."""
        left = self.tokens[job.request[3]]
        return tokens if tokens <= left else left

    def lacks(self, job: Job, need_blocks: int) -> bool:
        """Whether its tenant's pool has too few blocks for it."""
        if not need_blocks:
            return False
        tenant = job.request[3]
        return self.held[tenant] + need_blocks > self.pools[tenant].kv_blocks

    def take(self, job: Job, tokens: int, blocks: int) -> None:
        """A request gets tokens and blocks; less than none: they are taken away."""
        tenant = job.request[3]
        self.tokens[tenant] -= tokens
        if blocks:
            self.held[tenant] += blocks
            if self.shares:
                self.held[tenant] = self.ledger.physical_blocks(tenant, self.iteration)


def pools_allow(batch: Books, pieces: list[tuple[Job, int]]) -> bool:
    """Whether all that the batch asks for in this iteration lies within the pools: then nobody is walked."""
    pools, ledger = batch.policy.pools, batch.ledger
    assert pools is not None and ledger
    left = {tenant: pool.tokens - ledger.decoding.get(tenant, 0) for tenant, pool in pools.items()}
    held = {tenant: ledger.physical_blocks(tenant, batch.iteration) for tenant in pools}
    for job, tokens in pieces:
        tenant = job.request.tenant
        left[tenant] -= tokens
        held[tenant] += -(-(job.computed + tokens) // batch.size) - job.held
    if any(left[one] < 0 or held[one] > pool.kv_blocks for one, pool in pools.items()):
        return False
    ledger.tokens_left = left
    return True


def within_pool(batch: Books, job: Job, budget: int) -> int:
    """Tokens that a waiting request may start with; less than none if its tenant has no seat left for it."""
    pools, ledger = batch.policy.pools, batch.ledger
    if pools is None or ledger is None:
        return budget
    tenant = job.request.tenant
    if ledger.seats.get(tenant, 0) >= pools[tenant].seats:
        return -1
    left = ledger.tokens_left[tenant]
    return min(budget, left) if left > 0 else -1


def over_pool(batch: Books, job: Job, need_blocks: int) -> bool:
    """Whether entering with so many blocks more would be more than its tenant may hold."""
    pools, ledger = batch.policy.pools, batch.ledger
    assert pools is not None and ledger
    tenant = job.request.tenant
    return ledger.holding(tenant).kv_blocks + need_blocks > pools[tenant].kv_blocks
