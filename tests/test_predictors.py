"""Length predictions: right where they claim to be, wrong by as much as was asked for, and never a surprise
to anybody else.
"""

from dataclasses import fields, replace
from math import asin, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from sched import Scenario
from sched.predictors import KINDS, forecast, predictions
from sched.workload import RequestList, requests

COUNT = 2000
ERRORS = 4
"""Standard errors by which a figure may be off."""


def listed(*output_tokens: int) -> RequestList:
    """Requests with these outputs."""
    one = requests(Scenario.model_validate({"requests": [{"id": "r0", "prompt": 1, "output": 1}]}))
    columns: dict[str, Any] = {
        column.name: np.repeat(getattr(one, column.name), len(output_tokens))
        for column in fields(one)
        if isinstance(getattr(one, column.name), np.ndarray)
    }
    columns |= {"ids": tuple(f"r{row}" for row in range(len(output_tokens)))}
    return replace(one, **columns | {"output_tokens": np.array(output_tokens)})


LONG = listed(*(10_000 + 37 * row for row in np.random.default_rng(5).permutation(COUNT).tolist()))
OUTPUTS: list[int] = LONG.output_tokens.tolist()
"""Different lengths, so long that rounding to whole tokens does not show."""


def logarithms(kind: str, error: float, seed: int = 0) -> Any:
    """The errors of the predictions as logarithms of their ratio to the truth."""
    return np.log(predictions(LONG, kind, error, 0.6, seed) / LONG.output_tokens)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=30), st.integers(0, 9))
def test_the_oracle_is_right(outputs: list[int], seed: int) -> None:
    found = listed(*outputs)
    assert predictions(found, "oracle", 2.0, 0.1, seed).tolist() == outputs
    belief = forecast(found, "oracle", 2.0, 0.1, seed)
    assert all(belief(row, given) == total for row, total in enumerate(outputs) for given in (0, total - 1))


@pytest.mark.parametrize("kind", ["lognormal", "refreshed"])
@pytest.mark.parametrize("error", [0.3, 0.6, 1.0])
def test_the_error_has_the_spread_that_was_asked_for_and_no_bias(kind: str, error: float) -> None:
    found = logarithms(kind, error)
    assert abs(found.mean()) < ERRORS * error / sqrt(COUNT)
    assert abs(found.std() - error) < ERRORS * error / sqrt(2 * COUNT)


def test_without_error_a_noisy_prediction_is_right() -> None:
    for kind in ("lognormal", "refreshed"):
        assert np.array_equal(predictions(LONG, kind, 0.0, 0.6, 1), LONG.output_tokens)


@pytest.mark.parametrize("tau", [0.0, 0.3, 0.6, 0.9])
def test_ranks_agree_with_the_true_order_as_much_as_was_asked_for(tau: float) -> None:
    found = predictions(LONG, "rank", 0.6, tau, 3)
    correlation = sin(pi / 2 * tau)
    # Of normal scores with this correlation: Esscher, 1924.
    standard_error = sqrt(4 / COUNT * (1 / 9 - (2 / pi * asin(correlation / 2)) ** 2))
    assert abs(kendalltau(found, LONG.output_tokens).statistic - tau) < ERRORS * standard_error
    assert sorted(found.tolist()) == sorted(LONG.output_tokens.tolist())


def test_ranks_that_agree_fully_are_the_truth() -> None:
    assert np.array_equal(predictions(LONG, "rank", 0.6, 1.0, 3), LONG.output_tokens)


def test_a_bucket_is_told_by_the_middle_of_its_tenth() -> None:
    # Twenty lengths make ten pairs, and of a pair the upper is told.
    outputs = np.random.default_rng(2).permutation(20) + 1
    found = predictions(listed(*outputs.tolist()), "bucket", 0.6, 0.6, 0)
    assert found.tolist() == [(one + 1) // 2 * 2 for one in outputs.tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_predictions_and_another_seed_other_noise(kind: str) -> None:
    first, again, other = (predictions(LONG, kind, 0.6, 0.6, seed).tolist() for seed in (7, 7, 8))
    assert first == again
    assert (first == other) == (kind in ("oracle", "bucket"))


@given(st.integers(0, 5), st.integers(1, 5000), st.sampled_from(["lognormal", "refreshed"]))
def test_a_request_of_another_length_moves_nobody_elses_prediction(
    changed: int, length: int, kind: str
) -> None:
    outputs = [10, 200, 30, 4000, 50, 600]
    before = predictions(listed(*outputs), kind, 0.6, 0.6, 1).tolist()
    outputs[changed] = length
    after = predictions(listed(*outputs), kind, 0.6, 0.6, 1).tolist()
    del before[changed], after[changed]
    assert before == after


@given(st.integers(1, 300), st.sampled_from(KINDS), st.integers(0, 20), st.integers(0, 1000))
def test_a_belief_is_always_of_more_than_has_come(true: int, kind: str, seed: int, emitted: int) -> None:
    belief = forecast(listed(true, 50, 7), kind, 1.0, 0.3, seed)
    assert belief(0, 0) > 0 and belief(0, emitted) > emitted


@given(st.integers(0, 20), st.integers(0, 2000))
def test_a_prediction_that_is_outlived_is_doubled(seed: int, emitted: int) -> None:
    belief = forecast(listed(100, 50, 7), "lognormal", 1.0, 0.6, seed)
    first, now = belief(0, 0), belief(0, emitted)
    doublings = (now // first).bit_length() - 1
    assert now == first << doublings
    assert doublings == 0 or now // 2 <= emitted


@pytest.mark.parametrize("seed", range(4))
def test_a_refreshed_prediction_comes_nearer_to_the_truth(seed: int) -> None:
    belief = forecast(LONG, "refreshed", 1.0, 0.6, seed)
    shares = (0.0, 0.25, 0.5, 0.75, 0.99)
    errors = [
        np.mean([abs(belief(row, int(share * true)) - true) / true for row, true in enumerate(OUTPUTS)])
        for share in shares
    ]
    # What is wrong is in proportion to what is left, but for less than a token.
    for share, error in zip(shares, errors, strict=True):
        assert error == pytest.approx(errors[0] * (1 - share), rel=0.01, abs=2e-4)
