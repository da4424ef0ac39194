"""The verdict, and one card a policy: what the urgent class gets, and what that costs."""

import re
from dataclasses import replace
from typing import Any

import streamlit as st

from sched.page.component import component
from sched.page.results import Result
from sched.page.state import Shown, show, shown
from sched.page.titles import title
from sched.scenario import Scenario, known_policies

NARROW = "\u202f"


def seconds(value: float | None) -> str:
    """A time as people say it: at most three figures, milliseconds below a tenth of a second."""
    if value is None:
        return "–"
    if value == 0:
        return f"0{NARROW}s"
    if value < 0.0995:
        return f"{value * 1000:.0f}{NARROW}ms" if value >= 0.00095 else f"<1{NARROW}ms"
    if value < 0.995:
        return f"{value:.2f}{NARROW}s"
    return f"{value:.1f}{NARROW}s" if value < 99.5 else f"{value:,.0f}{NARROW}s"


def most_urgent(scenario: Scenario, run: Result) -> str | None:
    """The class that the cards speak of: the most urgent with requests; of several the first with a goal."""
    listed = run.log.requests
    if not len(listed.ids):
        return None
    urgent = listed.class_index[listed.priority == listed.priority.min()]
    names: list[str] = [listed.class_names[index] for index in sorted(set(urgent.tolist()))]
    return next((name for name in names if scenario.promise(name).slo.ttft_s is not None), names[0])


def _kept(run: Result, first: Result, key: str, first_key: str) -> str:
    """Throughput in words: of the first policy as it is, of the others against it."""
    mine = run.summary["throughput"]["output_tokens_per_s"]
    base = first.summary["throughput"]["output_tokens_per_s"]
    if mine is None:
        return "no tokens"
    if key == first_key or not base:
        return f"{mine:,.0f} tokens/s"
    change = 100 * (mine / base - 1)
    if abs(change) < 0.05:
        return "same tokens/s"
    return f"{'+' if change > 0 else '−'}{abs(change):.1f}{NARROW}% tokens/s"


def card(now: Shown, runs: dict[str, Result], key: str, name: str) -> dict[str, Any]:
    """What one card says."""
    scenario, run, first_key = now.scenario, runs[key], next(iter(runs))
    row = run.summary["classes"][name]
    goal, value = scenario.promise(name).slo.ttft_s, row["ttft_s"]["p99"]
    met = None if goal is None or value is None else value <= goal
    kept = _kept(run, runs[first_key], key, first_key)
    heading = title(scenario, key)
    words = f"{heading}: {name} p99 time to first token {seconds(value)}"
    if met is not None:
        words += f", {'meets' if met else 'misses'} the goal of {seconds(goal)}"
    return {
        "key": key,
        "title": heading,
        "help": f"{known_policies()[key].help.partition(chr(10))[0]} The p99 is of {name}.",
        "value": seconds(value),
        "value_s": value,
        "goal": seconds(goal),
        "goal_s": goal,
        "met": met,
        "left": f"inversion {seconds(row['inversion_s'])}",
        "right": kept,
        "side": "A" if key == now.a else "B" if key == now.b else None,
        "words": f"{words}; inversion {seconds(row['inversion_s'])}; {kept}",
    }


def _chosen() -> None:
    chosen = st.session_state["cards"]["choose"]
    if chosen:
        choose(chosen["side"], chosen["key"])


def choose(side: str, key: str) -> None:
    """Put a policy on one side of the stage; if it stands on the other, the two change places."""
    now = shown()
    if side == "A":
        show(replace(now, a=key, b=now.a if key == now.b else now.b))
    else:
        show(replace(now, b=key, a=now.b if key == now.a else now.a))


def parts(text: str) -> list[tuple[str, str]]:
    """A sentence with **strong**, **bad: alarming** and **good: better** parts, as pieces with their kind."""
    found: list[tuple[str, str]] = []
    for place, piece in enumerate(re.split(r"\*\*", text)):
        kind, _, rest = piece.partition(": ") if place % 2 else ("", "", piece)
        if place % 2 and kind not in ("bad", "good"):
            kind, rest = "strong", piece
        if rest:
            found.append((rest, kind))
    return found


def cards(now: Shown, runs: dict[str, Result], sentence: list[tuple[str, str]], trust: str) -> None:
    """The verdict in large type, what it rests on, and the cards."""
    name = most_urgent(now.scenario, next(iter(runs.values())))
    rows = [] if name is None else [card(now, runs, key, name) for key in runs]
    component("cards")(
        data={"verdict": sentence, "trust": trust, "cards": rows}, key="cards", on_choose_change=_chosen
    )
