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

from sched.language import NAMES, catalogue
from sched.page.state import Completed, shown
from sched.view import PAGES

FOLDER = Path(__file__).parent / "canvas"
SCRIPTS = (
    "look payload world blocks queue memory lanes gantt ganttmarks words panel stage brush help tables "
    "transport cards incidents story gallery compare still tasks code"
)
VIEWS = ("stage", "cards", "incidents", "story", "gallery", "compare", "still", "tasks")


def _text(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


@cache
def style_sheet(name: str) -> str:
    """The text of a style sheet."""
    return _text(f"{name}.css")


def is_dark() -> bool:
    """Whether the page is dark now."""
    theme: str | None = st.context.theme.type
    return theme == "dark"


def _lean(script: str) -> list[str]:
    """The lines of a script without indents and without lines that only comment."""
    stripped = (line.strip() for line in script.splitlines())
    return [line for line in stripped if line and not line.startswith("//")]


@cache
def script() -> str:
    """All code as one module: tokens, styles and translations as constants, then the files in order."""
    tokens = json.dumps(json.loads(_text("tokens.json")), separators=(",", ":"))
    styles = json.dumps({name: _text(f"{name}.css") for name in VIEWS})
    said = json.dumps(
        {code: catalogue(code, "stage") for code in NAMES if code != "en"},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    lines = [f"const TOKENS = {tokens};", f"const STYLES = {styles};", f"const MESSAGES = {said};"]
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


def component(name: str) -> Callable[..., Any]:
    """A component that shows one of the views, in the language of the session."""
    mount = _mounted(name)

    def said(*, data: Any, **rest: Any) -> Any:
        return mount(data=data | {"lang": shown().lang} if isinstance(data, dict) else data, **rest)

    return said


@cache
def _mounted(name: str) -> Callable[..., Any]:
    shim = _text("shim.js").replace("NAME", json.dumps(name))
    return st.components.v2.component(f"sched_{name}", html=f'<div class="{name}-root">\n</div>', js=shim)


@cache
def _hidden(name: str) -> Callable[..., Any]:
    return st.components.v2.component(f"sched_{name}", html="<i hidden>\n</i>", js=_text(f"{name}.js"))


def hidden(name: str, data: Any, part: str = "", **told: Callable[[], None]) -> None:
    """Hand data to a small script that shows nothing, each time they change; `told` hears what it says.

    `part` tells two calls of one run apart.
    """
    with st.container(key=f"hidden_{name}{part}"):
        _hidden(name)(data=data, key=f"sched_{name}{part}", **told)


def complete_address(told: Completed, part: str = "") -> None:
    """Make the address of this entry of the history say all, if it is the one meant; once for a number."""
    hidden("address", told._asdict() | {"views": list(PAGES[1:])}, part)


def go_past() -> None:
    """Make Back go past the entries that a link to a view leaves before that view's own address."""
    hidden("past", {"views": list(PAGES[1:])})


def declare_language() -> None:
    """Make the document say in which language it is."""
    hidden("language", {"lang": shown().lang})


@cache
def alone(name: str, html: str) -> Callable[..., Any]:
    """A small component with a script and a style sheet of its own, for a place that is not always open."""
    return st.components.v2.component(
        f"sched_{name}", html=f"{html}\n<i hidden>\n</i>", css=_text(f"{name}.css"), js=_text(f"{name}.js")
    )
