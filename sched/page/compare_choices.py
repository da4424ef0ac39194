"""What Compare speaks of: the class, the figure, the baseline, the seeds; all of it is in the link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from sched.experiments import expected_requests, is_random
from sched.page.language import tr
from sched.page.state import show, shown
from sched.page.titles import name_of
from sched.scenario import Scenario
from sched.view import CHARTS, FAMILIES, PERCENTILES, SEEDS, Shown

USUAL = "ttft.p99"
"""The figure that is compared when a link does not say."""
USUAL_SEEDS = 9
MOST_UNASKED = 100_000
"""More requests than this in all runs are only simulated when somebody asks for the seeds."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is compared. `sort` is the column, with a minus for the largest first."""

    name: str
    family: str
    part: str
    baseline: str
    seeds: int
    chart: str
    sort: str

    @property
    def metric(self) -> str:
        """The figure's key in the table of measures."""
        return f"{self.family}_s.{self.part}"

    def goal_s(self, scenario: Scenario) -> float | None:
        """The goal of the class for it."""
        if self.family == "wait":
            return None
        goal: float | None = getattr(scenario.promise(self.name).slo, f"{self.family}_s")
        return goal


def family_names() -> dict[str, str]:
    """The families of figures as they are called."""
    return {"ttft": "TTFT", "tpot": "TPOT", "e2e": "E2E", "wait": tr("Wait")}


def one_of(name: str, value: str | None, known: Sequence[str], usual: str, said: list[str]) -> str:
    """The value of a link, or what is usual; in `said` goes a sentence about a value that is not there."""
    if not value or value in known:
        return value or usual
    said.append(
        tr(
            "{name} = {value}: there is no such one here, so it is {usual}.",
            name=name,
            value=value,
            usual=usual,
        )
    )
    return usual


def chosen(now: Shown, classes: list[str], urgent: str) -> tuple[Chosen, list[str]]:
    """What the link or the controls say, and a sentence about each thing it says that is not there."""
    said = list[str]()
    family, part = (now.metric or USUAL).split(".")
    charts = CHARTS["compare"]
    found = Chosen(
        one_of("of", now.of, classes, urgent, said),
        family,
        part,
        now.baseline or now.a,
        (now.seeds or usual_seeds(now.scenario)) if is_random(now.scenario) else 1,
        one_of("chart", now.chart, charts, charts[0], said),
        now.sort or "mean",
    )
    return found, said


def usual_seeds(scenario: Scenario) -> int:
    """Over how many seeds policies are compared unasked: one where nothing is drawn or much is run."""
    if not is_random(scenario):
        return 1
    work = expected_requests(scenario) * len(scenario.policies) * USUAL_SEEDS
    return USUAL_SEEDS if work <= MOST_UNASKED else 1


def _name_chosen() -> None:
    show(replace(shown(), of=st.session_state["of"]))


def _metric_chosen() -> None:
    family, part = st.session_state["family"], st.session_state["part"]
    show(replace(shown(), metric=f"{family}.{part}"))


def _baseline_chosen() -> None:
    if (key := st.session_state["baseline"]) in shown().scenario.policies:
        show(replace(shown(), baseline=key))


def _seeds_chosen() -> None:
    show(replace(shown(), seeds=int(st.session_state["seeds"])))


def choices(now: Shown, what: Chosen, classes: list[str]) -> None:
    """The controls in one row."""
    state, policies = st.session_state, list(now.scenario.policies)
    state["of"], state["family"], state["part"] = what.name, what.family, what.part
    state["baseline"], state["seeds"] = what.baseline, what.seeds
    names = family_names()
    with st.container(horizontal=True, vertical_alignment="bottom", key="choices"):
        st.selectbox(tr("Class"), classes, key="of", width=150, on_change=_name_chosen)
        st.segmented_control(
            tr("Figure"),
            FAMILIES,
            key="family",
            required=True,
            format_func=names.__getitem__,
            width="content",
            on_change=_metric_chosen,
        )
        st.segmented_control(
            tr("Percentile"),
            PERCENTILES,
            key="part",
            required=True,
            width="content",
            on_change=_metric_chosen,
        )
        st.selectbox(
            tr("Baseline"),
            policies,
            key="baseline",
            format_func=name_of,  # without the size of a buffer, which a slider changes
            width=210,
            help=tr("Differences are against this policy, on the same seeds."),
            on_change=_baseline_chosen,
        )
        if is_random(now.scenario):
            st.segmented_control(
                tr("Seeds"),
                SEEDS,
                key="seeds",
                required=True,
                width="content",
                help=tr("Each seed draws other requests; every policy gets the same ones."),
                on_change=_seeds_chosen,
            )
