"""What changes when somebody enters the batch, goes straight, or leaves it."""

from bisect import bisect_left, insort
from heapq import heappush
from operator import attrgetter

from sched.books import Books
from sched.job import Job
from sched.kv import Content
from sched.model import NEVER, StayEnd

_ORDER = attrgetter("order")


class Batch(Books):
    """One engine's running batch and waiting queue, between and during decisions."""

    def admit(self, job: Job, hits: list[int], piece: int) -> None:
        """Move a waiting request to the end of the batch, with its first piece of tokens."""
        if self.queue_told:
            self.unqueue(job)
        else:
            self.queue.take(job)
            self.waiting -= 1
        job.admission = job.order = self.admissions
        self.admissions += 1
        if self.ledger:
            self.ledger.admitted(job, len(hits) * self.size)
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
        if self.swaps and job.computed:
            self.moved_tokens += job.computed
            if job.computed >= job.request[6]:
                job.target = job.computed
        job.stay_from, job.stay_ps = self.iteration, self.now_ps
        if job.first_scheduled_ps < 0:
            job.first_scheduled_ps = self.now_ps
        blocks = -(-(job.computed + piece) // self.size)
        self.explicit_held += blocks - job.held
        if self.ledger:
            self.ledger.held(job, blocks - job.held)
        self.promised += job.peak
        self.budget -= piece
        if job.urgent:
            self.urgent_running += 1
            self.urgent_promised += job.peak
            self.urgent_held += blocks - job.held
        if self.slices:
            self.slices.take(job.tier, piece)
        if self.ledger and self.policy.pools is not None:
            self.ledger.tokens_left[job.request.tenant] -= piece
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
        if self.ledger:
            self.ledger.held(job, -job.held)
            self.ledger.went_straight(job)
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
        if self.ledger:
            self.ledger.stopped(job)

    def materialise(self, job: Job, iteration: int) -> None:
        """A straight decoder gets no straight token from this iteration on: it is explicit."""
        self._stop_straight(job, iteration)
        if iteration > job.run_from:
            self.recorder.ran(job, iteration - job.run_from)
        job.run_from = NEVER
        insort(self.explicit, job, key=_ORDER)
        self.explicit_held += job.held
        if self.ledger:
            self.ledger.held(job, job.held)
        if job.urgent:
            self.urgent_held += job.held

    def park(self, job: Job) -> None:
        """It has ended, but keeps seat and blocks until the last of its batch has ended."""
        self.explicit.remove(job)
        self.parked.append(job)

    def leave(self, job: Job, end: StayEnd, iteration: int, at_ps: int, unheard: int = 0) -> None:
        """Out of the batch before this iteration, its blocks given back; the client did not hear `unheard`
        tokens.
        """
        if job.straight:
            self._stop_straight(job, iteration)
        else:
            (self.parked if job in self.parked else self.explicit).remove(job)
            self.explicit_held -= job.held
            if self.ledger:
                self.ledger.held(job, -job.held)
            if job.urgent:
                self.urgent_held -= job.held
        if self.ledger:
            self.ledger.left(job, end, at_ps, unheard)
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
        job.run_from = job.admission = NEVER

    def preempt(self, job: Job, beneficiary: Job, end: StayEnd) -> None:
        """Take a request's KV away; it waits again and recomputes what it knows."""
        self.leave(job, end, self.iteration, self.now_ps)
        self.recorder.preempted(self.iteration, self.now_ps, job, beneficiary)
        job.preemptions += 1
        job.held = 0
        if self.swaps:
            self.moved_tokens += job.computed
            job.hit = job.computed
        else:
            job.computed = 0
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
        if self.queue_told:
            self.policy.queued(job.request, self.standing(job))
        if at_front:
            self.queue.push_front(job)  # type: ignore[union-attr]
        else:
            self.queue.push(job)

    def unqueue(self, job: Job) -> None:
        """Out of the waiting queue."""
        self.queue.take(job)
        self.waiting -= 1
        if self.queue_told:
            self.policy.unqueued(job.request)
            if self.fair and job.request.tenant not in self.queue.of_tenant:  # type: ignore[union-attr]
                self.policy.drained(job.request.tenant)

    def resort(self, jobs: list[Job]) -> None:
        """Anew into the order of the running pass: their standing has changed."""
        if not self.by_rank:
            return
        for job in jobs:
            place = bisect_left(self.orders, job.order)
            del self.orders[place], self.running[place]
            if not job.straight:
                self.explicit.remove(job)
            job.order = self.policy.rank(job.request, self.standing(job))
        for job in jobs:
            place = bisect_left(self.orders, job.order)
            self.orders.insert(place, job.order)
            self.running.insert(place, job)
            if not job.straight and job not in self.parked:
                insort(self.explicit, job, key=_ORDER)

    def name_content(self, job: Job, content: Content, shared: int) -> None:
        """With prefix caching: what the request's tokens are, and how many of them may be anybody else's."""
        job.content, job.chain, job.blocks, job.shared = content, [], [], shared
