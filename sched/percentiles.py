"""Percentiles with how sure they are: nearest rank on the full sample, and intervals by order statistics.

Five figures of a sample are its mean, three percentiles and its maximum; beside each percentile beyond which
fewer than 50 values lie stands an interval, `p99_interval` = [low, high], that holds the true percentile with
at least 95 % where the values are independent. An end that no value of the sample can give is None.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, fsum, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched.log import Ints
from sched.model import PS_PER_S
from sched.sums import PERCENTILES, exact_dot, five, seconds

Figures = dict[str, Any]

FEWEST_BEYOND = 50
"""A percentile is quoted alone when at least so many values lie beyond it."""
TAIL = 0.025


def quotable(percent: int) -> int:
    """Values that it takes to quote this percentile without its interval."""
    return ceil(FEWEST_BEYOND * 100 / (100 - percent))


def bounded(percent: int) -> int:
    """Values that it takes for an upper end of this percentile's interval."""
    return ceil(log(TAIL) / log(percent / 100))


@lru_cache(maxsize=4096)
def interval_ranks(count: int, percent: int) -> tuple[int, int]:
    """Ranks (1 the smallest) of the two values between which the percentile lies: 0 and count + 1 are none.

    For a sample too small to quote the percentile alone. The number of values below the true percentile is
    binomial; its tails of 2.5 % are added up from the end where few lie, one by one.
    Source: David and Nagaraja, Order statistics, 2003, section 7.1.
    """
    assert 0 < count < quotable(percent), (count, percent)
    share = (100 - percent) / 100
    probability = (1 - share) ** count
    beyond, above = 0, probability
    high = count + 1 if above > TAIL else None
    while True:
        # `above` is the chance that at most `beyond` values lie beyond the percentile.
        if high is None and above > TAIL:
            high = count - beyond + 1
        if above >= 1 - TAIL or beyond == count:
            return (count - beyond if above >= 1 - TAIL else 0), high or 0
        probability *= (count - beyond) / (beyond + 1) * share / (1 - share)
        beyond += 1
        above += probability


def intervals(count: int, at: Callable[[int], float]) -> Figures:
    """The intervals of the percentiles not to be quoted alone; `at(rank)` is a value of the sample."""
    found: Figures = {}
    for name, percent in PERCENTILES.items():
        if 0 < count < quotable(percent):
            low, high = interval_ranks(count, percent)
            ends = [at(low) if low else None, at(high) if high <= count else None]
            found[f"{name}_interval"] = ends
    return found


def of_times(values: Ints) -> Figures:
    """The five figures of picoseconds, in seconds, with their intervals."""
    ordered = np.sort(values)
    return five(values) | intervals(len(ordered), lambda rank: seconds(ordered[rank - 1]))


def of_ratios(values: NDArray[np.float64]) -> Figures:
    """The five figures of plain numbers, with their intervals."""
    ordered = np.sort(values)
    mean = fsum(ordered) / max(len(ordered), 1)
    return _five(len(ordered), lambda rank: float(ordered[rank - 1]), mean)


def of_pooled_times(values: Ints, weights: Ints) -> Figures:
    """The five figures of picoseconds of which each counts `weights` times, in seconds."""
    order = np.argsort(values, kind="stable")
    ordered, upto = values[order], np.cumsum(weights[order])
    count = int(upto[-1]) if len(upto) else 0
    mean = exact_dot(weights, values) / (max(count, 1) * PS_PER_S)
    return _five(count, lambda rank: seconds(ordered[np.searchsorted(upto, rank)]), mean)


def _five(count: int, at: Callable[[int], float], mean: float) -> Figures:
    if not count:
        return dict.fromkeys(("mean", *PERCENTILES, "max"))
    found: Figures = {"mean": mean}
    found |= {name: at(-(-percent * count // 100)) for name, percent in PERCENTILES.items()}
    return found | {"max": at(count)} | intervals(count, at)
