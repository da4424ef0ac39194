"""How many requests wait over time under each policy, with the names above the lines."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sched.figures.distributions import COLUMNS, LONGEST_NAME, label
from sched.figures.lines import Chart, Floats, Line, layout, shortened, style, thinned, traced
from sched.figures.palette import palette
from sched.language import ENGLISH, Language
from sched.log import Ints, Log
from sched.model import PS_PER_S


def waiting_figure(logs: Mapping[str, Log], is_dark: bool = False, say: Language = ENGLISH) -> Chart:
    """One step line a policy, at most 600 points each, no peak left out; logs by the policy's name."""
    lines, rows = [], []
    for name, log in logs.items():
        start, waiting = waiting_of(log)
        x, y = start / PS_PER_S, waiting.astype(float)
        some = thinned(x, y)
        lines.append(Line(name, np.append(x[some], log.end_ps / PS_PER_S), np.append(y[some], 0.0)))
        rows.append((name, int(waiting.max(initial=0)), mean_of(start, waiting, log.end_ps)))
    top = max((float(line.y.max()) for line in lines), default=0.0) or 1.0
    hover = say("{n} wait at {time}", n="%{y:,.0f}", time="%{x:.4~g} s")
    figure = {
        "data": [traced(line, place, is_dark, hover) for place, line in enumerate(lines)],
        "layout": layout(
            is_dark,
            340,
            xaxis={"title": {"text": say("seconds")}, "rangemode": "tozero"},
            yaxis={"range": [0, 1.12 * top]},
            annotations=labels_above(lines, top, is_dark),
        ),
    }
    heads = (say("policy"), say("most that wait"), say("that wait on average"))
    return Chart(figure, heads, tuple(rows))


def waiting_of(log: Log) -> tuple[Ints, Ints]:
    """When the number of those who wait may change, in picoseconds, and what it is from then on, shape (m,).

    Of several engines it is that of all of them together.
    """
    if not log.replicas:
        return log.stretches.start_ps, log.stretches.waiting
    parts = [waiting_of(one) for one in log.replicas]
    start = np.unique(np.concatenate([one for one, _ in parts]))
    waiting = np.zeros(len(start), dtype=np.int64)
    for begin, queue in parts:
        before = np.concatenate(([0], queue))
        waiting += before[np.searchsorted(begin, start, "right")]
    return start, waiting


def mean_of(start_ps: Any, waiting: Any, end_ps: int) -> float:
    """The mean over time of a number that holds from each moment to the next."""
    length = np.diff(np.append(start_ps, end_ps)).astype(float)
    return float((waiting * length).sum() / end_ps) if end_ps else 0.0


def labels_above(lines: Sequence[Line], top: float, is_dark: bool) -> list[dict[str, Any]]:
    """Each name above its line, where it stands alone."""
    end = max((float(line.x[-1]) for line in lines), default=1.0) or 1.0
    columns = np.linspace(0.0, end, COLUMNS)
    heights = [
        np.concatenate(([0.0], line.y))[np.searchsorted(line.x, columns, "right")] / top for line in lines
    ]
    taken, found = list[tuple[int, int, float]](), list[dict[str, Any]]()
    for place, line in enumerate(lines):
        wide = int(COLUMNS * (0.03 + 0.0085 * min(len(line.name), LONGEST_NAME)))
        others = [one for other, one in enumerate(heights) if other != place]
        best = max(
            ((_worth(heights[place], others, taken, at, at + wide), at) for at in range(2, COLUMNS - wide)),
            default=(0.0, 2),
        )
        at = best[1]
        height = float(heights[place][at : at + wide].max()) + GAP
        taken.append((at, at + wide, height))
        name = shortened(line.name, LONGEST_NAME)
        colours = palette(is_dark)
        found.append(
            label(float(columns[at]), height * top, name, style(place, is_dark)[0], "left", colours["bg"])
        )
    return found


GAP = 0.045


def _worth(
    own: Floats, others: Sequence[Floats], taken: Sequence[tuple[int, int, float]], begin: int, end: int
) -> float:
    """How good a place for a name is: it covers nothing, and its line is apart from the others."""
    height = float(own[begin:end].max()) + GAP
    covered = sum(float((np.abs(one[begin:end] - height) < GAP).mean()) for one in (own, *others))
    touched = sum(begin < b and a < end and abs(height - y) < 2 * GAP for a, b, y in taken)
    apart = min((float(np.abs(one[begin:end] - own[begin:end]).mean()) for one in others), default=1.0)
    return (
        min(apart, 0.25) - 3 * covered - 10 * touched - (5 if height > 1.08 else 0) + 0.1 * min(height, 0.5)
    )
