"""What a result rests on, beside the result: one line, and behind it every weakness that matters here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from sched.external import link
from sched.page.language import say, tr
from sched.page.results import Result, alone
from sched.page.state import show, shown
from sched.page.titles import plain, title, unbroken
from sched.scenario import Scenario
from sched.trust import Sample, Trust, sample, trust
from sched.view import Shown


@st.cache_resource(max_entries=64, show_spinner=False)
def _sample(form: str, key: str, name: str, _run: Result) -> Sample:
    return sample(_run.log, _run.inversion, name)


def trust_in(now: Shown, runs: Mapping[str, Result], name: str) -> Trust:
    """Of the runs of the Lab: one seed, and what the run of A says of its own p99."""
    told = {title(now.scenario, key): (run.summary,) for key, run in runs.items()}
    first = {title(now.scenario, now.a): told[title(now.scenario, now.a)]}
    found = _sample(link(alone(now.scenario, now.a)), now.a, name, runs[now.a])
    return trust(now.scenario, name, first | told, (now.scenario.seed,), say(), found)


def basis(told: Trust) -> dict[str, Any]:
    """What stands behind the line, as data for a component of ours."""
    return {
        "why": tr("How far to trust this"),
        "weak": [tr("What weakens it"), *map(unbroken, told.weaknesses)],
        "facts": [tr("What it rests on"), *map(unbroken, told.facts)],
        "about": tr("About the model"),
    }


def open_about() -> None:
    """Open the part of About that says what the times rest on."""
    show(replace(shown(), page="about", part="hardware"))


def trust_note(
    scenario: Scenario,
    name: str,
    runs: Mapping[str, Sequence[Mapping[str, Any]]],
    seeds: Sequence[int],
    key: str = "trust",
) -> None:
    """The line with the rest behind a button, for a view of stock elements.

    `runs` are summaries by the policy's title, one a seed; `name` is the class spoken of.
    """
    told = trust(scenario, name, runs, seeds, say())
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.caption(unbroken(plain(told.line)), width="content")
        with st.popover(tr("How far to trust this"), icon=":material/verified:", type="tertiary"):
            for words, texts in (
                (tr("What weakens it"), told.weaknesses),
                (tr("What it rests on"), told.facts),
            ):
                if texts:
                    st.markdown(
                        "\n".join([f"**{words}**", "", *(f"- {unbroken(plain(text))}" for text in texts)])
                    )
            st.button(tr("About the model"), key=f"{key}_about", on_click=open_about, type="tertiary")
