"""Which limit a queue waits for: worked by hand, and what must be so in every run."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from sched import Log, Scenario, simulate
from sched.limits import KV, POLICY, SEATS, TOKENS, about_the_queue, queue_ps, stretch_ps
from sched.model import PS_PER_S
from tests.strategies import small_scenarios

ALIKE = ("fcfs", "priority", "backfill", "hol", "skip_limit", "preemptive", "inheritance", "aging", "vtc")
"""Policies that admit whoever fits and keep nothing back from anybody."""


def ran(policy: str, requests: list[dict[str, Any]], **engine: Any) -> Log:
    """A run on a clock of one second an iteration, with blocks of 16 tokens."""
    return simulate(
        Scenario.model_validate(
            {"requests": requests, "engine": {"hardware": "constant", "block_size": 16, **engine}}
        ),
        policy,
    )


def one(name: str, arrival_s: float, prompt: int, output: int, count: int = 1) -> dict[str, Any]:
    return {"id": name, "arrival_s": arrival_s, "prompt": prompt, "output": output, "count": count}


@pytest.mark.parametrize(
    ("limit", "seconds", "path", "log"),
    [
        # The second waits for the seat of the first from 1 to 10.
        (
            SEATS,
            9,
            "engine.max_num_seqs",
            ("fcfs", [one("a", 0, 5, 10), one("b", 1, 5, 1)], {"max_num_seqs": 1}),
        ),
        # Two decodes take both tokens of an iteration until 9; the third has come at 2.
        (
            TOKENS,
            7,
            "engine.max_num_batched_tokens",
            ("fcfs", [one("a{i}", 0, 1, 9, 2), one("b", 2, 4, 1)], {"max_num_batched_tokens": 2}),
        ),
        # Four and three blocks fill the memory; the fifth of the first throws the second out from 1 to 20.
        (KV, 19, "engine.kv_blocks", ("fcfs", [one("a", 0, 64, 20), one("b", 0, 48, 20)], {"kv_blocks": 7})),
        # A batch that runs lets nobody join it, though there is room.
        (POLICY, 5, "policies.static", ("static", [one("a", 0, 5, 8), one("b", 3, 5, 1)], {})),
    ],
)
def test_a_queue_is_put_down_to_what_is_short(limit: int, seconds: int, path: str, log: Any) -> None:
    policy, requests, engine = log
    found = ran(policy, requests, **engine)
    assert queue_ps(found) == {limit: seconds * PS_PER_S}
    assert "in 100 % of it for" in about_the_queue(found)[path]


def test_a_queue_that_is_short_is_not_spoken_of() -> None:
    log = ran("fcfs", [one("a", 0, 5, 60), one("b", 59, 5, 20)], max_num_seqs=1)
    assert queue_ps(log) == {SEATS: PS_PER_S} and about_the_queue(log) == {}


def test_nothing_is_said_of_one_request_or_of_none() -> None:
    assert about_the_queue(ran("fcfs", [one("a", 0, 5, 5)])) == {}
    assert about_the_queue(ran("fcfs", [])) == {}


@given(small_scenarios(("fcfs", "priority", "preemptive", "vtc")))
def test_the_parts_add_up_to_the_time_in_which_somebody_waits(scenario: Scenario) -> None:
    # On this clock a batch that decodes takes longer with every token it has cached.
    scenario = scenario.changed(engine=scenario.engine.changed(hardware="affine"))
    for policy in scenario.policies:
        log = simulate(scenario, policy)
        waits = log.stretches.waiting[log.stretch_of_iteration] > 0
        assert sum(queue_ps(log).values()) == sum(log.iteration_duration_ps[waits].tolist())
        assert sum(stretch_ps(log).tolist()) == sum(log.iteration_duration_ps.tolist())


@settings(max_examples=60)
@given(small_scenarios(ALIKE))
def test_where_nobody_waited_for_room_every_policy_gives_the_same_run(scenario: Scenario) -> None:
    roomy = {"kv_blocks": 100_000, "max_num_seqs": 64, "max_num_batched_tokens": 4096}
    scenario = scenario.changed(engine=scenario.engine.changed(**roomy))
    if about_the_queue(simulate(scenario, "fcfs")).get("policies.fcfs") is None:
        return
    logs = [simulate(scenario, policy) for policy in ALIKE]
    for column in ("first_scheduled_ps", "first_token_ps", "ended_ps"):
        assert all(np.array_equal(getattr(logs[0], column), getattr(log, column)) for log in logs)
