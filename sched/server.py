"""One engine in time: iterations one by one while anything changes, in one jump while the batch decodes
straight.

Time is an integer of picoseconds.
"""

from heapq import heappop
from math import inf

from sched.admission import waiting_pass
from sched.batch import Batch
from sched.cost import IterationCost
from sched.intake import AFTER_ALL, Intake
from sched.job import Job
from sched.jump import decision_stands_until, iterations_until, last_that_fits, replay
from sched.model import NEVER, Machine, Outcome, StayEnd
from sched.pace import iteration_of_pieces
from sched.plan import running_pass
from sched.policies.base import Policy
from sched.record import Recorder
from sched.stops import goes_round, stalled
from sched.workload import RequestList


class Server:
    """The clock of one engine, its arrivals still to come, its batch. `inbox` takes ordinals whose client
    gave up.
    """

    def __init__(
        self, listed: RequestList, machine: Machine, cost: IterationCost, policy: Policy, recorder: Recorder,
        horizon_ps: int, longest_jump: int = AFTER_ALL,
    ) -> None:  # fmt: skip
        self.machine, self.cost, self.recorder, self.policy = machine, cost, recorder, policy
        self.batch = Batch(machine, policy, recorder)
        self.intake = Intake(listed, self.batch, recorder)
        self.longest_jump = longest_jump
        self.horizon_ps: float = inf if horizon_ps == NEVER else horizon_ps
        self.now_ps = self.iteration = self.flying = self.jumps = 0
        self.inbox: list[int] = []
        self.done = False
        self.stop_reason = ""
        # Growth takes cached blocks that a waiter would have shared: a first chunk then begins earlier and is
        # smaller, while what is kept from it shrinks as the urgent grow.
        is_kept_out = machine.gate == "first_chunk" and policy.set_aside is not None
        self.cache_may_admit = machine.gate == "peak" or is_kept_out or self.intake.answers_are_quoted

    def advance(self, until_ps: float) -> None:
        """Run to the first iteration boundary at or after `until_ps`, or to the end."""
        batch, intake = self.batch, self.intake
        while True:
            if self.inbox:
                self._abort()
            if self.flying:
                self._settle()
            if intake.next_ps <= self.now_ps:
                intake.take(self.now_ps)
                if self.inbox:
                    self._abort()
            if self.now_ps >= self.horizon_ps:
                return self._close("")
            if batch.running or batch.waiting:
                batch.iteration, batch.now_ps = self.iteration, self.now_ps
                running_pass(batch)
                if batch.waiting:
                    waiting_pass(batch)
                if batch.preempted and (reason := goes_round(batch)):
                    return self._close(reason)
                if batch.pieces:
                    self._step()
                elif batch.straight.count:
                    self._jump(until_ps)
                elif batch.preempted:
                    self._fly(1, self.cost.decode_ps(0), 0, 0, 0)
                elif not self._wait_for_change(until_ps):
                    return None
            elif intake.next_ps == AFTER_ALL:
                self.done = True
                return None
            elif intake.next_ps < until_ps:
                self.now_ps = intake.next_ps
                continue
            else:
                self.now_ps = int(until_ps)
            if self.now_ps >= until_ps:
                return None

    def _step(self) -> None:
        """One iteration with prefill chunks, or with decodes that are tracked one by one."""
        duration, prefill, decodes = iteration_of_pieces(self.batch, self.cost, self.recorder.chunks)
        self._fly(1, duration, 0, prefill, decodes)

    def _jump(self, until_ps: float) -> None:
        """As many iterations of straight decoding as nothing can change: to the next finish, shortage or
        event.
        """
        batch, iteration, straight, cost = self.batch, self.iteration, self.batch.straight, self.cost
        finishing = batch.finishing
        while not (finishing[0][2].straight and finishing[0][2].last == finishing[0][0]):
            heappop(finishing)
        last = finishing[0][0]
        first = cost.decode_ps(straight.count) + cost.kv_token_ps * (
            straight.count * iteration + straight.offsets
        )
        step = cost.kv_token_ps * straight.count
        if last > iteration:
            soonest = min(self.intake.next_ps, until_ps, self.horizon_ps)
            if batch.waiting:
                last = decision_stands_until(batch, last, self.cache_may_admit)
                if self.policy.moving:
                    changes = batch.queue.stands_until_ps(self.now_ps)  # type: ignore[union-attr]
                    soonest = soonest if changes is None else min(soonest, changes)
            count = min(last - iteration + 1, self.longest_jump)
            if soonest < AFTER_ALL and count > 1:
                count = iterations_until(int(soonest) - self.now_ps, first, step, count)
            # A decoder takes at most a block every `size` iterations and one more: often enough to know.
            growth = straight.count * (count // batch.size + 1)
            if count > 1 and (growth > batch.kv_blocks - batch.used() or not batch.plain):
                count = last_that_fits(batch, iteration + count - 1) - iteration + 1
        else:
            count = 1
        self._fly(count, first, step, 0, straight.count)
        if count > 1:
            self.jumps += 1
            if batch.pool:
                replay(batch, iteration + 1, count - 1)

    def _fly(self, count: int, first_ps: int, step_ps: int, prefill: int, decodes: int) -> None:
        """Let the model run: `count` iterations, each lasting `step_ps` longer than the one before."""
        batch = self.batch
        self.recorder.stretches.extend((
            self.now_ps, self.iteration, count, first_ps, step_ps, prefill, decodes,
            len(batch.running), batch.waiting, batch.used(),
        ))  # fmt: skip
        self.now_ps += count * first_ps + step_ps * (count * (count - 1) // 2)
        self.flying = count
        if decodes:
            batch.barren = 0
        if self.policy.fair:
            for tenant, straight in batch.decoding.items():
                self.policy.served(tenant, straight * count)
            for job, tokens in batch.pieces:
                if job.computed + tokens == job.known:
                    self.policy.served(job.request[3], 1)

    def _settle(self) -> None:
        """The iterations have ended: tokens are emitted, requests finish and give their blocks back."""
        batch, now_ps = self.batch, self.now_ps
        iteration = self.iteration = self.iteration + self.flying
        self.flying = 0
        ended: list[Job] = []
        for job, tokens in batch.pieces:
            job.computed += tokens
            if job.computed < job.known:
                continue
            job.known += 1
            batch.barren = 0
            if job.first_token_ps < 0:
                job.first_token_ps = now_ps
            if job.known >= job.limit:
                ended.append(job)
            else:
                batch.go_straight(job, iteration)
        finishing = batch.finishing
        while finishing and finishing[0][0] < iteration:
            last, _, job = heappop(finishing)
            if job.straight and job.last == last:
                ended.append(job)
        if len(ended) > 1:
            ended.sort(key=lambda job: (job.stay_from == iteration - 1, job.order))
        for job in ended:
            if self.policy.streams:
                batch.leave(job, StayEnd.FINISHED, iteration, now_ps)
                self._ended(job)
            else:
                self._park(job)
        if batch.parked and len(batch.parked) == len(batch.running):
            for job in tuple(batch.running):
                batch.leave(job, StayEnd.FINISHED, iteration, now_ps)
                self._ended(job)

    def _ended(self, job: Job) -> None:
        """The request has all its tokens and has left; a plain finish is said by its only stay."""
        if job.preemptions:
            self.recorder.ended(job, Outcome.FINISHED, self.now_ps)
        if self.intake.has_timeouts:
            self.intake.live.pop(job.ordinal, None)

    def _park(self, job: Job) -> None:
        """The request has all its tokens, but they are given out when the whole batch has ended."""
        if job.straight:
            self.batch.materialise(job, self.iteration)
        self.batch.park(job)

    def _abort(self) -> None:
        """Clients gave up during the iterations just run: their requests leave and the last output is
        ignored.
        """
        batch = self.batch
        given_up, self.inbox = self.inbox, []
        for ordinal in given_up:
            job = self.intake.live.pop(ordinal, None)
            if job is None:
                if ordinal >= self.intake.next:
                    self.inbox.append(ordinal)
                continue
            if job in batch.running:
                self._cut_short(job)
            else:
                batch.queue.take(job)
                batch.waiting -= 1
            self.recorder.ended(job, Outcome.TIMED_OUT, self.now_ps)

    def _cut_short(self, job: Job) -> None:
        """Out of the batch in flight: its KV was computed, the token that came of it is ignored."""
        batch, emitted = self.batch, job.straight and self.flying > 0
        for piece in batch.pieces if self.flying else ():
            if piece[0] is job:
                job.computed += piece[1]
                emitted = job.computed == job.known
        batch.pieces = [piece for piece in batch.pieces if piece[0] is not job]
        straight = job.straight
        batch.leave(job, StayEnd.TIMED_OUT, self.iteration + self.flying, self.now_ps)
        job.known -= straight and self.flying > 0
        if emitted and self.policy.fair:
            self.policy.served(job.request.tenant, -1)

    def _wait_for_change(self, until_ps: float) -> bool:
        """Work waits and nothing can run: on to the next event, or stop with the reason."""
        batch, soonest = self.batch, min(self.intake.next_ps, until_ps, self.horizon_ps)
        if soonest < AFTER_ALL:
            self.now_ps = int(soonest)
            return True
        self._close(stalled(batch, self.now_ps))
        return False

    def _close(self, reason: str) -> None:
        """End the run with whoever is left unfinished."""
        batch = self.batch
        for job in tuple(batch.running):
            batch.leave(job, StayEnd.STILL_RUNNING, self.iteration, self.now_ps)
            self.recorder.ended(job, Outcome.UNFINISHED, NEVER)
        for job in batch.queue.in_order(self.now_ps):
            self.recorder.ended(job, Outcome.UNFINISHED, NEVER)
        self.done = True
        self.stop_reason = reason
