"""Where the waiting went: each policy's and class's wait, cut by its cause."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sched.figures.lines import Chart, Row, layout, shortened
from sched.figures.palette import palette
from sched.inversion import CAUSES, Inversion
from sched.language import ENGLISH, Language
from sched.log import Log
from sched.model import PS_PER_S, Outcome
from sched.sums import exact_sum, seconds

LOOK = {
    "quantum": ("ink3", "bg", ""),
    "legitimate": ("free", "ink3", "."),
    "reserved": ("reservedBg", "reserved", "\\"),
    "kv": ("culpritBg", "culprit", "/"),
    "tokens": ("culpritBg", "culprit", "x"),
    "seats": ("culpritBg", "culprit", "-"),
}
"""Of each cause: its ground, the colour of its hatch, and the hatch."""
MOST_BARS = 40


def causes_ps(log: Log, inversion: Inversion, name: str, warmup_s: float) -> tuple[int, dict[str, int]]:
    """How many requests of a class could wait, and picoseconds of their waiting by cause, summed exactly."""
    listed = log.requests
    mine = listed.arrival_ps >= round(warmup_s * PS_PER_S)
    mine &= (listed.class_index == listed.class_names.index(name)) & (log.outcome != Outcome.REFUSED)
    own = np.flatnonzero(mine)
    return len(own), {cause: exact_sum(getattr(inversion, f"{cause}_ps")[own]) for cause in CAUSES}


def cause_names(say: Language = ENGLISH) -> dict[str, str]:
    """What each cause is called."""
    return {
        "quantum": say("iteration in progress"),
        "legitimate": say("no room even without the less urgent"),
        "reserved": say("kept out by a rule"),
        "kv": say("inversion: KV memory"),
        "tokens": say("inversion: token budget"),
        "seats": say("inversion: seats"),
    }


def decomposition(
    parts: Mapping[tuple[str, str], tuple[int, Mapping[str, int]]],
    chosen: str,
    is_dark: bool = False,
    say: Language = ENGLISH,
) -> Chart:
    """Stacked bars, one a policy and class: seconds of waiting per request, by cause.

    `parts` by (policy's name, class) as `causes_ps` gives them. Where there are too many bars only those of
    the chosen class are drawn; the table has all.
    """
    names, colours = cause_names(say), palette(is_dark)
    drawn = [key for key in parts if len(parts) <= MOST_BARS or key[1] == chosen]
    labels = [f"{shortened(policy, 22)} · {shortened(name, 14)}" for policy, name in drawn]
    bars = []
    for cause in CAUSES:
        ground, ink, shape = LOOK[cause]
        x = np.array([parts[key][1][cause] / (max(parts[key][0], 1) * PS_PER_S) for key in drawn])
        if not x.any():
            continue
        pattern = {
            "shape": shape,
            "fgcolor": colours[ink],
            "bgcolor": colours[ground],
            "size": 6,
            "solidity": 0.3,
        }
        bars.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": names[cause],
                "x": x.astype(np.float32),
                "y": list(range(len(drawn))),
                "marker": {
                    "color": colours[ground],
                    # A piece of nothing has no edge either.
                    "line": {
                        "color": colours[ink if shape else ground],
                        "width": (x > 0).astype(int).tolist(),
                    },
                    **({"pattern": pattern} if shape else {}),
                },
                "hovertemplate": say("{time} a request, {cause}", time="%{x:.3~g} s", cause=names[cause])
                + "<extra></extra>",
            }
        )
    ticks = [
        label if key[1] != chosen else f"<b>{label}</b>" for key, label in zip(drawn, labels, strict=True)
    ]
    return Chart({"data": bars, "layout": _layout(ticks, is_dark, say)}, *_table(parts, names, say))


def _layout(ticks: list[str], is_dark: bool, say: Language) -> dict[str, Any]:
    """Bars on top of each other from the top down, what they stand for right above them."""
    found = layout(
        is_dark,
        130 + 24 * len(ticks),
        xaxis={
            "title": {"text": say("seconds of waiting per request")},
            "showgrid": True,
            "gridcolor": palette(is_dark)["line"],
            "rangemode": "tozero",
        },
        yaxis={
            "tickvals": list(range(len(ticks))),
            "ticktext": ticks,
            "autorange": "reversed",
            "showgrid": False,
        },
        barmode="stack",
        bargap=0.32,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
    )
    found["margin"]["t"] = 44
    return found


def _table(
    parts: Mapping[tuple[str, str], tuple[int, Mapping[str, int]]], names: Mapping[str, str], say: Language
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Seconds of waiting of all requests together, by cause; they add up to the last column."""
    times = (say("{figure}, s", figure=one) for one in (*names.values(), say("all waiting")))
    heads = (say("policy"), say("class"), say("requests"), *times)
    rows = tuple(
        (policy, name, many, *(seconds(found[cause]) for cause in CAUSES), seconds(sum(found.values())))
        for (policy, name), (many, found) in parts.items()
    )
    return heads, rows
