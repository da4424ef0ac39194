"""Closed forms for several seats, for few places to wait, and for arrivals that are not Poisson.

Every function raises ValueError where its queue would grow for ever or a number makes no sense.
"""

from math import inf, isfinite

import numpy as np

from sched.theory.laws import Exponential, constant
from sched.theory.queues import mm1_wait_s, positive_rate, utilisation


def all_busy(load: float, seats: int) -> float:
    """Chance that a newcomer finds no seat free; `load` is λ·E[S], in seats: Erlang's C formula.

    Source: Erlang, Solution of some problems in the theory of probabilities, 1917.
    """
    if seats < 1 or not 0.0 <= load < seats:
        raise ValueError(f"load = {load:g} of {seats} seats: must be at least 0 and less than the seats")
    lost = 1.0  # the same chance if nobody waited, seat by seat: Erlang's B formula
    for seat in range(1, seats + 1):
        lost = load * lost / (seat + load * lost)
    return lost / (1.0 - load / seats * (1.0 - lost))


def mmc_wait_s(rate_per_s: float, mean_s: float, seats: int) -> float:
    """Mean wait for one of several seats, exponential service: C(c, a)·E[S] / (c·(1 - ρ)), a = λ·E[S].

    Source: Erlang, 1917.
    """
    load = positive_rate(rate_per_s) * Exponential(mean_s).mean_s
    return all_busy(load, seats) * mean_s / (seats - load)


def pooling_ratio(rate_per_s: float, mean_s: float) -> float:
    """Mean time in two half-fast halves of the traffic over that in one whole: 2 for exponential service.

    Source: Kleinrock, Queueing Systems II, 1976, section 5.1.
    """
    halves = mm1_wait_s(rate_per_s / 2.0, 2.0 * mean_s) + 2.0 * mean_s
    return halves / (mm1_wait_s(rate_per_s, mean_s) + mean_s)


def kingman_bound_s(
    rate_per_s: float, gap_variance_s2: float, mean_s: float, service_variance_s2: float
) -> float:
    """The mean wait is at most λ·(σ_a² + σ_s²) / (2·(1 - ρ)), whatever the laws of gaps and service.

    Source: Kingman, Some inequalities for the queue GI/G/1, Biometrika 49, 1962.
    """
    if not (0.0 <= gap_variance_s2 < inf and 0.0 <= service_variance_s2 < inf):
        raise ValueError("variances must be numbers of at least 0")
    free = 1.0 - utilisation(rate_per_s, constant(mean_s))
    return rate_per_s * (gap_variance_s2 + service_variance_s2) / (2.0 * free)


def mm1k_lost(load: float, places: int) -> float:
    """Share of arrivals that find all places taken, the seat among them: (1 - ρ)·ρ^k / (1 - ρ^(k+1)).

    Exponential service; the load may be 1 or more. Source: Erlang, 1917.
    """
    if places < 1 or not (isfinite(load) and load >= 0.0):
        raise ValueError(
            f"load = {load:g}, {places} places: need a load of at least 0 and at least one place"
        )
    weights = np.arange(places + 1, dtype=np.float64)
    # The chances of 0 ... k in the system are as 1 : ρ : ρ² ..., written from the largest down.
    ratio = load if load <= 1.0 else 1.0 / load
    chances = ratio**weights
    return float((chances[-1] if load <= 1.0 else chances[0]) / chances.sum())
