"""Policies over several seeds: what is known already, and the rest, computed while the page shows the first.

A change on the page interrupts the work, and what had been computed by then is not computed again.
"""

from typing import Any

import streamlit as st

from sched.experiments import Comparison, expected_requests, made, seeds_of, tasks_of
from sched.external import link
from sched.page.computed import memory, refused_work, workers
from sched.page.results import Result, alone, result
from sched.scenario import Scenario
from sched.tasks import further, summarised
from sched.workers import Progress, run_all

PAINTS = 4
"""The seeds fill the table in about so many steps."""


@st.cache_resource(max_entries=64, show_spinner=False)
def _first(form: str, key: str, _scenario: Scenario, _result: Result) -> dict[str, Any]:
    return _result.summary | further(_result.log, _scenario, _result.inversion)


class Seeds:
    """The policies of a scenario over so many seeds, of which the first is the one that the Lab shows."""

    def __init__(self, scenario: Scenario, baseline: str, many: int) -> None:
        self.scenario, self.baseline = scenario, baseline
        self.policies, self.numbers = tuple(scenario.policies), seeds_of(scenario, many)
        self.tasks = tasks_of(scenario, self.policies, self.numbers)
        for task in self.tasks[: len(self.policies)]:
            if task not in memory():
                one = alone(scenario, task.policy)
                memory()[task] = _first(link(one), task.policy, one, result(scenario, task.policy))

    def known(self) -> Comparison:
        """What is known: the first seeds up to the one of which a policy is missing."""
        found = list[dict[str, Any]]()
        for task in self.tasks:
            figures = memory().get(task)
            if figures is None:
                break
            found.append(figures)
        seeds = len(found) // len(self.policies)
        some = found[: seeds * len(self.policies)]
        return made(self.scenario, self.policies, self.numbers[:seeds], self.baseline, some)

    def compute(self, progress: Progress) -> None:
        """Make the next few runs: so many that the table fills in a handful of steps.

        Raises ScenarioError for more than a page should begin, and WorkersDied in words.
        """
        work = expected_requests(self.scenario) * len(self.tasks)
        refused_work(work)
        missing = [task for task in self.tasks if task not in memory()]
        many = -(-(len(self.numbers) - 1) // PAINTS) * len(self.policies)
        executor = workers().executor_for(work, warm=True)
        run_all(summarised, missing[:many], executor, progress, memory())
