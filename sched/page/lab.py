"""The Lab: change the scheduler, see what happens to the urgent requests, and who is to blame."""

from dataclasses import replace
from functools import partial

import streamlit as st

from sched.fields import ScenarioError
from sched.figures.queue import queue_figure
from sched.page.cards import cards, choose, unbroken
from sched.page.incidents import incidents
from sched.page.results import Incident, Result, blamed, results
from sched.page.results import incidents as incidents_of
from sched.page.share import share
from sched.page.sidebar import sidebar
from sched.page.stage import stage
from sched.page.state import TABS, Shown, sentence, show, shown
from sched.page.titles import in_sentence, title
from sched.verdict import urgent_class, verdict

TAB_TITLES = {"inversions": ":material/flag: Inversions", "queue": ":material/show_chart: Queue length"}


def lab() -> None:
    """The whole view, top to bottom."""
    sidebar()
    now = shown()
    _messages()
    _heading(now)
    try:
        runs = results(now.scenario)
    except ScenarioError as error:
        st.error(sentence(error), icon=":material/error:")
        return
    first = next(iter(runs.values()))
    name = urgent_class(first.summary, now.scenario)
    if name is None:
        st.info("This scenario has no requests: add traffic or requests to it.", icon=":material/inbox:")
        return
    found = {key: incidents_of(now.scenario, key) for key in dict.fromkeys((now.a, now.b))}
    cards(now, runs, name, sentence_of(now, runs), trust(now, runs, name))
    stage(now, runs, found)
    for key, run in runs.items():
        if run.log.stop_reason:
            st.warning(f"{title(now.scenario, key)}: {run.log.stop_reason}")
    _below(now, runs, found, name)


def _messages() -> None:
    """A link that was not understood, a value that was refused, and warnings about the scenario: in words."""
    state = st.session_state
    if state["fault"]:
        st.error(f"{state['fault']} Shown instead: {shown().scenario.title}.", icon=":material/link_off:")
    if refused := state.pop("refused", None):
        st.warning(refused, icon=":material/block:")
    for _, note in state["notes"]:
        st.info(note, icon=":material/info:")


def _option(now: Shown, side: str, key: str) -> str:
    return f"{side}\u2002{title(now.scenario, key)}"


def _pick(side: str) -> None:
    choose(side, st.session_state[f"pick_{side}"])


def _heading(now: Shown) -> None:
    """The scenario's name, the two policies on the stage, and Share."""
    story = " ".join(now.scenario.story.split()).partition(". ")[0].rstrip(".")
    about = f" :gray[{_plain(story)}.]" if story else ""
    with st.container(horizontal=True, vertical_alignment="center", key="heading"):
        st.markdown(f"**{_plain(now.scenario.title or 'Untitled')}**{about}", width="stretch")
        for side, key, before in (("A", now.a, ""), ("B", now.b, "against")):
            if before:
                st.caption(before, width="content")
            st.session_state[f"pick_{side}"] = key
            st.selectbox(
                side,
                list(now.scenario.policies),
                key=f"pick_{side}",
                format_func=partial(_option, now, side),
                label_visibility="collapsed",
                width=212,
                on_change=_pick,
                args=(side,),
            )
        share(now)


def _plain(text: str) -> str:
    """A user's text with Markdown's signs taken at their word."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~$:" else sign for sign in text)


def sentence_of(now: Shown, runs: dict[str, Result]) -> list[tuple[str, str]]:
    """The verdict on A, and on B against it."""
    summaries = {key: run.summary for key, run in runs.items()}
    summaries[now.a] = blamed(now.scenario, now.a)
    names = {key: in_sentence(now.scenario, key) for key in runs}
    said = verdict(summaries, now.scenario, now.a, now.b, names)
    return [(unbroken(one.text), "" if one.tone == "plain" else one.tone) for one in said]


def trust(now: Shown, runs: dict[str, Result], name: str) -> str:
    """What the verdict rests on."""
    listed = next(iter(runs.values())).log.requests
    many = int((listed.class_index == listed.class_names.index(name)).sum())
    requests = "request" if many == 1 else "requests"
    return f"Computed from {many:,} {name} {requests}, seed {now.scenario.seed}. One run."


def _tab_opened() -> None:
    opened = st.session_state["tab"]
    found = next((key for key, words in TAB_TITLES.items() if words == opened), TABS[0])
    show(replace(shown(), tab=found))


def _below(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str) -> None:
    """What stands below the stage; only the open tab is built."""
    st.session_state["tab"] = TAB_TITLES[now.tab]
    opened = st.tabs(list(TAB_TITLES.values()), key="tab", on_change=_tab_opened)
    for key, tab in zip(TAB_TITLES, opened, strict=True):
        if key != now.tab:
            continue
        with tab:
            if key == "queue":
                logs = {title(now.scenario, one): runs[one].log for one in runs}
                strong = title(now.scenario, now.a), title(now.scenario, now.b)
                st.plotly_chart(
                    queue_figure(logs, strong, st.context.theme.type == "dark"), key="queue_figure"
                )
            else:
                incidents(now, runs, found, name)
