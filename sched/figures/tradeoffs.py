"""What a setting buys and what it costs: a curve with two axes, over a setting or over the load.

Everything is the plain data of a figure. A point carries its number in the list of points as customdata, so
that a click finds it again.
"""

from typing import Any

from sched.figures.lines import escaped
from sched.figures.palette import mix, palette
from sched.figures.tradeoff_axes import (
    Curve,
    Figure,
    Line,
    share_axis,
    share_ends,
    time_axis,
    time_range,
    x_axis,
    x_of,
    y_of,
)

HEIGHT = 420


def curve_figure(shown: Curve, is_dark: bool = False) -> Figure:
    """The curve: triangles for the times, hollow marks and dashes for the shares, and a ring."""
    ink = palette(is_dark)
    low, high = time_range(shown)
    traces = [*_band(shown, ink), _times(shown, ink)]
    traces += [_share(line, shown, ink, place) for place, line in enumerate(shown.shares)]
    shapes, notes = _lines(shown, ink, (low, high))
    if shown.ringed is not None:
        traces.append(_ring(shown, ink))
        notes.append(_ring_note(shown, ink, low, high))
    return {
        "data": traces,
        "layout": {
            "height": HEIGHT,
            "margin": {"l": 52, "r": 52, "t": 26, "b": 48},
            "showlegend": False,
            "hovermode": "closest",
            "clickmode": "event+select",
            "dragmode": False,
            "xaxis": x_axis(shown, ink),
            "yaxis": time_axis(low, high, ink),
            "yaxis2": share_axis(share_ends(shown.shares), ink),
            "shapes": shapes,
            "annotations": notes,
        },
    }


def _lines(
    shown: Curve, ink: dict[str, str], ends: tuple[float, float]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What stands at the lines: their names, the goal, where the scenario stands, where the curve bends."""
    notes = [_label(shown.times, shown, ink["urgent"], "y", f"▲ {escaped(shown.times.label)}", 0.12)]
    for place, line in enumerate(shown.shares):
        colour, share = ink[SHARES[place][0]], (0.62 if shown.is_log else 0.95, 1.0)[place]
        notes.append(_label(line, shown, colour, "y2", escaped(line.label), share))
    shapes: list[dict[str, Any]] = []
    if shown.goal is not None and ends[0] <= shown.goal <= ends[1]:
        shapes.append(_across(shown.goal, ink["ink"]))
        at, text = y_of(shown, shown.goal), escaped(shown.goal_text)
        notes.append(_note(1, at, text, ink["ink"], "paper", "y", "right", "bottom"))
    if shown.now is not None and min(shown.x) <= shown.now <= max(shown.x):
        shapes.append(_upright(shown.now, ink["ink3"], "dot"))
        at, text = x_of(shown, shown.now), escaped(shown.now_text)
        side = "right" if shown.now > shown.x[len(shown.x) // 2] else "left"
        notes.append(_note(at, 1, text, ink["ink2"], "x", "paper", side, "bottom"))
    if shown.bend is not None:
        bend = shown.x[shown.bend.place]
        shapes.append(_upright(bend, ink["accent"], "dash"))
        at, text = x_of(shown, bend), escaped(shown.bend.text)
        notes.append(_note(at, 0, text, ink["accent"], "x", "paper", "left", "bottom"))
    return shapes, [{**one, "bgcolor": ink["bg"]} for one in notes]


SHARES = (("ink2", "dash", "square-open"), ("regular", "dashdot", "diamond-open"))
"""Colour, dash and mark of the lines on the right axis."""


def _band(shown: Curve, ink: dict[str, str]) -> list[Figure]:
    """From the best to the worst seed."""
    seeds = zip(shown.x, shown.times.least, shown.times.most, strict=False)
    rows = [(x, low, high) for x, low, high in seeds if low is not None and high is not None]
    if len(rows) < 2:
        return []
    common = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": {"width": 0}}
    return [
        {**common, "x": [row[0] for row in rows], "y": [row[2] for row in rows]},
        {
            **common,
            **{"x": [row[0] for row in rows], "y": [row[1] for row in rows], "fill": "tonexty"},
            "fillcolor": mix(ink["urgent"], ink["bg"], 0.86),
        },
    ]


def _numbers(shown: Curve) -> list[list[int]]:
    return [[place] for place in range(len(shown.x))]


def _times(shown: Curve, ink: dict[str, str]) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(shown.times.label),
        "x": list(shown.x),
        "y": list(shown.times.mean),
        "customdata": _numbers(shown),
        "line": {"color": ink["urgent"], "width": 2.5},
        "marker": {"symbol": "triangle-up", "size": 10, "color": ink["urgent"]},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "hovertemplate": "%{x}: %{y:.3g} s<extra></extra>",
    }


def _share(line: Line, shown: Curve, ink: dict[str, str], place: int) -> Figure:
    colour, dash, symbol = SHARES[place]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(line.label),
        "x": list(shown.x),
        "y": list(line.mean),
        "yaxis": "y2",
        "customdata": _numbers(shown),
        "line": {"color": ink[colour], "width": 1.6, "dash": dash},
        "marker": {"symbol": symbol, "size": 7, "color": ink[colour]},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "hovertemplate": "%{x}: %{y:.1%}<extra></extra>",
    }


def _note(
    x: float, y: float, text: str, colour: str, xref: str, yref: str, xanchor: str, yanchor: str
) -> dict[str, Any]:
    return {
        **{"x": x, "y": y, "xref": xref, "yref": yref, "text": text, "showarrow": False},
        **{"xanchor": xanchor, "yanchor": yanchor, "xshift": {"left": 5, "right": -5}.get(xanchor, 0)},
        "font": {"color": colour, "size": 13},
    }


def _label(line: Line, shown: Curve, colour: str, axis: str, text: str, share: float) -> dict[str, Any]:
    """A line's name so far along it: above it where it falls, below it where it rises."""
    known = [(x, y) for x, y in zip(shown.x, line.mean, strict=True) if y is not None]
    if not known:
        return _note(0, 0, "", colour, "paper", "paper", "left", "bottom")
    place = min(len(known) - 1, round(share * (len(known) - 1)))
    (x, y), (_, after) = known[place], known[min(place + 1, len(known) - 1)]
    is_above, is_late = after <= y * 1.01 and share < 1, share > 0.5
    at = y_of(shown, y) if axis == "y" else y
    ends = ("right" if is_late else "left", "bottom" if is_above else "top")
    return {**_note(x_of(shown, x), at, text, colour, "x", axis, *ends), "yshift": 8 if is_above else -8}


def _across(value: float, colour: str) -> dict[str, Any]:
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": value, "y1": value, "yref": "y"}
    return {"type": "line", **ends, "line": {"color": colour, "width": 1.3, "dash": "dot"}}


def _upright(value: float, colour: str, dash: str) -> dict[str, Any]:
    ends = {"y0": 0, "y1": 1, "yref": "paper", "x0": value, "x1": value, "xref": "x"}
    return {"type": "line", **ends, "line": {"color": colour, "width": 1.2, "dash": dash}, "layer": "below"}


def _ring(shown: Curve, ink: dict[str, str]) -> Figure:
    assert shown.ringed is not None
    place = shown.ringed.place
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [shown.x[place]],
        "y": [shown.times.mean[place]],
        "hoverinfo": "skip",
        "marker": {"symbol": "circle-open", "size": 24, "color": ink["ink"], "line": {"width": 2}},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _ring_note(shown: Curve, ink: dict[str, str], low: float, high: float) -> dict[str, Any]:
    """What the ringed point says: under it where there is room, towards the middle."""
    assert shown.ringed is not None
    place = shown.ringed.place
    x, mean = shown.x[place], shown.times.mean[place]
    y = y_of(shown, low if mean is None else mean)
    foot, top = y_of(shown, low), y_of(shown, high)
    is_left = place >= len(shown.x) / 2
    is_low = y - foot < 0.2 * (top - foot)
    note = _note(
        *(x_of(shown, x), y, "<br>".join(map(escaped, shown.ringed.text.split("\n"))), ink["ink"], "x", "y"),
        *("right" if is_left else "left", "bottom" if is_low else "top"),
    )
    align = "right" if is_left else "left"
    font = {"color": ink["ink"], "size": 13, "weight": 600}
    return {**note, "align": align, "yshift": 14 if is_low else -14, "font": font}
