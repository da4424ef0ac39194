"""Why an engine that makes no progress stops, in words. It never spins."""

from sched.batch import Batch
from sched.model import PS_PER_S

_ROUNDS = 8


def stalled(batch: Batch, now_ps: int) -> str:
    """Work waits, nothing can run, and nothing will arrive."""
    head = batch.queue.head(now_ps).request.id
    why = batch.refusal.name.lower().replace("_", " ")
    return (
        f"stalled at {now_ps / PS_PER_S:g} s: {head} waits ({why}), nothing can run and nothing will arrive"
    )


def goes_round(batch: Batch) -> str:
    """Requests evict each other, again and again, and no token comes of it; "" while that may still end."""
    live = len(batch.running) + batch.waiting
    if batch.barren <= _ROUNDS * (live + _ROUNDS):
        return ""
    names = ", ".join(sorted({job.request.id for job in batch.preempted})[:3])
    return (
        f"livelock at {batch.now_ps / PS_PER_S:g} s: {batch.barren} evictions ({names} among them) "
        "and no token; the pool is too small for what the gate lets in together"
    )
