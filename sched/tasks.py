"""One run as a task: what it takes and what it gives are small, so that any process can do it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sched.details import in_window
from sched.engine import simulate
from sched.inversion import Inversion, analyse
from sched.log import Log
from sched.metrics import summary
from sched.model import PS_PER_S, Outcome
from sched.scenario import Scenario
from sched.service import tokens_out
from sched.several import JoinedInversion
from sched.waste import repeated, stranded


@dataclass(frozen=True, slots=True)
class Task:
    """One policy on one seed of a scenario."""

    scenario: Scenario
    policy: str
    seed: int


def summarised(task: Task) -> dict[str, Any]:
    """The figures of one run, shaped as `run --json` has them; the log stays where it was made.

    Beside the figures that every view shows there are `window`, `stranded_kv` and `preemption_waste` of the
    full ones, and `lowest_class`, that of the least urgent requests.
    """
    scenario = task.scenario
    if scenario.seed != task.seed:
        scenario = scenario.changed(seed=task.seed)
    log = simulate(scenario, task.policy)
    inversion = analyse(log)
    found = summary(log, scenario, inversion, with_blame=False)
    return found | further(log, scenario, inversion)


def further(log: Log, scenario: Scenario, inversion: Inversion) -> dict[str, Any]:
    """What `summarised` says of a run beside its summary."""
    found: dict[str, Any] = {"preemption_waste": repeated(log), "lowest_class": _lowest_class(log)}
    if not isinstance(inversion, JoinedInversion):
        _of_one_engine(found, log, scenario, inversion)
    return found


def _of_one_engine(found: dict[str, Any], log: Log, scenario: Scenario, inversion: Inversion) -> None:
    counted = np.asarray(log.requests.arrival_ps >= round(scenario.warmup_s * PS_PER_S))
    until_ps = int(log.ended_ps[log.outcome == Outcome.FINISHED].max(initial=-1))
    found["stranded_kv"] = stranded(log, inversion, until_ps)
    found |= in_window(log, scenario, counted, tokens_out(log, inversion.seen.held))


def _lowest_class(log: Log) -> str | None:
    """Of several classes at the least urgent level the larger one."""
    listed = log.requests
    found = []
    for index, name in enumerate(listed.class_names):
        levels = listed.priority[listed.class_index == index]
        if len(levels):
            found.append((int(levels.max()), len(levels), -index, name))
    return max(found)[-1] if found else None
