"""What can be chosen on Trade-offs: the class, its goal, the seeds, and what varies from where to where."""

from dataclasses import replace

import streamlit as st

from sched.advice import Goal
from sched.fields import ScenarioError
from sched.page.language import tr
from sched.page.state import refuse, sentence, show, shown
from sched.page.tradeoff_view import View
from sched.page.varied import CURVE, MAP, knob_title, knobs, range_text, usual_range
from sched.ranges import axis
from sched.view import SEEDS


def choices(view: View) -> None:
    """The class, its goal, the seeds, and what varies."""
    state, wanted = st.session_state, view.wanted
    with st.container(horizontal=True, vertical_alignment="bottom", key="tradeoff_choices"):
        state["tradeoff_class"] = wanted.class_name
        st.selectbox(
            tr("Class"),
            view.classes,
            key="tradeoff_class",
            width=130,
            on_change=_class_chosen,
        )
        state["tradeoff_goal"] = wanted.value
        st.number_input(
            tr("Goal, s"),
            min_value=0.0,
            step=0.1,
            format="%g",
            key="tradeoff_goal",
            width=130,
            on_change=_goal_set,
            args=(wanted,),
            help=tr("The time that is to be kept, of the class and figure that the curve shows."),
        )
        if view.chart != "load":
            for name, one in zip(("vary", "vary2"), view.axes, strict=False):
                _knob(view, name, one.key, range_text(one).removeprefix(f"{one.key}="))
        if view.is_random:
            state["tradeoff_seeds"] = view.seeds
            st.segmented_control(
                tr("Seeds"),
                SEEDS,
                key="tradeoff_seeds",
                required=True,
                on_change=_seeds_chosen,
                help=tr(
                    "Every point runs on the identical requests of each seed, the scenario's and those after "
                    "it."
                ),
            )


def _knob(view: View, name: str, key: str, text: str) -> None:
    """One knob and its range."""
    state, known = st.session_state, knobs(view.scenario)
    names = {one: knob_title(one) for one in (key, *known)}
    state[f"{name}_knob"], state[f"{name}_range"] = key, text
    st.selectbox(
        tr("What varies") if name == "vary" else tr("And what else"),
        list(names),
        key=f"{name}_knob",
        format_func=names.__getitem__,
        width=230,
        on_change=_knob_chosen,
        args=(name, view.chart),
    )
    st.text_input(
        tr("From : to : step"), key=f"{name}_range", width=150, on_change=_range_set, args=(name, key)
    )


def _class_chosen() -> None:
    show(replace(shown(), of=st.session_state["tradeoff_class"], goal=None))


def _goal_set(wanted: Goal) -> None:
    value = st.session_state["tradeoff_goal"]
    if value is not None:
        goal = Goal(wanted.class_name, wanted.metric, float(value))
        show(replace(shown(), of=shown().of and wanted.class_name, goal=goal.text))


def _seeds_chosen() -> None:
    show(replace(shown(), seeds=st.session_state["tradeoff_seeds"]))


def _knob_chosen(name: str, chart: str) -> None:
    key = st.session_state[f"{name}_knob"]
    chosen = range_text(usual_range(shown().scenario, key, MAP if chart == "map" else CURVE))
    _vary(name, chosen)


def _range_set(name: str, key: str) -> None:
    try:
        chosen = axis(f"{key}={st.session_state[f'{name}_range']}")
        _vary(name, range_text(chosen))
    except ScenarioError as error:
        refuse(sentence(error))


def _vary(name: str, text: str) -> None:
    now = shown()
    show(replace(now, vary=text) if name == "vary" else replace(now, vary2=text))
