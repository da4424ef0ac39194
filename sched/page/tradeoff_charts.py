"""The charts of Trade-offs, each with its verdict above it and its table beside it."""

from dataclasses import dataclass
from typing import Any

from sched.advice import ALIKE, Advice, Outcome, advice, knee, loads, outcomes
from sched.figures.tradeoff_axes import Curve, Line, Mark
from sched.figures.tradeoff_map import Grid, map_figure
from sched.figures.tradeoffs import curve_figure
from sched.grids import Place, Sweep
from sched.page.cards import rate, seconds
from sched.page.component import is_dark
from sched.page.language import say, tr
from sched.page.suggested import suggestion
from sched.page.titles import percent
from sched.page.tradeoff_table import Row, heads, percent_text, row
from sched.page.tradeoff_view import FACTORS, View
from sched.page.tradeoff_words import (
    curve_reason,
    curve_verdict,
    figure_title,
    load_verdict,
    map_verdict,
    setting,
    sizes_differ,
    times,
)
from sched.page.varied import BUFFER, knob_title, value_of, value_text
from sched.words import joined


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart: its sentences, figure and table, the points in the order of the table, the one to open."""

    verdict: str
    reason: str
    figure: dict[str, Any]
    alt: str
    heads: Row
    rows: list[Row]
    places: list[Place]
    names: list[str]
    recommended: Place | None


def drawn(view: View, found: Sweep) -> Drawn:
    """The open chart."""
    return {"curve": _curve, "map": _map, "load": _load}[view.chart](view, found)


def _times(view: View, listed: list[Outcome]) -> Line:
    label = f"{view.wanted.class_name} {figure_title(view.wanted)}"
    return Line(label, *([getattr(one, name) for one in listed] for name in ("mean", "least", "most")))


def _goal_text(view: View) -> str:
    return tr("goal {goal}", goal=seconds(view.wanted.value))


def _curve(view: View, found: Sweep) -> Drawn:
    axis = view.axes[0]
    listed = outcomes(found, view.policy, view.wanted)
    best = advice(listed, view.wanted)
    ticks = [value_text(axis.key, text) for text in axis.values]
    names = [setting(axis.key, text) for text in axis.values]
    ringed = None
    if best is not None:
        place = best.outcome.place[0]
        values = (ticks[place], seconds(best.outcome.mean), percent_text(best.outcome.kept))
        text = tr("{setting}: {after}\n{kept} throughput", setting=values[0], after=values[1], kept=values[2])
        ringed = Mark(place, text)
    figure = curve_figure(
        Curve(
            axis.numbers,
            ticks,
            knob_title(axis.key),
            _times(view, listed),
            [Line(tr("throughput kept"), [one.kept for one in listed])],
            view.wanted.value,
            _goal_text(view),
            ringed,
            value_of(view.scenario, axis.key),
            tr("as it stands"),
        ),
        is_dark(),
    )
    return Drawn(
        curve_verdict(best, listed[0], names, view.wanted),
        joined((curve_reason(best, len(listed), view.wanted), _about_sizes(view, best)), say()),
        figure,
        tr(
            "{figure} of {name} and throughput kept, against {knob}. The same figures stand in the table.",
            figure=figure_title(view.wanted),
            name=view.wanted.class_name,
            knob=knob_title(axis.key),
        ),
        [knob_title(axis.key), *heads(view)],
        [[tick, *row(one)] for tick, one in zip(ticks, listed, strict=True)],
        [one.place for one in listed],
        ticks,
        best.outcome.place if best else None,
    )


def _about_sizes(view: View, best: Advice | None) -> str:
    """Why the recommended buffer is not the one that the sidebar suggests."""
    found = suggestion(view.scenario) if view.axes[0].key == BUFFER and best and best.meets else None
    if found is None or best is None or not found.blocks:
        return ""
    return sizes_differ(view.axes[0].values[best.outcome.place[0]], found.share, view.wanted)


def _map(view: View, found: Sweep) -> Drawn:
    first, second = view.axes
    columns, sides = len(first.values), len(second.values)
    by_row: list[list[Outcome]] = [
        outcomes(found, view.policy, view.wanted, [(column, side) for column in range(columns)])
        for side in range(sides)
    ]
    advised: list[Advice | None] = [advice(own, view.wanted) for own in by_row]
    ringed = [
        (side, one.outcome.place[0]) for side, one in enumerate(advised) if one is not None and one.meets
    ]
    ticks = [[value_text(one.key, text) for text in one.values] for one in view.axes]
    titles = [knob_title(one.key) for one in view.axes]
    listed = [one for own in by_row for one in own]
    met = [[view.wanted.is_met(one.mean) for one in own] for own in by_row]
    figure = map_figure(
        Grid(
            [[one.mean for one in own] for own in by_row],
            met,
            [[seconds(one.mean) for one in own] for own in by_row],
            *(ticks[0], ticks[1], titles[0], titles[1], ringed, _standing(view)),
        ),
        is_dark(),
    )
    values = (first.values, second.values)
    return Drawn(
        map_verdict(advised, (first.key, second.key), values, sum(map(sum, met)), view.wanted),
        tr(
            "● keeps the goal, ◆ does not. Ringed: in each row the first setting that keeps it within "
            "{alike} of the most throughput. Dotted: as it stands.",
            alike=percent(ALIKE),
        ),
        figure,
        tr(
            "{figure} of {name} by {knob} and {other}. The same figures stand in the table.",
            figure=figure_title(view.wanted),
            name=view.wanted.class_name,
            knob=titles[0],
            other=titles[1],
        ),
        [titles[1], titles[0], *heads(view)],
        [[ticks[1][one.place[1]], ticks[0][one.place[0]], *row(one)] for one in listed],
        [one.place for one in listed],
        [f"{ticks[0][one.place[0]]} · {ticks[1][one.place[1]]}" for one in listed],
        next((one.outcome.place for one in reversed(advised) if one is not None and one.meets), None),
    )


def _standing(view: View) -> tuple[int, int] | None:
    """The cell in which the scenario stands, if it is one of them: row and column."""
    found = []
    for one in view.axes:
        now = value_of(view.scenario, one.key)
        if now is None or now not in one.numbers:
            return None
        found.append(one.numbers.index(now))
    return found[1], found[0]


def _load(view: View, found: Sweep) -> Drawn:
    listed, given = outcomes(found, view.policy, view.wanted), loads(found, view.policy)
    bend = knee(given)
    ticks = [times(one) for one in FACTORS]
    tokens = [one.throughput for one in given]
    good = [one.goodput for one in given]
    most, best = max(filter(None, tokens), default=0.0), max(filter(None, good), default=0.0)
    shares = [Line(tr("throughput, most {n} tokens/s", n=rate(most)), _of(tokens, most))]
    if best:
        text = tr("within all goals, most {n} requests/s", n=f"{best:.3g}")
        shares.append(Line(text, _of(good, best)))
    mark = None
    if bend is not None:
        mark = Mark(bend.place[0], tr("knee {factor}", factor=ticks[bend.place[0]]))
    figure = curve_figure(
        Curve(
            *(FACTORS, ticks, tr("load: all rates times"), _times(view, listed), shares),
            *(view.wanted.value, _goal_text(view), None, 1.0, tr("as it stands")),
            bend=mark,
            is_log=True,
        ),
        is_dark(),
    )
    return Drawn(
        load_verdict(bend, listed, FACTORS, view.wanted),
        tr(
            "The knee is where throughput divided by the mean time in the system is greatest (Kleinrock's "
            "power). Throughput and goodput are counted while requests come."
        ),
        figure,
        tr(
            "{figure} of {name}, throughput and goodput against the load. The same figures stand in the "
            "table.",
            figure=figure_title(view.wanted),
            name=view.wanted.class_name,
        ),
        [tr("load"), tr("goodput, requests/s"), tr("mean time in the system"), *heads(view)],
        [
            [tick, "–" if own.goodput is None else f"{own.goodput:.3g}", seconds(own.response_s), *row(one)]
            for tick, own, one in zip(ticks, given, listed, strict=True)
        ],
        [one.place for one in listed],
        ticks,
        None if bend is None else bend.place,
    )


def _of(values: list[float | None], whole: float) -> list[float | None]:
    return [None if one is None or not whole else one / whole for one in values]
