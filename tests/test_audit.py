"""The audit finds nothing in a sound log, and something in every log that was tampered with."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.audit import audit
from sched.log import Log
from sched.model import NEVER, Outcome
from tests.strategies import small_scenarios


@settings(max_examples=150)
@given(small_scenarios(), st.sampled_from([90.0, 90.0, 0.0, 2.0]), st.sampled_from([None, 3.3]))
def test_every_run_obeys_the_laws(scenario: Scenario, drain_s: float, timeout_s: float | None) -> None:
    scenario = scenario.changed(duration_s=10.0, drain_s=drain_s)
    if timeout_s:
        scenario = scenario.changed(classes={"api": {"timeout_s": timeout_s}, "docs": {"timeout_s": 5.0}})
    for policy in scenario.policies:
        assert audit(simulate(scenario, policy)) == []


def test_a_run_without_requests_is_sound() -> None:
    assert audit(simulate(Scenario(policies={"fcfs": {}}), "fcfs")) == []


@pytest.fixture(scope="module")
def sound() -> Log:
    """Nine requests of three levels on little memory: with preemptions, prefill chunks and an idle time."""
    engine = {"hardware": "constant", "iteration_s": 1.0, "block_size": 4, "kv_blocks": 12, "max_num_seqs": 4}
    engine |= {"max_num_batched_tokens": 16}
    listed = [
        {
            **{"id": f"r{i}", "priority": i % 3, "arrival_s": 1.5 * i + 60 * (i > 7)},
            **{"prompt": 5 + 3 * i, "output": 9},
        }
        for i in range(9)
    ]
    scenario = Scenario(engine=engine, requests=listed, duration_s=90.0, policies={"priority": {}})
    log = simulate(scenario, "priority")
    assert audit(log) == [] and len(log.preempted.victim) and (np.diff(log.iteration_start_ps) > 10**12).any()
    return log


def changed(log: Log, table: str, name: str, change: Callable[[Any], None]) -> Log:
    """The log with one column changed; table "" is the log's own."""
    owner: Any = getattr(log, table) if table else log
    column = getattr(owner, name).copy()
    change(column)
    owner = replace(owner, **{name: column})
    tables: dict[str, Any] = {table: owner}
    return replace(log, **tables) if table else owner


def put(row: int, by: int) -> Callable[[Any], None]:
    def change(column: Any) -> None:
        column[row] += by

    return change


def make(value: int) -> Callable[[Any], None]:
    def change(column: Any) -> None:
        column[3] = value

    return change


@pytest.mark.parametrize(
    ("table", "name", "change", "words"),
    [
        ("stretches", "count", put(1, 1), "does not follow on"),
        ("stretches", "start_ps", put(2, -10), "before iteration"),
        ("stretches", "first_ps", put(2, 5), "before iteration"),
        ("stretches", "kv_used", put(2, 1), "blocks are held"),
        ("stretches", "running", put(2, -1), "in the batch"),
        ("stretches", "waiting", put(2, 1), "requests wait"),
        ("stretches", "decode_tokens", put(2, 1), "tokens are computed"),
        ("", "emitted_tokens", put(3, -1), "tokens instead of"),
        ("", "outcome", make(Outcome.UNFINISHED), "ended at"),
        ("", "outcome", make(Outcome.REFUSED), "refused and yet scheduled"),
        ("", "outcome", make(9), "no outcome"),
        ("", "ended_ps", make(NEVER), "ended at"),
        ("", "first_scheduled_ps", make(0), "before it arrived"),
        ("", "first_token_ps", make(10**16), "before its first token"),
        ("", "first_token_ps", make(NEVER), "its first at"),
        ("", "preemptions", put(3, 1), "preempted"),
        ("", "recomputed_tokens", put(3, 999), "had lost only"),
        ("stays", "iteration", put(1, -1), "r"),
        ("stays", "end_iteration", put(0, 1), "r"),
        ("stays", "start_ps", put(0, 1), "not with its iteration"),
        ("stays", "known_tokens", put(0, 1), "emitted"),
        ("stays", "end", make(3), "preempted"),
        ("chunks", "tokens", put(0, 1), "r"),
        ("chunks", "before", put(4, 1), "tokens before it"),
        ("chunks", "iteration", put(0, -1), "r"),
        ("runs", "count", put(0, 1), "r"),
        ("runs", "before", put(0, 1), "tokens before it"),
        ("preempted", "lost_tokens", put(0, 1), "lost"),
    ],
)
def test_a_tampered_log_is_found_out(sound: Log, table: str, name: str, change: Any, words: str) -> None:
    told = audit(changed(sound, table, name, change))
    assert told and any(words in sentence for sentence in told), told


@pytest.mark.parametrize("limit", ["kv_blocks", "max_num_seqs", "max_num_batched_tokens"])
def test_a_limit_that_was_passed_is_found_out(sound: Log, limit: str) -> None:
    machine = replace(sound.machine, **{limit: getattr(sound.machine, limit) // 2})
    assert audit(replace(sound, machine=machine))
