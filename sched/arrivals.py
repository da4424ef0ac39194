"""When requests arrive: each law gives ascending times in seconds from 0 up to an end.

Every law keeps `rate_per_s` as its long-run mean, so that another shape is the same load. Times are sums
taken one after the other, so a longer scenario begins with the same arrivals.
"""

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np

from sched.laws import Arrivals, Bursts, Diurnal, Dump, GammaGaps, OnOff
from sched.randomness import NEGLIGIBLE_CV, Floats, Stream, sine_of_turn

MAX_REQUESTS = 2_000_000
"""Most requests in a scenario."""

Process = Callable[[Stream, float, float], Floats]


LEAST_RATE = 1e-20
"""Requests per second that come in no run; a rate below would only make gaps that are no numbers."""
MOST_DRAWN = 8 * MAX_REQUESTS
"""Most numbers that are drawn for one law."""


class TooMany(Exception):
    """The law makes more arrivals than a scenario may hold."""


class TooDense(TooMany):
    """The requests would be few enough, but they come in moments too short, or too many, to be drawn."""


def arrivals(law: Arrivals, source: Stream, rate_per_s: float, until_s: float) -> Floats:
    """Arrival times in seconds, ascending, all before `until_s`. Raises TooMany above MAX_REQUESTS."""
    if rate_per_s * until_s > 2 * MAX_REQUESTS:
        raise TooMany
    rate_per_s = max(rate_per_s, LEAST_RATE)
    if isinstance(law, GammaGaps):
        times = gamma(source, rate_per_s, until_s, law.cv)
    elif isinstance(law, OnOff):
        times = on_off(source, rate_per_s, until_s, law.on_s, law.off_s, poisson)
    elif isinstance(law, Bursts):
        inside = partial(bursts, size=law.size, gap_s=law.gap_s)
        times = on_off(source, rate_per_s, until_s, law.on_s, law.off_s, inside)
    elif isinstance(law, Diurnal):
        times = diurnal(source, rate_per_s, until_s, law.peak, law.period_s, law.phase)
    elif isinstance(law, Dump):
        times = dumps(rate_per_s, until_s, law)
    else:
        times = poisson(source, rate_per_s, until_s)
    if len(times) > MAX_REQUESTS:
        raise TooMany
    return times


def _before(times: Floats, until_s: float) -> Floats:
    return times[: np.searchsorted(times, until_s)]


def running_sum(gaps: Callable[[int], Floats], mean: float, until: float) -> Floats:
    """Sums of independent gaps up to the first at or after `until`; `gaps(n)` gives n with mean 1."""
    parts: list[Floats] = []
    last, total = 0.0, 0
    while last < until:
        expected = (until - last) / mean
        steps = gaps(int(min(expected + 4.0 * sqrt(expected), 2.0 * MAX_REQUESTS)) + 8) * mean
        steps[0] += last
        parts.append(np.cumsum(steps))
        last, total = float(parts[-1][-1]), total + len(steps)
        if total > MOST_DRAWN:
            raise TooMany
    return np.concatenate(parts) if parts else np.zeros(0)


def poisson(source: Stream, rate_per_s: float, until_s: float) -> Floats:
    """A Poisson process: exponential gaps."""
    return _before(running_sum(source.exponentials, 1.0 / rate_per_s, until_s), until_s)


def gamma(source: Stream, rate_per_s: float, until_s: float, cv: float) -> Floats:
    """Gamma gaps with this coefficient of variation; 0 is a clock that starts at 0."""
    if cv == 0.0:
        return _before(np.arange(int(rate_per_s * until_s) + 2) / rate_per_s, until_s)
    if cv < NEGLIGIBLE_CV:
        return _before(running_sum(np.ones, 1.0 / rate_per_s, until_s), until_s)
    shape = 1.0 / (cv * cv)
    return _before(
        running_sum(lambda count: source.gammas(count, shape) / shape, 1.0 / rate_per_s, until_s), until_s
    )


def on_off(
    source: Stream, rate_per_s: float, until_s: float, on_s: float, off_s: float, within: Process
) -> Floats:
    """Activity and silence in turn, both exponential with these means; in activity, what `within` makes.

    The process is made in the time of activity alone and the silences are put in afterwards. The run starts
    at any moment of the cycle.
    """
    share = on_s / (on_s + off_s)
    if off_s == 0.0:
        return within(source, rate_per_s, until_s)
    try:
        active = within(source.child("active"), rate_per_s / share, until_s)
        on_ends = running_sum(source.child("on").exponentials, on_s, until_s)
    except TooMany:
        if 4.0 * rate_per_s * until_s > MAX_REQUESTS:
            raise
        raise TooDense from None
    silences = source.child("off").exponentials(len(on_ends) + 1) * off_s
    if source.child("first").uniforms(1)[0] < share:
        silences[0] = 0.0
    shifted = active + np.cumsum(silences)[np.searchsorted(on_ends, active, side="right")]
    return _before(shifted, until_s)


def bursts(source: Stream, rate_per_s: float, until_s: float, size: float, gap_s: float) -> Floats:
    """Micro-bursts: bursts are Poisson, each a geometric number of requests with exponential gaps."""
    starts = poisson(source.child("bursts"), rate_per_s / size, until_s)
    sizes = source.child("sizes").geometrics(len(starts), size).astype(np.int64)
    total = sum(sizes.tolist())
    if total > 2 * MAX_REQUESTS:
        raise TooMany
    gaps = source.child("gaps").exponentials(total) * gap_s
    firsts = np.cumsum(sizes) - sizes
    inside = np.cumsum(gaps)
    times = np.repeat(starts - inside[firsts], sizes) + inside
    times[firsts] = starts
    return _before(np.sort(times, kind="stable"), until_s)


def diurnal(
    source: Stream, rate_per_s: float, until_s: float, peak: float, period_s: float, phase: float
) -> Floats:
    """A wave by thinning: the rate is rate_per_s (1 + (peak - 1) sin(2 pi (t / period_s + phase)))."""
    candidates = poisson(source, rate_per_s * peak, until_s)
    wave = 1.0 + (peak - 1.0) * sine_of_turn(candidates / period_s + phase)
    return candidates[source.child("thin").uniforms(len(candidates)) * peak < wave]


def dumps(rate_per_s: float, until_s: float, law: Dump) -> Floats:
    """`size` requests 1 / within_per_s apart, again after size / rate_per_s seconds, from `first_s` on."""
    count = int(max(0.0, until_s - law.first_s) * rate_per_s / law.size) + 1
    if count * law.size > 2 * MAX_REQUESTS + law.size:
        raise TooMany
    starts = np.arange(count) * (law.size / rate_per_s) + law.first_s
    times = starts[:, None] + np.arange(law.size) / law.within_per_s
    return _before(np.sort(times, axis=None, kind="stable"), until_s)
