"""What the charts of Compare share: colours, dashes, labels at the lines, and no more points than pixels."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched.figures.palette import palette

Floats = NDArray[np.float64]
Row = tuple[Any, ...]

MOST_POINTS = 600
STYLES = (
    ("culprit", "solid"),
    ("urgent", "solid"),
    ("regular", "dashdot"),
    ("batch", "dash"),
    ("good", "longdash"),
    ("accent", "dot"),
)
"""Colour and dash of the first lines of policies; all further ones are grey and dotted."""
TENANTS = (
    ("urgent", "solid"),
    ("batch", "dash"),
    ("regular", "dashdot"),
    ("good", "longdash"),
    ("accent", "dot"),
    ("ink2", "longdashdot"),
)
"""The same of tenants: the culprit's colour is kept for what inversion is about."""
Styles = tuple[tuple[str, str], ...]
FONT = '"Source Sans", "Source Sans 3", sans-serif'
LABEL_GAP = 0.065
"""Of the height: two labels at the ends of lines are at least so far apart."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure as plain data, and the same numbers as a table."""

    figure: dict[str, Any]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Line:
    """A line by its points; it holds its value until the next one if it `steps`."""

    name: str
    x: Floats
    y: Floats
    steps: bool = True


def escaped(text: str) -> str:
    """A user's text for a figure, which would take <b> and <a> in it for markup."""
    return html.escape(" ".join(text.split()), quote=False)


def style(place: int, is_dark: bool, styles: Styles = STYLES) -> tuple[str, str]:
    """Colour and dash of the line with this number."""
    name, dash = styles[place] if place < len(styles) else ("ink3", "dot")
    return palette(is_dark)[name], dash


def thinned(x: Floats, y: Floats, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Which points to draw: in each pixel column the first, the last, the lowest and the highest.

    At most `most` of them. Neighbours that are equal are one point: a long run of zeros costs nothing.
    """
    count = len(x)
    if count <= 2:
        return np.arange(count)
    kept = np.ones(count, dtype=bool)
    kept[1:-1] = (y[1:-1] != y[:-2]) | (y[1:-1] != y[2:])
    some = np.flatnonzero(kept)
    if len(some) <= most:
        return some
    low, high = float(x[0]), float(x[-1])
    column = ((x[some] - low) * (most // 4 - 1) / ((high - low) or 1)).astype(np.int64)
    order = np.lexsort((y[some], column))
    edges = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(edges[1:], len(some)) - 1
    return np.unique(some[np.concatenate((edges, ends, order[edges], order[ends]))])


def traced(line: Line, place: int, is_dark: bool, hover: str, styles: Styles = STYLES) -> dict[str, Any]:
    """A line as a trace; `hover` is said of a point of it."""
    colour, dash = style(place, is_dark, styles)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": escaped(line.name),
        "x": line.x.astype(np.float32),
        "y": line.y.astype(np.float32),
        "line": {
            "shape": "hv" if line.steps else "linear",
            "color": colour,
            "width": 2.4 if place < 2 else 1.6,
            "dash": dash,
        },
        "hovertemplate": hover,
    }


def end_labels(lines: Sequence[Line], top: float, is_dark: bool) -> list[dict[str, Any]]:
    """The names at the right ends of the lines, in their colours, moved apart where they would touch."""
    wanted = sorted(
        (float(line.y[-1]) / top if len(line.y) else 0.0, place) for place, line in enumerate(lines)
    )
    heights, below = list[float](), -LABEL_GAP
    for height, _ in wanted:
        below = max(height, below + LABEL_GAP)
        heights.append(below)
    over = max(0.0, heights[-1] - 1.0) if heights else 0.0
    found, above = list[dict[str, Any]](), 1.0 + LABEL_GAP
    for height, (_, place) in zip(reversed(heights), reversed(wanted), strict=True):
        above = min(height - (over if height - over >= 0 else 0), above - LABEL_GAP)
        colour, _ = style(place, is_dark, TENANTS)
        found.append(
            {
                "text": shortened(lines[place].name),
                "hovertext": escaped(lines[place].name),
                "xref": "paper",
                "yref": "paper",
                "x": 1.0,
                "y": above,
                "xanchor": "left",
                "yanchor": "middle",
                "showarrow": False,
                "font": {"color": colour, "size": 12},
            }
        )
    return found


def shortened(name: str, most: int = 18) -> str:
    """A name that fits beside a chart; the whole of it is told on hover."""
    line = " ".join(name.split())
    return escaped(line if len(line) <= most else line[: most - 1] + "…")


def layout(is_dark: bool, height: int, right: int = 16, **rest: Any) -> dict[str, Any]:
    """What every chart has: no frame, pale lines, no legend away from the lines."""
    colours = palette(is_dark)
    axis = {"showgrid": False, "zeroline": False, "linecolor": colours["line"], "automargin": True}
    found: dict[str, Any] = {
        "height": height,
        "margin": {"l": 52, "r": right, "t": 14, "b": 40},
        "showlegend": False,
        "hovermode": "closest",
        "font": {"color": colours["ink2"], "size": 12, "family": FONT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"namelength": -1},
        "xaxis": axis | rest.pop("xaxis", {}),
        "yaxis": axis | {"showgrid": True, "gridcolor": colours["line"]} | rest.pop("yaxis", {}),
    }
    return found | rest
