"""How long requests of a class take under each policy: the share that is done within a time."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np

from sched.figures.lines import (
    Chart,
    Floats,
    Line,
    Row,
    layout,
    shortened,
    style,
    thinned,
    traced,
)
from sched.figures.palette import palette
from sched.inversion import Inversion
from sched.language import ENGLISH, Language
from sched.log import Ints, Log
from sched.model import PS_PER_S, Outcome
from sched.sums import PERCENTILES, five

LEAST_S = 1e-3
"""A log axis has no zero: what is shorter stands at its left end."""


def sample_ps(log: Log, inversion: Inversion, name: str, family: str, warmup_s: float) -> Ints:
    """The times of a class that its percentiles are made of, in picoseconds, smallest first.

    `family` is ttft, tpot, e2e or wait, each of the requests that `sched.metrics` counts for it.
    """
    listed = log.requests
    mine = listed.arrival_ps >= round(warmup_s * PS_PER_S)
    mine &= listed.class_index == listed.class_names.index(name)
    if family == "wait":
        return np.sort(inversion.wait_ps[mine & (log.outcome != Outcome.REFUSED)])
    if family == "ttft":
        own = np.flatnonzero(mine & (log.first_token_ps >= 0))
        return np.sort(log.first_token_ps[own] - listed.arrival_ps[own])
    own = np.flatnonzero(mine & (log.outcome == Outcome.FINISHED))
    if family == "e2e":
        return np.sort(log.ended_ps[own] - listed.arrival_ps[own])
    own = own[log.emitted_tokens[own] > 1]
    return np.sort((log.ended_ps - log.first_token_ps)[own] // (log.emitted_tokens[own] - 1))


def curve(values_ps: Ints) -> tuple[Floats, Floats]:
    """The points of an empirical distribution: times in seconds, and the share done within each.

    At most 600 points: the first and last of each pixel column of the log axis, and the percentiles.
    """
    count = len(values_ps)
    if not count:
        return np.zeros(0), np.zeros(0)
    x = np.maximum(values_ps / PS_PER_S, LEAST_S)
    share = np.arange(1, count + 1) / count
    some = thinned(np.log10(x), share)
    ranks = [-(-percent * count // 100) - 1 for percent in PERCENTILES.values()]
    some = np.unique(np.concatenate((some, ranks)))
    return x[some], share[some]


def distributions(
    samples: Mapping[str, Ints], goal_s: float | None, is_dark: bool = False, say: Language = ENGLISH
) -> Chart:
    """One step line a policy, the goal, and the names at the lines. Samples by the policy's name."""
    lines = [Line(name, *curve(values)) for name, values in samples.items()]
    ends = [float(x) for line in lines if len(line.x) for x in (line.x[0], line.x[-1])]
    low, high = (
        min([*ends, goal_s or 1.0], default=0.1) / 1.6,
        max([*ends, goal_s or 0.1], default=1.0) * 1.25,
    )
    hover = say("{share} within {time}", share="%{y:.1%}", time="%{x:.3~g} s")
    drawn = [
        traced(Line(one.name, np.concatenate(([low], one.x, [high])), np.concatenate(([0.0], one.y, [1.0]))),
               place, is_dark, hover)
        for place, one in enumerate(lines) if len(one.x)
    ]  # fmt: skip
    colours = palette(is_dark)
    shapes, notes = [], in_line_labels(lines, log10(low), log10(high), is_dark)
    if goal_s is not None:
        line = {"color": colours["ink"], "width": 1.5, "dash": "dot"}
        shapes = [
            {"type": "line", "x0": goal_s, "x1": goal_s, "y0": 0, "y1": 1, "yref": "paper", "line": line}
        ]
        text = say("goal {time}", time=f"{goal_s:.3g} s")
        notes.append(label(log10(goal_s), 0.03, text, colours["ink"], "left", colours["bg"]))
    ticks = log_ticks(low, high)
    axis = {
        "type": "log",
        "range": [log10(low), log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{one:g} s" for one in ticks],
    }
    figure = {
        "data": drawn,
        "layout": layout(
            is_dark, 360, xaxis=axis, yaxis={"range": [0, 1.015], "tickformat": ".0%", "dtick": 0.25},
            shapes=shapes, annotations=notes,
        ),
    }  # fmt: skip
    times = (say("{figure}, s", figure=one) for one in (*PERCENTILES, say("longest")))
    heads = (say("policy"), say("requests"), *times, say("within the goal"))
    return Chart(figure, heads, tuple(_row(name, values, goal_s) for name, values in samples.items()))


def _row(name: str, values: Ints, goal_s: float | None) -> Row:
    found = five(values)
    within = None
    if goal_s is not None and len(values):
        within = float((values <= round(goal_s * PS_PER_S)).mean())
    return name, len(values), found["p50"], found["p90"], found["p99"], found["max"], within


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two times; of a wide axis the powers alone."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1,) if log10(high / low) > 3.5 else (1, 2, 5)
    return [value for power in powers for step in steps if low <= (value := float(f"{step}e{power}")) <= high]


def in_line_labels(lines: Sequence[Line], low: float, high: float, is_dark: bool) -> list[dict[str, Any]]:
    """Each name beside its line, where it covers the least of the others and of its own."""
    taken, found = list[tuple[float, float, float]](), list[dict[str, Any]]()
    columns = np.linspace(low, high, COLUMNS)
    heights = [_at(line, columns) for line in lines]
    for place, line in enumerate(lines):
        if not len(line.x):
            continue
        wide = (high - low) * (0.03 + 0.0115 * min(len(line.name), LONGEST_NAME))
        best: tuple[float, float, float, str] | None = None
        for level in np.linspace(0.12, 0.93, 28).tolist():
            x = float(np.log10(line.x[min(int(np.searchsorted(line.y, level)), len(line.y) - 1)]))
            for side, begin in (("left", x), ("right", x - wide)):
                worth = _worth(heights, columns, place, begin, begin + wide, level)
                worth -= 50 * sum(
                    abs(level - y) < 0.08 and begin < b and a < begin + wide for a, b, y in taken
                )
                worth -= 100 * (begin < low or begin + wide > high)
                # On a phone the same name takes far more of the axis.
                far = NARROWER * wide
                worth -= (x - far < low) if side == "right" else (x + far > high)
                if best is None or worth > best[0]:
                    best = (worth, x, level, side)
        assert best is not None
        _, x, level, side = best
        begin = x if side == "left" else x - wide
        taken.append((begin, begin + wide, level))
        name = shortened(line.name, LONGEST_NAME)
        found.append(label(x, level, name, style(place, is_dark)[0], side, palette(is_dark)["bg"]))
    return found


COLUMNS, LONGEST_NAME, NARROWER = 160, 22, 1.6


def _at(line: Line, columns: Floats) -> Floats:
    """The height of a line in each column."""
    if not len(line.x):
        return np.full(len(columns), -1.0)
    rank = np.searchsorted(np.log10(line.x), columns, "right")
    return np.concatenate(([0.0], line.y))[rank]


def _worth(
    heights: Sequence[Floats], columns: Floats, place: int, begin: float, end: float, level: float
) -> float:
    """How good a place for a name is: it covers no line, and its own is nearer than any other."""
    inside = np.flatnonzero((columns >= begin) & (columns <= end))
    if not len(inside):
        return 0.0
    covered, nearest = 0.0, 1.0
    for other, line in enumerate(heights):
        part = line[max(int(inside[0]) - 1, 0) : int(inside[-1]) + 1]
        crossing = (np.minimum(part[:-1], part[1:]) < level + 0.035) & (
            np.maximum(part[:-1], part[1:]) > level - 0.035
        )
        covered += float(crossing.mean()) * (2.0 if other != place else 1.0) if len(crossing) else 0.0
        if other != place:
            nearest = min(nearest, float(np.abs(part - level).min()))
    return min(nearest, 0.2) - 5 * covered + 0.05 * level


def label(x: float, y: float, text: str, colour: str, side: str, ground: str) -> dict[str, Any]:
    """A text beside a point: to its right if its own `side` there is the left one."""
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": side,
        "xshift": 7 if side == "left" else -7,
        "font": {"color": colour, "size": 12},
        "bgcolor": f"rgba({','.join(str(int(ground[at : at + 2], 16)) for at in (1, 3, 5))},0.7)",
        "borderpad": 1,
    }
