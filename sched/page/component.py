"""The page's own components: scripts and styles are real files beside this one, joined when first needed.

Streamlit sends a component's script again with every change of its data. So the code is a component of its
own, which never changes, and those that show something are a few lines that wait for it.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parent / "canvas"
SCRIPTS = "look payload world memory lanes gantt words panel stage transport cards incidents story code"
VIEWS = ("stage", "cards", "incidents", "story")


def _text(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


@cache
def style_sheet(name: str) -> str:
    """The text of a style sheet."""
    return _text(f"{name}.css")


def _lean(script: str) -> list[str]:
    """The lines of a script without indents and without lines that only comment."""
    stripped = (line.strip() for line in script.splitlines())
    return [line for line in stripped if line and not line.startswith("//")]


@cache
def script() -> str:
    """All code as one module: the design tokens and the styles as constants, then the files in order."""
    tokens = json.dumps(json.loads(_text("tokens.json")), separators=(",", ":"))
    styles = json.dumps({name: _text(f"{name}.css") for name in VIEWS})
    lines = [f"const TOKENS = {tokens};", f"const STYLES = {styles};"]
    for part in SCRIPTS.split():
        lines += _lean(_text(f"{part}.js"))
    return "\n".join(lines) + "\n"


@cache
def _code() -> Callable[..., Any]:
    return st.components.v2.component("sched_code", html="<i hidden>\n</i>", js=script())


def send_code() -> None:
    """Send the code of all views, once a session; the element itself takes no room."""
    with st.container(key="code"):
        _code()(key="sched_code")


@cache
def component(name: str) -> Callable[..., Any]:
    """A component that shows one of the views."""
    shim = _text("shim.js").replace("NAME", json.dumps(name))
    return st.components.v2.component(f"sched_{name}", html=f'<div class="{name}-root">\n</div>', js=shim)


@cache
def _address() -> Callable[..., Any]:
    return st.components.v2.component("sched_address", html="<i hidden>\n</i>", js=_text("address.js"))


def complete_address(number: int, query: str) -> None:
    """Make the address of this entry of the history say `query`, once for each number."""
    with st.container(key="address"):
        _address()(data={"query": query, "number": number}, key="sched_address")
