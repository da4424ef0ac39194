"""The engine on the same path as the textbook's queue, which is solved event by event: no sampling error.

A queue is a rule that divides one server among those present. Between two events all shares stand still.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pytest

from sched import POLICIES, simulate
from sched.model import PS_PER_S
from sched.randomness import stream
from sched.theory import fluid_rate_per_s
from sched.theory import parameters as at
from sched.theory.runs import (
    MANY_SEATS,
    ONE_SEAT,
    exponential_tokens,
    law_tokens,
    listed,
    poisson_ps,
    scene,
    time_s,
)
from sched.workload import RequestList

JOBS = 2000
CLOSE_S = 1e-9


@dataclass(slots=True)
class Customer:
    """One in the system: what is left of its service and what it has had, in seconds."""

    number: int
    level: int
    left_s: float
    had_s: float = 0.0


Rule = Callable[[list[Customer]], list[Customer]]
"""Who is served, in equal shares."""


def ends_s(requests: RequestList, rule: Rule) -> list[float]:
    """When each leaves, in seconds."""
    arrivals = [*(requests.arrival_ps / PS_PER_S).tolist(), inf]
    sizes, levels = (requests.output_tokens * at.STEP_S).tolist(), requests.priority.tolist()
    ends, present, now, following = [0.0] * len(sizes), list[Customer](), 0.0, 0
    while present or following < len(sizes):
        served = rule(present)
        # Whoever has had less than all others shares alone until it has caught up with the next.
        others = [
            one.had_s for one in present if one.had_s > max((each.had_s for each in served), default=inf)
        ]
        steps = [one.left_s for one in served] + [other - served[0].had_s for other in others]
        length = min([arrivals[following] - now, *(step * len(served) for step in steps if step > CLOSE_S)])
        now += length
        for one in served:
            one.left_s -= length / len(served)
            one.had_s += length / len(served)
        for one in [one for one in served if one.left_s <= CLOSE_S]:
            ends[one.number] = now
            present.remove(one)
        while arrivals[following] <= now + CLOSE_S / 2 and following < len(sizes):
            present.append(Customer(following, levels[following], sizes[following]))
            following += 1
    return ends


def least(key: Callable[[Customer], Any]) -> Rule:
    """One alone is served: that with the least key."""
    return lambda present: [min(present, key=key)] if present else []


def youngest(present: list[Customer]) -> list[Customer]:
    """Those with the least service had, all alike."""
    low = min((one.had_s for one in present), default=0.0)
    return [one for one in present if one.had_s <= low + CLOSE_S]


def path(seed: int, sizes: str, jobs: int = JOBS) -> RequestList:
    """Requests of two levels at the load of the anchors."""
    two = law_tokens(seed, jobs, at.TWO_SIZES)
    output = two if sizes == "two" else exponential_tokens(seed, jobs, 1.0)
    return listed(poisson_ps(seed, jobs, at.LOAD), output, level=np.arange(jobs) % 2)


def mean_s(requests: RequestList, rule: Rule) -> float:
    """The mean time in the textbook's queue of those whom `time_s` counts."""
    times = np.array(ends_s(requests, rule)) - requests.arrival_ps / PS_PER_S
    return float(times[len(times) // 10 :].mean())


RULES: dict[str, tuple[Rule, dict[str, Any]]] = {
    "fcfs": (least(lambda one: one.number), {}),
    "preemptive": (least(lambda one: (one.level, one.number)), {"max_preemptions": 1_000_000}),
    "srpt": (least(lambda one: (one.left_s, one.number)), {"hysteresis_tokens": 0, "mode": "swap"}),
}


@pytest.mark.parametrize("sizes", ["exponential", "two"])
@pytest.mark.parametrize("policy", RULES)
def test_one_seat_is_the_textbooks_server(policy: str, sizes: str) -> None:
    # An interruption waits for the token in progress, which may change who is next: steps of 0.001 s.
    rule, settings = RULES[policy]
    if policy not in POLICIES:
        pytest.skip(f"this version has no policy {policy}")
    requests = path(5, sizes)
    log = simulate(scene(policy, settings, **ONE_SEAT), policy, requests)
    slack = CLOSE_S if policy == "fcfs" else 2 * at.STEP_S
    assert time_s(log) == pytest.approx(mean_s(requests, rule), abs=slack)


def test_an_iteration_that_grows_with_the_batch_shares_the_processor() -> None:
    line = {"base_s": 1e-12, "prefill_token_s": at.STEP_S, "decode_seq_s": at.STEP_S}
    engine = {"hardware": "affine", "affine": line | {"kv_token_s": 0.0, "attention_s": 0.0}} | MANY_SEATS
    requests = path(5, "two")
    found, wanted = time_s(simulate(scene("fcfs", **engine), "fcfs", requests)), mean_s(requests, list)
    assert found == pytest.approx(wanted, abs=2 * at.STEP_S)


@pytest.mark.parametrize("quantum_s", [0.05, 0.02])
def test_many_levels_with_tiny_quanta_serve_the_least_served(quantum_s: float) -> None:
    # Who has sunk stays in its seat unless somebody above waits, so that it may be a quantum ahead of others.
    if "mlfq" not in POLICIES:
        pytest.skip("this version has no policy mlfq")
    requests = path(5, "two", 300)
    settings = {"quanta": [quantum_s] * round(6.0 / quantum_s), "boost_s": 0.0}
    found = time_s(simulate(scene("mlfq", settings, **ONE_SEAT), "mlfq", requests))
    assert found == pytest.approx(mean_s(requests, youngest), abs=quantum_s / (1.0 - at.LOAD))


@pytest.mark.parametrize("small", [0.25, 0.5, 0.9])
def test_who_fills_the_gaps_in_memory_serves_more_and_never_more_than_all_of_it(small: float) -> None:
    # Two KV units. Behind the head of the line one of them may lie idle; a unit is never given twice.
    size = 4096
    one = stream(5, "theory", "classes").uniforms(JOBS) < small
    output = exponential_tokens(5, JOBS, 1.0, step_s=at.COARSE_S)
    requests = listed(np.zeros(JOBS, np.int64), output, prompt=np.where(one, 1, size + 1))
    engine = {"iteration_s": at.COARSE_S, "block_size": size, "kv_blocks": 2} | MANY_SEATS
    last = {
        policy: int(simulate(scene(policy, **engine), policy, requests).ended_ps.max())
        for policy in ("fcfs", "hol", "backfill")
    }
    least_ps = int((output * np.where(one, 1, 2)).sum()) * round(at.COARSE_S * PS_PER_S) // 2
    assert last["fcfs"] == last["hol"] > last["backfill"] >= least_ps
    assert JOBS * PS_PER_S / last["backfill"] == pytest.approx(fluid_rate_per_s(small, 1.0), rel=0.1)
