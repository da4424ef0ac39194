"""All requests of the picture on one time axis: A thick, B thin beneath it, inversions hatched."""

from collections.abc import Callable, Sequence

import numpy as np

from sched.figures.blocks import Pieces
from sched.figures.gantt_marks import culprit, labels, passed, preemptions
from sched.figures.gantt_rows import AXIS, GUTTER, STEPS, Gantt
from sched.figures.glance import Glance
from sched.figures.palette import ROLES, palette
from sched.figures.side import Side, until_ps
from sched.figures.svg import Markup, box, joined, tag, words
from sched.language import Language
from sched.model import PS_PER_S, StayEnd

P = palette()


def gantt(
    views: Sequence[Glance],
    focus: int | None,
    width: float,
    most: float,
    say: Language,
    frame: tuple[float, float] | None = None,
) -> tuple[Markup, float]:
    """The chart and its height."""
    names = [view.side.log.requests.ids for view in views]
    drawn = views if len(set(names)) == 1 else views[:1]
    chart = Gantt(drawn, width, most, frame)
    clip = tag("clipPath", box(GUTTER - 2, 0, width - GUTTER + 2, chart.height, "#000"), id="window")
    parts: list[str] = [tag("defs", clip), _axis(chart)]
    bars = [_bars(chart, view.side, number) for number, view in enumerate(drawn)]
    marks = [culprit(chart), passed(chart, focus)]
    parts.append(tag("g", joined([*bars, *marks]), clip_path="url(#window)"))
    parts.append(labels(chart, focus, say, len(drawn) > 1))
    x = min(max(chart.x(views[0].at_ps), GUTTER), width)
    clock = f"{views[0].at_ps / PS_PER_S:.2f}\u202fs"
    flag_x = min(max(x, GUTTER + 26), width - 26)
    parts += [
        box(x - 0.7, AXIS - 4, 1.4, chart.height - AXIS, P["ink"]),
        box(flag_x - 26, 0, 52, 17, P["ink"], rx=5),
        words(clock, flag_x, 12.5, font_size=11.5, font_weight=650, fill="#fff", text_anchor="middle"),
    ]
    gone = preemptions(chart, drawn, say)
    return joined([*parts, gone]), chart.height + (12 if gone else 0)


def _axis(chart: Gantt) -> Markup:
    low, high = (edge / PS_PER_S for edge in chart.window)
    step = next((one for one in STEPS if one * PS_PER_S * chart.rate > 62), STEPS[-1])
    parts = list[str]()
    for k in range(int(np.ceil(low / step)), int(high / step) + 1):
        x = chart.x(k * step * PS_PER_S)
        if x < GUTTER:
            continue
        parts.append(box(x, AXIS - 3, 1, chart.height - AXIS, P["line"]))
        if abs(x - chart.x(chart.views[0].at_ps)) < 46:
            continue
        label = f"{round(k * step, 3):g}\u202fs"
        parts.append(words(label, x, 12, font_size=12, fill=P["ink2"], text_anchor="middle"))
    return joined(parts)


def _bars(chart: Gantt, side: Side, number: int) -> Markup:
    """The bars of one side; those of one fill are one path."""
    paths: dict[str, list[str]] = {}
    pieces, hatched = Pieces(side), list[str]()
    stays = np.searchsorted(side.stays.request, np.arange(len(side.level) + 1))
    for group in chart.groups:
        tall = group.pitch >= 7
        heights = (min(6.0, group.pitch * 0.5), 2.4) if tall else (max(1.0, group.pitch * 0.62), 0.0)
        high = heights[number]
        if not high:
            continue
        for one in chart.shown(group, side):
            y = chart.y(group, one) + (heights[0] + 1.4 if number else 1.2 if tall else 0.4)

            def bar(fill: str, begin: float, end: float, y: float = y, high: float = high) -> None:
                x = max(chart.x(begin), GUTTER - 4)
                long = max(0.8, min(chart.x(end), chart.width + 4) - x)
                if chart.x(end) >= x:
                    paths.setdefault(fill, []).append(f"M{x:.1f} {y:.1f}h{long:.1f}v{high:.1f}h-{long:.1f}z")

            _request(side, one, slice(int(stays[one]), int(stays[one + 1])), pieces, group.look, bar)
            bad = side.inverted
            for row in np.flatnonzero(bad.request == one):
                bar("url(#inversion)", bad.from_ps[row], bad.to_ps[row])
    order = sorted(paths, key=lambda fill: fill.startswith("url"))
    for fill in order:
        line = {"stroke": P["culprit"], "stroke_width": 0.7} if fill.startswith("url") and not number else {}
        hatched.append(tag("path", d="".join(paths[fill]), fill=fill, **line))
    return joined(hatched)


def _request(
    side: Side, one: int, mine: slice, pieces: Pieces, look: int, bar: Callable[[str, float, float], None]
) -> None:
    """Waiting, prefill and decode of one request."""
    stays, begin = side.stays, float(side.log.requests.arrival_ps[one])
    is_waiting = True
    for stay in range(mine.start, mine.stop):
        start, end = float(stays.start_ps[stay]), float(stays.end_ps[stay])
        if start > begin and is_waiting:
            bar(P["waiting"], begin, start)
        bar(P[f"{ROLES[look]}_pale"], start, end)
        bar(P[ROLES[look]], start, min(end, prefill_end_ps(side, pieces, stay)))
        begin, is_waiting = end, stays.end[stay] in (StayEnd.OUTGROWN, StayEnd.DISPLACED)
    if is_waiting:
        bar(P["waiting"], begin, float(until_ps(side.log)[one]))


def prefill_end_ps(side: Side, pieces: Pieces, stay: int) -> float:
    """When everything that a stay had to compute first was computed."""
    known = int(side.stays.known_tokens[stay])
    for iteration, before, tokens, _ in pieces.rows(stay):
        if before + tokens >= known:
            return float(side.log.iteration_start_ps[iteration] + side.log.iteration_duration_ps[iteration])
    return float(side.stays.end_ps[stay])
