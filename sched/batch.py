"""The running batch, the waiting queue and the KV blocks of one engine: what changes when somebody enters or
leaves.

Requests that decode straight are only sums (`kv.Decoders`); everybody else in the batch is `explicit`.
"""

from bisect import bisect_left, insort
from heapq import heappush
from operator import attrgetter
from typing import Any

from sched.job import Job, Recorder
from sched.kv import Content, Decoders, PrefixPool
from sched.model import NEVER, Machine, RefusalCode, Standing, StayEnd
from sched.policies.base import Policy
from sched.queues import queue_for

_ORDER = attrgetter("order")


class Batch:
    """State of one engine between and during decisions. `iteration` and `now_ps` are those of the decision at
    hand.
    """

    def __init__(self, machine: Machine, policy: Policy, recorder: Recorder) -> None:
        self.machine, self.policy, self.recorder = machine, policy, recorder
        self.pool = (
            PrefixPool(machine.kv_blocks, machine.block_size) if machine.enable_prefix_caching else None
        )
        self.size, self.kv_blocks = machine.block_size, machine.kv_blocks
        self.seats = min(machine.max_num_seqs, policy.batch_limit or machine.max_num_seqs)
        self.token_budget = machine.max_num_batched_tokens
        self.watermark_blocks = machine.watermark_blocks
        self.whole_prompt, self.by_peak = machine.gate == "full_prompt", machine.gate == "peak"
        self.by_rank, self.fair, self.scans = policy.running_by_rank, policy.fair, policy.misfit == "skip"
        self.plain = self.pool is None and not machine.long_prefill_token_threshold
        self.plain = self.plain and (
            policy.set_aside is None or not (policy.set_aside.tokens or policy.set_aside.guard_growth)
        )
        self.queue = queue_for(policy, self.standing)
        self.waiting = 0
        self.running: list[Job] = []
        self.orders: list[Any] = []
        self.explicit: list[Job] = []
        self.parked: list[Job] = []
        self.straight = Decoders(machine.block_size)
        self.straight_held = 0
        self.explicit_held = 0
        self.promised = 0
        self.finishing: list[tuple[int, int, Job]] = []
        self.aside = policy.set_aside
        self.urgent_straight = Decoders(machine.block_size)
        self.urgent_running = self.urgent_held = self.urgent_promised = 0
        self.decoding: dict[str, int] = {}
        self.iteration = self.now_ps = self.admissions = 0
        self.threshold = 0
        self.budget = self.lower_budget = 0
        self.pieces: list[tuple[Job, int]] = []
        self.preempted: list[Job] = []
        self.barren = 0  # evictions since the last token
        self.refusal = RefusalCode.KV

    def standing(self, job: Job) -> Standing:
        """How far a request has come, as its policy may know it."""
        if not job.straight:
            emitted, computed = job.known - job.request[6], job.computed
        else:
            computed = self.iteration + job.offset
            emitted = computed + 1 - job.request[6]
        return Standing(self.now_ps, job.since_ps, emitted, computed, job.preemptions, job.admission)

    def room(self) -> int:
        """Blocks that nobody holds after this iteration's grants; under the peak gate: that nobody was
        promised.
        """
        if self.by_peak:
            return self.kv_blocks - self.promised
        if self.pool:
            return len(self.pool.free)
        return self.kv_blocks - self.explicit_held - self.straight_held

    def used(self) -> int:
        """Blocks that somebody holds after this iteration's grants."""
        if self.pool:
            return self.machine.kv_blocks - len(self.pool.free)
        return self.explicit_held + self.straight_held

    def used_before(self, iteration: int) -> int:
        """Blocks held before this iteration's grants."""
        if self.pool:
            return self.machine.kv_blocks - len(self.pool.free)
        return self.explicit_held + (self.straight.held(iteration - 1) if self.straight.count else 0)

    def hold(self, job: Job, blocks: int) -> None:
        """An explicit request now holds so many blocks."""
        more = blocks - job.held
        job.held = blocks
        self.explicit_held += more
        if job.urgent:
            self.urgent_held += more

    def grow(self, pool: PrefixPool, job: Job, computed: int, tokens: int) -> None:
        """With prefix caching: named blocks for the next tokens, and their names as they become full."""
        size = self.machine.block_size
        job.blocks.extend(pool.take(-(-(computed + tokens) // size) - len(job.blocks)))
        full = (computed + tokens) // size
        if full > computed // size:
            pool.extend_chain(job.chain, job.content, full, job.shared)
            pool.commit(job.blocks, job.chain, computed // size, full)

    def admit(self, job: Job, hits: list[int], piece: int) -> None:
        """Move a waiting request to the end of the batch, with its first piece of tokens."""
        self.queue.take(job)
        self.waiting -= 1
        job.admission = job.order = self.admissions
        self.admissions += 1
        if self.by_rank:
            job.order = self.policy.rank(job.request, self.standing(job))
            place = bisect_left(self.orders, job.order)
            self.orders.insert(place, job.order)
            self.running.insert(place, job)
            insort(self.explicit, job, key=_ORDER)
        else:
            self.orders.append(job.order)
            self.running.append(job)
            self.explicit.append(job)
        job.passed = 0
        if self.pool:
            job.computed = job.hit = len(hits) * self.size
            self.pool.share(hits)
            job.blocks = list(hits)
            self.hold(job, len(hits))
            self.grow(self.pool, job, job.computed, piece)
        job.target = job.known
        job.stay_from, job.stay_ps = self.iteration, self.now_ps
        if job.first_scheduled_ps < 0:
            job.first_scheduled_ps = self.now_ps
        if self.fair:
            self.policy.admitted(job.request, self.standing(job))
        blocks = -(-(job.computed + piece) // self.size)
        self.explicit_held += blocks - job.held
        self.promised += job.peak
        self.budget -= piece
        if job.urgent:
            self.urgent_running += 1
            self.urgent_promised += job.peak
            self.urgent_held += blocks - job.held
        else:
            self.lower_budget -= piece
        job.held = blocks
        self.pieces.append((job, piece))

    def go_straight(self, job: Job, iteration: int) -> None:
        """From this iteration on the request decodes one token in each."""
        job.straight = True
        job.run_from = iteration
        job.offset = offset = job.computed - iteration
        job.last = job.limit - 2 - offset
        self.explicit.remove(job)
        self.explicit_held -= job.held
        self.straight.add(offset)
        if job.urgent:
            self.urgent_held -= job.held
            self.urgent_straight.add(offset)
        if self.fair:
            tenant = job.request.tenant
            self.decoding[tenant] = self.decoding.get(tenant, 0) + 1
        heappush(self.finishing, (job.last, job.admission, job))

    def _stop_straight(self, job: Job, iteration: int) -> None:
        """Out of the sums: the request has had its token in every iteration before this one."""
        offset = job.offset
        job.straight = False
        job.computed = computed = iteration + offset
        job.known = computed + 1
        job.held = -(-computed // self.size)
        self.straight.remove(offset)
        if job.urgent:
            self.urgent_straight.remove(offset)
        if self.fair:
            self.decoding[job.request.tenant] -= 1

    def held_by(self, job: Job, tokens: int) -> int:
        """Blocks of a request in this iteration; of a straight decoder, once it has so many tokens of it."""
        return -(-(self.iteration + job.offset + tokens) // self.size) if job.straight else job.held

    def materialise(self, job: Job, iteration: int) -> None:
        """A straight decoder gets no straight token from this iteration on: it is explicit."""
        self._stop_straight(job, iteration)
        if iteration > job.run_from:
            self.recorder.ran(job, iteration - job.run_from)
        job.run_from = NEVER
        insort(self.explicit, job, key=_ORDER)
        self.explicit_held += job.held
        if job.urgent:
            self.urgent_held += job.held

    def park(self, job: Job) -> None:
        """It has ended, but keeps seat and blocks until the last of its batch has ended."""
        self.explicit.remove(job)
        self.parked.append(job)

    def leave(self, job: Job, end: StayEnd, iteration: int, at_ps: int) -> None:
        """Out of the batch before this iteration, its blocks given back."""
        if job.straight:
            self._stop_straight(job, iteration)
        else:
            (self.parked if job in self.parked else self.explicit).remove(job)
            self.explicit_held -= job.held
            if job.urgent:
                self.urgent_held -= job.held
        if job.preemptions:
            job.recomputed += max(0, min(job.high, job.computed) - job.hit)
        if job.computed > job.high:
            job.high = job.computed
        place = bisect_left(self.orders, job.order)
        del self.orders[place], self.running[place]
        if self.pool:
            self.pool.release(job.blocks)
            job.blocks = []
        self.promised -= job.peak
        if job.urgent:
            self.urgent_running -= 1
            self.urgent_promised -= job.peak
        self.recorder.left(job, end, iteration, at_ps)
        job.run_from = NEVER

    def evict(self, job: Job, beneficiary: Job, end: StayEnd) -> None:
        """Take a request's KV away; it waits again and recomputes what it knows."""
        self.leave(job, end, self.iteration, self.now_ps)
        self.recorder.evicted(self.iteration, self.now_ps, job, beneficiary)
        job.preemptions += 1
        job.computed = job.held = 0
        job.need = self.machine.blocks(job.known)
        job.since_ps = self.now_ps
        job.barred = self.iteration
        job.noted = NEVER
        self.preempted.append(job)
        self.barren += 1
        self.enqueue(job, self.policy.requeue_at_front)

    def enqueue(self, job: Job, at_front: bool = False) -> None:
        """Into the waiting queue; a policy that scans wants to know the least that the gate can ask for."""
        self.waiting += 1
        if self.scans:
            job.floor = 0 if self.pool else job.need if self.whole_prompt else job.peak if self.by_peak else 1
        if at_front:
            self.queue.push_front(job)  # type: ignore[union-attr]
        else:
            self.queue.push(job)

    def name_content(self, job: Job, content: Content, shared: int) -> None:
        """With prefix caching: what the request's tokens are, and how many of them may be anybody else's."""
        job.content, job.chain, job.blocks, job.shared = content, [], [], shared
