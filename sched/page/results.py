"""Runs, kept while they may be asked for again: one entry per policy and scenario, never per session."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from sched.cost import iteration_cost
from sched.engine import simulate
from sched.execution import execution_of
from sched.experiments import expected_requests
from sched.external import link
from sched.fields import ScenarioError
from sched.figures.looks import looks
from sched.figures.payload import pack_run
from sched.inversion import Inversion, analyse
from sched.log import Log
from sched.metrics import summary
from sched.model import PS_PER_S
from sched.moments import RESOURCE_WORDS
from sched.page.language import tr
from sched.page.titles import name_of
from sched.scenario import Scenario, known_policies
from sched.shares import RESOURCES
from sched.sums import seconds
from sched.workload import RequestList, requests

LARGE = 5000
"""Above this many requests the policies run one by one under a progress bar; a change interrupts them."""
MOST = 30_000
"""More requests than this take minutes, and a browser that shows them stutters: refused in words."""
MOST_INCIDENTS = 40
FIRST = "fcfs"
"""A policy without settings: what holds under any policy is kept as its."""


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one policy and what is derived from it. Shared by all sessions: nothing in it changes."""

    log: Log
    inversion: Inversion
    summary: dict[str, Any]
    payload: bytes


@dataclass(frozen=True, slots=True)
class Incident:
    """A stretch of an urgent request's wait in which lower work was in its way; seconds."""

    request: str
    class_name: str
    from_s: float
    to_s: float
    waited_s: float
    inversion_s: float
    cause: str
    culprits: tuple[tuple[str, float], ...]
    """Who made it wait, largest share first."""


def alone(scenario: Scenario, key: str) -> Scenario:
    """The scenario with this policy only: what its run depends on. When a wait is told of changes no run."""
    return scenario.changed(policies={key: scenario.policies[key]}, annotate_after_s=None)


@st.cache_resource(max_entries=16, show_spinner=False)
def _requested(form: str, _scenario: Scenario) -> RequestList:
    return requests(_scenario)


def requested(scenario: Scenario) -> RequestList:
    """The requests of a scenario, which are the same under every policy and setting of one."""
    bare = scenario.changed(policies={FIRST: known_policies()[FIRST].model()}, annotate_after_s=None)
    return _requested(link(bare), bare)


def looks_of(scenario: Scenario) -> dict[str, int]:
    """The look of each class, as the stage has it; {} where its requests are too many or cannot be made."""
    try:
        refused = refused_size(expected_requests(scenario), scenario)
        return {} if refused else looks(requested(scenario))
    except ScenarioError:
        return {}


def pause() -> None:
    """Let a change interrupt this run of the page: whoever asks for the session's state gives way to one."""
    "shown" in st.session_state  # noqa: B015


@st.cache_resource(max_entries=64, show_spinner=False)
def _result(form: str, key: str, _scenario: Scenario) -> Result:
    log = simulate(_scenario, key, requested(_scenario), watch=pause)
    pause()
    inversion = analyse(log, pause)
    pause()
    return Result(
        log, inversion, summary(log, _scenario, inversion, with_blame=False), pack_run(log, inversion)
    )


def result(scenario: Scenario, key: str) -> Result:
    """The run of one policy; `form` is the scenario's external form, which is what the run is kept under."""
    one = alone(scenario, key)
    return _result(link(one), key, one)


def now_running(key: str, place: int, many: int) -> str:
    """Which policy is run, and how many there are."""
    return tr("{policy}, {n} of {many}", policy=name_of(key), n=place, many=many)


def results(scenario: Scenario) -> dict[str, Result]:
    """All policies compared. A large scenario shows how far it is, and stops when something is changed."""
    keys = list(scenario.policies)
    many = expected_requests(scenario)
    if refused := refused_size(many, scenario):
        raise ScenarioError(refused)
    if many <= LARGE:
        return {key: result(scenario, key) for key in keys}
    found: dict[str, Result] = {}
    bar = st.progress(0.0)
    for done, key in enumerate(keys):
        bar.progress(done / len(keys), text=now_running(key, done + 1, len(keys)))
        found[key] = result(scenario, key)
    bar.empty()
    return found


@st.cache_resource(max_entries=64, show_spinner=False)
def _blamed(form: str, key: str, _scenario: Scenario, _result: Result) -> dict[str, Any]:
    return summary(_result.log, _scenario, _result.inversion)


def blamed(scenario: Scenario, key: str) -> dict[str, Any]:
    """The summary of a policy with the blame in it, which takes longer: for the one that is told of."""
    one = alone(scenario, key)
    return _blamed(link(one), key, one, result(scenario, key))


@st.cache_resource(max_entries=64, show_spinner=False)
def _slowed(form: str, key: str, _scenario: Scenario, _result: Result) -> dict[str, float]:
    listed = _result.log.requests
    found = execution_of(_result.inversion, iteration_cost(_scenario))
    sums = found.by_group(listed.class_index, len(listed.class_names))
    return {name: seconds(ps) for name, ps in zip(listed.class_names, sums, strict=True)}


def slowed(scenario: Scenario, key: str) -> dict[str, float]:
    """Execution inversion by class, in seconds: how much longer less urgent requests made its iterations."""
    one = alone(scenario, key)
    return _slowed(link(one), key, one, result(scenario, key))


def refused_size(many: float, scenario: Scenario) -> str:
    """Why so many requests are not shown; "" where they are."""
    if many <= MOST:
        return ""
    if scenario.trace:
        return (
            f"this trace has {many:,.0f} requests, the page shows at most {MOST:,}: set trace.limit, or run "
            "it on the command line"
        )
    return (
        f"this makes about {many:,.0f} requests, the page shows at most {MOST:,}: lower a rate or the "
        "duration, or run it on the command line"
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _incidents(form: str, key: str, _result: Result) -> tuple[Incident, ...]:
    log, inversion = _result.log, _result.inversion
    if not len(log.requests.ids):
        return ()
    found = inversion.incidents
    urgent = np.flatnonzero(log.requests.priority[found.request] == log.requests.priority.min())
    worst = urgent[np.argsort(-found.inversion_ps[urgent], kind="stable")[:MOST_INCIDENTS]]
    return tuple(_incident(log, inversion, int(row)) for row in np.sort(worst))


def incidents(scenario: Scenario, key: str) -> tuple[Incident, ...]:
    """The worst incidents of urgent requests under a policy, in order of request and time."""
    return _incidents(link(alone(scenario, key)), key, result(scenario, key))


def _incident(log: Log, inversion: Inversion, row: int) -> Incident:
    found = inversion.incidents
    request, start, end = int(found.request[row]), int(found.from_ps[row]), int(found.to_ps[row])
    total = inversion.culprits_between(request, start, end).total
    whole = sum(total) or 1
    first = sorted(range(len(total)), key=lambda one: -total[one])[:3]
    named = [one for one in first if total[one] and (one == first[0] or 200 * total[one] >= whole)]
    spans = inversion.spans
    inside = np.flatnonzero((spans.request == request) & (spans.from_ps >= start) & (spans.to_ps <= end))
    length = spans.to_ps[inside] - spans.from_ps[inside]
    short = {
        words: int(length[(spans.code[inside] & bit) > 0].sum())
        for bit, words in zip(RESOURCES, RESOURCE_WORDS, strict=True)
    }
    return Incident(
        log.requests.ids[request],
        log.requests.class_names[int(log.requests.class_index[request])],
        start / PS_PER_S,
        end / PS_PER_S,
        int(inversion.wait_ps[request]) / PS_PER_S,
        int(found.inversion_ps[row]) / PS_PER_S,
        max(short, key=lambda words: short[words]),
        tuple((log.requests.ids[one], total[one] / whole) for one in named),
    )
