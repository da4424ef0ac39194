"""Tenants served alike or not: against a count at every decision, and within what VTC promises."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.fairness import Difference, jain, most_tokens, service_difference
from sched.inversion import analyse
from sched.log import Log
from sched.occupancy import pieces
from sched.service import tokens_out
from tests.slow_inversion import waits_of
from tests.slow_metrics import ends, token_iterations
from tests.strategies import small_scenarios

WEIGHTS = (1.0, 2.0)


def difference(log: Log, weights: tuple[float, float] = WEIGHTS) -> Difference | None:
    return service_difference(log, analyse(log), tokens_out(log, pieces(log)), *weights)


def slow_difference(log: Log) -> float | None:
    """Largest difference in service of A and B over any time in which both wait, event by event."""
    starts, until = log.iteration_start_ps.tolist(), ends(log)
    owner = [log.requests.tenant_names[index] for index in log.requests.tenant_index.tolist()]
    weight = dict(zip(log.requests.tenant_names, map(float, log.requests.weights), strict=True))
    service = dict.fromkeys(weight, 0.0)
    emitted = token_iterations(log)
    waits, most, window = waits_of(log), None, list[float]()
    for number, start in enumerate(starts):
        if number and until[number - 1] != start:
            window = []
        waiting = {owner[wait[0]] for wait in waits if wait[1] <= start < wait[2]}
        was = service["A"] - service["B"] if len(service) == 2 else 0.0
        for request, name in enumerate(owner):
            if log.first_scheduled_ps[request] == start:
                service[name] += WEIGHTS[0] * int(log.requests.prompt_tokens[request]) / weight[name]
        if waiting == {"A", "B"}:
            window += [was, service["A"] - service["B"]]
        else:
            window = []
        for request, name in enumerate(owner):
            service[name] += WEIGHTS[1] * (number in emitted[request]) / weight[name]
        if window:
            window.append(service["A"] - service["B"])
            most = max(most or 0.0, max(window) - min(window))
    return most


@settings(max_examples=120)
@given(small_scenarios())
def test_the_difference_is_that_counted_at_every_decision(scenario: Scenario) -> None:
    scenario = scenario.changed(drain_s=40.0)
    for policy in scenario.policies:
        whole = simulate(scenario, policy)
        for log in whole.replicas or (whole,):
            found, expected = difference(log), slow_difference(log)
            assert (found and found.tokens) == (expected if expected is None else pytest.approx(expected))


def crowd(*requests: tuple[str, float, int, int], weight: float = 1.0, **engine: Any) -> Scenario:
    """One seat, a second an iteration: (tenant, arrival, prompt, output)."""
    rows = [
        {"id": f"{name}{number}", "tenant": name, "arrival_s": at, "prompt": prompt, "output": output}
        for number, (name, at, prompt, output) in enumerate(requests)
    ]
    machine = {"hardware": "constant", "iteration_s": 1.0, "max_num_seqs": 1, **engine}
    return Scenario(
        engine=machine, requests=rows, policies={"vtc": {}, "fcfs": {}}, tenants={"B": {"weight": weight}}
    )


def test_the_published_example_stays_within_its_bound() -> None:
    # A costs 4 + 2 · 2 = 8 and B 4 + 2 · 10 = 24, served A B A A A B A A; at most 14 tokens are in the batch.
    scenario = crowd(*[("A", 0, 4, 2)] * 9, *[("B", 0, 4, 10)] * 9)
    log = simulate(scenario, "vtc")
    found = difference(log)
    assert found is not None and most_tokens(log) == 14
    assert found.bound == 56 and found.tenants == ("A", "B")
    # From where A leads by 8 (after its first) to where B does by 24 - 8 = 16 after its own.
    assert found.tokens == 24
    blind = difference(simulate(scenario, "fcfs"))
    assert blind is not None and blind.tokens == 64  # eight of A, while the ninth waits


def test_weights_divide_service_and_bound() -> None:
    log = simulate(crowd(*[("A", 0, 4, 2)] * 9, *[("B", 0, 4, 2)] * 9, weight=3.0), "vtc")
    found = difference(log)
    assert found is not None and found.bound == 2 * 2 * 6
    assert found.tokens == pytest.approx(8)  # an A of 8; the B's after it make up for that by 8/3 each


def test_no_two_tenants_that_wait_have_no_difference() -> None:
    assert difference(simulate(crowd(("A", 0, 4, 2), ("B", 1, 4, 2)), "vtc")) is None
    assert difference(simulate(crowd(*[("A", 0, 4, 2)] * 3), "vtc")) is None


tenants = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 20), st.integers(1, 30), st.integers(1, 15)),
    min_size=2,
    max_size=40,
)


@settings(max_examples=100)
@given(tenants, st.integers(1, 4), st.sampled_from([1.0, 2.5]))
def test_vtc_keeps_its_promise(rows: list[tuple[str, int, int, int]], seats: int, weight: float) -> None:
    log = simulate(crowd(*rows, weight=weight, max_num_seqs=seats), "vtc")
    found = difference(log)
    if found is not None:
        assert found.tokens <= found.bound * (1 + 1e-12)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=9))
def test_jain_is_between_one_over_n_and_one(tokens: list[int]) -> None:
    log = simulate(crowd(*[(f"T{number}", 0, 1, max(one, 1)) for number, one in enumerate(tokens)]), "fcfs")
    found = jain(log, np.array(tokens), np.ones(len(tokens), dtype=bool))
    if not any(tokens):
        assert found is None
    else:
        assert found is not None and 1 / len(tokens) <= found * (1 + 1e-12) and found <= 1 + 1e-12


def test_of_many_tenants_those_with_the_most_service_are_compared() -> None:
    # Twenty small ones, and two large ones that differ most; the other one of their pair is never lost.
    small = [(f"S{number}", 0, 1, 1) for number in range(20)] * 2
    log = simulate(crowd(*small, *[("L", 0, 90, 5)] * 3, *[("M", 0, 80, 5)] * 3), "vtc")
    found = difference(log)
    assert len(log.requests.tenant_names) == 22
    assert found is not None and set(found.tenants) & {"L", "M"} and found.tokens >= 80
