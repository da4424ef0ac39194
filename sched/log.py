"""What a run recorded, and only that. Metrics, inversions, pictures and tables are all derived from these
columns.

Every column is a read-only int64 array. Times are picoseconds; -1 (NEVER) stands for a time that did not
come.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched.model import Machine, SetAside
from sched.policies.base import Policy
from sched.workload import RequestList

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Runs of consecutive iterations with the same batch, shape (m,).

    Iteration `iteration + j` of a stretch lasts `first_ps + j * step_ps`. Tokens, `running` and `waiting` are
    those of each of its iterations as the decision left them; `kv_used` is in blocks, in the first iteration
    after scheduling.
    """

    start_ps: Ints
    iteration: Ints
    count: Ints
    first_ps: Ints
    step_ps: Ints
    prefill_tokens: Ints
    decode_tokens: Ints
    running: Ints
    waiting: Ints
    kv_used: Ints


@dataclass(frozen=True, eq=False)
class Stays:
    """Stays in the running batch, in order of their end: during iterations [iteration, end_iteration).

    `seq` numbers admissions; `known_tokens` = prompt + emitted tokens at admission, what has to be
    (re)computed; `hit_tokens` of them came from the prefix cache; `end` is a StayEnd.
    """

    request: Ints
    seq: Ints
    iteration: Ints
    start_ps: Ints
    hit_tokens: Ints
    known_tokens: Ints
    end_iteration: Ints
    end_ps: Ints
    end: Ints


@dataclass(frozen=True, eq=False)
class Chunks:
    """Pieces scheduled one iteration at a time: prefill chunks, and decodes of iterations with a shortage.

    `before` = tokens whose KV was computed before it. It is a decode iff `before` >= `known_tokens` of the
    stay.
    """

    request: Ints
    iteration: Ints
    tokens: Ints
    before: Ints


@dataclass(frozen=True, eq=False)
class Runs:
    """Straight decoding: one token in each of `count` consecutive iterations from `iteration` on."""

    request: Ints
    iteration: Ints
    before: Ints
    count: Ints


@dataclass(frozen=True, eq=False)
class Preempted:
    """Preemptions in their order. `lost_tokens` are computed tokens thrown away; `beneficiary` may be the
    victim itself.
    """

    iteration: Ints
    at_ps: Ints
    victim: Ints
    beneficiary: Ints
    lost_tokens: Ints


@dataclass(frozen=True, eq=False)
class Refusals:
    """Why the head of the queue stayed out, recorded when it changes. `code` is a RefusalCode; the rest in
    its unit.

    `need` is what it asked for, `free` what was physically free, `entitled` what of that it may take.
    """

    iteration: Ints
    at_ps: Ints
    request: Ints
    code: Ints
    need: Ints
    free: Ints
    entitled: Ints


@dataclass(frozen=True, eq=False)
class Log:
    """One run of one policy over one request list. Per-request columns have shape (n,), in the order of
    `requests`.

    `ended_ps` is the finish, refusal or time-out; `outcome` an Outcome; `stop_reason` is "" or why the engine
    stopped. `horizon_ps` is when the run was cut off, or NEVER when it drained.
    """

    policy: str
    machine: Machine
    requests: RequestList
    set_aside: SetAside | None
    stop_reason: str
    horizon_ps: int
    outcome: Ints
    first_scheduled_ps: Ints
    first_token_ps: Ints
    ended_ps: Ints
    emitted_tokens: Ints
    preemptions: Ints
    recomputed_tokens: Ints
    stretches: Stretches
    stays: Stays
    chunks: Chunks
    runs: Runs
    preempted: Preempted
    refusals: Refusals
    jumps: int = 0
    """Stretches that were taken in one step although they are longer than one iteration."""
    why_refused: Mapping[int, str] = field(default_factory=dict)
    """Of each refused request, by its place in `requests`: why, in words."""
    asides: tuple[tuple[int, SetAside | None], ...] = ()
    """What a controller has set aside later, and from when (ps); `set_aside` is what it began with."""

    replicas: tuple["Log", ...] = ()
    """Of several engines: the log of each over its own requests. The tables here then hold the stays,
    preemptions and refusals of all of them, and what is counted by iteration is only theirs.
    """
    rows: tuple[Ints, ...] = ()
    """Of several engines: the places in `requests` of each one's."""
    rules: Policy | None = field(default=None, repr=False, compare=False)
    """The policy as the run left it, for its rank. It stays behind where a log is sent."""

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to another process; rules hold functions, which cannot be."""
        return self.__dict__ | {"rules": None}

    @cached_property
    def iterations(self) -> int:
        """Iterations of the whole run; of several engines the most of any."""
        if self.replicas:
            return max(one.iterations for one in self.replicas)
        count = self.stretches.count
        return int(self.stretches.iteration[-1] + count[-1]) if len(count) else 0

    @cached_property
    def end_ps(self) -> int:
        """When the last iteration ended."""
        if self.replicas:
            return max(one.end_ps for one in self.replicas)
        if not len(self.stretches.count):
            return 0
        return int(self.iteration_start_ps[-1] + self.iteration_duration_ps[-1])

    @cached_property
    def _place(self) -> tuple[Ints, Ints]:
        """Of each iteration: its stretch, and its place in it."""
        count = self.stretches.count
        row = np.repeat(np.arange(len(count), dtype=np.int64), count)
        return row, np.arange(len(row), dtype=np.int64) - self.stretches.iteration[row]

    @cached_property
    def iteration_start_ps(self) -> Ints:
        """Start of each iteration, shape (iterations,)."""
        row, place = self._place
        first, step = self.stretches.first_ps[row], self.stretches.step_ps[row]
        return frozen(self.stretches.start_ps[row] + place * first + step * (place * (place - 1) // 2))

    @cached_property
    def iteration_duration_ps(self) -> Ints:
        """Length of each iteration, shape (iterations,)."""
        row, place = self._place
        return frozen(self.stretches.first_ps[row] + place * self.stretches.step_ps[row])

    @cached_property
    def stretch_of_iteration(self) -> Ints:
        """Row of `stretches` that each iteration belongs to, shape (iterations,)."""
        return frozen(self._place[0])


def columns(kind: type[Any], data: "array[int]") -> tuple[Ints, ...]:
    """Columns of a table that was recorded row by row in a flat array."""
    width = len(fields(kind))
    table = (
        np.frombuffer(data, dtype=np.int64).reshape(-1, width)
        if len(data)
        else np.zeros((0, width), np.int64)
    )
    return tuple(frozen(np.ascontiguousarray(table[:, column])) for column in range(width))


def frozen(values: Ints) -> Ints:
    """The array, made read-only."""
    values.flags.writeable = False
    return values
