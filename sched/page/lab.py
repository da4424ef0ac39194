"""The Lab: change the scheduler, see what happens to the urgent requests, and who is to blame."""

from collections.abc import Callable, Container
from dataclasses import replace
from functools import partial

import streamlit as st

from sched.experiments import expected_requests
from sched.fields import ScenarioError
from sched.figures.engines import drawn
from sched.figures.payload import end_ps
from sched.model import PS_PER_S
from sched.page.cards import cards, choose
from sched.page.compare_charts import queue_chart
from sched.page.estimates import estimates
from sched.page.gallery import gallery
from sched.page.headline import headline, name_tab, name_view
from sched.page.incidents import incidents
from sched.page.language import say, tr
from sched.page.request import request_tab
from sched.page.results import LARGE, Incident, Result, results
from sched.page.results import incidents as incidents_of
from sched.page.scene import verdict_of
from sched.page.share import share
from sched.page.sidebar import sidebar
from sched.page.stage import stage
from sched.page.state import sentence, show, shown, write_address
from sched.page.tabs import open_tab
from sched.page.titles import name_of, plain, scenario_line, scenario_title, title
from sched.page.told import told
from sched.page.trust import trust_in
from sched.scenario import Scenario
from sched.verdict import urgent_class
from sched.view import Shown
from sched.words import count

TABS_OF = {
    "inversions": (":material/flag:", "Inversions"),
    "request": (":material/person_search:", "Request"),
    "queue": (":material/show_chart:", "Queue length"),
}
"""The tabs below the stage: icon and name."""


def lab() -> None:
    """The whole view. Where the picture is quick to make it is sent first, before the controls."""
    is_late = _is_quick(shown().scenario)
    if not is_late:
        sidebar()
    try:
        draw_below = _above()
    except Exception:
        if is_late:
            sidebar()  # whoever is stuck finds the way out there
        raise
    if is_late:
        sidebar()
    if draw_below is not None:
        draw_below()


def _is_quick(scenario: Scenario) -> bool:
    """Whether its runs are made at once, without a bar that shows how far they are."""
    try:
        return expected_requests(scenario) <= LARGE
    except ScenarioError:
        return False  # said in words where the picture is


def _above() -> Callable[[], None] | None:
    """From the heading to the stage; what draws the rest, or None where there is nothing to see."""
    now = shown()
    messages()
    _heading(now)
    try:
        runs = results(now.scenario)
    except ScenarioError as error:
        st.error(plain(sentence(error)), icon=":material/error:")
        _instead()
        return None
    first = next(iter(runs.values()))
    name = urgent_class(first.summary, now.scenario)
    if name is None:
        st.info(tr("This scenario has no requests: add traffic or requests to it."), icon=":material/inbox:")
        _instead()
        return None
    now = placed(now, runs)
    found = {key: incidents_of(now.scenario, key) for key in dict.fromkeys((now.a, now.b))}
    name_tab(headline(now, runs, name))
    cards(now, runs, name, verdict_of(now, runs), trust_in(now, runs, name))
    stage(now, runs, found)
    return partial(_rest, now, runs, found, name)


def _instead() -> None:
    """Where there is nothing to see: the ready scenarios."""
    name_view("Lab")
    gallery("gallery_instead")


def _rest(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str) -> None:
    """What stands below the stage."""
    for key in found:
        if several := several_engines(runs[key]):
            st.caption(f"{title(now.scenario, key)}: {several}")
    for key, run in runs.items():
        if run.log.stop_reason:
            st.warning(plain(f"{title(now.scenario, key)}: {run.log.stop_reason}"))
    _below(now, runs, found, name)
    estimates(now, runs)


def several_engines(run: Result) -> str:
    """Of a run on several engines, which of them the stage shows; "" of a run on one."""
    many = len(run.log.replicas)
    if not many:
        return ""
    place = drawn(run.log)
    own = run.log.replicas[place]
    return tr(
        "the stage shows engine {place} of {many}, with {requests} and {blocks}. Figures, incidents and "
        "queue are those of all engines together.",
        place=place + 1,
        many=many,
        requests=count(len(own.requests), "request", say()),
        blocks=count(own.machine.kv_blocks, "block", say()),
    )


def messages(about: Container[str] | None = None) -> None:
    """A link that was not understood, a value that was refused, and warnings about the scenario: in words.

    Of the warnings only those `about` these values, where a view shows something else than the scenario.
    """
    state = st.session_state
    if state["fault"]:
        instead = tr("Shown instead: {title}.", title=scenario_title(shown().scenario))
        st.error(plain(f"{state['fault']} {instead}"), icon=":material/link_off:")
    if refused := state.pop("refused", None):
        st.warning(plain(tr("{why} It stays as it was.", why=refused)), icon=":material/block:")
    for path, note in state["notes"]:
        if about is None or path in about:
            st.info(plain(note), icon=":material/info:")


def placed(now: Shown, runs: dict[str, Result]) -> Shown:
    """The view without a moment after the end and without a request that is not there; both are said."""
    arrival, logs = st.session_state["arrival"], [runs[key].log for key in (now.a, now.b)]
    end = max(float(end_ps(log)) / PS_PER_S for log in logs)
    kept = now
    if now.t is not None and now.t > end + 1e-4:
        kept = replace(kept, t=end)
        if arrival["t"] == now.t:
            st.info(
                tr(
                    "t = {t} s: the run ends at {end} s, so the playhead stands there.",
                    t=f"{now.t:g}",
                    end=f"{end:.1f}",
                )
            )
    if now.focus is not None and now.focus not in logs[0].requests.ids:
        kept = replace(kept, focus=None)
        if arrival["focus"] == now.focus:
            st.info(
                tr(
                    "focus = {name}: this run has no such request, so none is in focus.",
                    name=plain(now.focus),
                )
            )
    if kept != now:
        st.session_state["shown"] = kept
        write_address()
    return kept


def _pick(side: str) -> None:
    key = st.session_state[f"pick_{side}"]
    if key in shown().scenario.policies:  # a list that was drawn in other words may send them back
        choose(side, key)


def _heading(now: Shown) -> None:
    """The scenario's name, the two policies on the stage, and Share."""
    with st.container(horizontal=True, vertical_alignment="center", key="heading"):
        st.markdown(scenario_line(now.scenario), width="stretch")
        # Without the size of a buffer: a list knows its choices by their words, which no slider may change.
        names = {key: name_of(key) for key in now.scenario.policies}
        sides = [("A", now.a, ""), ("B", now.b, tr("against"))]
        for side, key, before in sides[: len(now.scenario.policies)]:
            if before:
                st.caption(before, width="content")
            st.session_state[f"pick_{side}"] = key
            st.selectbox(
                side,
                list(now.scenario.policies),
                key=f"pick_{side}",
                format_func={key: f"{side}\u2002{name}" for key, name in names.items()}.__getitem__,
                label_visibility="collapsed",
                width=212,
                on_change=_pick,
                args=(side,),
            )
        share(now)


def _tab_titles() -> dict[str, str]:
    return {key: f"{icon} {tr(name)}" for key, (icon, name) in TABS_OF.items()}


def _tab_chosen(tab: str) -> None:
    show(replace(shown(), tab=tab))


def _below(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]], name: str) -> None:
    """What stands below the stage; only the open tab is built."""
    with open_tab("tab", _tab_titles(), now.tab, _tab_chosen):
        if now.tab == "queue":
            queue_chart(now, list(dict.fromkeys((now.a, now.b, *runs))), runs)
        elif now.tab == "request":
            request_tab(now, runs, found)
        else:
            told(now, runs[now.a], found[now.a])
            incidents(now, runs, found, name)
