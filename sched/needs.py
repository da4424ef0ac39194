"""What a request that waits asks for, and what of the free blocks and seats it may not take."""

from sched.batch import Batch
from sched.foresight import need_and_room
from sched.job import Job
from sched.model import SetAside
from sched.policies.base import kept


def asks(batch: Batch, job: Job, in_company: bool, free: int) -> tuple[int, int, int]:
    """Blocks that a waiting request asks for now, blocks there are for it, and tokens of its first piece.

    Whatever the seats and the tokens left; `free` blocks nobody holds.
    """
    hits = batch.hits_of(job) if batch.pool else []
    if batch.pool:
        job.hit = len(hits) * batch.machine.block_size
    piece = job.known - job.hit
    piece = min(batch.threshold or piece, piece)
    if batch.foresees:
        need, room = need_and_room(batch, job, free=free)
    else:
        need, room = gate_need(batch, job, min(piece, batch.machine.max_num_batched_tokens)), free
    need += batch.machine.watermark_blocks if in_company else 0
    return need - len(hits) + (batch.pool.idle(hits) if batch.pool else 0), room, piece


def blocked(batch: Batch, job: Job, free: int) -> bool:
    """Whether a waiting request lacks blocks, beside those who run."""
    need, room, _ = asks(batch, job, True, free)
    return need > room


def gate_need(batch: Batch, job: Job, want: int) -> int:
    """Blocks that the gate asks for: of all it knows, of its peak, or of the first piece."""
    gate = batch.machine.gate
    if gate == "full_prompt":
        return job.need
    if gate == "peak":
        return job.peak
    return -(-(job.hit + want) // batch.machine.block_size)


def closed(batch: Batch, aside: SetAside) -> tuple[int, int]:
    """Free blocks and seats that lower classes may not take now."""
    return _kept(batch, aside, urgent_blocks(batch))


def closed_before(batch: Batch) -> tuple[int, int]:
    """As `closed`, before anybody has got a block in this iteration."""
    aside, straight = batch.aside, batch.urgent_straight
    if aside is None:
        return 0, 0
    held = urgent_blocks(batch)
    if not batch.by_peak and not batch.pool and straight.count:
        held += straight.held(batch.iteration - 1) - straight.held(batch.iteration)
    return _kept(batch, aside, held)


def _kept(batch: Batch, aside: SetAside, held: int) -> tuple[int, int]:
    seats = max(0, aside.seats - batch.urgent_running)
    return kept(aside, max(0, aside.kv_blocks - held)), kept(aside, seats)


def urgent_blocks(batch: Batch) -> int:
    """Blocks that the urgent hold in this iteration, shared ones once; under the peak gate, their promise."""
    if batch.machine.gate == "peak":
        return batch.urgent_promised
    if batch.pool:
        return len({block for job in batch.running if job.urgent for block in job.blocks})
    straight = batch.urgent_straight
    return batch.urgent_held + (straight.held(batch.iteration) if straight.count else 0)
