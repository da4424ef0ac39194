"""The stage: two runs on one playhead, played in the browser."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from sched.figures.payload import pack_stage
from sched.page.component import component
from sched.page.estimates import stamp
from sched.page.results import Incident, Result
from sched.page.state import show, shown
from sched.page.titles import subtitle, title
from sched.view import Shown


def _rested() -> None:
    """The playhead came to rest: the link says where."""
    value = st.session_state["stage"]["t"]
    if value is not None:
        show(replace(shown(), t=float(value)))


def _framed() -> None:
    """The frame came to rest where somebody put it."""
    value = st.session_state["stage"]["window"]
    if value is not None:
        show(replace(shown(), window=(float(value[0]), float(value[1]))))


def _focused() -> None:
    """A request was clicked: its story is opened; one that a row below led to is only shown on the stage."""
    said = st.session_state["stage"]["focus"] or {"request": None, "opens": False}
    now = replace(shown(), focus=said["request"] or None)
    show(replace(now, tab="request") if said["request"] and said["opens"] else now)


def sides(now: Shown) -> list[str]:
    """The policies on the stage: A and B, or the one that is both."""
    return list(dict.fromkeys((now.a, now.b)))


def stage_data(
    now: Shown, runs: Mapping[str, Result], found: Mapping[str, Sequence[Incident]], **more: Any
) -> bytes:
    """What the browser draws the stage from; `more` is the moment, and what only one of its readers has."""
    keys = sides(now)
    return pack_stage(
        [runs[key].payload for key in keys],
        titles=[title(now.scenario, key) for key in keys],
        subs=[subtitle(now.scenario, key) for key in keys],
        culprits=[
            [(one.from_s, one.to_s, one.culprits[0][0]) for one in found[key] if one.culprits] for key in keys
        ],
        lang=now.lang,
        **more,
    )


def stage(now: Shown, runs: dict[str, Result], found: dict[str, tuple[Incident, ...]]) -> None:
    """Draw it. The playhead, the window and the focus live in the browser and survive new data."""
    arrival: dict[str, Any] = st.session_state["arrival"]
    data = stage_data(now, runs, found, stamp=stamp(runs[key].payload for key in sides(now)), **arrival)
    component("stage")(
        data=data,
        key="stage",
        default={"t": None, "window": None, "focus": None},
        on_t_change=_rested,
        on_window_change=_framed,
        on_focus_change=_focused,
    )
