"""The waiting pass of an iteration: who enters the batch, and whom that displaces.

The rules are those of vLLM 0.33, v1/core/sched/scheduler.py; each departure is a switch of the policy, off
for `fcfs` and `priority`.
"""

from collections import Counter

from sched.batch import Batch
from sched.job import Job
from sched.model import RefusalCode, SetAside, StayEnd
from sched.policies.base import kept
from sched.queues import Bucket, ScanQueue


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
            elif batch.refusal == RefusalCode.SEATS:
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
    if not piece:
        if not batch.policy.displaces_for_waiters or batch.refusal == RefusalCode.TOKENS:
            return False
        if not _displace_for(batch, job, hits):
            return False
        piece = _fits(batch, job, hits)
        assert piece, (job.request, batch.refusal)
    batch.admit(job, hits, piece)
    return True


def _fits(batch: Batch, job: Job, hits: list[int]) -> int:
    """Tokens of the first piece if the request may enter now; 0, with the reason noted, if not."""
    seats = batch.seats - len(batch.running)
    closed_blocks = closed_seats = 0
    budget = batch.budget
    if batch.aside is not None and not job.urgent:
        closed_blocks, closed_seats = _closed(batch, batch.aside)
        budget = min(budget, batch.lower_budget)
    if seats <= closed_seats:
        code = RefusalCode.RESERVED if seats > 0 else RefusalCode.SEATS
        return _refuse(batch, job, code, 1, seats, seats - closed_seats)
    want = job.known
    if batch.pool:
        job.hit = len(hits) * batch.size
        want -= job.hit
    if want > batch.threshold > 0:
        want = batch.threshold
    if want > budget:
        if budget <= 0 or not batch.machine.enable_chunked_prefill:
            return _refuse(batch, job, RefusalCode.TOKENS, want, batch.budget, budget)
        want = budget
    need = job.need if batch.whole_prompt else _gate_need(batch, job, want)
    if hits and batch.pool:
        need += batch.pool.idle(hits) - len(hits)
    if batch.watermark_blocks and batch.running:
        need += batch.watermark_blocks
    room = batch.room()
    if need > room - closed_blocks:
        code = RefusalCode.KV if need > room else RefusalCode.RESERVED
        return _refuse(batch, job, code, need, room, room - closed_blocks)
    return want


def asks(batch: Batch, job: Job, in_company: bool) -> tuple[int, int]:
    """Blocks and tokens that a waiting request asks for now, whatever the seats and the tokens left."""
    hits = _hits(batch, job) if batch.pool else []
    job.hit = len(hits) * batch.machine.block_size
    piece = job.known - job.hit
    piece = min(batch.threshold or piece, piece)
    need = _gate_need(batch, job, min(piece, batch.machine.max_num_batched_tokens)) - len(hits)
    need += batch.machine.watermark_blocks if in_company else 0
    return need + batch.pool.idle(hits) if batch.pool else need, piece


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
    """Blocks that the urgent hold in this iteration, shared ones once; under the peak gate, their promise."""
    if batch.machine.gate == "peak":
        return batch.urgent_promised
    if batch.pool:
        return len({block for job in batch.running if job.urgent for block in job.blocks})
    straight = batch.urgent_straight
    return batch.urgent_held + (straight.held(batch.iteration) if straight.count else 0)


def _hits(batch: Batch, job: Job) -> list[int]:
    """Cached blocks that hold the start of the request's tokens; at least one token is always computed."""
    assert batch.pool
    most = (job.known - 1) // batch.machine.block_size
    batch.pool.extend_chain(job.chain, job.content, most, job.shared)
    return batch.pool.lookup(job.chain, most)


def _displace_for(batch: Batch, job: Job, hits: list[int]) -> bool:
    """Evict the first of those whom this request may displace until it fits; all or nothing."""
    if batch.policy.only_loans and not job.urgent:
        return False
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
    """The fewest of these holders, in order, whose going lets the request in; None if all are too few."""
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
            # Everything that is short must be on loan: else a refusal could end by what others merely grow.
            if need > room and lower <= machine.kv_blocks - aside.kv_blocks:
                return None
            if seats <= 0 and lower_seats <= machine.max_num_seqs - aside.seats:
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
