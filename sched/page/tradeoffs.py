"""Trade-offs: what a knob buys and costs, two knobs at once, and how much load the engine takes."""

from dataclasses import replace
from typing import Any

import streamlit as st

from sched.fields import ScenarioError
from sched.grids import Place, Sweep, columns
from sched.page.computed import swept_over
from sched.page.lab import messages
from sched.page.language import say, tr, tr_count
from sched.page.share import share
from sched.page.sidebar import sidebar
from sched.page.state import sentence, show, shown
from sched.page.tabs import open_tab
from sched.page.titles import plain, scenario_line, title
from sched.page.tradeoff_charts import Drawn, drawn
from sched.page.tradeoff_choices import choices
from sched.page.tradeoff_view import View, points_of, view_of
from sched.page.trust import trust_note
from sched.scenario import Scenario, known_policies
from sched.spreadsheet import csv_file
from sched.view import Shown, with_scenario
from sched.words import joined
from sched.workers import WorkersDied

CONFIG = {"displayModeBar": False, "scrollZoom": False}


def tradeoffs() -> None:
    """The whole view, top to bottom."""
    sidebar()
    now = shown()
    messages()
    _heading(now)
    try:
        view = view_of(now)
    except (ScenarioError, WorkersDied) as error:
        st.error(plain(sentence(error)), icon=":material/error:")
        return
    if view is None:
        st.info(tr("This scenario has no requests: add traffic or requests to it."), icon=":material/inbox:")
        return
    for text in view.said:
        st.info(plain(text), icon=":material/info:")
    choices(view)
    with open_tab("tradeoff", tab_titles(), view.chart, _chosen):
        _chart(view)


def tab_titles() -> dict[str, str]:
    """The tabs by their key in the link."""
    return {
        "curve": tr(":material/show_chart: What it buys and costs"),
        "map": tr(":material/grid_on: Two knobs"),
        "load": tr(":material/trending_up: Load"),
    }


def _chosen(chart: str) -> None:
    show(replace(shown(), chart=chart))


def _heading(now: Shown) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="heading"):
        st.markdown(scenario_line(now.scenario), width="stretch")
        share(now)


def _chart(view: View) -> None:
    """The verdict, the figure, the point to open, and the table; the bar stands where the verdict will."""
    if view.chart == "load" and not view.scenario.traffic and not view.scenario.trace:
        text = tr("The requests of this scenario are listed one by one, so there is no rate to multiply.")
        st.info(text, icon=":material/info:")
        return
    try:
        axes, scenarios = points_of(view)
        found = swept_over(view.scenario, axes, scenarios, (view.policy,), view.seeds)
    except (ScenarioError, WorkersDied) as error:
        st.error(plain(sentence(error)), icon=":material/error:")
        return
    shown_chart = drawn(view, found)
    with st.container(key="tradeoff_verdict"):
        st.markdown(f"## {shown_chart.verdict}")
    st.caption(joined((_basis(view, found), shown_chart.reason), say()))
    point = found.points[shown_chart.recommended or shown_chart.places[0]]
    told = {title(point.scenario, view.policy): point.runs[view.policy]}
    trust_note(view.scenario, view.wanted.class_name, told, found.seeds, key="tradeoff_trust")
    st.plotly_chart(
        shown_chart.figure,
        key=f"tradeoff_{view.stamp}",
        on_select=lambda: _picked(view.stamp, shown_chart.places),
        selection_mode="points",
        config=CONFIG,
        alt=shown_chart.alt,
    )
    _point(view, found, shown_chart)
    with st.expander(tr("The same as a table"), icon=":material/table:"):
        by_column = zip(*shown_chart.rows, strict=True)
        cells = [[plain(cell) for cell in column] for column in by_column]
        named = dict(zip(map(plain, shown_chart.heads), cells, strict=True))
        st.table(named, hide_index=True, border="horizontal")
        st.download_button(
            tr("All runs as CSV"),
            lambda: csv_file(*columns(found)),
            f"{view.chart}.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            key="tradeoff_csv",
        )


def _basis(view: View, found: Sweep) -> str:
    """What the chart rests on."""
    seeds = tr_count(view.seeds, "seed {first}", "{n} seeds from {first}", first=f"{found.seeds[0]}")
    values = {
        "points": len(found.points),
        "policy": title(view.scenario, view.policy)
        if view.chart == "load"
        else tr(known_policies()[view.policy].title),
        "seeds": seeds,
    }
    if not view.is_random:
        return tr(
            "{points} points under {policy}, one run each: nothing here is drawn, so another seed would "
            "change nothing.",
            **values,
        )
    if view.chart == "map" or view.seeds == 1:
        return tr("{points} points under {policy}, on the identical requests of {seeds}.", **values)
    return tr(
        "{points} points under {policy}, on the identical requests of {seeds}. Band: from the best to the "
        "worst seed.",
        **values,
    )


def _picked(stamp: str, places: list[Place]) -> None:
    """A point of the figure was clicked."""
    points = st.session_state[f"tradeoff_{stamp}"]["selection"]["points"]
    numbers = [_number_in(one.get("customdata")) for one in points]
    chosen = next((one for one in numbers if one is not None and one < len(places)), None)
    if chosen is not None:
        st.session_state[f"tradeoff_point_{stamp}"] = places[chosen]


def _number_in(value: Any) -> int | None:
    while isinstance(value, list | tuple | dict):
        value = next(iter(value.values() if isinstance(value, dict) else value), None)
    return int(value) if isinstance(value, int | float) else None


def _point(view: View, found: Sweep, chart: Drawn) -> None:
    """The point that is clicked or chosen, and the way into the Lab."""
    state, names = st.session_state, dict(zip(chart.places, chart.names, strict=True))
    key = f"tradeoff_point_{view.stamp}"  # what was chosen of another chart is not meant here
    if state.get(key) not in names:
        state[key] = chart.recommended or chart.places[0]
    with st.container(horizontal=True, vertical_alignment="bottom", key="tradeoff_opening"):
        with st.container(key="tradeoff_point", width="content"):
            st.selectbox(tr("Point"), chart.places, key=key, format_func=names.__getitem__, width=240)
        chosen: Place = state[key]
        st.button(
            tr("Open this point in the Lab"),
            key="tradeoff_open",
            icon=":material/open_in_new:",
            on_click=_open,
            args=(found.points[chosen].scenario, view.policy),
        )


def _open(scenario: Scenario, policy: str) -> None:
    now = with_scenario(shown(), scenario)
    b = now.b if policy == now.a else policy
    show(replace(now, page="lab", b=b, t=None, focus=None))
