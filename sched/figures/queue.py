"""How many requests wait over time, one line a policy, as the plain data of a figure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sched.log import Log
from sched.model import PS_PER_S

MOST_POINTS = 600


def queue_figure(logs: Mapping[str, Log], strong: tuple[str, str]) -> dict[str, Any]:
    """Queue length by policy; the two on the stage are drawn strong."""
    lines = [_line(name, log, name in strong, place) for place, (name, log) in enumerate(logs.items())]
    axis = {"showgrid": False, "zeroline": False, "title": {"text": "seconds"}}
    return {
        "data": lines,
        "layout": {
            "height": 300,
            "margin": {"l": 48, "r": 16, "t": 16, "b": 40},
            "hovermode": "x unified",
            "legend": {"orientation": "h", "y": 1.12, "x": 0},
            "xaxis": axis,
            "yaxis": {"title": {"text": "requests waiting"}, "rangemode": "tozero"},
        },
    }


DASHES = ("solid", "dash", "dot", "dashdot")


def _line(name: str, log: Log, strong: bool, place: int) -> dict[str, Any]:
    """The waiting column of the log at no more than MOST_POINTS stretches, the highest of each group kept."""
    start, waiting = log.stretches.start_ps, log.stretches.waiting
    group = np.arange(len(start)) * MOST_POINTS // max(len(start), MOST_POINTS)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    highest = np.maximum.reduceat(waiting, first) if len(first) else waiting
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": (start[first] / PS_PER_S).astype(np.float32),
        "y": highest.astype(np.int32),
        "line": {"shape": "hv", "width": 2.4 if strong else 1.2, "dash": DASHES[place % 4]},
        "opacity": 1.0 if strong else 0.75,
    }
