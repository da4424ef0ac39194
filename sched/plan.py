"""Forms one iteration: who gets tokens, who is thrown out of the batch, who enters it.

The rules are those of vLLM 0.33, v1/core/sched/scheduler.py; each departure is a switch of the policy, off for `fcfs`
and `priority`. The walk over the whole batch, request by request, is taken only in iterations in which somebody gets
less than it asks for.
"""

from bisect import bisect_left
from collections import Counter

from sched.batch import Batch, Job
from sched.model import RefusalCode, SetAside, StayEnd
from sched.policies.base import kept
from sched.policies.queue import Bucket, ScanQueue


def running_pass(batch: Batch) -> None:
    """Give tokens to the batch. In the plain case sums decide; else it is walked one by one."""
    machine, straight = batch.machine, batch.straight
    batch.pieces = []
    if batch.preempted:
        batch.preempted = []
    if machine.long_prefill_token_threshold:
        batch.threshold = threshold_in_force(batch)
    batch.straight_held = straight.held(batch.iteration) if straight.count else 0
    budget = lower_budget = machine.max_num_batched_tokens - straight.count
    lower_tokens = machine.max_num_batched_tokens
    if batch.aside is not None and batch.aside.tokens:
        lower_tokens = _lower_tokens(batch)
        if batch.explicit or straight.count > lower_tokens:
            return _walk(batch, lower_tokens)
        lower_budget = lower_tokens - straight.count + batch.urgent_straight.count
    if budget < 0 or batch.pool is not None:
        return _walk(batch, lower_tokens)
    if batch.explicit:
        return _plain_pieces(batch, budget)
    if batch.explicit_held + batch.straight_held + _guarded(batch) > machine.kv_blocks:
        return _walk(batch, lower_tokens)
    batch.budget, batch.lower_budget = budget, lower_budget


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
    return max(threshold, machine.max_num_batched_tokens // present) if machine.adaptive_threshold else threshold


def _plain_pieces(batch: Batch, budget: int) -> None:
    """Pieces of those still prefilling, if everybody behind them still gets its token and everybody its block."""
    size, threshold, pieces = batch.machine.block_size, batch.threshold, []
    used = batch.explicit_held + batch.straight_held
    for index, job in enumerate(batch.explicit):
        want = job.known - job.computed
        if want > threshold > 0:
            want = threshold
        if want > budget:
            behind = len(batch.running) - bisect_left(batch.orders, job.order) - len(batch.explicit) + index
            if behind:
                return _walk(batch, batch.machine.max_num_batched_tokens)
            if not budget:
                break
            want = budget
        budget -= want
        used += -(-(job.computed + want) // size) - job.held
        pieces.append((job, want))
    if used > batch.machine.kv_blocks or (batch.aside is not None and batch.aside.guard_growth):
        return _walk(batch, batch.machine.max_num_batched_tokens)
    for job, want in pieces:
        batch.hold(job, -(-(job.computed + want) // size))
    batch.pieces = pieces
    batch.budget = batch.lower_budget = budget


def _walk(batch: Batch, lower_budget: int) -> None:
    """The running pass request by request, with evictions where a block is missing."""
    running, iteration, size = batch.running, batch.iteration, batch.machine.block_size
    budget, threshold = batch.machine.max_num_batched_tokens, batch.threshold
    batch.straight_held = batch.straight.held(iteration - 1) if batch.straight.count else 0
    free = len(batch.pool.free) if batch.pool else batch.machine.kv_blocks - batch.used()
    granted: dict[Job, int] = {}
    index = 0
    while index < len(running) and budget > 0:
        job = running[index]
        computed = iteration + job.offset if job.straight else job.computed
        want = 1 if job.straight else 0 if job in batch.parked else job.known - computed
        if want > threshold > 0:
            want = threshold
        want = min(want, budget if job.urgent else min(budget, lower_budget))
        need = -(-(computed + want) // size) - -(-computed // size)
        while need > free - (_guarded_in_walk(batch, granted) if need and not job.urgent else 0):
            victim = _victim(batch, free)
            back = granted.pop(victim, 0)
            budget += back
            lower_budget += 0 if victim.urgent else back
            index -= running.index(victim) < index
            free += _evict_in_walk(batch, victim, job, back)
            if victim is job:
                break
        else:
            if want > 0:
                if batch.pool:
                    batch.grow(batch.pool, job, computed, want)
                    free = len(batch.pool.free)
                else:
                    free -= need
                if not job.straight:
                    batch.hold(job, -(-(computed + want) // size))
                granted[job] = want
                budget -= want
                lower_budget -= 0 if job.urgent else want
            index += 1
    for job in [job for job in running if job.straight and job not in granted]:
        batch.materialise(job)
    batch.pieces = [(job, want) for job, want in granted.items() if not job.straight]
    batch.straight_held = batch.straight.held(iteration) if batch.straight.count else 0
    batch.budget, batch.lower_budget = budget, lower_budget


def _guarded_in_walk(batch: Batch, granted: dict[Job, int]) -> int:
    """As `_guarded`, while some of the straight decoders have their block of this iteration and some have not."""
    aside, size = batch.aside, batch.machine.block_size
    if aside is None or not aside.guard_growth:
        return 0
    held = batch.urgent_promised
    if batch.machine.gate != "peak":
        held = batch.urgent_held
        for job in batch.running:
            if job.urgent and job.straight:
                held += -(-(batch.iteration + job.offset + (job in granted)) // size)
    return kept(aside, max(0, aside.kv_blocks - held))


def _evict_in_walk(batch: Batch, victim: Job, grower: Job, granted: int) -> int:
    """Evict for a running request; how many blocks come free."""
    if batch.pool:
        before = len(batch.pool.free)
        batch.evict(victim, grower, StayEnd.OUTGROWN)
        return len(batch.pool.free) - before
    size = batch.machine.block_size
    held = -(-(batch.iteration + victim.offset + granted) // size) if victim.straight else victim.held
    batch.evict(victim, grower, StayEnd.OUTGROWN)
    return held


def _victim(batch: Batch, free: int) -> Job:
    """Who yields its KV to a running request that cannot grow."""
    policy = batch.policy
    if policy.lifts_holders:
        # In the order of the queue, which is by priority first.
        levels = (job.request.priority for job in batch.queue.in_order(batch.now_ps) if _asks(batch, job, True)[0] > free)
        policy.lift(next(levels, None))
    holders = [job for job in batch.running if job not in batch.parked] if batch.parked else batch.running
    # Of equals the longest admitted, as in the real scheduler's batch list.
    return max(holders, key=lambda job: (policy.yields(job.request, job.admission), -job.admission))


def _asks(batch: Batch, job: Job, in_company: bool) -> tuple[int, int]:
    """Blocks and tokens that a waiting request asks for now, whatever the seats and the tokens left."""
    hits = _hits(batch, job) if batch.pool else []
    job.hit = len(hits) * batch.machine.block_size
    piece = job.known - job.hit
    piece = min(batch.threshold or piece, piece)
    need = _gate_need(batch, job, min(piece, batch.machine.max_num_batched_tokens)) - len(hits)
    need += batch.machine.watermark_blocks if in_company else 0
    return need + batch.pool.idle(hits) if batch.pool else need, piece


def _lower_tokens(batch: Batch) -> int:
    """Tokens that lower classes together may use in this iteration when a slice of the budget is set aside."""
    budget, aside, threshold = batch.machine.max_num_batched_tokens, batch.aside, batch.threshold
    assert aside
    if not aside.lend:
        return budget - aside.tokens

    def piece(tokens: int) -> int:
        return threshold if tokens > threshold > 0 else tokens

    wants = sum(piece(1 if job.straight else job.known - job.computed) for job in batch.running if job.urgent)
    seats = batch.machine.max_num_seqs - len(batch.running)
    batch.straight_held = batch.straight.held(batch.iteration - 1) if batch.straight.count else 0
    room = batch.room()
    batch.straight_held = batch.straight.held(batch.iteration) if batch.straight.count else 0
    counted = False
    for job in batch.queue.in_order(batch.now_ps):
        if wants >= aside.tokens:
            break
        if job.urgent:
            need, want = _asks(batch, job, bool(batch.running) or counted)
            seats, room, counted = seats - 1, room - need, True
            if seats < 0 or room < 0:
                break
            wants += want
    return budget - min(aside.tokens, wants)


# -- the waiting pass -------------------------------------------------------------------------------------------


def waiting_pass(batch: Batch) -> None:
    """Admit whom the policy, the seats, the tokens and the blocks allow."""
    policy, queue = batch.policy, batch.queue
    if batch.preempted:
        return _refuse_head(batch, RefusalCode.AFTER_PREEMPTION)
    if policy.closed_batch and batch.running:
        return _refuse_head(batch, RefusalCode.BATCH_CLOSED)
    if policy.misfit == "skip":
        return _scan(batch)
    while batch.waiting and batch.budget > 0 and _enter(batch, queue.head(batch.now_ps)):
        pass


def _scan(batch: Batch) -> None:
    """Admit in order, passing over whoever does not fit, at most `skip_limit` times past anyone."""
    limit = batch.policy.skip_limit
    passed_over: list[Bucket] = []
    for bucket in _buckets(batch):
        if bucket.least > batch.room() and not batch.policy.displaces_for_waiters:
            if limit is not None and bucket.rows and bucket.passed >= limit:
                return
            passed_over.append(bucket)
            continue
        blocked = Bucket([])
        for row in tuple(bucket.rows):
            job = row[1]
            if batch.budget <= 0:
                return
            if _enter(batch, job):
                for passed in passed_over:
                    _pass(passed)
                _pass(blocked)
                bucket.refresh()
                if batch.policy.fair:
                    return _scan(batch)
            elif batch.refusal == RefusalCode.SEATS and not batch.policy.displaces_for_waiters:
                return
            else:
                blocked.rows.append(row)
                blocked.passed = max(blocked.passed, job.passed)
            if limit is not None and any(one.rows and one.passed >= limit for one in (blocked, *passed_over)):
                return
        passed_over.append(blocked)


def _pass(bucket: Bucket) -> None:
    """Somebody was admitted past these."""
    for _, job in bucket.rows:
        job.passed += 1
    bucket.passed += bool(bucket.rows)


def _buckets(batch: Batch) -> tuple[Bucket, ...]:
    """The waiting requests in order, in buckets."""
    if isinstance(batch.queue, ScanQueue):
        return tuple(batch.queue.buckets)
    return (Bucket([((), job) for job in batch.queue.in_order(batch.now_ps)]),)


def _enter(batch: Batch, job: Job) -> bool:
    """Admit this request if it fits, or if those whom it may displace make it fit."""
    if job.barred == batch.iteration:
        return False
    hits = _hits(batch, job) if batch.pool else []
    piece = _fits(batch, job, hits)
    if not piece and batch.policy.displaces_for_waiters and batch.refusal != RefusalCode.TOKENS:
        if not _displace_for(batch, job, hits):
            return False
        piece = _fits(batch, job, hits)
        assert piece, (job.request, batch.refusal)
    if not piece:
        return False
    batch.admit(job, hits, piece)
    return True


def _fits(batch: Batch, job: Job, hits: list[int]) -> int:
    """Tokens of the first piece if the request may enter now; 0, with the reason noted, if not."""
    machine = batch.machine
    seats = machine.max_num_seqs - len(batch.running)
    if batch.policy.batch_limit is not None:
        seats = min(seats, batch.policy.batch_limit - len(batch.running))
    closed_blocks = closed_seats = 0
    if batch.aside is not None and not job.urgent:
        closed_blocks, closed_seats = _closed(batch, batch.aside)
    if seats <= closed_seats:
        return _refuse(batch, job, RefusalCode.RESERVED if seats > 0 else RefusalCode.SEATS, 1, seats, seats - closed_seats)
    job.hit = len(hits) * machine.block_size
    want = job.known - job.hit
    if want > batch.threshold > 0:
        want = batch.threshold
    budget = batch.budget if job.urgent else min(batch.budget, batch.lower_budget)
    if want > budget:
        if not machine.enable_chunked_prefill or budget <= 0:
            return _refuse(batch, job, RefusalCode.TOKENS, want, batch.budget, budget)
        want = budget
    need = _gate_need(batch, job, want) - len(hits)
    if batch.pool and hits:
        need += batch.pool.idle(hits)
    if machine.watermark_blocks and batch.running:
        need += machine.watermark_blocks
    room = batch.room()
    if need > room - closed_blocks:
        code = RefusalCode.KV if need > room else RefusalCode.RESERVED
        return _refuse(batch, job, code, need, room, room - closed_blocks)
    return want


def _gate_need(batch: Batch, job: Job, want: int) -> int:
    """Blocks that the gate asks for: of all it knows, of its peak, or of the first piece."""
    gate = batch.machine.gate
    if gate == "full_prompt":
        return job.need
    if gate == "peak":
        return job.peak
    return -(-(job.hit + want) // batch.machine.block_size)


def _closed(batch: Batch, aside: SetAside) -> tuple[int, int]:
    """Free blocks and seats that lower classes may not take now."""
    blocks = max(0, aside.kv_blocks - urgent_blocks(batch))
    return kept(aside, blocks), kept(aside, max(0, aside.seats - batch.urgent_running))


def urgent_blocks(batch: Batch) -> int:
    """Blocks that the urgent hold in this iteration; under the peak gate: that they were promised."""
    if batch.machine.gate == "peak":
        return batch.urgent_promised
    straight = batch.urgent_straight
    return batch.urgent_held + (straight.held(batch.iteration) if straight.count else 0)


def _hits(batch: Batch, job: Job) -> list[int]:
    """Cached blocks that hold the start of the request's tokens; at least one token is always computed."""
    assert batch.pool
    most = (job.known - 1) // batch.machine.block_size
    batch.pool.extend_chain(job.chain, job.content, most)
    return batch.pool.lookup(job.chain, most)


def _displace_for(batch: Batch, job: Job, hits: list[int]) -> bool:
    """Evict the first of those whom this request may displace until it fits; all or nothing."""
    displaces = batch.policy.displaces
    keyed = [
        (key, holder)
        for holder in batch.running
        if (key := displaces(job.request, holder.request, holder.preemptions, holder.admission)) is not None
    ]
    keyed.sort(key=lambda pair: pair[0], reverse=True)
    chosen = _enough(batch, job, hits, [holder for _, holder in keyed]) if keyed else None
    if chosen is None:
        return False
    pieces = dict(batch.pieces)
    for victim in chosen:
        back = 1 if victim.straight else pieces.pop(victim, 0)
        batch.budget += back
        batch.lower_budget += 0 if victim.urgent else back
        batch.evict(victim, job, StayEnd.DISPLACED)
        batch.straight_held = batch.straight.held(batch.iteration) if batch.straight.count else 0
    batch.pieces = list(pieces.items())
    return True


def _enough(batch: Batch, job: Job, hits: list[int], holders: list[Job]) -> list[Job] | None:
    """The shortest row of these holders whose seats and blocks let the request in; None if all are too few."""
    machine, aside, pool = batch.machine, batch.aside, batch.pool
    room, seats, budget = batch.room(), machine.max_num_seqs - len(batch.running), batch.budget
    lower = machine.kv_blocks - room - urgent_blocks(batch)
    lower_seats = len(batch.running) - batch.urgent_running
    chosen: list[Job] = []
    gone: Counter[int] = Counter()
    granted = dict(batch.pieces)
    while True:
        piece = min(batch.threshold or job.known, job.known - job.hit, budget)
        need = _gate_need(batch, job, piece) - len(hits)
        need += machine.watermark_blocks if len(batch.running) > len(chosen) else 0
        if pool:
            need += sum(1 for block in hits if pool.references[block] == gone[block])
        if need <= room and seats > 0:
            return chosen
        if len(chosen) == len(holders):
            return None
        if batch.policy.only_loans and aside:
            on_loan = need > room and lower > machine.kv_blocks - aside.kv_blocks
            if not on_loan and (seats > 0 or lower_seats <= machine.max_num_seqs - aside.seats):
                return None
        holder = holders[len(chosen)]
        chosen.append(holder)
        blocks = _blocks_back(batch, holder, gone)
        room, lower, seats, lower_seats = room + blocks, lower - blocks, seats + 1, lower_seats - 1
        budget += 1 if holder.straight else granted.get(holder, 0)


def _blocks_back(batch: Batch, holder: Job, gone: Counter[int]) -> int:
    """Blocks that evicting this holder frees; with sharing, after those already counted as gone."""
    if batch.pool:
        gone.update(holder.blocks)
        freed = sum(1 for block in holder.blocks if batch.pool.references[block] == gone[block])
        return holder.peak if batch.machine.gate == "peak" else freed
    if batch.machine.gate == "peak":
        return holder.peak
    if holder.straight:
        return -(-(batch.iteration + holder.offset + 1) // batch.machine.block_size)
    return holder.held


def _refuse(batch: Batch, job: Job, code: RefusalCode, need: int, free: int, entitled: int) -> int:
    """Note why a request stays out; returns 0, no tokens."""
    batch.refusal = code
    batch.recorder.refused(batch.iteration, batch.now_ps, job, code, need, free, entitled)
    return 0


def _refuse_head(batch: Batch, code: RefusalCode) -> None:
    """Nobody is looked at in this iteration; the head of the queue is told why."""
    _refuse(batch, batch.queue.head(batch.now_ps), code, 0, 0, 0)
