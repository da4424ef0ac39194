"""The frame of the page: the bar with its views, and what is set up before any of them draws."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from sched.page.about import about
from sched.page.compare import compare
from sched.page.component import (
    complete_address,
    declare_language,
    go_past,
    is_dark,
    send_code,
    style_sheet,
)
from sched.page.headline import name_view, tab_name
from sched.page.lab import lab
from sched.page.language import coming, language_choice
from sched.page.learn import learn
from sched.page.state import arrive, leave, query_now, shown, write_address
from sched.page.titles import VIEWS
from sched.page.tradeoffs import tradeoffs
from sched.view import CHARTS, PAGES

LOGO = """<svg xmlns="http://www.w3.org/2000/svg" width="132" height="28" viewBox="0 0 132 28">
<rect x="2" y="4" width="9" height="9" rx="2" fill="{ink}"/><rect x="13" y="4" width="9" height="9" rx="2"
fill="{dim}"/><rect x="2" y="15" width="9" height="9" rx="2" fill="{dim}"/><path d="M17.5 15l5 9h-10z"
fill="{mark}"/><text x="31" y="19.5" font-family="system-ui,sans-serif" font-size="16" font-weight="600"
fill="{ink}">Sched Lab</text></svg>"""
DARK = """
@media print {
  [data-testid="stMainBlockContainer"] { filter: invert(1) hue-rotate(180deg); background: #0E1117; }
  html, body, .stApp, [data-testid="stMain"] { background: #fff !important; }
}
"""


DRAWN_BY: dict[str, Callable[[], None]] = {
    "lab": lab,
    "compare": compare,
    "tradeoffs": tradeoffs,
    "learn": learn,
    "about": about,
}
"""What draws each view."""


def page() -> None:
    """The whole page: read the address, write it, draw the view."""
    st.set_page_config(tab_name(), page_icon="🚦", layout="wide", initial_sidebar_state="auto")
    dark = is_dark()
    ink, dim, mark = ("#EDF0F6", "#5A6478", "#5C97F7") if dark else ("#2B3A67", "#AEB6C8", "#1A56B8")
    st.logo(LOGO.format(ink=ink, dim=dim, mark=mark), size="medium")
    st.html(f"<style>\n{style_sheet('page')}{DARK if dark else ''}</style>")
    views: dict[str, Any] = {}
    say_title = coming()
    for key, draw in DRAWN_BY.items():
        views[key] = st.Page(
            partial(_view, key, draw, views),
            title=say_title(VIEWS[key]),
            url_path=key,
            default=key == PAGES[0],
        )
    st.navigation(list(views.values()), position="top").run()


def _view(key: str, draw: Callable[[], None], views: Mapping[str, Any]) -> None:
    """One view. Where the link or a button names another one, that one is opened instead."""
    send_code()
    go_past()
    arrive(key)
    if (wanted := shown().page) != key:
        st.switch_page(views[wanted], query_params=leave())
    if not query_now() and shown().chart not in CHARTS.get(key, (shown().chart,)):
        st.session_state["shown"] = replace(shown(), chart=None)  # no link asks for it
    write_address()
    declare_language()
    language_choice()
    if key != PAGES[0] or st.session_state.get("tab_of") != key:  # drawn anew, the Lab keeps its verdict
        name_view(VIEWS[key])
    st.session_state["tab_of"] = key
    before = st.session_state.get("completed")
    if before:
        complete_address(before)  # at once: what is drawn may take long
    draw()
    completed = st.session_state.get("completed")
    if completed and completed != before:
        complete_address(completed, "_drawn")
