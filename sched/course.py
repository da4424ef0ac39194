"""What happens in one engine as time passes: iterations end, requests finish, clients give up.

Time is an integer of picoseconds.
"""

from heapq import heappop
from math import inf

from sched.batch import Batch
from sched.cost import IterationCost
from sched.foresight import fall
from sched.horizon import LAST_PS, refuse_iteration
from sched.intake import AFTER_ALL, Intake
from sched.job import Job
from sched.model import NEVER, Machine, Outcome, StayEnd
from sched.policies.base import Policy
from sched.record import Recorder
from sched.workload import RequestList


class Course:
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
        self.stuck: tuple[int, int] | None = None
        self.done = False
        self.stop_reason = ""
        # Growth takes cached blocks that a waiter would have shared: a first chunk then begins earlier and is
        # smaller, while what is kept from it shrinks as the urgent grow.
        is_kept_out = machine.gate == "first_chunk" and policy.set_aside is not None
        self.cache_may_admit = machine.gate == "peak" or is_kept_out or self.intake.answers_are_quoted

    def _fly(self, count: int, first_ps: int, step_ps: int, prefill: int, decodes: int) -> None:
        """Let the model run: `count` iterations, each lasting `step_ps` longer than the one before."""
        batch = self.batch
        end_ps = self.now_ps + count * first_ps + step_ps * (count * (count - 1) // 2)
        if end_ps > LAST_PS:
            refuse_iteration(self.now_ps, end_ps)
        self.recorder.stretches.extend((
            self.now_ps, self.iteration, count, first_ps, step_ps, prefill, decodes,
            len(batch.running), batch.waiting, batch.used(),
        ))  # fmt: skip
        self.now_ps = end_ps
        self.flying = count
        self.intake.iteration_ps = first_ps + step_ps * (count - 1)
        if decodes:
            batch.barren = 0
        if batch.ledger:
            batch.ledger.flown(count, batch.pieces)
        if batch.foresees:
            fall(batch, count)

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
        if self.intake.keeps_live:
            self.intake.live.pop(job.ordinal, None)
        if self.batch.ledger:
            self.policy.ended(job.request, job.known - job.request[6])

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
                batch.unqueue(job)
            if batch.ledger:
                self.policy.ended(job.request, job.known - job.request[6])
            self.recorder.ended(job, Outcome.TIMED_OUT, self.now_ps)

    def _cut_short(self, job: Job) -> None:
        """Out of the batch in flight: its KV was computed, the token that came of it is ignored."""
        batch, emitted = self.batch, job.straight and self.flying > 0
        for piece in batch.pieces if self.flying else ():
            if piece[0] is job:
                job.computed += piece[1]
                emitted = job.computed == job.known
        batch.pieces = [piece for piece in batch.pieces if piece[0] is not job]
        unheard = int(job.straight and self.flying > 0)
        batch.leave(job, StayEnd.TIMED_OUT, self.iteration + self.flying, self.now_ps, unheard)
        job.known -= unheard
        if emitted and batch.ledger:
            self.policy.served(job.request.tenant, -1)

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
