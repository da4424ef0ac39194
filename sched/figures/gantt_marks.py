"""What is marked on the Gantt chart: the culprit, who passed, preemptions, and names."""

from collections.abc import Sequence

import numpy as np

from sched.figures.gantt_rows import GUTTER, Gantt
from sched.figures.glance import Glance
from sched.figures.measure import apart, shortened
from sched.figures.palette import palette
from sched.figures.panel_part import mark
from sched.figures.side import until_ps
from sched.figures.svg import Markup, box, joined, tag, words
from sched.language import Language

P = palette()


def culprit(chart: Gantt) -> Markup:
    """A frame around the bars of the one that holds most while an urgent one waits for it."""
    view = chart.views[0]
    if view.culprit is None:
        return Markup()
    one = int(view.side.stays.request[view.culprit])
    group = next(group for group in chart.groups if one in group.row)
    begin, end = view.side.log.requests.arrival_ps[one], until_ps(view.side.log)[one]
    x = max(GUTTER - 1, chart.x(begin))
    long = min(chart.width - 1, chart.x(end)) - x
    frame = {"stroke": P["culprit"], "stroke_width": 1.5}
    return box(x, chart.y(group, one) + 0.2, max(2, long), max(3, group.pitch - 1.6), "none", **frame)


def passed(chart: Gantt, focus: int | None) -> Markup:
    """A triangle where a less urgent one was admitted while the request in focus waited."""
    view, lines = chart.views[0], list[str]()
    if focus is None:
        return Markup()
    for stay in view.passed(focus, chart.end_ps):
        one = int(view.side.stays.request[stay])
        group = next(group for group in chart.groups if one in group.row)
        x, y = chart.x(float(view.side.stays.start_ps[stay])), chart.y(group, one) - 1
        if GUTTER < x < chart.width:
            lines.append(f"M{x - 3.6:.1f} {y - 3:.1f}h7.2l-3.6 6.4z")
    return tag("path", d="".join(lines), fill=P["culprit"]) if lines else Markup()


def labels(chart: Gantt, focus: int | None, say: Language, has_two: bool) -> Markup:
    """Names beside the rows: of requests where there is room, else of classes."""
    side, parts = chart.views[0].side, list[str]()
    if has_two:
        legend = shortened(say("A thick, B thin"), GUTTER - 8, 12)
        parts.append(words(legend, GUTTER - 8, 12, font_size=12, fill=P["ink2"], text_anchor="end"))
    for group in chart.groups:
        if group.pitch < 10:
            name = apart(side.log.requests.class_names[group.place])
            y = group.top + min(8, group.count * group.pitch / 2) + 4
            parts += _label(name, y, group.look, True)
            continue
        named: dict[float, tuple[float, int]] = {}
        for one in chart.shown(group, side):
            y = chart.y(group, one)
            begin, end = side.log.requests.arrival_ps[one], until_ps(side.log)[one]
            at_ps = chart.views[0].at_ps
            far = -1.0 if one == focus else float(max(begin - at_ps, at_ps - end, 0))
            named[y] = min(named.get(y, (np.inf, 0)), (far, one))
        for y, (_, one) in named.items():
            parts += _label(apart(side.log.requests.ids[one]), y + 9, group.look, one == focus)
    return joined(parts)


def _label(name: str, y: float, look: int, is_strong: bool) -> list[Markup]:
    text = shortened(name, GUTTER - 26, 12, is_bold=is_strong)
    weight = 650 if is_strong else 400
    label = words(text, GUTTER - 20, y, font_size=12, font_weight=weight, fill=P["ink"], text_anchor="end")
    return [label, mark(look, GUTTER - 11, y - 4, 8)]


def preemptions(chart: Gantt, views: Sequence[Glance], say: Language) -> Markup:
    """A ringed cross where somebody was preempted in B, or in A where B preempts nobody; neighbours count."""
    number = len(views) - 1 if len(views[-1].side.log.preempted.at_ps) else 0
    times = views[number].side.log.preempted.at_ps
    if not len(times):
        return Markup()
    y, groups = chart.height + 2, list[list[float]]()
    for at_ps in times.tolist():
        x = chart.x(at_ps)
        if not GUTTER <= x <= chart.width - 8:
            continue
        if groups and x - groups[-1][0] < 26:
            groups[-1][1] += 1
        else:
            groups.append([x, 1])
    parts = list[Markup]()
    for x, many in groups:
        ring = f"M{x - 4.6:.1f} {y:.1f}a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0"
        cross = f"M{x - 2:.1f} {y - 2:.1f}l4 4m0 -4l-4 4"
        parts.append(tag("path", d=ring + cross, fill=P["bg"], stroke=P["ink"], stroke_width=1.3))
        if many > 1:
            parts.append(words(f"{many:.0f}", x + 8, y + 4, font_size=11.5, fill=P["ink"]))
    name = shortened(say("preempted in {side}", side="AB"[number]), GUTTER - 8, 12)
    parts.append(words(name, GUTTER - 8, y + 4, font_size=12, fill=P["ink2"], text_anchor="end"))
    return joined(parts)
