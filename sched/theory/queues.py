"""Closed forms for requests that wait for one seat: means in seconds, for Poisson arrivals.

One seat serves one request at a time and is never idle while anybody waits. Every function raises ValueError
where its queue would grow for ever or a number makes no sense.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from sched.theory.laws import Exponential, Floats, Law, constant


def utilisation(rate_per_s: float, law: Law) -> float:
    """Share of the time in which one seat is busy: λ·E[S], which must be below 1."""
    return below_one(positive_rate(rate_per_s) * law.mean_s)


def mg1_wait_s(rate_per_s: float, law: Law) -> float:
    """Mean wait, first come first served: λ·E[S²] / (2·(1 - ρ)).

    Source: Pollaczek, Über eine Aufgabe der Wahrscheinlichkeitstheorie, 1930; Khinchin, 1932.
    """
    return rate_per_s * law.square_s2 / (2.0 * (1.0 - utilisation(rate_per_s, law)))


def mm1_wait_s(rate_per_s: float, mean_s: float) -> float:
    """Mean wait with exponential service: ρ / (μ - λ), where μ is 1 / mean. Source: Erlang, 1909."""
    load = utilisation(rate_per_s, Exponential(mean_s))
    return load / (1.0 / mean_s - rate_per_s)


def md1_wait_s(rate_per_s: float, time_s: float) -> float:
    """Mean wait with equal service times: ρ / (2·μ·(1 - ρ)), where μ is 1 / time. Source: Erlang, 1909."""
    load = utilisation(rate_per_s, constant(time_s))
    return load * time_s / (2.0 * (1.0 - load))


def priority_waits_s(rates_per_s: Sequence[float], laws: Sequence[Law]) -> tuple[float, ...]:
    """Mean wait of each class, most urgent first, where nobody in service is interrupted.

        W_k = W_0 / ((1 - σ_(k-1))·(1 - σ_k)),  W_0 = Σ λ_i·E[S_i²] / 2,  σ_k = ρ_1 + ... + ρ_k

    Source: Cobham, Priority assignment in waiting line problems, Operations Research 2, 1954.
    """
    sums = _sums(rates_per_s, laws)
    residual = _residual(rates_per_s, laws)
    return tuple(residual / ((1.0 - before) * (1.0 - after)) for before, after in sums)


def conserved_wait_s(rates_per_s: Sequence[float], laws: Sequence[Law]) -> float:
    """What Σ ρ_k·W_k comes to in every order that is blind to sizes and interrupts nobody: ρ·W_0 / (1 - ρ).

    Source: Kleinrock, A conservation law for a wide class of queueing disciplines, 1965.
    """
    load = _sums(rates_per_s, laws)[-1][1]
    return load * _residual(rates_per_s, laws) / (1.0 - load)


def preemptive_times_s(rates_per_s: Sequence[float], laws: Sequence[Law]) -> tuple[float, ...]:
    """Mean time in the system of each class, most urgent first, where the urgent interrupt and no work is
    lost.

        T_k = E[S_k] / (1 - σ_(k-1)) + Σ_(i <= k) λ_i·E[S_i²] / (2·(1 - σ_(k-1))·(1 - σ_k))

    Source: White and Christie, Queuing with preemptive priorities, Operations Research 6, 1958.
    """
    times = []
    for place, (before, after) in enumerate(_sums(rates_per_s, laws)):
        residual = _residual(rates_per_s[: place + 1], laws[: place + 1])
        own = laws[place].mean_s / (1.0 - before)
        times.append(own + residual / ((1.0 - before) * (1.0 - after)))
    return tuple(times)


def sjf_wait_s(rate_per_s: float, law: Law, size_s: float | None = None) -> float:
    """Mean wait where the shortest goes first and is not interrupted; of requests of one size if it is given.

        W(x) = λ·E[S²] / (2·(1 - ρ(x-))·(1 - ρ(x))),  ρ(x) = λ·E[S; S <= x]

    Requests of exactly the same size go in order of arrival. Source: Phipps, Machine repair as a priority
    waiting-line problem, Operations Research 4, 1956.
    """
    utilisation(rate_per_s, law)

    def wait(sizes: Floats) -> Floats:
        shorter = 1.0 - rate_per_s * law.part_below(sizes)
        return rate_per_s * law.square_s2 / 2.0 / (shorter * (1.0 - rate_per_s * law.part(sizes)))

    return law.average(wait) if size_s is None else float(wait(_one(size_s))[0])


def srpt_time_s(rate_per_s: float, law: Law, size_s: float | None = None) -> float:
    """Mean time in the system where the least remaining work goes first; of one size if it is given.

        T(x) = λ·E[min(S, x)²] / (2·(1 - ρ(x-))·(1 - ρ(x))) + integral of dt / (1 - ρ(t)) from 0 to x

    Source: Schrage and Miller, The queue M/G/1 with the shortest remaining processing time discipline, 1966.
    """
    utilisation(rate_per_s, law)

    def wait(sizes: Floats) -> Floats:
        shorter = 1.0 - rate_per_s * law.part_below(sizes)
        not_longer = 1.0 - rate_per_s * law.part(sizes)
        return rate_per_s * law.capped_square(sizes) / (2.0 * shorter * not_longer)

    def pace(age: Floats) -> Floats:
        return 1.0 / (1.0 - rate_per_s * law.part(age))

    if size_s is not None:
        return float(wait(_one(size_s))[0]) + law.integral(pace, size_s)
    # The mean over the sizes of an integral up to the size is the integral weighted by who is longer.
    return law.average(wait) + law.integral(lambda age: pace(age) * law.beyond(age))


def feedback_time_s(rate_per_s: float, law: Law, size_s: float | None = None) -> float:
    """Mean time in the system where the least served goes first: many levels with tiny quanta.

        T(x) = λ·E[min(S, x)²] / (2·(1 - ρ_x)²) + x / (1 - ρ_x),  ρ_x = λ·E[min(S, x)]

    Source: Schrage, The queue M/G/1 with feedback to lower priority queues, Management Science 13, 1967.
    """
    utilisation(rate_per_s, law)

    def time(sizes: Floats) -> Floats:
        free = 1.0 - rate_per_s * law.capped(sizes)
        return rate_per_s * law.capped_square(sizes) / (2.0 * free**2) + sizes / free

    return law.average(time) if size_s is None else float(time(_one(size_s))[0])


def levels_time_s(
    rate_per_s: float, law: Law, quanta_s: Sequence[float], size_s: float | None = None
) -> float:
    """Mean time in the system with feedback levels, on each of which a request uses its quantum and sinks.

        T(x) = (W + x) / (1 - ρ_a),  W = λ·E[min(S, b)²] / (2·(1 - ρ_b)),  a < x <= b the level's ends

    A higher level interrupts a lower one, a level goes by arrival, and on the last one a request stays. Tiny
    quanta make it `feedback_time_s`. Source: Kleinrock and Muntz, Processor sharing queueing models of mixed
    scheduling disciplines for time shared systems, Journal of the ACM 19, 1972.
    """
    utilisation(rate_per_s, law)
    if not quanta_s or not all(0.0 < one < inf for one in quanta_s):
        raise ValueError("quanta must be above 0, one a level")
    ends = np.array([0.0, *np.cumsum(quanta_s[:-1]), np.inf])

    def time(sizes: Floats) -> Floats:
        # The sum of some quanta is a size up to rounding.
        level = np.searchsorted(ends[1:] * (1.0 + 1e-12), sizes)
        above, end = ends[level], np.minimum(ends[level + 1], 1e6 * law.mean_s)
        wait = rate_per_s * law.capped_square(end) / (2.0 * (1.0 - rate_per_s * law.capped(end)))
        return (wait + sizes) / (1.0 - rate_per_s * law.capped(above))

    return law.average(time) if size_s is None else float(time(_one(size_s))[0])


def sharing_time_s(rate_per_s: float, law: Law, size_s: float | None = None) -> float:
    """Mean time in the system where all present are served at once, each at its share: x / (1 - ρ).

    Source: Kleinrock, Time-shared systems: a theoretical treatment, Journal of the ACM 14, 1967.
    """
    free = 1.0 - utilisation(rate_per_s, law)
    return (law.mean_s if size_s is None else float(_one(size_s)[0])) / free


def _sums(rates_per_s: Sequence[float], laws: Sequence[Law]) -> list[tuple[float, float]]:
    """Of each class the load of those before it, and with its own."""
    if len(rates_per_s) != len(laws) or not laws:
        raise ValueError(f"{len(rates_per_s)} rates and {len(laws)} laws: give one of each a class")
    loads = np.cumsum([positive_rate(rate) * law.mean_s for rate, law in zip(rates_per_s, laws, strict=True)])
    below_one(float(loads[-1]))
    return list(zip([0.0, *loads[:-1].tolist()], loads.tolist(), strict=True))


def _residual(rates_per_s: Sequence[float], laws: Sequence[Law]) -> float:
    """Mean of what is left of the request in service when somebody arrives."""
    return sum(rate * law.square_s2 / 2.0 for rate, law in zip(rates_per_s, laws, strict=True))


def below_one(load: float) -> float:
    """The load. Raises ValueError unless it is below 1."""
    if not load < 1.0:
        raise ValueError(f"load = {load:g}: must be below 1, or the wait grows for ever")
    return load


def positive_rate(rate_per_s: float) -> float:
    """The rate. Raises ValueError unless it is a number above 0."""
    if not 0.0 < rate_per_s < inf:
        raise ValueError(f"rate = {rate_per_s:g} requests/s: must be above 0")
    return rate_per_s


def _one(size_s: float) -> Floats:
    if not 0.0 < size_s < inf:
        raise ValueError(f"size = {size_s:g} s: must be above 0")
    return np.array([size_s], dtype=np.float64)
