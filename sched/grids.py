"""A scenario over a grid of its values: every policy on the identical requests of each seed at each point."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from sched.cost import machine
from sched.experiments import MOST_RUNS, Comparison, expected_requests, made, seeds_of, tasks_of
from sched.fields import ScenarioError
from sched.measures import METRICS
from sched.ranges import Axis, at, different
from sched.scenario import Scenario
from sched.tasks import Task, summarised
from sched.workers import Kept, Progress, run_all

Place = tuple[int, ...]
"""Where a point stands on each axis."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A comparison at each point of a grid, the last axis running fastest."""

    scenario: Scenario
    axes: tuple[Axis, ...]
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    points: Mapping[Place, Comparison]

    def setting(self, place: Place) -> dict[str, str]:
        """What is set at a point, by key."""
        return {one.key: one.values[number] for one, number in zip(self.axes, place, strict=True)}

    def runs(self) -> Iterator[tuple[Place, str, int, dict[str, Any]]]:
        """Every run: its point, its policy, its seed, its figures."""
        for place, found in self.points.items():
            for policy in self.policies:
                for seed, run in zip(self.seeds, found.runs[policy], strict=True):
                    yield place, policy, seed, run


def places(axes: Sequence[Axis]) -> list[Place]:
    """Every point of the grid in order."""
    return list(product(*(range(len(one.values)) for one in axes)))


def grid(
    scenario: Scenario, axes: tuple[Axis, ...], policies: Sequence[str], seeds: int
) -> dict[Place, Scenario]:
    """The scenario at each point. Raises ScenarioError for a point that cannot be, or for too many runs."""
    many = prod(len(one.values) for one in different(axes)) * len(policies) * seeds
    if many > MOST_RUNS:
        raise ScenarioError(f"vary: makes {many:,} runs, must be at most {MOST_RUNS:,}", "vary")
    found = {place: at(scenario, axes, place) for place in places(axes)}
    for one in found.values():
        machine(one)
    return found


def expected_work(scenarios: Mapping[Place, Scenario], policies: Sequence[str], seeds: int) -> float:
    """About how many requests all runs together have."""
    return sum(map(expected_requests, scenarios.values())) * len(policies) * seeds


def sweep(
    scenario: Scenario,
    axes: Sequence[Axis],
    policies: Sequence[str],
    seeds: int = 1,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> Sweep:
    """Run the policies at each point over these seeds; what two points have in common runs once.

    Raises ScenarioError for a point that the schema refuses, with its sentence.
    """
    around = tuple(axes)
    scenarios = grid(scenario, around, policies, seeds)
    return swept(
        scenario, around, scenarios, policies, seeds, executor=executor, progress=progress, kept=kept
    )


def swept(
    scenario: Scenario,
    axes: tuple[Axis, ...],
    scenarios: Mapping[Place, Scenario],
    policies: Sequence[str],
    seeds: int,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
    kept: Kept | None = None,
) -> Sweep:
    """The same over scenarios that are made already."""
    chosen, numbers = tuple(dict.fromkeys(policies)), seeds_of(scenario, seeds)
    wanted = {place: tasks_of(one, chosen, numbers) for place, one in scenarios.items()}
    tasks = list(dict.fromkeys(task for some in wanted.values() for task in some))
    answers = run_all(summarised, tasks, executor, progress, kept)
    found: dict[Task, dict[str, Any]] = dict(zip(tasks, answers, strict=True))
    points = {
        place: made(scenarios[place], chosen, numbers, chosen[0], [found[task] for task in some])
        for place, some in wanted.items()
    }
    return Sweep(scenario, axes, chosen, numbers, points)


def number_of(text: str) -> int | float:
    """A point as JSON has it."""
    return float(text) if "." in text else int(text)


def rows(found: Sweep) -> list[dict[str, Any]]:
    """The rows of `sweep --json`: what is set, policy, seed, then the figures as `run --json` has them."""
    return [
        {
            **{key: number_of(text) for key, text in found.setting(place).items()},
            "policy": policy,
            "seed": seed,
            **run,
        }
        for place, policy, seed, run in found.runs()
    ]


def columns(found: Sweep) -> tuple[list[str], list[list[Any]]]:
    """The same as a flat table: heads and rows; a figure of a class is called class.metric."""
    classes = list(dict.fromkeys(name for one in found.points.values() for name in one.classes))
    whole = [one for one in METRICS.values() if not one.by_class]
    parts = [(name, one) for name in classes for one in METRICS.values() if one.by_class]
    heads = [one.key for one in found.axes] + ["policy", "seed", "arrived", "finished"]
    heads += [one.key for one in whole] + [f"{name}.{one.key}" for name, one in parts]
    lines = [
        [
            *map(number_of, found.setting(place).values()),
            *(policy, seed, run["requests"]["arrived"], run["requests"]["finished"]),
            *(one.of(run) for one in whole),
            *(one.of(run, name) for name, one in parts),
        ]
        for place, policy, seed, run in found.runs()
    ]
    return heads, lines
