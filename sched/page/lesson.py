"""The pictures of a lesson: the engine stopped at the question, the operating system's tasks, the replay."""

from dataclasses import replace
from typing import Any

import streamlit as st

from sched.figures.payload import pack_stage
from sched.page.another import another
from sched.page.component import component
from sched.page.language import say, tr
from sched.page.results import Result, incidents, result
from sched.page.state import show, shown, start
from sched.page.titles import subtitle, title
from sched.scenario import Scenario
from sched.text.facts_memory import LOCK_STEP, Facts
from sched.text.lesson_runs import Changes, lesson_scenario, queue, run
from sched.text.lessons import BY_KEY, PLAYED_S, Lesson, Show, facts_of, told
from sched.text.onelock import BLOCKED, HIGH, LOCKED, LOW, MEDIUM, PATHFINDER, READY, RUNS, Schedule, schedule
from sched.view import PAGES

INTO_WAIT = 0.62
"""The stage too stands so far into the worst wait."""


def _run(lesson: Lesson, show: Show) -> Result:
    return result(lesson_scenario(lesson.scenario, show.changes), show.policy)


def still(lesson: Lesson, facts: Facts) -> None:
    """The engine at the moment of the question: who holds the memory, who is in the batch, who waits."""
    scenario = lesson_scenario(lesson.scenario, lesson.shown.changes)
    log_seats = scenario.engine.max_num_seqs
    data = pack_stage(
        [_run(lesson, lesson.shown).payload],
        t=facts.at_s,
        lang=say().code,
        queue=queue(run(lesson.scenario, *lesson.shown), facts.at_s),
        words={
            "title": tr("The engine, stopped at {t}", t=f"{facts.at_s:.2f}\u202fs"),
            "batch": tr("In the batch"),
            "seats": tr("of {seats} seats", seats=log_seats),
            "queue": tr("Queue"),
            "empty": tr("nobody"),
            "holds": tr("holds {n}", n="{n}"),
            "needs": tr("needs {n}", n="{n}"),
            "more": tr("and {n} more", n="{n}"),
            "picture": tr("KV memory: {held}; {free} free", held="{held}", free="{free}"),
        },
    )
    component("still")(data=data, key=f"still.{lesson.key}")


def replay(lesson: Lesson, facts: Facts, number: int) -> None:
    """The stage, playing from the question for two seconds; without motion it stands at their end."""
    shows = [lesson.shown, *([lesson.against] if lesson.against else [])]
    data = pack_stage(
        [_run(lesson, one).payload for one in shows],
        titles=[_title(lesson, one) for one in shows],
        subs=[subtitle(lesson_scenario(lesson.scenario, one.changes), one.policy) for one in shows],
        culprits=[[] for _ in shows],
        number=number,
        t=facts.at_s,
        stop=facts.at_s + PLAYED_S,
        focus=facts.focus,
        play=True,
        lang=say().code,
    )
    component("stage")(
        data=data,
        key=f"replay.{lesson.key}",
        default={"t": None, "window": None, "focus": None},
        on_t_change=_looked,
        on_window_change=_looked,
        on_focus_change=_looked,
    )


def _looked() -> None:
    """Where somebody stops a lesson's replay, or whom they look at, is not kept: the link names a lesson."""


def _title(lesson: Lesson, show: Show) -> str:
    name = title(lesson_scenario(lesson.scenario, show.changes), show.policy)
    if lesson.against and show.changes and lesson.against.policy == lesson.shown.policy:
        return tr("{policy}, nobody passes the first", policy=name)
    return name


def tasks(*, until: int | None = None) -> None:
    """The operating system's schedule up to the question, or the whole of it without and with inheritance."""
    both = [(tr("Without inheritance"), False), (tr("With inheritance"), True)]
    if until is not None:
        both = [(tr("One processor, stopped at step {step}", step=until), False)]
    drawn = [_drawn(heading, schedule(PATHFINDER, inherits=inherits), until) for heading, inherits in both]
    legend = list(_deeds().items())
    component("tasks")(
        data={"charts": drawn, "legend": legend, "step": tr("step {n}", n=0)},
        key="tasks.question" if until is not None else "tasks.answer",
    )


def _deeds() -> dict[str, str]:
    """What a task does in a step, in words."""
    return {
        RUNS: tr("runs"),
        LOCKED: tr("runs inside the lock"),
        BLOCKED: tr("waits for the lock"),
        READY: tr("ready, not running"),
    }


def _drawn(heading: str, found: Schedule, until: int | None) -> dict[str, Any]:
    end = max(found.end(one.name) for one in PATHFINDER)
    names = {HIGH: tr("bus, most urgent"), MEDIUM: tr("radio"), LOW: tr("weather, least urgent")}
    deeds = _deeds()
    rows = []
    for one in PATHFINDER:
        pieces = [piece for piece in found.pieces if piece.task == one.name]
        shown = [
            (piece.begin, min(piece.end, end if until is None else until), piece.does)
            for piece in pieces
            if until is None or piece.begin < until
        ]
        name = names[one.name]
        told = "; ".join(f"{deeds[does]} {begin}–{stop}" for begin, stop, does in shown) or tr("not here yet")
        rows.append({"name": name, "pieces": shown, "told": f"{name}: {told}"})
    return {"heading": heading, "rows": rows, "end": end, "at": LOCK_STEP}


def closed() -> None:
    """What stands in the replay's place until somebody has committed: no blurred answer."""
    bars = [(7, 18), (14, 30), (11, 14), (33, 38), (38, 39), (57, 30), (4, 88), (4, 88)]
    rows = "".join(f'<i style="left:{left}%;width:{wide}%"></i>' for left, wide in bars)
    words = tr("The replay answers once you have committed")
    st.html(f'<div class="closed"><div aria-hidden="true">{rows}</div><p>{words}</p></div>')


def to_lab(key: str, changes: Changes, a: str, b: str | None, t: float | None, focus: str | None) -> None:
    """Open a lesson's scenario in the Lab, named as it is read; the lesson stays where it was left."""
    now, text = shown(), told(key, say().code)
    found = lesson_scenario(BY_KEY[key].scenario, changes).changed(
        title=tr("Lesson: {title}", title=text.title), story=text.lead.replace("**", "")
    )
    others = [key for key in found.policies if key != a]
    other = b if b is not None and b in others else others[0]
    opened = replace(another(now, found), page=PAGES[0], seeds=None, lesson=now.lesson)
    at = _worst(found, a, facts_of(key)) if t is None else t
    show(replace(opened, a=a, b=other, t=at, focus=focus))
    start(shown())


def _worst(scenario: Scenario, policy: str, facts: Facts) -> float:
    """Well within the worst wait under a policy, in seconds; where nobody waits, the moment of the lesson."""
    worst = max(incidents(scenario, policy), key=lambda one: one.inversion_s, default=None)
    if worst is None:
        return facts.at_s
    return round(worst.from_s + INTO_WAIT * (worst.to_s - worst.from_s), 2)
