"""Writes a log while the engine runs: flat integer arrays, a row at a time, so that a million requests fit."""

from array import array

import numpy as np

from sched.batch import Batch, Job
from sched.log import Chunks, Log, Preempted, Refusals, Runs, Stays, Stretches, columns, frozen
from sched.model import NEVER, Outcome, RefusalCode, StayEnd
from sched.workload import RequestList

_FIELDS = 7


class Recorder:
    """Rows as they happen; `finish` makes the log of them."""

    def __init__(self, requests: RequestList) -> None:
        self.requests = requests
        self.stretches = array("q")
        self.stays = array("q")
        self.chunks = array("q")
        self.runs = array("q")
        self.preempted = array("q")
        self.refusals = array("q")
        self.ends = array("q")

    def ended(self, job: Job, outcome: Outcome, at_ps: int) -> None:
        """A request's own row: how it ended and what it went through."""
        self.ends.extend((
            job.ordinal, outcome, job.first_scheduled_ps, job.first_token_ps, at_ps,
            job.known - job.request[6], job.preemptions, job.recomputed,
        ))  # fmt: skip

    def left(self, job: Job, end: StayEnd, end_iteration: int, end_ps: int) -> None:
        """A stay in the batch is over."""
        self.stays.extend((
            job.ordinal, job.admission, job.stay_from, job.stay_ps, job.hit, job.target, end_iteration, end_ps, end,
        ))  # fmt: skip

    def ran(self, job: Job, count: int) -> None:
        """A straight run is over."""
        self.runs.extend((job.ordinal, job.run_from, job.run_from + job.offset, count))

    def evicted(self, iteration: int, at_ps: int, victim: Job, beneficiary: Job) -> None:
        """KV was taken away."""
        self.preempted.extend((iteration, at_ps, victim.ordinal, beneficiary.ordinal, victim.computed))

    def refused(
        self, iteration: int, at_ps: int, job: Job, code: RefusalCode, need: int, free: int, entitled: int
    ) -> None:
        """A waiting request stays out; only a change of who or why is a row."""
        if job.noted != code:
            job.noted = code
            self.refusals.extend((iteration, at_ps, job.ordinal, code, need, free, entitled))

    def finish(self, batch: Batch, stop_reason: str, horizon_ps: int, jumps: int) -> Log:
        """The log; requests without a row of their own are unfinished."""
        count = len(self.requests.ids)
        per_request = np.full((8, count), NEVER, dtype=np.int64)
        per_request[1] = Outcome.UNFINISHED
        per_request[5:] = 0
        if len(self.ends):
            rows = np.frombuffer(self.ends, dtype=np.int64).reshape(-1, 8)
            per_request[:, rows[:, 0]] = rows.T
        _, outcome, scheduled, token, ended, emitted, preemptions, recomputed = map(frozen, per_request)
        return Log(
            policy=batch.policy.key,
            machine=batch.machine,
            requests=self.requests,
            set_aside=batch.aside,
            stop_reason=stop_reason,
            horizon_ps=horizon_ps,
            outcome=outcome,
            first_scheduled_ps=scheduled,
            first_token_ps=token,
            ended_ps=ended,
            emitted_tokens=emitted,
            preemptions=preemptions,
            recomputed_tokens=recomputed,
            stretches=Stretches(*columns(Stretches, self.stretches)),
            stays=Stays(*columns(Stays, self.stays)),
            chunks=Chunks(*columns(Chunks, self.chunks)),
            runs=Runs(*columns(Runs, self.runs)),
            preempted=Preempted(*columns(Preempted, self.preempted)),
            refusals=Refusals(*columns(Refusals, self.refusals)),
            jumps=jumps,
        )
