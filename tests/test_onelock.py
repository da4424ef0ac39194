"""Priority scheduling with one lock, by hand: the operating system's half of the third lesson."""

from itertools import pairwise

import pytest

from sched.text.onelock import (
    BLOCKED,
    HIGH,
    LOCKED,
    LOW,
    MEDIUM,
    PATHFINDER,
    READY,
    RUNS,
    Piece,
    Task,
    schedule,
    with_medium_work,
)


def test_without_inheritance_the_task_in_the_middle_keeps_the_lock_from_coming_back() -> None:
    # Low runs 0 and, inside the lock, 1 and 2. High comes at 3, runs a step and needs the lock at 4, when the
    # middle task comes and runs 4 to 9. Low finishes the other two steps inside at 10 and 11; then High.
    found = schedule(PATHFINDER)
    assert [one for one in found.pieces if one.task == HIGH] == [
        Piece(HIGH, 3, 4, RUNS),
        Piece(HIGH, 4, 12, BLOCKED),
        Piece(HIGH, 12, 14, LOCKED),
        Piece(HIGH, 14, 15, RUNS),
    ]
    assert found.runner(4) == MEDIUM and found.runner(10) == LOW and found.runner(16) is None
    assert found.does(LOW, 5) == READY and found.does(MEDIUM, 3) is None


def test_with_inheritance_the_holder_runs_at_once() -> None:
    # At 4 Low is as urgent as High: it runs 4 and 5 inside the lock, High 6 to 8, the middle task 9 to 14.
    found = schedule(PATHFINDER, inherits=True)
    assert [found.runner(step) for step in range(3, 16)] == [
        *(HIGH, LOW, LOW, HIGH, HIGH, HIGH),
        *(MEDIUM,) * 6,
        LOW,
    ]
    assert found.end(HIGH) == 9


@pytest.mark.parametrize("steps", [1, 6, 12, 100])
def test_the_wait_for_the_lock_is_bounded_by_inheritance_only(steps: int) -> None:
    tasks = with_medium_work(steps)
    section = 2  # what is left inside the lock when the middle task comes
    assert schedule(tasks).spent(HIGH, BLOCKED) == steps + section
    assert schedule(tasks, inherits=True).spent(HIGH, BLOCKED) == section


@pytest.mark.parametrize("inherits", [False, True])
def test_every_step_of_work_is_done_once_and_only_one_task_runs(inherits: bool) -> None:
    found = schedule(PATHFINDER, inherits=inherits)
    for task in PATHFINDER:
        assert found.spent(task.name, RUNS) + found.spent(task.name, LOCKED) == task.work
    running = [
        (one.begin, one.end)
        for one in sorted(found.pieces, key=lambda one: one.begin)
        if one.does in (RUNS, LOCKED)
    ]
    assert all(a[1] <= b[0] for a, b in pairwise(running))


def test_nobody_waits_for_a_lock_that_is_free_and_an_idle_processor_waits_for_work() -> None:
    only = (Task("a", 0, 2, ((1, True), (1, False))), Task("b", 1, 6, ((1, True),)))
    found = schedule(only)
    assert found.spent("a", BLOCKED) == found.spent("b", BLOCKED) == 0
    assert found.runner(0) is None and found.end("a") == 4 and found.end("b") == 7
