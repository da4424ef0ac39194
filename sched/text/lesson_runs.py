"""The runs of the lessons, and what can be read off them: who starts next, who holds what, who waits."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sched.engine import simulate
from sched.external import change
from sched.files import from_text
from sched.inversion import Inversion, analyse
from sched.log import Ints, Log
from sched.model import PS_PER_S, Outcome
from sched.moments import moments
from sched.scenario import Scenario

FOLDER = Path(__file__).parent / "lessons"
Changes = tuple[tuple[str, str], ...]
Floats = NDArray[np.float64]


class Run(NamedTuple):
    """One policy over a lesson's scenario."""

    scenario: Scenario
    log: Log
    inversion: Inversion


@cache
def lesson_scenario(name: str, changes: Changes = ()) -> Scenario:
    """The scenario of a lesson, with dotted changes made to it."""
    path = FOLDER / f"{name}.toml"
    return change(from_text(path.read_text("utf-8"), path.name), dict(changes))


@cache
def run(name: str, policy: str, changes: Changes = ()) -> Run:
    """A policy over a lesson's scenario; it takes some milliseconds and is kept."""
    scenario = lesson_scenario(name, changes)
    log = simulate(scenario, policy)
    return Run(scenario, log, analyse(log))


def place(log: Log, name: str) -> int:
    """A request's place in the list, by its name."""
    return log.requests.ids.index(name)


def arrival_s(log: Log, name: str) -> float:
    """When a request comes."""
    return float(log.requests.arrival_ps[place(log, name)]) / PS_PER_S


def start_s(log: Log, name: str) -> float:
    """When a request is first in the batch."""
    return float(log.first_scheduled_ps[place(log, name)]) / PS_PER_S


def end_s(log: Log, name: str) -> float:
    """When a request has ended."""
    return float(log.ended_ps[place(log, name)]) / PS_PER_S


def wait_s(found: Run, name: str) -> float:
    """How long a request was outside the batch, in all."""
    return float(found.inversion.wait_ps[place(found.log, name)]) / PS_PER_S


def waits_s(found: Run, class_name: str | None = None) -> float:
    """The sum of the waits of a class, or of all."""
    listed = found.log.requests
    of = np.ones(len(listed.ids), dtype=bool)
    if class_name is not None:
        of = listed.class_index == listed.class_names.index(class_name)
    return float(found.inversion.wait_ps[of].sum()) / PS_PER_S


def first_in(log: Log, from_s: float) -> tuple[float, frozenset[str]]:
    """When somebody enters the batch at or after a moment, and who does then."""
    start = log.stays.start_ps
    later = start[start >= round(from_s * PS_PER_S)]
    at_ps = int(later.min())
    who = log.stays.request[start == at_ps].tolist()
    return at_ps / PS_PER_S, frozenset(log.requests.ids[one] for one in who)


def waiting(log: Log, at_s: float) -> list[str]:
    """Who has come and was never in the batch yet, in order of arrival."""
    at_ps, listed = at_s * PS_PER_S, log.requests
    there = (listed.arrival_ps <= at_ps) & ((log.first_scheduled_ps < 0) | (log.first_scheduled_ps > at_ps))
    rows = np.flatnonzero(there)
    return [listed.ids[one] for one in rows[np.argsort(listed.arrival_ps[rows], kind="stable")]]


def queue(found: Run, at_s: float) -> list[str]:
    """Who waits at a moment, in the order in which the policy asks them."""
    seen, at_ps = found.inversion.seen, at_s * PS_PER_S
    there = np.flatnonzero((seen.waits.from_ps <= at_ps) & (at_ps < seen.waits.to_ps))
    rows = seen.waits.request[there[np.argsort(seen.place[there])]]
    return [found.log.requests.ids[one] for one in rows]


def running(log: Log, at_s: float) -> list[str]:
    """Who is in the batch at a moment, in order of admission."""
    stays, at_ps = log.stays, at_s * PS_PER_S
    rows = np.flatnonzero((stays.start_ps <= at_ps) & (at_ps < stays.end_ps))
    return [log.requests.ids[one] for one in stays.request[rows[np.argsort(stays.seq[rows])]]]


def leavers(log: Log) -> list[tuple[float, str]]:
    """When who has finished, in order of time."""
    done = np.flatnonzero(log.outcome == Outcome.FINISHED)
    order = done[np.argsort(log.ended_ps[done], kind="stable")]
    return [(float(log.ended_ps[one]) / PS_PER_S, log.requests.ids[one]) for one in order]


def held_blocks(found: Run, name: str) -> tuple[Floats, Ints]:
    """A request's blocks in every iteration that it is in: starts in seconds, and blocks."""
    log, held = found.log, found.inversion.seen.held
    mine = held.take(held.request == place(log, name))
    length = mine.end - mine.iteration
    piece = np.repeat(np.arange(len(mine)), length)
    step = np.arange(len(piece)) - np.repeat(np.cumsum(length) - length, length)
    iteration = mine.iteration[piece] + step
    order = np.argsort(iteration)
    blocks = mine.claimed(piece, iteration, log.machine)
    return log.iteration_start_ps[iteration[order]] / PS_PER_S, blocks[order]


def holds(found: Run, name: str, at_s: float) -> int:
    """A request's blocks at a moment."""
    begin, blocks = held_blocks(found, name)
    slot = int(np.searchsorted(begin, at_s, "right")) - 1
    return int(blocks[slot]) if slot >= 0 and at_s < end_s(found.log, name) else 0


def free(found: Run, at_s: float) -> int:
    """Blocks that nobody holds at a moment."""
    log = found.log
    return log.machine.kv_blocks - sum(holds(found, one, at_s) for one in running(log, at_s))


def needs(found: Run, name: str) -> int:
    """Blocks that the gate asks of a request: while it waits, else as it was admitted."""
    rows = moments(found.inversion, place(found.log, name))
    short = np.flatnonzero(rows.resource == 0)
    return int(rows.needs[short[0]]) if len(short) else int(held_blocks(found, name)[1][0])


def passed(found: Run, name: str, until_s: float) -> int:
    """How many less urgent requests were admitted between its arrival and a moment."""
    log = found.log
    me = place(log, name)
    lower = log.requests.priority[log.stays.request] > log.requests.priority[me]
    start = log.stays.start_ps
    since = (start > log.requests.arrival_ps[me]) & (start <= until_s * PS_PER_S)
    return int((lower & since).sum())


def makespan_s(log: Log) -> float:
    """When the last request has finished."""
    return float(log.ended_ps[log.outcome == Outcome.FINISHED].max()) / PS_PER_S


def decode_s(log: Log, many: int) -> float:
    """The length of the first iteration in which so many decode and nobody's prompt is computed."""
    lines = log.stretches
    rows = np.flatnonzero((lines.decode_tokens == many) & (lines.prefill_tokens == 0))
    return float(lines.first_ps[rows[0]]) / PS_PER_S


def right_of(claims: Mapping[str, object], happened: object) -> str:
    """The one option whose claim is what happened."""
    right = [key for key, claim in claims.items() if claim == happened]
    assert len(right) == 1, f"{len(right)} options claim {happened!r}: {dict(claims)}"
    return right[0]
