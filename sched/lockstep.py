"""Holds the engine against recorded decision traces of the real vLLM scheduler, iteration by iteration.

The format is `vllm-oracle-trace/1`: requests by the scheduler call in which they are added, then one record a
call. Here a call is an iteration of one picosecond, so a trace's step index is the time.
"""

import json
from fractions import Fraction
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from sched.cost import IterationCost
from sched.job import Job
from sched.log import frozen
from sched.model import NEVER, Outcome, Request, Standing
from sched.policies import POLICIES
from sched.policies.base import Policy, Rank, Scene
from sched.record import Recorder
from sched.recorded import FORMAT, Step, machine_of, recorded_steps
from sched.server import Server
from sched.workload import RequestList

_STALL_CALLS = 3
"""Calls that schedule nothing after which a recording ends, when nothing more arrives."""


def _segment(key: int) -> Any:
    """The engine's name of a token segment: another request's answer or private prompt may be quoted."""
    if key >= 1_000_000:
        return ("answer of", key - 1_000_000)
    return ("prompt of", key - 500_000) if key >= 500_000 else str(key)


class _Watched(Server):
    """The engine itself, jumps and all, with each of its decisions noted down as scheduler calls."""

    def __init__(self, trace: dict[str, Any]) -> None:
        rows = [dict(zip(trace["request_columns"], row, strict=False)) for row in trace["requests"]]
        self.rows_of = sorted(range(len(rows)), key=lambda row: rows[row]["arrival_step"])
        order = {row: ordinal for ordinal, row in enumerate(self.rows_of)}
        times = [rows[row]["arrival_time"] for row in self.rows_of]
        listed = self._listed([rows[row] for row in self.rows_of], order)
        machine = machine_of(trace["config"])
        policy = _on_recorded_times(POLICIES[trace["config"]["policy"]], times)(None, Scene(machine, 0, {}))
        self.watched: list[Step] = []
        self.seen = 0
        super().__init__(listed, machine, IterationCost(base_ps=1), policy, Recorder(listed), NEVER)

    @staticmethod
    def _listed(rows: list[dict[str, Any]], order: dict[int, int]) -> RequestList:
        def column(values: list[int]) -> Any:
            return frozen(np.array(values, dtype=np.int64))

        def segments(row: dict[str, Any]) -> Any:
            named = [(_segment(key), tokens) for key, tokens in row.get("segments") or []]
            return tuple(((n[0], order[n[1]]) if isinstance(n, tuple) else n, tokens) for n, tokens in named)

        none = column([NEVER] * len(rows))
        zero = column([0] * len(rows))
        return RequestList(
            ids=tuple(row["id"] for row in rows),
            arrival_ps=column([row["arrival_step"] for row in rows]),
            prompt_tokens=column([row["prompt_tokens"] for row in rows]),
            output_tokens=column([row["output_tokens"] for row in rows]),
            priority=column([row["priority"] for row in rows]),
            class_index=zero,
            tenant_index=zero,
            ttft_goal_ps=none,
            tpot_goal_ps=none,
            timeout_ps=none,
            class_names=("recorded",),
            tenant_names=("recorded",),
            weights=(Fraction(1),),
            segments=tuple(segments(row) for row in rows),
        )

    def _name(self, jobs: Any) -> list[int]:
        return [self.rows_of[job.ordinal] for job in jobs]

    def _added(self) -> list[int]:
        """Requests taken in since the last call."""
        refused = set(self._refused())
        first, self.seen = self.seen, self.intake.next
        return [self.rows_of[one] for one in range(first, self.seen) if one not in refused]

    def _refused(self) -> list[int]:
        ends = np.frombuffer(self.recorder.ends, dtype=np.int64).reshape(-1, 8)
        return [int(one) for one in ends[ends[:, 1] == Outcome.REFUSED, 0]]

    def _call(self, time: int) -> Step:
        batch, iteration = self.batch, self.iteration
        pieces = dict(batch.pieces)
        tokens = {job: 1 if job.straight else pieces.get(job, 0) for job in batch.running}
        entered = [job for job in batch.running if job.stay_from == iteration]
        free = self.machine.kv_blocks - batch.used()
        step = Step(
            time=time,
            added=self._added(),
            scheduled=[(self.rows_of[job.ordinal], count) for job, count in tokens.items() if count],
            admitted=self._name(job for job in entered if not job.preemptions),
            resumed=self._name(job for job in entered if job.preemptions),
            hits=[(self.rows_of[job.ordinal], job.hit) for job in entered if job.hit],
            preempted=self._name(batch.preempted),
            waiting=self._name(batch.queue.in_order(time)),
            running=self._name(batch.running),
            free_scheduled=free,
            free_updated=free,
        )
        self.watched.append(step)
        return step

    def _fly(self, count: int, first_ps: int, step_ps: int, prefill: int, decodes: int) -> None:
        first, iteration, held = self._call(self.now_ps), self.iteration, self.batch.straight.held
        for turn in range(1, count):
            free = first.free_scheduled - held(iteration + turn) + held(iteration)
            self.watched.append(
                Step(
                    self.now_ps + turn, scheduled=first.scheduled, waiting=first.waiting,
                    running=first.running, free_scheduled=free, free_updated=free,
                )
            )  # fmt: skip
        super()._fly(count, first_ps, step_ps, prefill, decodes)

    def _settle(self) -> None:
        super()._settle()
        self.watched[-1].free_updated = self.machine.kv_blocks - self.batch.used_before(self.iteration)

    def _ended(self, job: Job) -> None:
        self.watched[-1].finished.append(self.rows_of[job.ordinal])
        super()._ended(job)

    def _wait_for_change(self, until_ps: float) -> bool:
        start = self.now_ps
        goes_on = super()._wait_for_change(until_ps)
        last_arrival = self.intake.arrivals[self.intake.next - 1]
        idle_calls = takewhile(
            lambda step: not step.scheduled and step.time >= last_arrival, reversed(self.watched)
        )
        idle = sum(1 for _ in idle_calls)
        for time in range(start, self.now_ps if goes_on else start + _STALL_CALLS - idle):
            self._call(time)
        return goes_on


def _on_recorded_times(policy: type[Policy], times: list[float]) -> type[Policy]:
    """The policy, comparing the recorded arrival times: a call's number is not what the real scheduler
    compares.
    """

    class Recorded(policy):  # type: ignore[valid-type, misc]
        def rank(self, request: Request, standing: Standing) -> Rank:
            return (request.priority, times[request.ordinal], request.id)

        def yields(self, request: Request, standing: Standing) -> Rank:
            if self.key == "priority":
                return (request.priority, times[request.ordinal])
            known: Rank = super().yields(request, standing)
            return known

    return Recorded


def first_difference(trace: dict[str, Any]) -> str:
    """Where the engine first decides otherwise than the recording, in words; "" if it nowhere does."""
    if trace.get("format") != FORMAT:
        return f"format = {trace.get('format')}: must be {FORMAT}"
    server = _Watched(trace)
    server.advance(float("inf"))
    for number, want in enumerate(recorded_steps(trace)):
        if number >= len(server.watched):
            reason = server.stop_reason or "all ended"
            return f"iteration {want.time}: recorded, but the engine had stopped ({reason})"
        got = server.watched[number]
        for name in Step.__dataclass_fields__:
            if getattr(got, name) != getattr(want, name):
                return (
                    f"iteration {want.time}: {name} is {getattr(got, name)}, recorded {getattr(want, name)}"
                )
    if len(server.watched) > len(trace["steps"]):
        time = server.watched[len(trace["steps"])].time
        return f"iteration {time}: the engine goes on, the recording had ended"
    refused = sorted(server.rows_of[one] for one in server._refused())
    if refused != sorted(trace["summary"]["rejected"]):
        return f"refused requests are {refused}, recorded {trace['summary']['rejected']}"
    return ""


def compare_file(path: Path) -> str:
    """`first_difference` of a file; unreadable files are a difference, in words."""
    try:
        trace = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        return f"cannot be read as JSON: {error}"
    return difference_in(trace)


def difference_in(trace: object) -> str:
    """`first_difference` of what a file holds; what is no trace is a difference, in words."""
    if not isinstance(trace, dict):
        return "is not a decision trace (one JSON object)"
    try:
        return first_difference(trace)
    except KeyError as error:
        return f"is not a decision trace: {error.args[0]!r} is missing"
