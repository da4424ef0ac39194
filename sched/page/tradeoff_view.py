"""What Trade-offs looks at: class, goal, seeds, knobs and policy, from the link or as usual."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, prod

from sched.advice import Goal, goal
from sched.experiments import expected_requests, is_random
from sched.external import link
from sched.fields import ScenarioError
from sched.grids import Place, grid
from sched.measures import METRICS
from sched.page.compare_choices import one_of
from sched.page.computed import compared
from sched.page.language import say, tr
from sched.page.varied import BUFFER, CURVE, MAP, knobs, policy_of, range_text, usual_range, with_policy
from sched.plain import split_path
from sched.ranges import Axis, axis
from sched.scenario import Scenario
from sched.verdict import urgent_class
from sched.view import CHARTS as OWN
from sched.view import SEEDS, Shown

CHARTS = OWN["tradeoffs"]
USUAL = "ttft_s.p99"
USUAL_GOAL_S = 1.0
"""Where nothing was promised."""
USUAL_WORK = 250_000
"""Requests in all runs together up to which nine seeds are taken unasked."""
MOST_POINTS = {"curve": 61, "map": 200, "load": 61}
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
"""All rates times this."""


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at. `said` are sentences about what of the link could not be taken."""

    now: Shown
    scenario: Scenario
    chart: str
    classes: tuple[str, ...]
    lowest: str
    wanted: Goal
    policy: str
    axes: tuple[Axis, ...]
    seeds: int
    said: tuple[str, ...]

    @property
    def is_random(self) -> bool:
        """Whether another seed may give other figures; else one run is all there is."""
        return is_random(self.scenario)

    @property
    def stamp(self) -> str:
        """By which a point that was chosen is known to be one of what is shown now."""
        ranges = map(range_text, self.axes if self.chart != "load" else ())
        parts = (self.chart, self.wanted.text, *ranges, self.policy, str(self.seeds), link(self.scenario))
        return f"{zlib.crc32('&'.join((*parts, say().code)).encode()):08x}"


def view_of(now: Shown) -> View | None:
    """The view of what is shown; None where there are no requests. Raises ScenarioError."""
    scenario, said = now.scenario, list[str]()
    chart = one_of("chart", now.chart, CHARTS, CHARTS[0], said)
    axes = _axes(now, chart, said)
    named = [one for one in map(policy_of, (one.key for one in axes)) if one]
    if len(set(named)) > 1:
        said.append(tr("The two knobs belong to different policies, so the second one changes nothing here."))
    policy = named[0] if named else now.b
    scenario = with_policy(scenario, policy)
    first = compared(scenario, (policy,), 1)
    urgent = urgent_class(first.runs[policy][0], scenario)
    if urgent is None:
        return None
    wanted = _wanted(now, scenario, first.classes, urgent, said)
    points = {"load": len(FACTORS)}.get(chart, prod(len(one.values) for one in axes))
    if points > MOST_POINTS[chart]:
        many, most = f"{points:,}", f"{MOST_POINTS[chart]}"
        raise ScenarioError(
            tr(
                "These are {many} points, the page draws at most {most}: take larger steps",
                many=many,
                most=most,
            )
        )
    seeds = (now.seeds or _seeds(scenario, chart, points)) if is_random(scenario) else 1
    lowest = first.lowest_class or urgent
    return View(now, scenario, chart, first.classes, lowest, wanted, policy, axes, seeds, tuple(said))


def usual_knobs(scenario: Scenario, chart: str) -> tuple[Axis, ...]:
    """The buffer; on a map against the rate of the most urgent class, or else the seats."""
    points = MAP if chart == "map" else CURVE
    found = [usual_range(scenario, BUFFER, points)]
    if chart == "map":
        first = scenario.most_urgent()
        rates = [key for key in knobs(scenario) if key.endswith(".rate_per_s")]
        own = [key for key in rates if first is not None and split_path(key)[1] == first.name]
        found.append(usual_range(scenario, (own or rates or ["engine.max_num_seqs"])[0], points))
    return tuple(found)


def _axes(now: Shown, chart: str, said: list[str]) -> tuple[Axis, ...]:
    """The knobs that the link names, or the usual ones; what is not understood is said."""
    usual = usual_knobs(now.scenario, chart)
    found: list[Axis] = []
    for text, one in zip((now.vary, now.vary2), usual, strict=False):
        try:
            chosen = axis(text) if text else one
            _tried(now.scenario, chosen)
        except ScenarioError as error:
            said.append(f"{error}.")
            chosen = one
        found.append(chosen)
    if len(found) == 2 and found[0].key == found[1].key:
        said.append(tr("Both knobs are the same, so the second one is the usual one."))
        other = usual[1] if usual[1].key != found[0].key else usual[0]
        found[1] = other
    return tuple(found)


def _tried(scenario: Scenario, one: Axis) -> None:
    """Raise ScenarioError unless the scenario can be set to both ends."""
    policy = policy_of(one.key)
    base = with_policy(scenario, policy) if policy else scenario
    for value in (one.values[0], one.values[-1]):
        grid(base, (Axis(one.key, (value,)),), ("fcfs",), 1)


def _wanted(now: Shown, scenario: Scenario, classes: tuple[str, ...], urgent: str, said: list[str]) -> Goal:
    """The goal of the link, or what the class was promised."""
    asked = None
    if now.goal:
        try:
            asked = goal(now.goal)
        except ScenarioError as error:
            said.append(f"{error}.")
    if asked and asked.class_name in classes and METRICS[asked.metric].unit == "s":
        if now.of and now.of != asked.class_name:
            said.append(
                tr(
                    "{key} = {value}: the goal in the link is one of {name}, so {name} is shown.",
                    key="of",
                    value=now.of,
                    name=asked.class_name,
                )
            )
        return asked
    name = one_of("of", now.of, classes, urgent, said)
    usual = Goal(name, USUAL, scenario.promise(name).slo.ttft_s or USUAL_GOAL_S)
    if asked:
        said.append(
            tr(
                "goal = {goal}: this view takes a time of one of the classes, so it is {usual}.",
                goal=asked.text,
                usual=usual.text,
            )
        )
    return usual


def _seeds(scenario: Scenario, chart: str, points: int) -> int:
    """As many seeds as take a few seconds, three at most on a map."""
    work = expected_requests(scenario) * points * (sum(FACTORS) / len(FACTORS) if chart == "load" else 1)
    allowed = [many for many in SEEDS if many <= (3 if chart == "map" else 9)]
    return max((many for many in allowed if many * work <= USUAL_WORK), default=1)


def points_of(view: View) -> tuple[tuple[Axis, ...], Mapping[Place, Scenario]]:
    """The axes that are swept and the scenario at each point."""
    if view.chart != "load":
        return view.axes, grid(view.scenario, view.axes, (view.policy,), view.seeds)
    axes = (Axis("load", tuple(f"{one:g}" for one in FACTORS)),)
    return axes, {(place,): loaded(view.scenario, one) for place, one in enumerate(FACTORS)}


def loaded(scenario: Scenario, factor: float) -> Scenario:
    """The scenario with all its rates times a factor.

    A trace is played that much faster or slower and the run is as much shorter or longer, so that all its
    rows arrive and the same ones are measured.
    """
    if scenario.trace:
        return scenario.changed(
            trace=scenario.trace.changed(speed=scenario.trace.speed * factor),
            duration_s=ceil(1000 * scenario.duration_s / factor) / 1000,
            warmup_s=scenario.warmup_s / factor,
        )
    return scenario.changed(
        traffic=[one.changed(rate_per_s=one.rate_per_s * factor) for one in scenario.traffic]
    )
