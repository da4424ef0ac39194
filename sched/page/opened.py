"""The wait that is opened: what its request was told while it waited."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from sched.external import link
from sched.inversion import Inversion
from sched.language import language
from sched.log import Log
from sched.model import PS_PER_S
from sched.notes import annotation
from sched.page.language import say
from sched.page.results import Incident, Result, alone
from sched.rules import rules_of
from sched.scenario import Scenario
from sched.several import JoinedInversion
from sched.sums import seconds
from sched.view import Shown


@dataclass(frozen=True, slots=True)
class Opened:
    """One wait under a policy, seconds. `notes` are those of `sched.notes`, `after_s` its patience."""

    request: str
    after_s: float
    waited_s: float
    notes: tuple[dict[str, Any], ...]


def patience_ps(scenario: Scenario, log: Log, request: int) -> int:
    """After how long a wait is told of: as the scenario says, else a quarter of the TTFT goal."""
    if scenario.annotate_after_s is not None:
        return round(scenario.annotate_after_s * PS_PER_S)
    return max(int(log.requests.ttft_goal_ps[request]), 0) // 4


def _part(run: Result, request: int) -> tuple[Log, Inversion, int]:
    """The engine of a request, and the request's place there."""
    if isinstance(run.inversion, JoinedInversion):
        part, place = run.inversion.place_of(request)
        return run.log.replicas[part], run.inversion.parts[part], place
    return run.log, run.inversion, request


def _moment(inversion: Inversion, place: int, chosen: list[Incident], t: float | None) -> int | None:
    """A moment of the wait that is meant: of the incident at the playhead, the worst, or the longest."""
    if chosen:
        one = max(chosen, key=lambda one: (t is not None and one.from_s <= t <= one.to_s, one.inversion_s))
        return round((one.from_s + one.to_s) / 2 * PS_PER_S)
    waits = inversion.seen.waits
    mine = np.flatnonzero(waits.request == place)
    if not len(mine):
        return None
    longest = mine[np.argmax((waits.to_ps - waits.from_ps)[mine])]
    return (int(waits.from_ps[longest]) + int(waits.to_ps[longest])) // 2


@st.cache_resource(max_entries=128, show_spinner=False)
def _opened(
    form: str,
    key: str,
    request: int,
    after_ps: int,
    at_ps: int,
    lang: str,
    _scenario: Scenario,
    _run: Result,
) -> Opened | None:
    log, inversion, place = _part(_run, request)
    waits = inversion.seen.waits
    there = np.flatnonzero((waits.request == place) & (waits.from_ps <= at_ps) & (at_ps < waits.to_ps))
    if not len(there):
        return None
    return Opened(
        log.requests.ids[place],
        seconds(after_ps),
        seconds(int(waits.to_ps[there[0]]) - int(waits.from_ps[there[0]])),
        tuple(annotation(inversion, place, after_ps, rules_of(log, _scenario), at_ps, language(lang))),
    )


def opened(now: Shown, run: Result, key: str, found: tuple[Incident, ...]) -> Opened | None:
    """What is known of the wait of the request in focus; None where none is, or it did not wait."""
    if now.focus is None or now.focus not in run.log.requests.ids:
        return None
    request = run.log.requests.ids.index(now.focus)
    _, inversion, place = _part(run, request)
    at_ps = _moment(inversion, place, [one for one in found if one.request == now.focus], now.t)
    if at_ps is None:
        return None
    one, after_ps = alone(now.scenario, key), patience_ps(now.scenario, run.log, request)
    return _opened(link(one), key, request, after_ps, at_ps, say().code, one, run)
