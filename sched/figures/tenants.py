"""What tenants get over time: service, dominant share and VTC's counter, one line a tenant."""

from collections.abc import Sequence

import numpy as np

from sched.figures.lines import TENANTS, Chart, Line, Row, end_labels, layout, thinned, traced
from sched.language import ENGLISH, Language
from sched.model import PS_PER_S
from sched.trajectories import RESOURCES, Trajectory

MOST_ROWS = 40
"""The table beside a picture has so many moments, evenly spaced, and the last."""


def lines_of(found: Trajectory, *, steps: bool = True) -> list[Line]:
    """The lines of a trajectory, at most 600 points each."""
    x, lines = found.at_ps / PS_PER_S, []
    for name, y in zip(found.tenants, found.values, strict=True):
        some = thinned(x, y)
        lines.append(Line(name, x[some], y[some], steps))
    return lines


def tenants_figure(
    found: Trajectory,
    what: str,
    top: float | None = None,
    is_dark: bool = False,
    say: Language = ENGLISH,
) -> Chart:
    """One line a tenant over time. `what` is service, shares or counters; `top` the end of the axis."""
    is_share = what == "shares"
    lines = lines_of(found, steps=is_share)
    highest = top or float(found.values.max(initial=0.0)) or 1.0
    hover = {
        "service": say("{tokens} weighted tokens by {time}", tokens="%{y:,.0f}", time="%{x:.4~g} s"),
        "shares": say("{share} at {time}", share="%{y:.1%}", time="%{x:.4~g} s"),
        "counters": say("counter {tokens} at {time}", tokens="%{y:,.0f}", time="%{x:.4~g} s"),
    }[what]
    longest = max((min(len(name), 18) for name in found.tenants), default=0)
    figure = {
        "data": [traced(line, place, is_dark, hover, TENANTS) for place, line in enumerate(lines)],
        "layout": layout(
            is_dark, 320, right=16 + 8 * longest,
            xaxis={"title": {"text": say("seconds")}, "rangemode": "tozero"},
            yaxis={"range": [0, 1.04 * highest], "tickformat": ".0%" if is_share else "~s"},
            annotations=end_labels(lines, 1.04 * highest, is_dark),
        ),
    }  # fmt: skip
    return Chart(figure, *_table(found, what, say))


def axis_top(several: Sequence[Trajectory]) -> float:
    """One end of the axis for charts that stand side by side."""
    return max((float(one.values.max(initial=0.0)) for one in several), default=0.0) or 1.0


def _table(found: Trajectory, what: str, say: Language) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """The values at evenly spaced moments and at the end; of shares also which resource it is."""
    moments = np.unique(np.linspace(0, max(len(found.at_ps) - 1, 0), MOST_ROWS).astype(np.int64))
    moments = moments[moments < len(found.at_ps)]
    names = {"kv": say("KV blocks"), "seats": say("seats"), "tokens": say("tokens of late")}
    heads, columns = [say("at, s")], [(found.at_ps[moments] / PS_PER_S).tolist()]
    for row, tenant in enumerate(found.tenants):
        heads.append(tenant)
        columns.append(found.values[row, moments].tolist())
        if what == "shares" and found.dominant is not None:
            heads.append(say("{tenant}, of", tenant=tenant))
            columns.append([names[RESOURCES[one]] for one in found.dominant[row, moments].tolist()])
    return tuple(heads), tuple(zip(*columns, strict=True))
