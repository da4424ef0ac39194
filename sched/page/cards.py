"""The verdict, and one card a policy: what the urgent class gets, and what that costs."""

from dataclasses import replace
from typing import Any

import streamlit as st

from sched.figures.measure import displayed
from sched.page.component import component
from sched.page.glossary import explained, meaning
from sched.page.language import say, tr
from sched.page.results import Result
from sched.page.state import show, shown
from sched.page.titles import about, title, unbroken
from sched.page.trust import basis, open_about
from sched.trust import Trust
from sched.verdict import not_served
from sched.view import Shown
from sched.words import NARROW, duration, joined


def seconds(value: float | None) -> str:
    """A time on the page; a dash where there is none."""
    return "–" if value is None else duration(value, NARROW)


def rate(value: float | None) -> str:
    """Tokens or requests a second: a decimal below a hundred, two digits below one."""
    if value is None:
        return "–"
    if not value:
        return "0"
    return f"{value:#.2g}" if value < 0.95 else f"{value:.1f}" if value < 99.5 else f"{value:,.0f}"


def kept(mine: float | None, base: float | None) -> str:
    """Throughput in words: of A as it is, of the others against it, as in the verdict."""
    if mine is None:
        return tr("no tokens")
    if not base:
        return tr("{rate} tokens/s", rate=rate(mine))
    change = 100 * (mine / base - 1)
    if abs(change) < 0.05:
        return tr("same tokens/s")
    size = f"{abs(change):.{0 if abs(change) >= 9.95 else 1}f}"
    return tr("{change} tokens/s", change=f"{'+' if change > 0 else '−'}{size}{NARROW}%")


def _throughput(run: Result) -> float | None:
    value: float | None = run.summary["throughput"]["output_tokens_per_s"]
    return value


def card(now: Shown, runs: dict[str, Result], key: str, name: str) -> dict[str, Any]:
    """What one card says."""
    scenario, run = now.scenario, runs[key]
    row = run.summary["classes"][name]
    goal, value = scenario.promise(name).slo.ttft_s, row["ttft_s"]["p99"]
    met = None if goal is None or value is None else value <= goal
    throughput = kept(_throughput(run), None if key == now.a else _throughput(runs[now.a]))
    if (left := not_served(run.summary)) > (0 if key == now.a else not_served(runs[now.a].summary)):
        throughput = tr("{n} not served", n=f"{left:,}")
    inversion = tr("{name} inversion {span}", name=displayed(name), span=seconds(row["inversion_s"]))
    values = {"policy": title(scenario, key), "name": name, "span": seconds(value), "goal": seconds(goal)}
    if met is None:
        words = tr("{policy}: {name} p99 time to first token {span}", **values)
    else:
        template = (
            "{policy}: {name} p99 time to first token {span}, meets the goal of {goal}"
            if met
            else "{policy}: {name} p99 time to first token {span}, misses the goal of {goal}"
        )
        words = tr(template, **values)
    return {
        "key": key,
        "title": title(scenario, key),
        "help": joined((about(key), tr("The p99 is of {name}.", name=name)), say()),
        "value": seconds(value),
        "value_s": value,
        "goal": seconds(goal),
        "goal_s": goal,
        "met": met,
        "value_help": joined((explained("TTFT"), explained("p99")), say()),
        "left": inversion,
        "left_help": meaning("inversion"),
        "right_help": meaning("throughput"),
        "right": throughput,
        "side": "A" if key == now.a else "B" if key == now.b else None,
        "words": tr(
            "{words}; {inversion}; {throughput}", words=words, inversion=inversion, throughput=throughput
        ),
    }


def _chosen() -> None:
    chosen = st.session_state["cards"]["choose"]
    if chosen:
        choose(chosen["side"], chosen["key"])


def _about_opened() -> None:
    if st.session_state["cards"]["about"]:
        open_about()


def choose(side: str, key: str) -> None:
    """Put a policy on one side of the stage; if it stands on the other, the two change places."""
    now = shown()
    if side == "A":
        show(replace(now, a=key, b=now.a if key == now.b else now.b))
    else:
        show(replace(now, b=key, a=now.b if key == now.a else now.a))


def hint() -> dict[str, Any] | None:
    """Three steps for a newcomer, until a control is changed; the browser remembers who has read them."""
    state, now = st.session_state, shown()
    controls = now.scenario, now.a, now.b, now.expert  # the rest is looking, not changing
    if not state.get("newcomer") or state.setdefault("controls_at_first", controls) != controls:
        state["newcomer"] = False
        return None
    steps = [
        tr(
            "**This is** one engine that serves a model. A square is a block of its memory, its colour who "
            "holds it."
        ),
        tr(
            "**Watch** the pink: urgent requests waiting for what less urgent ones hold, under A and under B."
        ),
        tr("**Try** a slider, the card of another policy, or a click on any request for its story."),
    ]
    return {"steps": steps, "name": tr("For newcomers"), "read": tr("Got it")}


def cards(
    now: Shown, runs: dict[str, Result], name: str, sentence: list[tuple[str, str]], told: Trust
) -> None:
    """The verdict in large type, what it rests on, and the cards; `name` is the class they speak of."""
    rows = [card(now, runs, key, name) for key in runs]
    meaning = tr("Inversion: an urgent request waits for what less urgent ones hold.")
    component("cards")(
        data={
            "verdict": sentence,
            "trust": unbroken(joined((told.line, meaning), say())),
            "basis": basis(told),
            "cards": rows,
            "hint": hint(),
        },
        key="cards",
        on_choose_change=_chosen,
        on_about_change=_about_opened,
    )
