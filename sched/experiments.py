"""Policies side by side over several seeds, and a scenario over a grid of its values.

Each policy runs on the identical request list of each seed, so that differences are paired: what the draw
brings is the same for all of them. Source: Law, Simulation modeling and analysis, 5th edition, sections 10.2
and 11.2.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from sched.fields import ScenarioError
from sched.intervals import CONFIDENCE, Difference, Estimate, difference, estimate, holm
from sched.measures import METRICS
from sched.plain import plain
from sched.scenario import Scenario
from sched.tasks import Task, summarised
from sched.traces import of_scenario
from sched.workers import Kept, Progress, run_all

MOST_SEEDS = 1000
MOST_RUNS = 100_000
STATISTICS = {
    "mean": "mean of the values by seed; low and high: the interval that holds the true mean",
    "difference": "mean of the differences from the baseline on the same seeds, with its interval",
}
"""What the figures of a comparison are, on the page as well."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several policies over the same seeds. `runs[policy]` has one `summarised` run a seed, in order."""

    scenario: Scenario
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    baseline: str
    runs: Mapping[str, tuple[dict[str, Any], ...]]
    notes: tuple[dict[str, str], ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that have requests on any of the seeds, in the scenario's order."""
        return tuple(dict.fromkeys(name for one in self.runs[self.baseline] for name in one["classes"]))

    @property
    def lowest_class(self) -> str | None:
        """The class of the least urgent requests: who starves, if anybody does."""
        found: str | None = self.runs[self.baseline][0]["lowest_class"]
        return found

    def values(self, policy: str, metric: str, class_name: str = "") -> tuple[float | None, ...]:
        """A figure of METRICS under a policy, by seed; None where a run has none."""
        return tuple(METRICS[metric].of(one, class_name) for one in self.runs[policy])

    def estimate(self, policy: str, metric: str, class_name: str = "") -> Estimate:
        """Its mean over the seeds with the interval."""
        return estimate(self.values(policy, metric, class_name), 0.0, METRICS[metric].most)

    def differences(self, metric: str, class_name: str = "") -> dict[str, Difference]:
        """How much more than under the baseline, paired by seed, for each other policy."""
        base = self.values(self.baseline, metric, class_name)
        others = [one for one in self.policies if one != self.baseline]
        found = [difference(self.values(one, metric, class_name), base) for one in others]
        return dict(zip(others, holm(found), strict=True))

    def difference(self, policy: str, metric: str, class_name: str = "") -> Difference:
        """How much more than under the baseline; of the baseline itself exactly 0."""
        if policy == self.baseline:
            own = self.values(policy, metric, class_name)
            return difference(own, own)
        return self.differences(metric, class_name)[policy]

    def meets(self, policy: str, metric: str, goal: float, class_name: str = "") -> tuple[int, int]:
        """On how many seeds the figure keeps a goal, and of how many it has a value."""
        known = [one for one in self.values(policy, metric, class_name) if one is not None]
        is_lower = METRICS[metric].better == "lower"
        return sum(one <= goal if is_lower else one >= goal for one in known), len(known)


def seeds_of(scenario: Scenario, count: int) -> tuple[int, ...]:
    """The scenario's seed and those after it."""
    if not 1 <= count <= MOST_SEEDS:
        raise ScenarioError(f"seeds = {count}: must be at least 1 and at most {MOST_SEEDS}", "seeds")
    return tuple(range(scenario.seed, scenario.seed + count))


def is_random(scenario: Scenario) -> bool:
    """Whether another seed may give other figures: requests are drawn, or lengths guessed."""
    guesses = (getattr(one, "predictor", "off") for one in scenario.policies.values())
    return bool(scenario.traffic) or any(one not in ("off", "oracle", "bucket") for one in guesses)


def expected_requests(scenario: Scenario) -> float:
    """About how many requests the scenario has; of a trace, which is read for it, exactly how many."""
    drawn = sum(
        min(one.rate_per_s * scenario.duration_s, one.max_requests or np.inf) for one in scenario.traffic
    )
    recorded = len(of_scenario(scenario.trace, scenario.urgency).ids) if scenario.trace else 0
    return float(drawn + sum(one.count for one in scenario.requests) + recorded)


def compare(
    scenario: Scenario,
    policies: Sequence[str],
    seeds: int,
    *,
    baseline: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> Comparison:
    """Every policy on the identical request list of each seed; the first policy is the baseline if none is.

    The same scenario gives the same figures whoever computes them; `kept` are runs by task that are there
    already, and the new ones are put to them. Raises ScenarioError for a wrong number
    of seeds or a baseline that is not compared.
    """
    chosen, numbers = tuple(dict.fromkeys(policies)), seeds_of(scenario, seeds)
    base = baseline or chosen[0]
    if base not in chosen:
        raise ScenarioError(f"baseline = {base}: must be one of the policies compared: {', '.join(chosen)}")
    found = run_all(summarised, tasks_of(scenario, chosen, numbers), executor, progress, kept)
    return made(scenario, chosen, numbers, base, found)


def tasks_of(scenario: Scenario, policies: Sequence[str], seeds: Sequence[int]) -> list[Task]:
    """The runs of a comparison, seed by seed."""
    alone = {policy: _alone(scenario, policy) for policy in policies}
    return [Task(alone[policy], policy, seed) for seed in seeds for policy in policies]


def made(
    scenario: Scenario,
    policies: tuple[str, ...],
    seeds: tuple[int, ...],
    baseline: str,
    found: Sequence[dict[str, Any]],
) -> Comparison:
    """A comparison of runs that are there, in the order of `tasks_of`."""
    runs = {policy: tuple(found[place :: len(policies)]) for place, policy in enumerate(policies)}
    return Comparison(scenario, policies, seeds, baseline, runs, tuple(_notes(scenario, runs, seeds)))


def _alone(scenario: Scenario, policy: str) -> Scenario:
    """What a run depends on: not on the other policies, nor on what the scenario is called."""
    listed = {policy: scenario.policies[policy]} if policy in scenario.policies else {policy: {}}
    return scenario.changed(policies=listed, annotate_after_s=None, title="", story="")


def _notes(
    scenario: Scenario, runs: Mapping[str, tuple[dict[str, Any], ...]], seeds: Sequence[int]
) -> list[dict[str, str]]:
    """What must be known beside the figures; a note of the runs once, with the policies it holds for."""
    found: list[dict[str, str]] = []
    if not is_random(scenario) and len(seeds) == 1:
        found.append({"path": "seeds", "text": "nothing here is drawn, so one run is all there is"})
    elif len(seeds) == 1:
        found.append({"path": "seeds", "text": "one seed gives no interval: low and high are null"})
    elif not is_random(scenario):
        text = "nothing here is drawn, so every seed has the same requests and the intervals say nothing"
        found.append({"path": "seeds", "text": text})
    whose: dict[tuple[str, str], list[str]] = {}
    for policy, own in runs.items():
        for note in {(one["path"], one["text"]): None for run in own[:1] for one in run["notes"]}:
            whose.setdefault(note, []).append(policy)
    for (path, text), policies in whose.items():
        only = "" if len(policies) == len(runs) else f" ({', '.join(policies)})"
        found.append({"path": path, "text": f"{text}{only}"})
    return found


def told(found: Comparison) -> dict[str, Any]:
    """The `compare --json` object: of each policy, by class and in all, each metric with its interval."""
    policies: dict[str, Any] = {policy: {"classes": {}, "total": {}} for policy in found.policies}
    for metric in METRICS.values():
        for name in found.classes if metric.by_class else ("",):
            differences = found.differences(metric.key, name)
            for policy in found.policies:
                own = differences.get(policy) or found.difference(policy, metric.key, name)
                node = policies[policy]
                place = node["classes"].setdefault(name, {}) if metric.by_class else node["total"]
                place[metric.key] = _row(found, policy, metric.key, name, own)
    return {
        "scenario": plain(found.scenario, full=True),
        "seeds": list(found.seeds),
        "baseline": found.baseline,
        "confidence": CONFIDENCE,
        "statistics": STATISTICS,
        "metrics": {
            key: {"title": one.title, "unit": one.unit, "better": one.better, "help": one.help}
            for key, one in METRICS.items()
        },
        "policies": policies,
        "notes": list(found.notes),
    }


def _row(found: Comparison, policy: str, metric: str, name: str, own: Difference) -> dict[str, Any]:
    mean = found.estimate(policy, metric, name)
    return {
        "mean": mean.mean,
        "low": mean.low,
        "high": mean.high,
        "difference": own.mean,
        "difference_low": own.low,
        "difference_high": own.high,
        "clear": own.is_clear,
        "n": mean.n,
        "values": list(found.values(policy, metric, name)),
    }
