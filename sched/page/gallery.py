"""The ready scenarios as cards with a picture of their run; made when somebody opens them, then kept."""

import re
from typing import Any

import streamlit as st

from sched.figures.thumbnail import thumbnail
from sched.page.another import another
from sched.page.component import component, is_dark
from sched.page.language import tr
from sched.page.results import result
from sched.page.state import show, shown, start
from sched.presets import presets
from sched.scenario import preset
from sched.view import default_pair


def lessons() -> dict[str, str]:
    """What there is to learn from each ready scenario, in a line."""
    return {
        "noisy-neighbour": tr(
            "Priority inversion: a less urgent request that came first keeps the memory urgent ones need."
        ),
        "code-bursts": tr(
            "Bursts: a modest mean load says little when many urgent requests come at the same moment."
        ),
        "long-context": tr(
            "Long contexts: a few requests hold most of the memory, whoever else is more urgent."
        ),
        "office-hours": tr("The price: what each policy costs when nothing special happens."),
        "tenant-burst": tr("Fairness: turns by what each tenant was served, where nobody is more urgent."),
        "textbook": tr("The textbook's inversion, as long as others keep coming, and without any lock."),
    }


@st.cache_resource(max_entries=64, show_spinner=False)
def _picture(name: str, is_dark: bool) -> str:
    scenario = preset(name)
    run = result(scenario, default_pair(scenario)[0])
    return thumbnail(run.log, run.inversion, is_dark=is_dark)


def beginning(story: str) -> str:
    """The first sentences of a story: one, or as many as make sixty characters (Chinese count twice)."""
    found = ""
    for one in re.split(r"(?<=[.?] )|(?<=[。？])", " ".join(story.split())):
        found += one
        if len(found) + sum(sign > "\u2fff" for sign in found) >= 60:
            break
    return found.strip()


def rows(current: str, is_dark: bool) -> list[dict[str, Any]]:
    """What the cards say, the default scenario first."""
    taught = lessons()
    return [
        {
            "name": one.name,
            "title": tr(one.title),
            "story": beginning(tr(one.story)),
            "teaches": taught.get(one.name, ""),
            "picture": _picture(one.name, is_dark),
            "current": one.name == current,
        }
        for one in presets()
    ]


def open_scenario(name: str) -> None:
    """Show a ready scenario from its start, seen as the one before was."""
    now, chosen = shown(), preset(name)
    show(another(now, chosen))
    start(shown())


def _chosen() -> None:
    st.session_state["gallery_chosen"] = True
    open_scenario(st.session_state["gallery"]["choose"])


def _cards() -> None:
    current = shown().scenario.link_base.partition("@")[0]
    words = {
        "current": tr("shown now"),
        "how": tr(
            "In each picture: requests over time, hatched in pink where urgent ones wait for less urgent; "
            "below it the KV memory at the worst wait."
        ),
    }
    component("gallery")(
        data={"rows": rows(current, is_dark()), "words": words},
        key="gallery",
        on_choose_change=_chosen,
    )
    if st.session_state.pop("gallery_chosen", False):
        st.rerun()


def gallery(key: str = "gallery_open") -> None:
    """The button that opens the cards; another one, under its own key, where there is nothing else to see."""
    if st.button(
        tr("All scenarios, with pictures"),
        key=key,
        icon=":material/grid_view:",
        help=tr("The ready scenarios with a picture of each and what it teaches."),
        width="stretch" if key == "gallery_open" else "content",
    ):
        st.dialog(tr("Ready scenarios"), width="large")(_cards)()
