"""A wait never exceeds what is said to bound it, under any policy; and where nothing does, that is said."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.bounds import BOUNDED, CONDITIONAL, UNBOUNDED, UNKNOWN, statement
from sched.evidence import evidence
from sched.guide import guide
from sched.log import Log
from tests.strategies import small_scenarios
from tests.test_inversion import TICK, TICK_S, of, textbook

MACHINE = {
    **{"hardware": "constant", "iteration_s": TICK_S, "kv_blocks": 10, "block_size": 100},
    "max_num_batched_tokens": 100_000,
}


def scene(requests: list[dict[str, Any]], policy: str, options: dict[str, Any], **engine: Any) -> Scenario:
    listed = [{**one, "arrival_s": one.get("arrival_s", 0) * TICK_S} for one in requests]
    return Scenario(duration_s=100.0, engine=MACHINE | engine, requests=listed, policies={policy: options})


def first_wait_ps(log: Log, request: int) -> int:
    return int(log.first_scheduled_ps[request] - log.requests.arrival_ps[request])


@pytest.mark.parametrize("medium", [6, 12, 24, 48])
@pytest.mark.parametrize(
    ("policy", "options", "kind", "most"),
    [
        ("hol", {}, BOUNDED, 2),
        ("priority", {}, BOUNDED, 2),
        ("fcfs", {}, BOUNDED, 3),  # M2 comes with it and stands before it
        ("preemptive", {}, BOUNDED, 1),
        ("rescue", {"kv": 0.7, "lend": False}, BOUNDED, 1),
        ("rescue", {"kv": 0.7}, BOUNDED, 1),
        ("skip_limit", {"limit": 0}, BOUNDED, 2),
        ("skip_limit", {"limit": 1}, BOUNDED, 4),
        ("skip_limit", {"limit": 3}, BOUNDED, 7),
        ("backfill", {}, UNBOUNDED, None),
        ("inheritance", {}, UNBOUNDED, None),
        ("aging", {}, UNKNOWN, None),
        ("vtc", {}, UNKNOWN, None),
    ],
)
def test_the_textbooks_wait_is_within_its_bound(
    policy: str, options: dict[str, Any], kind: str, most: int | None, medium: int
) -> None:
    scenario = scene(textbook(medium), policy, options)
    log = simulate(scenario, policy)
    urgent = of(log, "A")
    found = statement(log, scenario, urgent)
    assert found.kind == kind
    if most is None:
        assert found.bound_ps is None
    else:
        assert found.bound_ps is not None and first_wait_ps(log, urgent) <= found.bound_ps <= most * TICK


def test_what_is_said_has_the_numbers() -> None:
    told = {}
    for policy in ("hol", "backfill"):
        scenario = scene(textbook(6), policy, {})
        log = simulate(scenario, policy)
        told[policy] = statement(log, scenario, of(log, "A")).text
    assert told["hol"] == (
        "Nobody passes it at a misfit: it waits until M1 left, at most 2 iterations of at most 0.13 s after "
        "the first decision, 0.25 s in all."
    )
    assert told["backfill"].startswith("Nothing bounds this wait: whoever fits is let past it")
    assert "7 blocks would be free at" in told["backfill"]


@settings(max_examples=250)
@given(st.data())
def test_no_wait_exceeds_its_bound_under_any_policy(data: st.DataObject) -> None:
    scenario = data.draw(small_scenarios())
    if data.draw(st.booleans()):
        # Most policies are told more of where blocks are not shared.
        requests = tuple(one.changed(prefix=()) for one in scenario.requests)
        engine = scenario.engine.changed(enable_prefix_caching=False)
        scenario = scenario.changed(engine=engine, requests=requests)
    policy = data.draw(st.sampled_from(sorted(scenario.policies)))
    log = simulate(scenario, policy)
    seen = None if log.replicas else evidence(log)
    for request in range(len(log.requests)):
        found = statement(log, scenario, request, seen)
        assert (found.bound_ps is not None) == (found.kind in (BOUNDED, CONDITIONAL))
        assert found.text.endswith(".")
        if found.bound_ps is None or log.first_scheduled_ps[request] < 0:
            continue
        came, got_in = log.requests.arrival_ps[request], log.first_scheduled_ps[request]
        since = (log.requests.arrival_ps > came) & (log.requests.arrival_ps <= got_in)
        more_urgent = log.requests.priority < log.requests.priority[request]
        if found.kind == BOUNDED or not (since & more_urgent).any():
            assert first_wait_ps(log, request) <= found.bound_ps, (policy, found)


def test_a_guide_line_worked_out_by_hand() -> None:
    # L holds 4 of 10 blocks for 8 of 10 ticks. Shot noise: mean 4 * 8 / 10, variance 16 * 8 / 10.
    low = {"id": "L", "prompt": 301, "output": 8, "priority": 1}
    scenario = scene([low, {"id": "H", "arrival_s": 8, "prompt": 101, "output": 2}], "backfill", {})
    log = simulate(scenario, "backfill")
    assert log.end_ps == 10 * TICK
    found = guide(evidence(log), of(log, "H"), 7)
    assert found is not None
    assert found.mean == pytest.approx(3.2) and found.deviation == pytest.approx(12.8**0.5)
    # P(occupancy <= 3) with z = -0.2 / 3.578 = -0.0559, from a table of the normal distribution.
    assert found.chance == pytest.approx(0.4777, abs=2e-4)
    assert found.expected_s == pytest.approx(8 * TICK_S * (1 - found.chance) / found.chance)
    assert guide(evidence(log), of(log, "L"), 7) is None


def test_the_guide_line_says_longer_waits_for_wider_requests() -> None:
    scenario = scene(textbook(24), "backfill", {})
    log = simulate(scenario, "backfill")
    seen = evidence(log)
    waits = [
        found.expected_s for need in range(1, 11) if (found := guide(seen, of(log, "A"), need)) is not None
    ]
    assert len(waits) == 10 and all(one is not None for one in waits)
    assert sorted(waits, key=lambda one: one or 0.0) == waits
