"""What a sweep recommends for a goal, and where a load curve bends: rules that can be said in a sentence.

A goal is met where the mean of the figure over the seeds keeps it and nobody is left unserved whom the first
point serves. Of the points that meet it, those that keep within two per cent of the most throughput cost
alike, and the first of them is recommended: the smallest setting, as ranges count up.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from sched.experiments import Comparison
from sched.fields import ScenarioError
from sched.grids import Place, Sweep
from sched.intervals import mean_of
from sched.measures import METRICS, NOT_SERVED, Metric
from sched.plain import is_written_as_number
from sched.sentences import number_text, quoted

ALIKE = 0.02
"""Throughput that differs by less than this share is no difference in cost."""
THROUGHPUT = "throughput.output_tokens_per_s"


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be reached: a figure of a class, or of the whole run, and its bound."""

    class_name: str
    metric: str
    value: float

    @property
    def text(self) -> str:
        """As a link and `tune` write it: chat.ttft_s.p99<=0.5."""
        of = f"{quoted(self.class_name)}." if self.class_name else ""
        sign = "<=" if METRICS[self.metric].better == "lower" else ">="
        return f"{of}{self.metric}{sign}{number_text(self.value)}"

    def is_met(self, value: float | None) -> bool:
        """Whether a value keeps it."""
        if value is None:
            return False
        return value <= self.value if METRICS[self.metric].better == "lower" else value >= self.value


def goal(text: str) -> Goal:
    """The goal that `class.metric<=value` says. Raises ScenarioError."""
    matched = re.fullmatch(r"\s*(.*\S)\s*(<=|>=)\s*(\S+)\s*", text)  # the last sign: a name may hold one
    if matched is None:
        raise ScenarioError(f"goal = {text}: must be written like chat.ttft_s.p99<=0.5", "goal")
    left, sign, number = matched.groups()
    metric = next((one for one in METRICS.values() if left == one.key or left.endswith(f".{one.key}")), None)
    if metric is None or metric.by_class == (left == metric.key):
        known = ", ".join(one.key for one in METRICS.values() if one.by_class)
        raise ScenarioError(f"goal = {text}: must name a class and one of {known}", "goal")
    if (sign == "<=") != (metric.better == "lower"):
        raise ScenarioError(
            f"goal = {text}: of {metric.key} {metric.better} is better, so turn the sign", "goal"
        )
    try:
        value = float(number if is_written_as_number(number) else "nan")
    except ValueError:
        value = float("nan")
    if not 0 <= value < 1e9:
        raise ScenarioError(f"goal = {text}: {number} must be a number from 0 to a thousand million", "goal")
    return Goal(_class_of(left.removesuffix(metric.key).removesuffix("."), text), metric.key, value)


def _class_of(name: str, text: str) -> str:
    if not name.startswith('"'):
        return name
    try:
        return str(json.loads(name))
    except json.JSONDecodeError:
        raise ScenarioError(f"goal = {text}: {name} is no name in quotes", "goal") from None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy gets at one point, over all seeds: the figure aimed at, and what it costs."""

    place: Place
    mean: float | None
    least: float | None
    most: float | None
    met: int
    many: int
    kept: float | None
    throughput: float | None
    left: float
    preemptions: float
    worst_wait: float | None

    @property
    def is_known(self) -> bool:
        """Whether any seed has a value."""
        return self.mean is not None


def outcomes(found: Sweep, policy: str, wanted: Goal, places: Sequence[Place] | None = None) -> list[Outcome]:
    """One entry a point, of these points or all.

    Throughput kept is the mean over the seeds as a part of the first point's, as comparisons tell a price.
    """
    chosen = list(found.points) if places is None else list(places)
    base = found.points[chosen[0]].values(policy, THROUGHPUT)
    return [_outcome(place, found.points[place], policy, wanted, base) for place in chosen]


def _outcome(
    place: Place, point: Comparison, policy: str, wanted: Goal, base: Sequence[float | None]
) -> Outcome:
    values = [one for one in point.values(policy, wanted.metric, wanted.class_name) if one is not None]
    through = point.values(policy, THROUGHPUT)
    paired = [(mine, first) for mine, first in zip(through, base, strict=True) if mine and first]
    return Outcome(
        place,
        mean=mean_of(values),
        least=min(values, default=None),
        most=max(values, default=None),
        met=sum(map(wanted.is_met, values)),
        many=len(point.seeds),
        kept=fsum(one for one, _ in paired) / fsum(one for _, one in paired) if paired else None,
        throughput=mean_of(through),
        left=mean_of(point.values(policy, NOT_SERVED)) or 0.0,
        preemptions=mean_of(point.values(policy, "preemptions")) or 0.0,
        worst_wait=mean_of(point.values(policy, "wait_s.max", point.lowest_class or "")),
    )


@dataclass(frozen=True, slots=True)
class Advice:
    """The point to take. `meets`: it keeps the goal; else it comes nearest. `meeting` points keep it."""

    outcome: Outcome
    meets: bool
    meeting: int


def advice(listed: Sequence[Outcome], wanted: Goal) -> Advice | None:
    """The recommended point, or the one that comes nearest; None where no point has a value."""
    known = [one for one in listed if one.is_known]
    if not known:
        return None
    # Who turns requests away waits less: no gain.
    serving = [one for one in known if one.left <= listed[0].left] or known
    meeting = [one for one in serving if wanted.is_met(one.mean)]
    if meeting:
        most = max(one.kept or 0.0 for one in meeting)
        best = next(one for one in meeting if (one.kept or 0.0) >= most - ALIKE)
        return Advice(best, True, len(meeting))
    sign = 1 if METRICS[wanted.metric].better == "lower" else -1
    return Advice(min(serving, key=lambda one: sign * (one.mean or 0.0)), False, 0)


@dataclass(frozen=True, slots=True)
class Load:
    """What an engine gives at one load: means over the seeds."""

    place: Place
    throughput: float | None
    goodput: float | None
    response_s: float | None

    @property
    def power(self) -> float:
        """Throughput by response time; 0 where nothing is known."""
        return self.throughput / self.response_s if self.throughput and self.response_s else 0.0


def loads(found: Sweep, policy: str) -> list[Load]:
    """Tokens per second while requests come, requests within their goals, mean time in the system."""
    return [
        Load(
            place,
            mean_of([METRICS["window.output_tokens_per_s"].of(run) for run in point.runs[policy]]),
            mean_of([_goodput(run, METRICS["goodput_per_s"]) for run in point.runs[policy]]),
            mean_of([_response_s(run) for run in point.runs[policy]]),
        )
        for place, point in found.points.items()
    ]


def _goodput(run: dict[str, Any], metric: Metric) -> float | None:
    found = [one for name in run["classes"] if (one := metric.of(run, name)) is not None]
    return fsum(found) if found else None


def _response_s(run: dict[str, Any]) -> float | None:
    """Mean time in the system over all classes."""
    rows = [(one["n"], one["e2e_s"]["mean"]) for one in run["classes"].values() if one["e2e_s"]["mean"]]
    return fsum(n * mean for n, mean in rows) / sum(n for n, _ in rows) if rows else None


def knee(listed: Sequence[Load]) -> Load | None:
    """Where throughput by response time is greatest: beyond it, more load costs more than it brings.

    None where that is the last point, so that the curve bends further on, or where nothing is known.
    Source: Kleinrock, Power and deterministic rules of thumb for probabilistic problems in computer
    communications, ICC 1979.
    """
    best = max(listed, key=lambda one: one.power, default=None)
    return None if best is None or not best.power or best is listed[-1] else best
