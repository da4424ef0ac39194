"""The running pass of an iteration: who of the batch gets tokens, and who is thrown out of it for want of a
block.

The rules are those of vLLM 0.33, v1/core/sched/scheduler.py; each departure is a switch of the policy, off
for `fcfs` and `priority`. The walk over the whole batch, request by request, is taken only in iterations in
which somebody gets less than it asks for.
"""

from bisect import bisect_left

from sched.batch import Batch
from sched.job import Job
from sched.model import StayEnd
from sched.needs import asks, blocked, closed_before, urgent_blocks
from sched.policies.base import kept
from sched.pools import PoolShares, pools_allow
from sched.slices import Slices


def running_pass(batch: Batch) -> None:
    """Give tokens to the batch. In the plain case sums decide; else it is walked one by one."""
    straight = batch.straight
    batch.pieces = []
    batch.moved_tokens = 0
    if batch.preempted:
        batch.preempted = []
    batch.straight_held = straight.held(batch.iteration) if straight.count else 0
    if not batch.plain:
        return _sliced(batch)
    budget = batch.token_budget - straight.count
    if budget < 0:
        return _walk(batch)
    if batch.explicit:
        return _plain_pieces(batch, budget)
    if batch.explicit_held + batch.straight_held > batch.kv_blocks:
        return _walk(batch)
    batch.budget = budget


def _sliced(batch: Batch) -> None:
    """As `running_pass`, with a threshold, slices of tokens, a guard against growth, tenants' pools, or
    prefix caching.
    """
    machine, straight, slices = batch.machine, batch.straight, batch.slices
    if machine.long_prefill_token_threshold:
        batch.threshold = threshold_in_force(batch)
    budget = batch.token_budget - straight.count
    decoders: list[int] = []
    if slices:
        slices.open(batch.token_budget, _demand(batch, slices) if slices.lends else slices.sizes)
        decoders = [job.tier for job in batch.running if job.straight and job.tier]
        if batch.explicit or any(
            sum(1 for tier in decoders if tier > place) > left for place, left in enumerate(slices.left)
        ):
            return _walk(batch)
    if budget < 0 or batch.pool is not None:
        return _walk(batch)
    if batch.explicit:
        return _plain_pieces(batch, budget)
    if batch.explicit_held + batch.straight_held + _guarded(batch) > batch.kv_blocks:
        return _walk(batch)
    if batch.policy.pools is not None and not pools_allow(batch, []):
        return _walk(batch)
    for tier in decoders if slices else ():
        slices.take(tier, 1)  # type: ignore[union-attr]
    batch.budget = budget


def _guarded(batch: Batch) -> int:
    """Blocks that growth of lower classes must leave free in this iteration."""
    aside = batch.aside
    if aside is None or not aside.guard_growth:
        return 0
    return kept(aside, max(0, aside.kv_blocks - urgent_blocks(batch)))


def threshold_in_force(batch: Batch) -> int:
    """The cap on a prefill chunk in this iteration; 0: none. A lone request is not capped."""
    machine = batch.machine
    present = len(batch.running) + batch.waiting
    if present <= 1:
        return 0
    threshold = machine.long_prefill_token_threshold
    return (
        max(threshold, machine.max_num_batched_tokens // present) if machine.adaptive_threshold else threshold
    )


def _plain_pieces(batch: Batch, budget: int) -> None:
    """Pieces of those still prefilling, if everybody behind them still gets its token and everybody its
    block.
    """
    size, threshold, pieces = batch.machine.block_size, batch.threshold, []
    used = batch.explicit_held + batch.straight_held
    for index, job in enumerate(batch.explicit):
        want = job.known - job.computed
        if want > threshold > 0:
            want = threshold
        if want > budget:
            behind = len(batch.running) - bisect_left(batch.orders, job.order) - len(batch.explicit) + index
            if behind:
                return _walk(batch)
            if not budget:
                break
            want = budget
        budget -= want
        used += -(-(job.computed + want) // size) - job.held
        pieces.append((job, want))
    if used > batch.machine.kv_blocks or (batch.aside is not None and batch.aside.guard_growth):
        return _walk(batch)
    if batch.policy.pools is not None and not pools_allow(batch, pieces):
        return _walk(batch)
    for job, want in pieces:
        batch.hold(job, -(-(job.computed + want) // size))
    batch.pieces = pieces
    batch.budget = budget


def _walk(batch: Batch) -> None:
    """The running pass request by request, with preemptions where a block is missing."""
    running, iteration, size, slices = batch.running, batch.iteration, batch.machine.block_size, batch.slices
    budget, threshold = batch.machine.max_num_batched_tokens, batch.threshold
    free = batch.kv_blocks - batch.used_before(iteration)
    shares = PoolShares(batch) if batch.policy.pools is not None else None
    granted: dict[Job, int] = {}
    index = 0
    while index < len(running) and budget > 0:
        job = running[index]
        computed = iteration + job.offset if job.straight else job.computed
        want = 1 if job.straight else 0 if job in batch.parked else job.known - computed
        if want > threshold > 0:
            want = threshold
        want = min(want, slices.most(job, budget) if slices else budget)
        if shares:
            want = shares.most(job, want)
        need = -(-(computed + want) // size) - -(-computed // size)
        while need > free - (_guarded_in_walk(batch, granted) if need and not job.urgent else 0) or (
            shares and shares.lacks(job, need)
        ):
            victim = _victim(batch, free, job.request.tenant if shares and need <= free else None)
            back = granted.pop(victim, 0)
            budget += back
            if slices:
                slices.take(victim.tier, -back)
            index -= running.index(victim) < index
            blocks = _preempt_in_walk(batch, victim, job, back)
            free += blocks
            if shares:
                shares.take(victim, -back, -blocks)
            if victim is job:
                break
        else:
            if want > 0:
                if batch.pool:
                    batch.grow(batch.pool, job, computed, want)
                    free = batch.pool.free()
                else:
                    free -= need
                if not job.straight:
                    batch.hold(job, -(-(computed + want) // size))
                granted[job] = want
                budget -= want
                if slices:
                    slices.take(job.tier, want)
                if shares:
                    shares.take(job, want, need)
            index += 1
    _settle_walk(batch, granted)
    batch.budget = budget


def _settle_walk(batch: Batch, granted: dict[Job, int]) -> None:
    """Whoever got no token is no straight decoder any more; the others keep what they were granted."""
    iteration = batch.iteration
    for job in [job for job in batch.running if job.straight and job not in granted]:
        batch.materialise(job, iteration)
    batch.pieces = [(job, want) for job, want in granted.items() if not job.straight]
    batch.straight_held = batch.straight.held(iteration) if batch.straight.count else 0


def _guarded_in_walk(batch: Batch, granted: dict[Job, int]) -> int:
    """As `_guarded`, while some of the straight decoders have their block of this iteration and some have
    not.
    """
    aside = batch.aside
    if aside is None or not aside.guard_growth:
        return 0
    held = urgent_blocks(batch)
    if not batch.by_peak and batch.pool is None:
        held = batch.urgent_held
        for job in batch.running:
            if job.urgent and job.straight:
                held += batch.held_by(job, job in granted)
    return kept(aside, max(0, aside.kv_blocks - held))


def _preempt_in_walk(batch: Batch, victim: Job, grower: Job, granted: int) -> int:
    """Preempt for a running request; how many blocks come free."""
    if batch.pool:
        before = batch.pool.free()
        batch.preempt(victim, grower, StayEnd.OUTGROWN)
        return batch.pool.free() - before
    held = batch.held_by(victim, granted)
    batch.preempt(victim, grower, StayEnd.OUTGROWN)
    return held


def _victim(batch: Batch, free: int, tenant: str | None = None) -> Job:
    """Who yields its KV to a running request that cannot grow; of one tenant, if it has outgrown its pool."""
    policy = batch.policy
    if policy.lifts_holders:
        # In the order of the queue, which is by priority first.
        levels = (
            job.request.priority for job in batch.queue.in_order(batch.now_ps) if blocked(batch, job, free)
        )
        policy.lift(next(levels, None))
    holders = [job for job in batch.running if job not in batch.parked] if batch.parked else batch.running
    if tenant is not None:
        holders = [job for job in holders if job.request.tenant == tenant]
    # Of equals the longest admitted, as in the real scheduler's batch list.
    standing = batch.standing
    return max(holders, key=lambda job: (policy.yields(job.request, standing(job)), -job.admission))


def _demand(batch: Batch, slices: Slices) -> list[int]:
    """Tokens that the requests of each level could use in this iteration, running or about to enter."""
    threshold, wants = batch.threshold, [0] * len(slices.levels)

    def add(job: Job, tokens: int) -> None:
        wants[job.tier] += threshold if tokens > threshold > 0 else tokens

    for job in batch.running:
        if job.tier < len(wants):
            add(job, 1 if job.straight else job.known - job.computed)
    seats = batch.machine.max_num_seqs - len(batch.running)
    free = batch.kv_blocks - (batch.promised if batch.by_peak else batch.used_before(batch.iteration))
    taken, counted = 0, False
    for job in batch.queue.in_order(batch.now_ps):
        if all(want >= size for want, size in zip(wants, slices.sizes, strict=True)):
            break
        if job.tier < len(wants):
            need, room, want = asks(batch, job, bool(batch.running) or counted, free)
            seats, taken, counted = seats - 1, taken + need, True
            least_room, least_seats = (0, 0) if job.urgent else closed_before(batch)
            if seats < least_seats or room - taken < least_room:
                break
            wants[job.tier] += want
    return wants
