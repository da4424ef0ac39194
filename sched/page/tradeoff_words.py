"""The sentences above the charts of Trade-offs: what is recommended and why, computed from the runs."""

from collections.abc import Sequence

from sched.advice import ALIKE, Advice, Goal, Load, Outcome
from sched.knobs import field
from sched.measures import METRICS
from sched.page.cards import seconds
from sched.page.language import say, tr
from sched.page.titles import percent, plain
from sched.page.varied import BUFFER, knob_title, value_text
from sched.plain import split_path
from sched.verdict import WORTH_A_WORD
from sched.words import joined

ALIKE_SIZE = 0.001
"""Shares of the memory that differ by less are the same size."""


def setting(key: str, value: str) -> str:
    """One setting inside a sentence: "a rescue buffer of 22.5 %", "KV memory 2,400 blocks"."""
    if key == BUFFER and not float(value):
        return tr("no rescue buffer")
    if key.endswith(".rate_per_s"):
        rate = value_text(key, value)
        return tr("{name} at {rate}", name=plain(split_path(key)[1]), rate=plain(rate))
    if key == BUFFER:
        return tr("a rescue buffer of {value}", value=value_text(key, value))
    text = value_text(key, value)
    if field(key).unit.lower() == field(key).title.lower():
        text = f"{float(value):,.10g}"
    return tr("{knob} {value}", knob=plain(knob_title(key)), value=plain(text))


def figure_title(wanted: Goal) -> str:
    """The figure aimed at, such as TTFT p99."""
    return tr(METRICS[wanted.metric].title)


def _share(value: float) -> str:
    return percent(float(f"{value:.2g}")) if abs(value) >= 0.001 else percent(0)


def _within(best: Outcome, wanted: Goal) -> str:
    """That the goal is kept, and of several seeds on how many."""
    goal = seconds(wanted.value)
    if best.many == 1:
        return tr("within the goal of {goal}", goal=goal)
    met, many = f"{best.met}", f"{best.many}"
    return tr("within the goal of {goal} on **{met} of {many}** seeds", goal=goal, met=met, many=many)


def curve_verdict(found: Advice | None, first: Outcome, settings: Sequence[str], wanted: Goal) -> str:
    """What the recommended point brings and costs against the first one; `settings` by point."""
    name = plain(wanted.class_name)
    if found is None and wanted.metric.startswith("ttft"):
        return tr("No {name} request got a token at any of these points.", name=name)
    if found is None:
        own = figure_title(wanted)
        return tr("No {name} request has the figure {figure} at any of these points.", name=name, figure=own)
    best = found.outcome
    values = {
        "name": name,
        "figure": figure_title(wanted),
        "setting": settings[best.place[0]],
        "first": settings[first.place[0]],
        "before": seconds(first.mean),
        "after": seconds(best.mean),
        "goal": seconds(wanted.value),
        "within": _within(best, wanted),
    }
    if best is first and found.meets:
        return tr("{name}'s {figure} is **{after}** at **{setting}** already, {within}.", **values)
    if first.mean is None or best.kept is None:
        return _without_before(found, values)
    cost = 1 - best.kept
    values["cost"] = _share(abs(cost))
    if not found.meets and best is first:
        return tr(
            "None of these points keeps {name}'s {figure} within {goal}, and none is better than "
            "**{setting}**, with **{after}**.",
            **values,
        )
    if not found.meets:
        nearest = tr(
            "None of these points keeps {name}'s {figure} within {goal}: **{setting}** comes nearest, with "
            "**{after}** instead of {before} with {first}.",
            **values,
        )
        if best.many == 1:
            return nearest
        seeds = tr("It keeps the goal on **{met} of {many}** seeds.", met=f"{best.met}", many=f"{best.many}")
        return joined([nearest, seeds], say())
    if cost > WORTH_A_WORD:
        return tr(
            "With **{setting}**, {name}'s {figure} is **{after}** instead of {before} with {first}, "
            "{within}; it costs **{cost}** of the throughput.",
            **values,
        )
    if cost < -WORTH_A_WORD:
        return tr(
            "With **{setting}**, {name}'s {figure} is **{after}** instead of {before} with {first}, "
            "{within}; it adds **{cost}** throughput.",
            **values,
        )
    return tr(
        "With **{setting}**, {name}'s {figure} is **{after}** instead of {before} with {first}, {within}, at "
        "the same throughput.",
        **values,
    )


def _without_before(found: Advice, values: dict[str, str]) -> str:
    """What the recommended point brings where the first one has no figure to hold it against."""
    if found.meets:
        said = tr("With **{setting}**, {name}'s {figure} is **{after}**, {within}.", **values)
    else:
        said = tr(
            "None of these points keeps {name}'s {figure} within {goal}: **{setting}** comes nearest, with "
            "**{after}**.",
            **values,
        )
    against = tr("With {first} there is nothing to compare it with.", **values)
    return joined([said, against], say())


def curve_reason(found: Advice | None, points: int, wanted: Goal) -> str:
    """Why this point is ringed."""
    if found is None:
        return ""
    if found.meets and found.outcome.kept is None:
        return tr(
            "Ringed: the first setting that keeps the goal; the first point has no throughput to compare "
            "with. {meeting} of {points} points keep the goal.",
            meeting=found.meeting,
            points=points,
        )
    if found.meets and found.outcome.many == 1:
        return tr(
            "Ringed: the first setting that keeps the goal and whose throughput is within {alike} of the "
            "most that any of them keeps. {meeting} of {points} points keep the goal.",
            alike=percent(ALIKE),
            meeting=found.meeting,
            points=points,
        )
    if found.meets:
        return tr(
            "Ringed: the first setting whose mean over the seeds keeps the goal and whose throughput is "
            "within {alike} of the most that any of them keeps. {meeting} of {points} points keep the goal.",
            alike=percent(ALIKE),
            meeting=found.meeting,
            points=points,
        )
    if found.outcome.many == 1:
        return tr(
            "Ringed: the point with the lowest time, because none of the {points} keeps the goal of {goal}.",
            points=points,
            goal=seconds(wanted.value),
        )
    return tr(
        "Ringed: the point with the lowest mean, because none of the {points} keeps the goal of {goal}.",
        points=points,
        goal=seconds(wanted.value),
    )


def sizes_differ(value: str, suggested: float | None, wanted: Goal) -> str:
    """Why the sidebar suggests another buffer than the one that is recommended here, if it does."""
    if not suggested or abs(float(value) - suggested) < ALIKE_SIZE:
        return ""
    return tr(
        "The sidebar suggests {share}: that is sized for the growth of the urgent requests, whatever the "
        "goal; {value} is sized for the goal of {goal} on these very requests.",
        share=percent(suggested),
        value=percent(float(value)),
        goal=seconds(wanted.value),
    )


def map_verdict(
    rows: Sequence[Advice | None],
    keys: tuple[str, str],
    values: tuple[Sequence[str], Sequence[str]],
    kept: int,
    wanted: Goal,
) -> str:
    """How many cells keep the goal, and what it takes at the two ends of the second setting."""
    columns, sides = values
    total = tr(
        "**{met} of {many}** points keep {name}'s {figure} within {goal}.",
        met=kept,
        many=len(columns) * len(sides),
        name=plain(wanted.class_name),
        figure=figure_title(wanted),
        goal=seconds(wanted.value),
    )
    ends = (rows[0], rows[-1])
    first, last = setting(keys[1], sides[0]), setting(keys[1], sides[-1])
    taken = [
        setting(keys[0], columns[one.outcome.place[0]]) if one is not None and one.meets else ""
        for one in ends
    ]
    parts = [
        tr("With {side} it takes **{setting}**.", side=side, setting=one)
        if one
        else tr("With {side} **none** of these is enough.", side=side)
        for side, one in zip((first, last), taken, strict=True)
    ]
    if first != last and taken[0] == taken[1]:
        told = {"first": first, "last": last, "setting": taken[0]}
        one = tr("With {first} as with {last} **none** of these is enough.", **told)
        parts = [tr("With {first} as with {last} it takes **{setting}**.", **told) if taken[0] else one]
    return joined([total, *dict.fromkeys(parts)], say())


def load_verdict(bend: Load | None, listed: Sequence[Outcome], factors: Sequence[float], wanted: Goal) -> str:
    """Where the engine bends, and how much of that the scenario asks for."""
    keeping = [factors[one.place[0]] for one in listed if wanted.is_met(one.mean)]
    name, figure, goal = plain(wanted.class_name), figure_title(wanted), seconds(wanted.value)
    if bend is None:
        first = tr(
            "Up to **{most}** of this load throughput still grows faster than the time in the system.",
            most=times(factors[-1]),
        )
    else:
        at = factors[bend.place[0]]
        own = listed[bend.place[0]]
        values = {"knee": times(at), "name": name, "figure": figure, "after": seconds(own.mean)}
        first = (
            tr(
                "The engine bends at **{knee}** this load: beyond it more requests bring more waiting than "
                "tokens. There {name}'s {figure} is **{after}**.",
                **values,
            )
            if at >= 1
            else tr(
                "This load is **beyond the knee**, which is at {knee} of it: fewer requests would get more "
                "tokens for their waiting. There {name}'s {figure} is **{after}**.",
                **values,
            )
        )
    if not keeping:
        return joined([first, tr("No load of these keeps the goal of {goal}.", goal=goal)], say())
    last = tr("The goal of {goal} is kept up to **{most}**.", goal=goal, most=times(max(keeping)))
    return joined([first, last], say())


def times(factor: float) -> str:
    """A factor: ×1.5."""
    return f"×{factor:g}"
