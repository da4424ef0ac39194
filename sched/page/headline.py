"""The verdict in one line: for the browser's tab, and for whoever gets the link in a chat."""

from collections.abc import Mapping

import streamlit as st

from sched.page.cards import seconds
from sched.page.language import tr
from sched.page.results import Result, blamed
from sched.page.state import shown
from sched.page.titles import scenario_title, title
from sched.verdict import WORTH_A_WORD
from sched.view import Shown

NAME = "Sched Lab"
LONGEST = 60


def headline(now: Shown, runs: Mapping[str, Result], name: str) -> str:
    """What the class waits under A, and under B."""
    first, second = (runs[key].summary["classes"][name]["ttft_s"]["p99"] for key in (now.a, now.b))
    said = {"scenario": short(scenario_title(now.scenario)), "name": short(name)}
    if first is None:
        return tr("{scenario}: no {name} request got a token", **said)
    said |= {"first": seconds(first)}
    if second is None or now.a == now.b:
        return tr("{scenario}: {name} p99 {first}", **said)
    said |= {"second": seconds(second), "policy": title(now.scenario, now.b)}
    return tr("{scenario}: {name} p99 {first}, or {second} with {policy}", **said)


def reason(now: Shown, name: str) -> str:
    """What most of the waiting under A is due to."""
    summary = blamed(now.scenario, now.a)
    share, urgent = summary["classes"][name]["inversion_share"], summary["inversion"].get("urgent")
    if share is None or share < WORTH_A_WORD or not urgent or not urgent["total_s"]:
        return tr("None of the waiting under {policy} is inversion.", policy=title(now.scenario, now.a))
    who = short(urgent["top_culprits"][0]["id"])
    told = {"share": f"{100 * share:.0f}\u202f%", "who": who, "policy": title(now.scenario, now.a)}
    return tr("{share} of the waiting under {policy} is inversion, above all for {who}.", **told)


def short(text: str) -> str:
    """A name on one line, and no longer than a title can bear."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def name_view(view: str) -> None:
    """Let the browser's tab say which view of which scenario it is."""
    name_tab(f"{tr(view)} · {short(scenario_title(shown().scenario))}")


def name_tab(text: str) -> None:
    """Let the browser's tab say this, and whose page it is."""
    st.session_state["tab_name"] = f"{text} · {NAME}"
    st.set_page_config(page_title=tab_name())


def tab_name() -> str:
    """What the tab says now: it goes on saying that while a page is drawn anew."""
    return str(st.session_state.get("tab_name", NAME))
