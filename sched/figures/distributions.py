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
    palette,
    shortened,
    style,
    thinned,
    traced,
)
from sched.inversion import Inversion
from sched.language import ENGLISH, Language
from sched.log import Ints, Log
from sched.model import PS_PER_S, Outcome
from sched.sums import PERCENTILES, five

FAMILIES = ("ttft", "tpot", "e2e", "wait")
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
        min([*ends, goal_s or 1.0], default=0.1) / 1.25,
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
        notes.append(label(log10(goal_s), 0.03, text, colours["ink"], "left"))
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
    heads = (say("policy"), say("requests"), "p50", "p90", "p99", say("longest"), say("within the goal"))
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
    """Each name beside its line, at the height where the next line is farthest."""
    heights, width = np.linspace(0.1, 0.94, 22), high - low
    at = [
        np.log10(line.x[np.minimum(np.searchsorted(line.y, heights), len(line.y) - 1)])
        if len(line.x)
        else None
        for line in lines
    ]
    taken, found = list[tuple[float, float, float]](), list[dict[str, Any]]()
    for place, line in enumerate(lines):
        mine = at[place]
        if mine is None:
            continue
        others = [one for other, one in enumerate(at) if other != place and one is not None]
        need = width * (0.02 + 0.0125 * min(len(line.name), 18))
        best = (-np.inf, 0.0, 0.0, "left")
        for height, x in zip(heights.tolist(), mine.tolist(), strict=True):
            row = [float(one[np.searchsorted(heights, height)]) for one in others]
            for side, sign in (("left", 1), ("right", -1)):
                free = min([sign * (one - x) for one in row if sign * (one - x) >= 0] + [width])
                room = (high - x) if sign > 0 else (x - low)
                begin, end = sorted((x, x + sign * need))
                touched = any(abs(height - y) < 0.09 and begin < b and a < end for a, b, y in taken)
                score = min(free, room, 1.6 * need) - (10 * width if touched else 0) + 0.02 * width * height
                if score > best[0]:
                    best = (score, x, height, side)
        _, x, height, side = best
        begin, end = sorted((x, x + need * (1 if side == "left" else -1)))
        taken.append((begin, end, height))
        found.append(label(x, height, shortened(line.name), style(place, is_dark)[0], side))
    return found


def label(x: float, y: float, text: str, colour: str, side: str) -> dict[str, Any]:
    """A text beside a point: to its right if its own `side` there is the left one."""
    return {
        "x": x,
        "y": y,
        "text": text,
        "showarrow": False,
        "xanchor": side,
        "xshift": 7 if side == "left" else -7,
        "font": {"color": colour, "size": 12},
    }
