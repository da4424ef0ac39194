"""Two settings at once: a map whose cells say the time they stand for, and whether it keeps the goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from sched.figures.lines import escaped
from sched.figures.palette import mix, palette
from sched.figures.tradeoff_axes import Figure, Value
from sched.figures.tradeoffs import HEIGHT

LEAST_STEP = 0.3
"""Logarithms over which the colours go at least: a factor of two."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What a map shows: a time in each cell, rows from below, and whether it keeps the goal."""

    times: Sequence[Sequence[Value]]
    met: Sequence[Sequence[bool]]
    texts: Sequence[Sequence[str]]
    columns: Sequence[str]
    rows: Sequence[str]
    title: str
    side: str
    ringed: Sequence[tuple[int, int]] = ()
    now: tuple[int, int] | None = None


def map_figure(shown: Grid, is_dark: bool = False) -> Figure:
    """Cells as dark as the times are long, each with its time and a mark; rings and a dotted frame."""
    ink = palette(is_dark)
    least = log10(min((one for row in shown.times for one in row if one), default=1.0)) - LEAST_STEP
    logs = [
        [None if one is None else log10(one) if one else least for one in row] for row in shown.times
    ]  # 0 s has no logarithm: it is one step lighter than the shortest time
    known = [one for row in logs for one in row if one is not None] or [0.0, 1.0]
    low, high = min(known), max(max(known), min(known) + LEAST_STEP)
    near, far = mix(ink["urgent"], ink["bg"], 0.88), ink["urgent"]
    places = [(row, column) for row in range(len(shown.rows)) for column in range(len(shown.columns))]
    turn = 0.5 if is_dark else 0.45
    notes = [
        _cell_text(shown, at, logs[at[0]][at[1]], (low, high), (ink["bg"], ink["ink"]), turn) for at in places
    ]
    return {
        "data": [
            {
                **{"type": "heatmap", "z": logs, "zmin": low, "zmax": high, "showscale": False},
                **{"colorscale": [[0, near], [1, far]], "xgap": 3, "ygap": 3, "hoverinfo": "skip"},
            },
            {
                **{"type": "scatter", "mode": "markers", "x": [column for _, column in places]},
                **{"y": [row for row, _ in places], "customdata": [[place] for place in range(len(places))]},
                "marker": {"size": 34, "opacity": 0},
                "selected": {"marker": {"opacity": 0}},
                "unselected": {"marker": {"opacity": 0}},
                "hoverinfo": "none",
            },
        ],
        "layout": {
            "height": max(HEIGHT, 60 + 56 * len(shown.rows)),
            "margin": {"l": 92, "r": 16, "t": 16, "b": 52},
            "showlegend": False,
            "clickmode": "event+select",
            "dragmode": False,
            "xaxis": _cell_axis(shown.columns, shown.title, ink),
            "yaxis": _cell_axis(shown.rows, shown.side, ink),
            "shapes": [_frame(at, ink["ink"], "solid", 2.6) for at in shown.ringed]
            + ([_frame(shown.now, ink["ink"], "dot", 1.6)] if shown.now else []),
            "annotations": notes,
        },
    }


def _cell_text(
    shown: Grid,
    at: tuple[int, int],
    value: Value,
    ends: tuple[float, float],
    inks: tuple[str, str],
    turn: float,
) -> dict[str, Any]:
    """The time in a cell, with a disc where the goal is kept and a diamond where it is not."""
    row, column = at
    share = 0.0 if value is None else (value - ends[0]) / (ends[1] - ends[0])
    mark = "" if value is None else " ●" if shown.met[row][column] else " ◆"
    return {
        **{"x": column, "y": row, "text": f"{escaped(shown.texts[row][column])}{mark}", "showarrow": False},
        "font": {"color": inks[share <= turn], "size": 13 if len(shown.columns) <= 9 else 10},
    }


def _cell_axis(names: Sequence[str], title: str, ink: dict[str, str]) -> dict[str, Any]:
    return {
        **{"tickvals": list(range(len(names))), "ticktext": [escaped(one) for one in names]},
        **{"showgrid": False, "zeroline": False, "fixedrange": True, "color": ink["ink2"]},
        **{"range": [-0.5, len(names) - 0.5], "title": {"text": escaped(title), "font": {"size": 13}}},
        "tickfont": {"size": 12},
    }


def _frame(at: tuple[int, int], colour: str, dash: str, width: float) -> dict[str, Any]:
    row, column = at
    ends = {"x0": column - 0.47, "x1": column + 0.47, "y0": row - 0.46, "y1": row + 0.46}
    return {"type": "rect", **ends, "line": {"color": colour, "width": width, "dash": dash}}
