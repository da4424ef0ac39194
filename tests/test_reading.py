"""Quality of experience: on paper, and against the two curves drawn in small steps."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.log import Log
from sched.occupancy import pieces
from sched.reading import EXPECTED_TTFT_S, READING_TOKENS_PER_S, quality_of_experience
from sched.service import tokens_out
from tests.slow_metrics import ends, token_iterations


def quality(log: Log) -> list[float]:
    found: list[float] = quality_of_experience(log, tokens_out(log, pieces(log))).tolist()
    return found


def seat(iteration_s: float, *rows: tuple[float, int], **rest: Any) -> Log:
    """One seat: (arrival, output) of prompts of one token."""
    listed = [
        {"id": f"r{number}", "arrival_s": at, "prompt": 1, "output": output}
        for number, (at, output) in enumerate(rows)
    ]
    engine = {"hardware": "constant", "iteration_s": iteration_s, "max_num_seqs": 1}
    return simulate(Scenario(engine=engine, requests=listed, **rest), "fcfs")


def test_an_answer_in_time_is_perfect_and_nothing_is_gained_by_hurry() -> None:
    assert quality(seat(0.02, (0, 30))) == quality(seat(0.2, (0, 30))) == [1.0]


def test_a_late_answer_on_paper() -> None:
    # The second waits until 10 and comes at 12, 11 s late, at the pace of reading from there: of two tokens,
    # all is read at 12 + 2 / 4.8. Under the expected curve: 11 + 1.5 / 4.8 for the first, 11 + .5 / 4.8.
    log = seat(2.0, (0, 5), (0, 1))
    assert quality(log)[1] == pytest.approx(1 - 11 / (11 + 0.5 / 4.8))
    log = seat(0.2, (0, 60), (0, 2))
    assert quality(log)[1] == pytest.approx(1 - 2 * 11.2 / (2 * 11.2 + 2 / 4.8))


def test_who_does_not_finish_has_none() -> None:
    assert quality(seat(1.0, (0, 50), drain_s=0.0, duration_s=2.0)) == [0.0]


def drawn(log: Log, request: int) -> float:
    """The definition: both curves in steps of two milliseconds."""
    until = ends(log)
    came = [
        until[one] / 1e12 - log.requests.arrival_ps[request] / 1e12 for one in token_iterations(log)[request]
    ]
    step, read, moment = 0.002, 0.0, 0.0
    expected_area = true_area = 0.0
    while read < len(came) - 1e-9:
        middle = moment + step / 2
        expected = min(len(came), max(0.0, middle - EXPECTED_TTFT_S) * READING_TOKENS_PER_S)
        there = sum(one <= middle for one in came)
        if middle >= EXPECTED_TTFT_S:
            read = min(there, read + step * READING_TOKENS_PER_S)
        expected_area += expected * step
        true_area += read * step
        moment += step
    return true_area / expected_area


@settings(max_examples=15)
@given(st.sampled_from([0.1, 0.3, 0.9]), st.lists(st.integers(1, 12), min_size=1, max_size=4))
def test_it_is_the_share_of_the_area_under_the_curves(iteration_s: float, outputs: list[int]) -> None:
    log = seat(iteration_s, *[(0.0, output) for output in outputs])
    found = quality(log)
    assert all(0 <= one <= 1 for one in found)
    assert np.allclose(found, [drawn(log, request) for request in range(len(found))], atol=0.02)
