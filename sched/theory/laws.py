"""Laws of the service time, with the few averages of them that the closed forms are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_PANELS = 400
_MEANS = 60.0
"""An exponential law has 10^-26 of its requests beyond so many means."""
_TAIL = 1e-15


@dataclass(frozen=True, eq=False)
class Points:
    """A law of finitely many service times: `times_s` rising, with these chances. Shape (n,), seconds."""

    times_s: Floats
    chances: Floats

    def __post_init__(self) -> None:
        times, chances = self.times_s, self.chances
        if times.ndim != 1 or times.shape != chances.shape or not len(times):
            raise ValueError(f"{times.shape} times and {chances.shape} chances: give one chance a time")
        if not (np.isfinite(times).all() and times[0] > 0.0 and (np.diff(times) > 0.0).all()):
            raise ValueError("service times must be above 0 and rise")
        if not ((chances >= 0.0).all() and abs(float(chances.sum()) - 1.0) < 1e-9):
            raise ValueError(f"chances sum to {float(chances.sum()):g}: they must be at least 0 and sum to 1")

    @property
    def mean_s(self) -> float:
        """Mean service time."""
        return float(self._parts[-1])

    @property
    def square_s2(self) -> float:
        """Mean of the squared service time."""
        return float(self._squares[-1])

    def part(self, limit_s: Floats) -> Floats:
        """Mean of the service time where it is at most the limit, 0 where it is longer."""
        return self._parts[np.searchsorted(self.times_s, limit_s, side="right")]

    def part_below(self, limit_s: Floats) -> Floats:
        """The same for service times below the limit: without those that equal it."""
        return self._parts[np.searchsorted(self.times_s, limit_s, side="left")]

    def beyond(self, limit_s: Floats) -> Floats:
        """Chance of a service time beyond the limit."""
        return 1.0 - self._below[np.searchsorted(self.times_s, limit_s, side="right")]

    def capped(self, limit_s: Floats) -> Floats:
        """Mean of min(S, limit)."""
        return self.part(limit_s) + limit_s * self.beyond(limit_s)

    def capped_square(self, limit_s: Floats) -> Floats:
        """Mean of min(S, limit)²."""
        place = np.searchsorted(self.times_s, limit_s, side="right")
        return self._squares[place] + limit_s**2 * self.beyond(limit_s)

    def average(self, function: Function) -> float:
        """Mean of a function of the service time."""
        return float(self.chances @ function(self.times_s))

    def integral(self, function: Function, until_s: float = inf) -> float:
        """Integral from 0 to the limit, or the longest time, of what depends on the law's parts alone.

        Between two service times such a function is constant, so its value in the middle is exact.
        """
        ends = np.minimum(self.times_s, until_s)
        starts = np.concatenate(([0.0], ends[:-1]))
        return float((ends - starts) @ function((starts + ends) / 2.0))

    @cached_property
    def _below(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.chances)))

    @cached_property
    def _parts(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.chances * self.times_s)))

    @cached_property
    def _squares(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self.chances * self.times_s**2)))


@dataclass(frozen=True)
class Exponential:
    """The exponential law with this mean."""

    mean_s: float

    def __post_init__(self) -> None:
        if not (isfinite(self.mean_s) and self.mean_s > 0.0):
            raise ValueError(f"mean service time = {self.mean_s:g} s: must be above 0")

    @property
    def square_s2(self) -> float:
        """Mean of the squared service time."""
        return 2.0 * self.mean_s**2

    def part(self, limit_s: Floats) -> Floats:
        """Mean of the service time where it is at most the limit, 0 where it is longer."""
        share = limit_s / self.mean_s
        return self.mean_s * (1.0 - (1.0 + share) * np.exp(-share))

    part_below = part

    def beyond(self, limit_s: Floats) -> Floats:
        """Chance of a service time beyond the limit."""
        return np.exp(-limit_s / self.mean_s)

    def capped(self, limit_s: Floats) -> Floats:
        """Mean of min(S, limit)."""
        return self.mean_s * (1.0 - self.beyond(limit_s))

    def capped_square(self, limit_s: Floats) -> Floats:
        """Mean of min(S, limit)²."""
        share = limit_s / self.mean_s
        return self.square_s2 * (1.0 - (1.0 + share) * np.exp(-share))

    def average(self, function: Function) -> float:
        """Mean of a function of the service time."""
        return self.integral(lambda times: function(times) * self.beyond(times) / self.mean_s)

    def integral(self, function: Function, until_s: float = inf) -> float:
        """Integral from 0 to the limit, or to where nothing is left, by Gauss and Legendre in panels."""
        edges = np.linspace(0.0, min(until_s, _MEANS * self.mean_s), _PANELS + 1)
        half = np.diff(edges) / 2.0
        times = (edges[:-1] + half)[:, None] + half[:, None] * _NODES[None, :]
        return float(((function(times.ravel()).reshape(times.shape) @ _WEIGHTS) * half).sum())


Law = Points | Exponential


def constant(time_s: float) -> Points:
    """Every request takes the same time."""
    return points({time_s: 1.0})


def points(chances: Mapping[float, float]) -> Points:
    """A law of a few times: {time in seconds: its chance}."""
    times = np.array(sorted(chances), dtype=np.float64)
    return Points(times, np.array([chances[time] for time in sorted(chances)], dtype=np.float64))


def geometric(mean_s: float, step_s: float) -> Points:
    """The exponential law in steps: each step is the last with the same chance `step_s / mean_s`.

    It has the mean of the exponential law, and its squares fall short by `step_s * mean_s`.
    """
    if not 0.0 < step_s < mean_s < inf:
        raise ValueError(f"step = {step_s:g} s: must be above 0 and below the mean of {mean_s:g} s")
    stop = step_s / mean_s
    count = int(np.log(_TAIL) / np.log1p(-stop)) + 1
    steps = np.arange(count, dtype=np.float64)
    chances = stop * np.exp(steps * np.log1p(-stop))
    chances[-1] /= stop  # whoever would last longer
    return Points((steps + 1.0) * step_s, chances / chances.sum())
