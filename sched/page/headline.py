"""The verdict in one line: for the browser's tab, and to paste beside the link."""

from collections.abc import Mapping

import streamlit as st

from sched.page.cards import seconds
from sched.page.language import say, tr
from sched.page.results import Result, blamed
from sched.page.state import shown
from sched.page.titles import in_sentence, scenario_title, title
from sched.verdict import why
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
    """What the waiting under A is due to, in the words of the verdict."""
    told = "".join(one.text for one in why(blamed(now.scenario, now.a), name, say()))
    return tr("Under {policy}, {why}.", policy=in_sentence(now.scenario, now.a), why=told)


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
