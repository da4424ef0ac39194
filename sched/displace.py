"""Preemptions for a request that waits: of those whom its policy lets it displace, as few as suffice."""

from collections import Counter

from sched.batch import Batch
from sched.foresight import need_and_room
from sched.job import Job
from sched.model import StayEnd
from sched.needs import gate_need, urgent_blocks


def displace_for(batch: Batch, job: Job, hits: list[int]) -> bool:
    """Preempt the first of those whom this request may displace until it fits; all or nothing."""
    if batch.policy.only_loans and not job.urgent:
        return False
    want = job.known - job.hit
    if not batch.machine.enable_chunked_prefill and min(batch.threshold or want, want) > batch.budget:
        return False  # No preemption gives it the tokens that it needs at once.
    displaces, reaches = batch.policy.displaces, batch.policy.reaches
    request, waiting, standing = job.request, batch.standing(job), batch.standing
    keyed = [
        (key, holder)
        for holder in batch.running
        # Whoever has just been let in goes first by the policy's own order.
        if holder.stay_from < batch.iteration
        and reaches(request, holder.request)
        and (key := displaces(request, waiting, holder.request, standing(holder))) is not None
    ]
    keyed.sort(key=lambda pair: pair[0], reverse=True)
    chosen = _enough(batch, job, hits, [holder for _, holder in keyed]) if keyed else None
    if chosen is None:
        return False
    pieces = dict(batch.pieces)
    for victim in chosen:
        back = 1 if victim.straight else pieces.pop(victim, 0)
        batch.budget += back
        if batch.slices:
            batch.slices.take(victim.tier, -back)
        batch.preempt(victim, job, StayEnd.DISPLACED)
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
        if batch.foresees:
            need, room = need_and_room(batch, job, chosen)
        else:
            need = gate_need(batch, job, piece) - len(hits)
        need += job.keeps_free + (machine.watermark_blocks if len(batch.running) > len(chosen) else 0)
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
    """Blocks that preempting this holder frees; with sharing, after those already counted as gone."""
    if batch.pool:
        gone.update(holder.blocks)
        freed = sum(1 for block in holder.blocks if batch.pool.references[block] == gone[block])
        return holder.peak if batch.machine.gate == "peak" else freed
    if batch.machine.gate == "peak":
        return holder.peak
    return batch.held_by(holder, 1)
