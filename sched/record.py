"""Writes a log while the engine runs: flat integer arrays, a row at a time, so that millions fit."""

from array import array

import numpy as np

from sched.batch import Batch
from sched.job import Job
from sched.log import Chunks, Ints, Log, Preempted, Refusals, Runs, Stays, Stretches, columns, frozen
from sched.model import NEVER, Outcome, RefusalCode, SetAside, StayEnd
from sched.workload import RequestList

_STAY = 12
"""Integers of a stay as it is recorded: its columns in the log, then first_token_ps, run_from and offset."""
_END = 8


class Recorder:
    """Rows as they happen; `finish` makes the log of them."""

    def __init__(self, requests: RequestList) -> None:
        self.requests = requests
        self.stretches = array("q")
        self.stays = array("q")
        self.chunks = array("q")
        self.runs = array("q")
        self.preemptions = array("q")
        self.refusals = array("q")
        self.ends = array("q")
        self.why_refused: dict[int, str] = {}
        self.asides: list[tuple[int, SetAside | None]] = []

    def ended(self, job: Job, outcome: Outcome, at_ps: int) -> None:
        """How a request ended and what it went through; not needed for a finish without a preemption."""
        self.ends.extend((
            job.ordinal, outcome, job.first_scheduled_ps, job.first_token_ps, at_ps,
            job.known - job.request[6], job.preemptions, job.recomputed,
        ))  # fmt: skip

    def refused_for_good(self, job: Job, why: str) -> None:
        """A request is refused on arrival."""
        self.why_refused[job.ordinal] = why
        self.ended(job, Outcome.REFUSED, job.request[5])

    def left(self, job: Job, end: StayEnd, end_iteration: int, end_ps: int) -> None:
        """A stay in the batch is over, and with it the straight run that it may have been in."""
        self.stays.extend((
            job.ordinal, job.admission, job.stay_from, job.stay_ps, job.hit, job.target,
            end_iteration, end_ps, end, job.first_token_ps, job.run_from, job.offset,
        ))  # fmt: skip

    def ran(self, job: Job, count: int) -> None:
        """A straight run is over."""
        self.runs.extend((job.ordinal, job.run_from, job.run_from + job.offset, count))

    def preempted(self, iteration: int, at_ps: int, victim: Job, beneficiary: Job) -> None:
        """KV was taken away."""
        self.preemptions.extend((iteration, at_ps, victim.ordinal, beneficiary.ordinal, victim.computed))

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
        stays = _rows(self.stays, _STAY)
        outcome, scheduled, token, ended, emitted, preemptions, recomputed = self._per_request(
            count, stays, batch
        )
        return Log(
            policy=batch.policy.key,
            machine=batch.machine,
            requests=self.requests,
            set_aside=batch.first_aside,
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
            stays=Stays(*(frozen(np.ascontiguousarray(column)) for column in stays.T[:9])),
            chunks=Chunks(*columns(Chunks, self.chunks)),
            runs=self._all_runs(stays),
            preempted=Preempted(*columns(Preempted, self.preemptions)),
            refusals=Refusals(*columns(Refusals, self.refusals)),
            jumps=jumps,
            why_refused=self.why_refused,
            asides=tuple(self.asides),
            rules=batch.policy,
        )

    def _per_request(self, count: int, stays: Ints, batch: Batch) -> tuple[Ints, ...]:
        """Columns by request: of its own row, or of its only stay if it plainly finished."""
        columns = np.full((7, count), NEVER, dtype=np.int64)
        columns[0] = Outcome.UNFINISHED
        columns[4:] = 0
        last = stays[stays[:, 8] == StayEnd.FINISHED]
        one = last[:, 0]
        length = self.requests.prompt_tokens[one] + self.requests.output_tokens[one]
        if batch.machine.max_model_len:
            length = np.minimum(length, batch.machine.max_model_len)
        columns[0, one] = Outcome.FINISHED
        columns[1, one], columns[2, one], columns[3, one] = last[:, 3], last[:, 9], last[:, 7]
        columns[4, one] = length - self.requests.prompt_tokens[one]
        rows = _rows(self.ends, _END)
        columns[:, rows[:, 0]] = rows[:, 1:].T
        return tuple(frozen(column) for column in columns)

    def _all_runs(self, stays: Ints) -> Runs:
        """Straight runs: those that ended with their stay, and those that were cut short."""
        cut = _rows(self.runs, 4)
        late = stays[(stays[:, 10] >= 0) & (stays[:, 6] > stays[:, 10])]
        ended = [late[:, 0], late[:, 10], late[:, 10] + late[:, 11], late[:, 6] - late[:, 10]]
        rows = np.concatenate([cut, np.stack(ended, axis=1)])
        return Runs(*(frozen(np.ascontiguousarray(column)) for column in rows.T))


def _rows(data: "array[int]", width: int) -> Ints:
    """A flat array as a table."""
    return (
        np.frombuffer(data, dtype=np.int64).reshape(-1, width)
        if len(data)
        else np.zeros((0, width), np.int64)
    )
