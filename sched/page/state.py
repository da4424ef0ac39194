"""What the screen shows, as one frozen value; the address bar says the same.

The query is read by `sched.view` before any widget exists, and every widget is set from the scenario
before it is drawn, so that neither can say something else than the other.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from sched.cost import machine
from sched.external import change
from sched.fields import ScenarioError
from sched.language import NAMES
from sched.scenario import preset
from sched.view import PAGES, Shown, default_pair, query_of, shown_by, with_scenario


class Completed(NamedTuple):
    """An address that says all, for an entry of the history that said what was `seen`; `page` is its view."""

    number: int
    query: str
    page: str
    seen: str


def query_now() -> dict[str, list[str]]:
    """The query of the address bar."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def arrive(page: str = PAGES[0]) -> None:
    """Take over what the address bar says, when somebody opened a link or went back in history.

    A run that a widget started is no such arrival: its message may carry an older address than ours. Nor is
    one that the bar of views started, whose address says nothing: the same scenario is shown in that view.
    Nor is one that the page itself asked for: it has the address of the run before it.
    """
    state, query = st.session_state, query_now()
    before, state["page"] = state.get("page"), page
    is_again = query == state.get("seen") and page == before
    state["bare"], state["seen"] = is_again and not query and state.get("bare", False), query
    is_ours = state.pop("left", False) or not query or query == state.get("query")
    if "shown" in state and before not in (None, page) and is_ours:
        state["shown"] = replace(shown(), page=page, play=False)
        state["query"] = query
        state["changed"] = state["bare"] = True
        state.pop("touched", None)
        start(shown())
        return
    if "shown" in state and (state.pop("touched", False) or is_again or query == state.get("query")):
        return
    state["query"] = query
    state["fault"], state["notes"] = None, []
    first_visit = state["newcomer"] = "shown" not in state and not query
    try:
        state["shown"], state["notes"] = shown_by(query, page)
    except ScenarioError as error:
        state["fault"] = sentence(error)
        if "shown" not in state:
            scenario = preset("noisy-neighbour")
            lang = next((one for one in query.get("lang", ()) if one in NAMES), "en")
            state["shown"] = Shown(scenario, *default_pair(scenario), page=page, lang=lang)
    if first_visit and (st.context.locale or "").partition("-")[0] in NAMES:
        state["shown"] = replace(shown(), lang=(st.context.locale or "").partition("-")[0])
    state["bare"] = bool(query)  # completed where it stands: Back must not come to the same link again
    start(state["shown"], play=first_visit or shown().play)


def start(now: Shown, *, play: bool = False) -> None:
    """The stage begins anew, at the moment the link names or at the worst wait; else it keeps its place."""
    state = st.session_state
    number = state["arrival"]["number"] + 1 if "arrival" in state else 0
    state["arrival"] = {"number": number, "t": now.t, "window": now.window, "focus": now.focus, "play": play}


def write_address() -> None:
    """Make the address bar say what is shown. A link that was not understood stays until a change."""
    state = st.session_state
    shown: Shown = state["shown"]
    if state["fault"] or (not state["query"] and not state.get("changed")):
        return
    query = _as_query(shown)
    if state["bare"] and query != query_now():
        number = state["completed"].number + 1 if "completed" in state else 1
        state["completed"] = Completed(
            number, query_of(shown), shown.page, urlencode(state["seen"], doseq=True)
        )
    elif query not in (query_now(), state["query"]):  # what was completed is not said again
        st.query_params.from_dict(query)
        state["seen"] = query
    state["query"] = query


def _as_query(shown: Shown) -> dict[str, list[str]]:
    return {key: [text] for key, text in parse_qsl(query_of(shown), keep_blank_values=True)}


def leave() -> dict[str, list[str]]:
    """Another view is opened from here: the address as it is, which leaves this view's entry as it was."""
    st.session_state["left"] = True
    return query_now()


def show(shown: Shown) -> None:
    """A person changed something: this is shown from now on."""
    state = st.session_state
    state["shown"] = replace(shown, play=False)
    state["touched"] = state["changed"] = True
    state["fault"], state["notes"] = None, []


def shown() -> Shown:
    """What is shown now."""
    value: Shown = st.session_state["shown"]
    return value


def set_values(texts: Mapping[str, str]) -> None:
    """Change values by their dotted paths; a value that is refused is said in words and not taken."""
    now = shown()
    try:
        scenario = change(now.scenario, texts)
        machine(scenario)
        show(with_scenario(now, scenario))
    except ScenarioError as error:
        refuse(sentence(error))


def refuse(why: str) -> None:
    """Say in this run why a value is not taken."""
    st.session_state["touched"] = True
    st.session_state["refused"] = why


def sentence(error: Exception) -> str:
    """The error as a sentence."""
    text = str(error)
    return text if text.endswith((".", "?", "!")) else f"{text}."
