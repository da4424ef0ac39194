"""Gates that look ahead: the output still expected of the batch (SGLang), or the exact peak it will come to.

Sources: SGLang, managers/schedule_policy.py and schedule_batch.py (new_token_ratio, CLIP_MAX_NEW_TOKENS,
retract_decode); LightLLM's and the VTC artifact's test of the future peak.
"""

from collections.abc import Collection

from sched.books import Books
from sched.job import Job

MILLIONTHS = 10**6
_MOST_EXPECTED = 4096
_STEPS_AFTER_PREEMPTION = 20


def need_and_room(
    batch: Books, job: Job, gone: Collection[Job] = (), free: int | None = None
) -> tuple[int, int]:
    """Blocks that a waiting request asks for, and blocks there are for it, once `gone` have left.

    `free` blocks are there now, if not those that this iteration's grants leave.
    """
    stay = [other for other in batch.running if other not in gone]
    if free is None:
        free = batch.room() + sum(batch.held_by(other, 1) for other in gone)
    if batch.machine.gate == "lookahead":
        return (job.need, free) if job.need > free else (_peak(batch, stay, job), batch.kv_blocks)
    if not stay:
        return job.need, free
    left = sum(min(other.limit - _known(batch, other), _MOST_EXPECTED) for other in stay)
    reserved = batch.machine.blocks(batch.ratio * left // MILLIONTHS)
    own = batch.ratio * min(job.limit - job.known, _MOST_EXPECTED) // MILLIONTHS
    return batch.machine.blocks(job.known + own), free - reserved


def _known(batch: Books, job: Job) -> int:
    """Prompt and emitted tokens before this iteration's output."""
    return batch.iteration + job.offset + 1 if job.straight else job.known


def _peak(batch: Books, stay: list[Job], newcomer: Job) -> int:
    """Most blocks that these will hold together, each emitting a token an iteration until its end."""
    size = batch.size
    members = [(known, job.limit) for job in stay for known in (_known(batch, job),)]
    members.append((newcomer.known, newcomer.limit))
    peak = 0
    for last in {limit - known - 1 for known, limit in members}:
        held = sum(
            -(-min(known + last, limit - 1) // size) for known, limit in members if limit - known > last
        )
        peak = max(peak, held)
    return peak


def raise_ratio(batch: Books) -> None:
    """After preemptions for growth: what has been emitted, and some steps more, of all that may come."""
    running = batch.running
    if not running:
        return
    emitted = sum(_known(batch, job) - job.request.prompt_tokens for job in running)
    most = sum(job.limit - job.request.prompt_tokens for job in running)
    found = (emitted + _STEPS_AFTER_PREEMPTION * len(running)) * MILLIONTHS // most
    batch.ratio = max(batch.machine.expected_floor, min(MILLIONTHS, found))


def fall(batch: Books, iterations: int) -> None:
    """The ratio falls with every iteration, to its floor."""
    machine = batch.machine
    batch.ratio = max(machine.expected_floor, batch.ratio - machine.expected_decay * iterations)
