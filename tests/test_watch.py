"""A run can be watched: it stays the same, and what the watcher raises ends it."""

from collections.abc import Callable

import numpy as np
import pytest

from sched import simulate
from sched.engine import TURNS
from sched.external import change
from sched.inversion import analyse
from sched.scenario import preset


class Enough(Exception):
    pass


def ends_at_look(number: int, work: Callable[[Callable[[], None]], object]) -> None:
    """The work is over with the look at which its watcher raises."""
    seen: list[int] = []

    def stop() -> None:
        seen.append(1)
        if len(seen) == number:
            raise Enough

    with pytest.raises(Enough):
        work(stop)
    assert len(seen) == number


@pytest.mark.parametrize("policy", ["backfill", "rescue", "isolated", "vtc"])
def test_a_watched_run_is_the_same_run(policy: str) -> None:
    scenario = preset("noisy-neighbour")
    looks: list[int] = []
    seen = simulate(scenario, policy, watch=lambda: looks.append(1))
    alone = simulate(scenario, policy)
    assert looks and np.array_equal(seen.first_token_ps, alone.first_token_ps)
    assert np.array_equal(seen.ended_ps, alone.ended_ps) and seen.end_ps == alone.end_ps


def test_what_the_watcher_raises_ends_the_run_soon() -> None:
    scenario = change(preset("noisy-neighbour"), {"duration_s": "900"})
    looks: list[int] = []
    simulate(scenario, "fcfs", watch=lambda: looks.append(1))
    assert len(looks) > 20 and TURNS > 1
    ends_at_look(3, lambda stop: simulate(scenario, "fcfs", watch=stop))


@pytest.mark.parametrize("policy", ["fcfs", "isolated"])
def test_the_analysis_is_watched_too(policy: str) -> None:
    log = simulate(change(preset("noisy-neighbour"), {"duration_s": "900"}), policy)
    looks: list[int] = []
    seen, alone = analyse(log, lambda: looks.append(1)), analyse(log)
    assert len(looks) > 1
    for name in ("wait_ps", "inversion_ps", "bypasses"):
        assert np.array_equal(getattr(seen, name), getattr(alone, name))
    ends_at_look(2, lambda stop: analyse(log, stop))
