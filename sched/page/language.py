"""What the page says, in the language of whoever looks at it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from sched.language import NAMES, Language, language
from sched.page.state import show, shown


def say() -> Language:
    """The language of this session."""
    state = st.session_state
    return language(state["shown"].lang if "shown" in state else "en")


def coming() -> Language:
    """The same before the address is read: that of a link that has just come, else the session's."""
    state = st.session_state
    asked = st.query_params.get("lang")
    is_link = asked in NAMES and not state.get("touched") and state.get("query", {}).get("lang") != [asked]
    return language(asked) if is_link and asked is not None else say()


def tr(template: str, /, **values: Any) -> str:
    """A sentence in the language of this session; the English template is its key."""
    return say()(template, **values)


def tr_count(number: int, one: str, many: str, /, **values: Any) -> str:
    """A sentence about `n` things: `tr_count(3, "{n} block", "{n} blocks")`."""
    return say().count(number, one, many, **values)


def _chosen() -> None:
    show(replace(shown(), lang=st.session_state["language"]))


def language_choice(names: Mapping[str, str] = NAMES) -> None:
    """The choice of the language, in the bar."""
    st.session_state["language"] = shown().lang
    with st.container(key="languages"):
        st.selectbox(
            tr("Language"),
            list(names),
            key="language",
            format_func=names.__getitem__,
            label_visibility="collapsed",
            on_change=_chosen,
        )
