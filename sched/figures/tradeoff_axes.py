"""What a curve of Trade-offs shows, and its axes: times on a log axis, shares of a whole beside it.

A log axis has no place for 0, so where a time or the goal is 0 s the axis is linear.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

from sched.figures.lines import escaped

Value = float | None
LEAST_TICKS = 3
"""An axis with fewer takes finer steps."""
MOST_SHARES = 10
"""Steps of the right axis: with more it takes coarser ones."""
Figure = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A figure over the points with its range over the seeds; `label` stands at the line."""

    label: str
    mean: Sequence[Value]
    least: Sequence[Value] = ()
    most: Sequence[Value] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that is pointed out, with what is written beside it, in lines."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """What a curve shows: times on an axis at the left, shares of a whole at the right."""

    x: Sequence[float]
    ticks: Sequence[str]
    title: str
    times: Line
    shares: Sequence[Line]
    goal: Value
    goal_text: str
    ringed: Mark | None
    now: Value
    now_text: str
    bend: Mark | None = None
    is_log: bool = False

    @property
    def has_zero(self) -> bool:
        """Whether a time is 0, so that the axis of times cannot be a log axis."""
        return 0 in (*self.times.mean, *self.times.least, *self.times.most, self.goal)


def x_of(shown: Curve, value: float) -> float:
    """A place on the axis as annotations have it: of a log axis its logarithm."""
    return log10(value) if shown.is_log else value


def y_of(shown: Curve, value: float) -> float:
    """A place on the axis of times as annotations have it."""
    return value if shown.has_zero else log10(value)


def time_range(shown: Curve) -> tuple[float, float]:
    """The ends of the axis of times; below 0 s there is room for the marks."""
    known = [one for one in (*shown.times.mean, *shown.times.least, *shown.times.most) if one]
    if shown.goal:
        known.append(shown.goal)
    low, high = min(known, default=0.1), max(known, default=1.0)
    if shown.has_zero:
        return -0.06 * high, 1.35 * high
    return low / 1.25, max(high * 1.5, low * 2)


def share_ends(lines: Sequence[Line]) -> tuple[float, float]:
    """The right axis goes from a round share below the least, 60 % at most, to a round one above the most.

    A setting may add throughput, so a share of what the first one has may be above 100 %.
    """
    known = [one for line in lines for one in line.mean if one is not None]
    least, most = min(known, default=0.0), max(known, default=1.0)
    return max(0.0, min(0.6, floor(10 * least) / 10)), max(1.0, ceil(10 * most - 1e-9) / 10)


def x_axis(shown: Curve, ink: dict[str, str]) -> dict[str, Any]:
    every = max(1, -(-len(shown.x) // 10))
    ends = x_of(shown, min(shown.x)), x_of(shown, max(shown.x))
    room = 0.03 * (ends[1] - ends[0]) or 0.5
    axis: dict[str, Any] = {
        **{"showgrid": False, "zeroline": False, "fixedrange": True, "color": ink["ink2"]},
        **{"tickvals": list(shown.x[::every]), "ticktext": [escaped(one) for one in shown.ticks[::every]]},
        "title": {"text": escaped(shown.title), "font": {"size": 13}},
        **{"tickfont": {"size": 12}, "range": [ends[0] - room, ends[1] + room]},
    }
    return axis | ({"type": "log"} if shown.is_log else {})


def time_axis(low: float, high: float, ink: dict[str, str]) -> dict[str, Any]:
    """A log axis, or from a `low` of 0 or less a linear one."""
    look = {
        **{"fixedrange": True, "zeroline": False, "gridcolor": ink["line"], "color": ink["urgent"]},
        "tickfont": {"size": 12},
    }
    if low <= 0:
        inside = _even(high)
        return look | {"range": [low, high], "tickvals": inside, "ticktext": [f"{one:g} s" for one in inside]}
    inside = []
    for steps in ((1, 2, 5), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)):
        values = [k * 10.0**power for power in range(-6, 9) for k in steps]
        inside = [one for one in values if low <= one <= high]
        if len(inside) >= LEAST_TICKS:
            break
    return {
        **look,
        **{"type": "log", "range": [log10(low), log10(high)]},
        **{"tickvals": inside, "ticktext": [f"{one:g} s" for one in inside]},
    }


def _even(high: float) -> list[float]:
    """Four to nine round values from 0."""
    power = 10.0 ** floor(log10(high))
    step = next(k * power for k in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if high / (k * power) < 8)
    return [round(place * step, 12) for place in range(int(high / step) + 1)]


def share_axis(ends: tuple[float, float], ink: dict[str, str]) -> dict[str, Any]:
    """Round shares at a distance at which they can be read; room above the last for a name."""
    bottom, top = ends
    steps = (k * 10**power for power in range(9) for k in (1, 2, 5))
    step = next(one for one in steps if 10 * (top - bottom) <= one * MOST_SHARES)
    tenths = [tenth / 10 for tenth in range(0, round(10 * top) + 1, step) if tenth / 10 >= bottom]
    return {
        **{"overlaying": "y", "side": "right", "fixedrange": True},
        **{"range": [bottom, top + 0.1 * (top - bottom)]},
        **{"tickvals": tenths, "ticktext": [f"{one:.0%}" for one in tenths], "tickfont": {"size": 12}},
        **{"showgrid": False, "zeroline": False, "color": ink["ink2"]},
    }
