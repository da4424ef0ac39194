"""Priority scheduling of a few tasks with one lock: the operating system's inversion, as an exact schedule.

One processor, whole steps of time. The most urgent task that is ready runs, and a running one loses the
processor as soon as a more urgent one is ready. Whoever needs the lock while another holds it waits for it.
With inheritance the holder is as urgent as the most urgent of those who wait for the lock.
Source: Sha, Rajkumar and Lehoczky, Priority inheritance protocols, IEEE Transactions on Computers 39(9),
1990.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

RUNS, LOCKED, BLOCKED, READY = "runs", "locked", "blocked", "ready"
"""What a task does in a step: it runs, runs inside the lock, waits for the lock, or for the processor."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task; the smaller `priority` is the more urgent. `parts` are steps of work and whether they need the
    lock, which a task holds from the first step of such a part to its last.
    """

    name: str
    priority: int
    release: int
    parts: tuple[tuple[int, bool], ...]

    @property
    def work(self) -> int:
        """All its steps."""
        return sum(steps for steps, _ in self.parts)


class Piece(NamedTuple):
    """A stretch of steps [begin, end) in which a task does the same."""

    task: str
    begin: int
    end: int
    does: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """What every task does, in order of task and time."""

    pieces: tuple[Piece, ...]

    def runner(self, step: int) -> str | None:
        """Who has the processor in a step."""
        return next((one.task for one in self._at(step) if one.does in (RUNS, LOCKED)), None)

    def does(self, task: str, step: int) -> str | None:
        """What a task does in a step; None before it comes and after it has ended."""
        return next((one.does for one in self._at(step) if one.task == task), None)

    def spent(self, task: str, does: str) -> int:
        """Steps in which a task does this."""
        return sum(one.end - one.begin for one in self.pieces if one.task == task and one.does == does)

    def end(self, task: str) -> int:
        """When a task has ended."""
        return max(one.end for one in self.pieces if one.task == task)

    def _at(self, step: int) -> list[Piece]:
        return [one for one in self.pieces if one.begin <= step < one.end]


def schedule(tasks: Sequence[Task], *, inherits: bool = False) -> Schedule:
    """The schedule of these tasks, exact and the same every time."""
    done = dict.fromkeys((one.name for one in tasks), 0)
    doing: dict[str, list[tuple[int, str]]] = {one.name: [] for one in tasks}
    holder: Task | None = None
    now = 0
    while any(done[one.name] < one.work for one in tasks):
        there = [one for one in tasks if one.release <= now and done[one.name] < one.work]
        stuck = [one for one in there if holder not in (None, one) and _needs_lock(one, done[one.name])]
        lifted = min((one.priority for one in stuck), default=None) if inherits else None
        ready = [one for one in there if one not in stuck]
        runner = min(ready, key=lambda one: (_urgency(one, holder, lifted), one.release), default=None)
        for one in there:
            inside = _needs_lock(one, done[one.name])
            does = (LOCKED if inside else RUNS) if one is runner else BLOCKED if one in stuck else READY
            doing[one.name].append((now, does))
        if runner is not None:
            inside = _needs_lock(runner, done[runner.name])
            done[runner.name] += 1
            goes_on = inside and not _ends_part(runner, done[runner.name])
            holder = runner if goes_on else None if inside else holder
        now += 1
    return Schedule(tuple(piece for one in tasks for piece in _pieces(one.name, doing[one.name])))


def _urgency(task: Task, holder: Task | None, lifted: int | None) -> int:
    return task.priority if lifted is None or task is not holder else min(task.priority, lifted)


def _needs_lock(task: Task, done: int) -> bool:
    """Whether its next step is inside the lock."""
    for steps, inside in task.parts:
        if done < steps:
            return inside
        done -= steps
    return False


def _ends_part(task: Task, done: int) -> bool:
    ends, total = [], 0
    for steps, _ in task.parts:
        total += steps
        ends.append(total)
    return done in ends


def _pieces(name: str, doing: list[tuple[int, str]]) -> list[Piece]:
    found: list[Piece] = []
    for step, does in doing:
        if found and found[-1].end == step and found[-1].does == does:
            found[-1] = found[-1]._replace(end=step + 1)
        else:
            found.append(Piece(name, step, step + 1, does))
    return found


HIGH, MEDIUM, LOW = "high", "medium", "low"
PATHFINDER = (
    Task(HIGH, 0, 3, ((1, False), (2, True), (1, False))),
    Task(MEDIUM, 1, 4, ((6, False),)),
    Task(LOW, 2, 0, ((1, False), (4, True), (1, False))),
)
"""The three tasks of the Mars Pathfinder's resets: the bus task needs the lock that the weather task holds,
and the radio task, which needs no lock, comes in between. Steps are steps, not the mission's milliseconds.
"""


def with_medium_work(steps: int) -> tuple[Task, ...]:
    """The same three, with another length of the task in the middle."""
    high, medium, low = PATHFINDER
    return (high, Task(medium.name, medium.priority, medium.release, ((steps, False),)), low)
