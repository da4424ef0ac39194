"""The page's own components: scripts and styles are real files beside this one, joined when first needed."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).parent / "canvas"
SCRIPTS = {
    "stage": "look payload world memory lanes gantt words panel stage transport",
    "cards": "look cards",
    "incidents": "look incidents",
}


@cache
def _script(name: str) -> str:
    """One module: the design tokens, then the files in order. Comment lines and indents stay behind."""
    tokens = json.dumps(json.loads((FOLDER / "tokens.json").read_text("utf-8")), separators=(",", ":"))
    lines = [f"const TOKENS = {tokens};"]
    for part in SCRIPTS[name].split():
        text = (FOLDER / f"{part}.js").read_text("utf-8")
        lines += [
            line for line in (one.strip() for one in text.splitlines()) if line and not line.startswith("//")
        ]
    return "\n".join(lines) + "\n"


@cache
def component(name: str) -> Callable[..., Any]:
    """A component by name: its element, its style and its script."""
    style = (FOLDER / f"{name}.css").read_text("utf-8")
    mount = f'<div class="{name}-root">\n</div>'
    return st.components.v2.component(f"sched_{name}", html=mount, css=style, js=_script(name))
