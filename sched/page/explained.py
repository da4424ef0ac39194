"""What `explain` finds of the request in focus, kept while it may be asked for again."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from sched.engine import simulate
from sched.explain import explain
from sched.external import link
from sched.language import language
from sched.log import Log
from sched.page.language import say
from sched.page.results import Result, alone, pause
from sched.scenario import Scenario
from sched.workload import RequestList

FEW_ROWS = 10
"""So many culprits are listed by name; the rest are one row."""
CAUSES = ("quantum_s", "legitimate_s", "reserved_s", "kv_s", "tokens_s", "seats_s")
"""The parts of a wait, in the order in which a bar shows them."""


def _again(scenario: Scenario, key: str, listed: RequestList) -> Log:
    """The requests played again; a change on the page ends it."""
    return simulate(scenario, key, listed, watch=pause)


@st.cache_resource(max_entries=128, show_spinner=False)
def _explained(
    form: str, key: str, request: str, lang: str, _scenario: Scenario, _run: Result
) -> dict[str, Any]:
    return explain(_run.log, _run.inversion, request, _scenario, _again, language(lang))


def explained(scenario: Scenario, key: str, request: str, run: Result) -> dict[str, Any]:
    """The `explain` object of a request under a policy. Shared by all sessions: nothing in it is changed."""
    one = alone(scenario, key)
    return _explained(link(one), key, request, say().code, one, run)


def parts_of_wait(found: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The causes of a wait that took any of it, with their seconds; together they are the wait."""
    return [(name, found["causes"][name]) for name in CAUSES if found["causes"][name]]


def culprits(found: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int, float]:
    """Who made it wait, most first, then how many more there are and their seconds together."""
    rows = found["blame"]
    return list(rows[:FEW_ROWS]), len(rows[FEW_ROWS:]), sum(one["s"] for one in rows[FEW_ROWS:])


def longest_wait(run: Result, ids: tuple[str, ...]) -> str | None:
    """The request that waited longest for lower ones, or longest at all; None where nobody waited."""
    for ps in (run.inversion.inversion_ps, run.inversion.wait_ps):
        if len(ids) and ps.max() > 0:
            return ids[int(ps.argmax())]
    return None


def by_wait(run: Result, most: int) -> list[str]:
    """The ids of those that waited longest, longest first."""
    order = run.inversion.wait_ps.argsort(kind="stable")[::-1][:most]
    return [run.log.requests.ids[one] for one in order.tolist()]
