"""Rows on promises: classes with different goals on shared engines, or each class on its own."""

from collections.abc import Mapping
from typing import Any

from sched.engine import simulate
from sched.inversion import analyse
from sched.metrics import summary
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

GOALS: Mapping[str, dict[str, float]] = {
    "interactive": {"ttft_s": 6, "tpot_s": 0.05},
    "soon": {"ttft_s": 60},
    "later": {"ttft_s": 180},
}
STRICT, RELAXED = 384, 2048
"""Token budgets: the largest chunk that keeps the goal of the gap, and one for throughput."""
LENGTH_S, WAVE_S, PEAK = 600, 300, 1.6
LATE, FINE = 0.01, 1.03
EVEN: Mapping[str, Any] = {"kind": "poisson"}
WAVES: Mapping[str, Any] = {"kind": "diurnal", "period_s": WAVE_S, "peak": PEAK}


def _classes(
    names: tuple[str, ...], rate_per_s: float, budget: int, policy: str, law: Mapping[str, Any]
) -> Scenario:
    """Each of these classes at this rate."""
    traffic: list[dict[str, Any]] = [
        {
            "name": name,
            "rate_per_s": rate_per_s,
            "arrivals": law,
            "prompt": {"kind": "lognormal", "mean": 1700, "cv": 1, "max": 7000},
            "output": {"kind": "lognormal", "mean": 100, "cv": 1, "max": 1000},
            "slo": GOALS[name],
        }
        for name in names
    ]
    engine = {"hardware": "a100_sxm|llama-3.1-8b|tp1", "max_num_batched_tokens": budget}
    return Scenario(duration_s=LENGTH_S, engine=engine, traffic=traffic, policies={policy: {}})


def _late(scenario: Scenario, policy: str) -> float:
    """Share of the requests that miss a goal, the mean of the classes."""
    log = simulate(scenario, policy)
    classes = summary(log, scenario, analyse(log), with_blame=False)["classes"]
    return 1 - sum(float(one["slo_attainment"]) for one in classes.values()) / len(classes)


def _alone(rate_per_s: float, law: Mapping[str, Any]) -> float:
    """Share that is late where each class has an engine of its own, at its best budget, in order of arrival.

    `rate_per_s` is of all classes together, for each engine there is.
    """
    late = [
        _late(_classes((name,), rate_per_s, STRICT if "tpot_s" in goals else RELAXED, "fcfs", law), "fcfs")
        for name, goals in GOALS.items()
    ]
    return sum(late) / len(late)


def _together(rate_per_s: float, policy: str, law: Mapping[str, Any]) -> float:
    """Share that is late where as many engines each serve all classes, one of which is run."""
    return _late(_classes(tuple(GOALS), rate_per_s / len(GOALS), STRICT, policy, law), policy)


def _capacity_per_s(policy: str) -> float:
    """Most requests per second and engine with hardly any late; without a policy, each class alone."""
    low, high = 4.0, 10.0
    while high / low > FINE:
        middle = (low * high) ** 0.5
        late = _together(middle, policy, EVEN) if policy else _alone(middle, EVEN)
        low, high = (middle, high) if late <= LATE else (low, middle)
    return low


def shared(capacity: str = "edf", overload: str = "slack") -> Measured:
    """Deadlines on shared engines against an engine for each class."""
    alone, together = _capacity_per_s(""), _capacity_per_s(capacity)
    late_alone, late = _alone(together, WAVES), _together(together, overload, WAVES)
    return Measured(
        f"{len(GOALS)} engines, {len(GOALS)} classes with first tokens due after 6, 60 and 180 s, the first "
        f"also with gaps of 50 ms; {LENGTH_S} s; budget {STRICT} for shared engines and the first class, "
        f"{RELAXED} for the others alone; capacity: at most {100 * LATE:g} % late of Poisson arrivals; "
        f"overload: that rate of the shared engines in waves of {WAVE_S} s with {PEAK} times as many at the "
        "peak",
        (
            Figure("capacity of an engine, each class alone", alone, "requests/s", digits=2),
            Figure(
                "capacity of an engine, shared, earliest deadline first", together, "requests/s", digits=2
            ),
            Figure("gain of capacity", 100 * (together / alone - 1), "%", 32, 15),
            Figure("late in overload, each class alone", 100 * late_alone, "%", digits=1),
            Figure("late in overload, shared, least slack first", 100 * late, "%", digits=1),
            Figure("late alone over shared", late_alone / late if late else 1e3, "times", 10, 5, None, 1),
        ),
    )


PAPERS = (
    Paper(
        "shared-deadlines",
        "Goel et al., Niyama, arXiv 2503.22562",
        "three classes of goals on one set of engines, against a set for each class",
        "32 % more capacity; an order of magnitude fewer late requests in overload",
        "Whoever has time gives way while a wave of the urgent passes, so no engine must be sized for a peak "
        "of one class. Chunks that change with the slack are not modelled: the shared engines always take "
        "the small ones. An even split of the requests stands for the router.",
        shared,
    ),
)
