"""Percentiles and their intervals: nearest rank, and order statistics by the binomial law."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sched.model import PS_PER_S
from sched.percentiles import (
    bounded,
    interval_ranks,
    of_pooled_times,
    of_ratios,
    of_times,
    quotable,
)
from sched.sums import five

NAMES = {"p50": 50, "p90": 90, "p99": 99}


@pytest.mark.parametrize(("percent", "count"), [(50, 100), (90, 500), (99, 5000)])
def test_fifty_values_beyond_it_make_a_percentile_quotable(percent: int, count: int) -> None:
    assert quotable(percent) == count


@pytest.mark.parametrize("percent", NAMES.values())
def test_ranks_are_those_of_the_binomial_law(percent: int) -> None:
    counts = np.arange(1, quotable(percent))
    low = binom.ppf(0.025, counts, percent / 100)
    high = binom.ppf(0.975, counts, percent / 100) + 1
    ours = np.array([interval_ranks(int(count), percent) for count in counts])
    assert (ours[:, 0] == low).all() and (ours[:, 1] == high).all()


@pytest.mark.parametrize("percent", NAMES.values())
def test_the_interval_holds_the_percentile_in_95_of_100_samples_at_least(percent: int) -> None:
    # Exactly, by counting: the percentile lies from the low-th to below the high-th of n values if at least
    # low and fewer than high of them lie below it. Weights are whole numbers of 1 / 100^n.
    for count in (10, 60, 99):
        low, high = interval_ranks(count, percent)
        chances = [
            comb(count, below) * percent**below * (100 - percent) ** (count - below)
            for below in range(low, min(high, count + 1))
        ]
        assert 100 * sum(chances) >= 95 * 100**count


@pytest.mark.parametrize("percent", NAMES.values())
def test_an_upper_end_takes_so_many_values(percent: int) -> None:
    assert interval_ranks(bounded(percent) - 1, percent)[1] == bounded(percent)
    assert interval_ranks(bounded(percent), percent)[1] == bounded(percent)


def test_the_interval_of_a_hundred_and_of_five_thousand() -> None:
    ms = np.arange(1, 101) * PS_PER_S // 1000
    found = of_times(ms[::-1])
    assert found == five(ms) | {"p90_interval": [0.084, 0.096], "p99_interval": [0.097, None]}
    found = of_times(np.arange(1, 5001))
    assert found == five(np.arange(1, 5001))


times = st.lists(st.tuples(st.integers(0, 9 * 10**5), st.integers(1, 9)), max_size=40)


@given(times)
def test_pooled_values_are_as_many_single_ones(pairs: list[tuple[int, int]]) -> None:
    values, weights = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1))
    single = np.repeat(values, weights)
    assert of_pooled_times(values, weights) == of_times(single)
    ratios, expected = of_ratios(single.astype(np.float64)), of_times(single * PS_PER_S)
    assert ratios.pop("mean") == (pytest.approx(expected.pop("mean")) if pairs else expected.pop("mean"))
    assert ratios == expected
