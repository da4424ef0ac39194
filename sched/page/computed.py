"""Experiments as the page computes them: with the server's processes and memory, and a bar that may stop.

A run is kept by what it depends on, so another view, another seed more, or a slider moved back computes only
what is new. While it computes, the bar is touched every 50 ms: that is where Streamlit stops a script whose
reader has changed something, and what has not begun is then cancelled.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from threading import Lock
from typing import Any

import streamlit as st

from sched.experiments import Comparison, compare, expected_requests
from sched.fields import ScenarioError
from sched.grids import Place, Sweep, expected_work, swept
from sched.page.language import tr
from sched.ranges import Axis
from sched.scenario import Scenario
from sched.workers import Workers

MOST_KEPT = 4000
"""Runs that are kept, about 10 kB each."""
MOST_WORK = 1_500_000
"""More requests than this, in all runs together, take more than a minute: refused in words."""


class Memory(MutableMapping[Any, Any]):
    """The runs that were asked for last, shared by all sessions."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._runs: OrderedDict[Any, Any] = OrderedDict()
        self._lock = Lock()

    def __getitem__(self, key: Any) -> Any:
        with self._lock:
            self._runs.move_to_end(key)
            return self._runs[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            self._runs[key] = value
            self._runs.move_to_end(key)
            while len(self._runs) > self._most:
                self._runs.popitem(last=False)

    def __delitem__(self, key: Any) -> None:
        with self._lock:
            del self._runs[key]

    def __contains__(self, key: object) -> bool:
        return key in self._runs

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._runs))

    def __len__(self) -> int:
        return len(self._runs)


@st.cache_resource(show_spinner=False)
def memory() -> Memory:
    """The runs that this server keeps."""
    return Memory()


@st.cache_resource(show_spinner=False)
def workers() -> Workers:
    """The processes of this server: one pool for all sessions, started when it is first of use."""
    return Workers()


def _told(call: Callable[[Callable[[int, int], None]], Any]) -> Any:
    """What a call that tells its progress gives, with a bar while it works."""
    place = st.empty()

    def tell(done: int, total: int) -> None:
        if total:
            place.progress(
                done / total, text=tr("{done} of {total} runs", done=f"{done:,}", total=f"{total:,}")
            )

    try:
        return call(tell)
    finally:
        place.empty()


def refused_work(requests: float) -> None:
    """Raise ScenarioError, in words, for more work than a page should begin."""
    if requests > MOST_WORK:
        raise ScenarioError(
            tr(
                "These runs have about {many} requests in all, the page computes at most {most}: take fewer "
                "seeds or points, or use the command line",
                many=f"{requests:,.0f}",
                most=f"{MOST_WORK:,}",
            )
        )


def compared(
    scenario: Scenario, policies: tuple[str, ...], seeds: int, baseline: str | None = None
) -> Comparison:
    """The policies on the identical requests of each seed. Raises ScenarioError, and WorkersDied in words."""
    work = expected_requests(scenario) * len(policies) * seeds
    refused_work(work)
    executor = workers().executor_for(work, warm=True)
    found: Comparison = _told(
        lambda tell: compare(
            scenario, policies, seeds, baseline=baseline, executor=executor, progress=tell, kept=memory()
        )
    )
    return found


def swept_over(
    scenario: Scenario,
    axes: tuple[Axis, ...],
    scenarios: Mapping[Place, Scenario],
    policies: tuple[str, ...],
    seeds: int,
) -> Sweep:
    """The policies at each point. Raises ScenarioError, and WorkersDied in words."""
    work = expected_work(scenarios, policies, seeds)
    refused_work(work)
    executor = workers().executor_for(work, warm=True)
    found: Sweep = _told(
        lambda tell: swept(
            scenario, axes, scenarios, policies, seeds, executor=executor, progress=tell, kept=memory()
        )
    )
    return found
