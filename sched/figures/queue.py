"""How many requests wait over time, one line a policy, as the plain data of a figure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sched.language import ENGLISH, Language
from sched.log import Ints, Log
from sched.model import PS_PER_S

MOST_POINTS = 600


COLOURS = {False: ("#B5114F", "#1A56B8", "#636B7D"), True: ("#F0478C", "#5C97F7", "#8F97A8")}
"""By darkness of the page: A, B, and all others."""


def queue_figure(
    logs: Mapping[str, Log], strong: tuple[str, str], is_dark: bool = False, say: Language = ENGLISH
) -> dict[str, Any]:
    """Queue length by policy; the two on the stage are drawn strong."""
    colours = COLOURS[is_dark]
    lines = [
        _line(name, log, colours[strong.index(name) if name in strong else 2], name in strong, place)
        for place, (name, log) in enumerate(logs.items())
    ]
    axis = {"showgrid": False, "zeroline": False, "title": {"text": say("seconds")}}
    return {
        "data": lines,
        "layout": {
            "height": 300,
            "margin": {"l": 48, "r": 16, "t": 16, "b": 40},
            "hovermode": "x unified",
            "legend": {"orientation": "h", "y": 1.12, "x": 0},
            "xaxis": axis,
            "yaxis": {"title": {"text": say("requests waiting")}, "rangemode": "tozero"},
        },
    }


DASHES = ("dash", "dot", "dashdot")


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


def _line(name: str, log: Log, colour: str, strong: bool, place: int) -> dict[str, Any]:
    """The waiting column of the log at no more than MOST_POINTS stretches, the highest of each group kept."""
    start, waiting = waiting_of(log)
    group = np.arange(len(start)) * MOST_POINTS // max(len(start), MOST_POINTS)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    highest = np.maximum.reduceat(waiting, first) if len(first) else waiting
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": (start[first] / PS_PER_S).astype(np.float32),
        "y": highest.astype(np.int32),
        "line": {
            "shape": "hv",
            "color": colour,
            "width": 2.4 if strong else 1.2,
            "dash": "solid" if strong else DASHES[place % 3],
        },
    }
