"""Tabs of which only the open one is built, and which the link knows by their keys."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st


def _opened(key: str, titles: Mapping[str, str], choose: Callable[[str], None]) -> None:
    words = st.session_state[key]
    choose(next((one for one, title in titles.items() if title == words), next(iter(titles))))


def open_tab(key: str, titles: Mapping[str, str], chosen: str, choose: Callable[[str], None]) -> Any:
    """The tab to draw in. `titles` are by what the link says, `choose` is told when another one is opened."""
    st.session_state[key] = titles[chosen]
    tabs = st.tabs(list(titles.values()), key=key, on_change=_opened, args=(key, titles, choose))
    return tabs[list(titles).index(chosen)]
