"""The waiting pass of an iteration: who enters the batch, and whom that displaces.

The rules are those of vLLM 0.33, v1/core/sched/scheduler.py; each departure is a switch of the policy, off
for `fcfs` and `priority`.
"""

from sched.batch import Batch
from sched.displace import displace_for
from sched.job import Job
from sched.model import RefusalCode
from sched.needs import closed, gate_need, hits_of
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
    hits = hits_of(batch, job) if batch.pool else []
    piece = _fits(batch, job, hits)
    if not piece:
        if not batch.policy.displaces_for_waiters or batch.refusal == RefusalCode.TOKENS:
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
    closed_blocks = closed_seats = 0
    budget = batch.budget
    if batch.aside is not None and not job.urgent:
        closed_blocks, closed_seats = closed(batch, batch.aside)
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
    need = job.need if batch.whole_prompt else gate_need(batch, job, want)
    if hits and batch.pool:
        need += batch.pool.idle(hits) - len(hits)
    if batch.watermark_blocks and batch.running:
        need += batch.watermark_blocks
    room = batch.room()
    if need > room - closed_blocks:
        code = RefusalCode.KV if need > room else RefusalCode.RESERVED
        return _refuse(batch, job, code, need, room, room - closed_blocks)
    return want


def _refuse(batch: Batch, job: Job, code: RefusalCode, need: int, free: int, entitled: int) -> int:
    """Note why a request stays out; returns 0, no tokens."""
    batch.refusal = code
    batch.recorder.refused(batch.iteration, batch.now_ps, job, code, need, free, entitled)
    return 0


def _refuse_head(batch: Batch, code: RefusalCode) -> None:
    """Nobody is looked at in this iteration; the head of the queue is told why."""
    _refuse(batch, batch.queue.head(batch.now_ps), code, 0, 0, 0)
