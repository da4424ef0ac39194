"""What somebody answered in the lessons: their browser keeps it for the next time, and no link tells it."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sched.page.component import hidden
from sched.text.lessons import BY_KEY


def answers() -> dict[str, str]:
    """What was committed to: the option's key by lesson. Once committed, an answer stands."""
    found: dict[str, str] = st.session_state.setdefault("answers", {})
    return found


def keep() -> None:
    """Have the browser keep the answers, or tell those that it kept when the page is opened anew."""
    is_told = st.session_state.get("answers_told", False)
    hidden("progress", {"answers": answers(), "told": is_told}, on_kept_change=_told)


def forget() -> None:
    """Begin all lessons again, here and in what the browser keeps."""
    answers().clear()
    st.session_state["answers_told"] = True


def _told() -> None:
    st.session_state["answers_told"] = True
    for key, option in understood(st.session_state["sched_progress"]["kept"]).items():
        answers().setdefault(key, option)


def understood(kept: Any) -> dict[str, str]:
    """Of what a browser says that it kept, the lessons and options that there are."""
    if not isinstance(kept, Mapping):
        return {}
    return {key: kept[key] for key, lesson in BY_KEY.items() if kept.get(key) in lesson.options}
