"""The waiting pass of an iteration: who enters the batch, and whom that displaces.

The rules are those of vLLM 0.33, v1/core/sched/scheduler.py; each departure is a switch of the policy, off
for `fcfs` and `priority`.
"""

from collections.abc import Hashable

from sched.batch import Batch
from sched.displace import displace_for
from sched.foresight import need_and_room
from sched.job import Job
from sched.model import RefusalCode
from sched.needs import closed, gate_need
from sched.pools import over_pool, within_pool
from sched.queues import Bucket, ScanQueue

_NO_PREEMPTION_HELPS = (RefusalCode.TOKENS, RefusalCode.HELD)


def waiting_pass(batch: Batch) -> None:
    """Admit whom the policy, the seats, the tokens and the blocks allow."""
    policy, queue = batch.policy, batch.queue
    if batch.preempted:
        return _refuse_head(batch, RefusalCode.AFTER_PREEMPTION)
    if policy.closed_batch and (batch.running or batch.now_ps < opens_ps(batch)):
        return _refuse_head(batch, RefusalCode.BATCH_CLOSED)
    if policy.misfit == "skip":
        return _scan(batch)
    if policy.misfit == "pass":
        return _pass_lines(batch)
    while batch.waiting and batch.budget > 0:
        if batch.chooses:
            policy.choosing(queue.tenants())  # type: ignore[union-attr]
        if not _enter(batch, queue.head(batch.now_ps)):
            return


def opens_ps(batch: Batch, otherwise: int = 0) -> int:
    """When a batch that is not full is formed all the same: its oldest request has waited long enough."""
    policy = batch.policy
    if not policy.batch_wait_ps or batch.waiting >= batch.seats:
        return otherwise
    oldest = min(job.request.arrival_ps for job in batch.queue.in_order(batch.now_ps))
    return oldest + policy.batch_wait_ps


def _pass_lines(batch: Batch) -> None:
    """Admit in order; with a request that does not fit, its whole line is passed over."""
    policy, passed = batch.policy, set[Hashable]()
    while batch.waiting and batch.budget > 0:
        job = batch.queue.head_beside(passed, batch.now_ps)  # type: ignore[union-attr]
        if job is None:
            return
        if _enter(batch, job):
            continue
        if batch.refusal == RefusalCode.SEATS or policy.stops_at(job.request, batch.refused_need):
            return
        passed.add(policy.line(job.request))


def _scan(batch: Batch) -> None:
    """Admit in order, passing over whoever does not fit, at most `skip_limit` times past anyone."""
    limit = batch.policy.skip_limit
    if batch.chooses and batch.waiting and batch.budget > 0:
        batch.policy.choosing(batch.queue.tenants())  # type: ignore[union-attr]
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
                if batch.order_moves:
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
        batch.refusal, batch.refused_need = RefusalCode.AFTER_PREEMPTION, job.need
        return False
    hits = batch.hits_of(job) if batch.pool else []
    piece = _fits(batch, job, hits)
    if not piece:
        if not batch.policy.displaces_for_waiters or batch.refusal in _NO_PREEMPTION_HELPS:
            return False
        if not displace_for(batch, job, hits):
            return False
        piece = _fits(batch, job, hits)
        assert piece, (job.request, batch.refusal)
    batch.admit(job, hits, piece)
    return True


def _fits(batch: Batch, job: Job, hits: list[int]) -> int:
    """Tokens of the first piece if the request may enter now; 0, with the reason noted, if not."""
    seats = batch.seats - len(batch.running)
    closed_blocks, closed_seats = job.keeps_free, 0
    budget = batch.budget
    if batch.aside is not None and not job.urgent:
        closed_blocks, closed_seats = closed(batch, batch.aside)
    if batch.slices:
        budget = batch.slices.most(job, budget)
    if seats <= closed_seats:
        code = RefusalCode.RESERVED if seats > 0 else RefusalCode.SEATS
        return _refuse(batch, job, code, 1, seats, seats - closed_seats)
    if batch.caps:
        if batch.policy.holds_back(job.request, job.limit - 1):
            return _refuse(batch, job, RefusalCode.HELD, 0, 0, 0)
        budget = within_pool(batch, job, budget)
        if budget < 0:
            return _refuse(batch, job, RefusalCode.HELD, 0, 0, 0)
    want = job.known - job.computed
    if batch.pool:
        job.hit = len(hits) * batch.size
        want -= job.hit
    if want > batch.threshold > 0:
        want = batch.threshold
    if want > budget:
        if budget <= 0 or not batch.machine.enable_chunked_prefill:
            return _refuse(batch, job, RefusalCode.TOKENS, want, batch.budget, budget)
        want = budget
    if batch.foresees:
        need, room = need_and_room(batch, job)
    else:
        need, room = job.need if batch.whole_prompt else gate_need(batch, job, want), batch.room()
    if hits and batch.pool:
        need += batch.pool.idle(hits) - len(hits)
    # Looking ahead, the gate's need is the peak of the whole batch.
    own = job.need if batch.foresees and batch.machine.gate == "lookahead" else need
    if batch.watermark_blocks and batch.running:
        need += batch.watermark_blocks
    if need > room - closed_blocks:
        code = RefusalCode.KV if need > room else RefusalCode.RESERVED
        _refuse(batch, job, code, need, room, room - closed_blocks)
        batch.refused_need = own
        return 0
    if batch.caps and batch.policy.pools is not None and over_pool(batch, job, own):
        return _refuse(batch, job, RefusalCode.HELD, need, room, 0)
    return want


def _refuse(batch: Batch, job: Job, code: RefusalCode, need: int, free: int, entitled: int) -> int:
    """Note why a request stays out; returns 0, no tokens."""
    batch.refusal, batch.refused_need = code, need
    batch.recorder.refused(batch.iteration, batch.now_ps, job, code, need, free, entitled)
    return 0


def _refuse_head(batch: Batch, code: RefusalCode) -> None:
    """Nobody is looked at in this iteration; the head of the queue is told why."""
    _refuse(batch, batch.queue.head(batch.now_ps), code, 0, 0, 0)
