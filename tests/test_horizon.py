"""The longest run: 100 days. What is longer is refused in a sentence, or stops there with its reason."""

import json
from typing import Any

import pytest

from sched import Scenario, simulate
from sched.alone import alone_ps
from sched.audit import audit
from sched.cost import iteration_cost
from sched.execution import execution_of
from sched.explain import explain
from sched.external import field, reference
from sched.fields import ScenarioError
from sched.horizon import LAST_PS, LONGEST_PS, STOPPED
from sched.inversion import analyse
from sched.metrics import summary
from sched.model import PS_PER_S, Outcome
from sched.scenario import known_policies

DAY_S = 86400.0


def one(output: int = 2600, **more: Any) -> Scenario:
    """A request alone, an hour an iteration: 24 output tokens a day."""
    engine = {"hardware": "constant", "iteration_s": 3600.0} | more.pop("engine", {})
    request = {"id": "a", "prompt": 10, "output": output} | more.pop("request", {})
    return Scenario(engine=engine, requests=[request], **more)


def test_2_to_the_63_picoseconds_are_never_reached() -> None:
    assert LONGEST_PS < LAST_PS < 2**63


def test_a_request_that_alone_takes_more_than_100_days_is_refused_in_a_sentence() -> None:
    # The prompt's iteration gives the first token: 2,400 hours are 2,400 tokens.
    assert simulate(one(2400), "fcfs").end_ps == 2400 * 3600 * PS_PER_S
    with pytest.raises(ScenarioError) as caught:
        simulate(one(2600), "fcfs")
    assert str(caught.value) == (
        "requests.a: with 10 prompt and 2,600 output tokens it takes 108 days even alone on this engine, "
        "and a run has at most 100; make it or the time of an iteration shorter, or set drain_s"
    )


@pytest.mark.parametrize(
    "affine",
    [
        {"base_s": 0.01},
        {
            "base_s": 3600.0,
            "prefill_token_s": 60.0,
            "decode_seq_s": 60.0,
            "kv_token_s": 1.0,
            "attention_s": 1.0,
        },
    ],
)
def test_the_bounds_of_lengths_and_coefficients_together_are_refused_in_a_sentence(
    affine: dict[str, float],
) -> None:
    engine = {"hardware": "affine", "affine": affine}
    with pytest.raises(ScenarioError, match="days even alone on this engine"):
        simulate(one(10_000_000, engine=engine, request={"prompt": 10_000_000}), "fcfs")


@pytest.mark.parametrize(
    "more",
    [
        {"request": {"timeout_s": 30.0 * DAY_S}},
        {"drain_s": 30.0 * DAY_S},
        {"engine": {"kv_blocks": 20}},
        {"engine": {"max_model_len": 100}},
    ],
)
def test_what_ends_before_100_days_for_another_reason_is_run(more: dict[str, Any]) -> None:
    log = simulate(one(2600, **more), "fcfs")
    assert log.stop_reason == ""
    assert log.end_ps <= 31 * DAY_S * PS_PER_S


@pytest.mark.parametrize("policy", ["fcfs", "preemptive", "rescue", "mlfq", "isolated", "drr"])
def test_a_run_that_comes_to_100_days_stops_there_and_says_so(policy: str) -> None:
    # One seat, fourteen requests of 20 days each: five of them fit into 100 days.
    requests = [{"id": f"r{i}", "prompt": 10, "output": 480, "priority": i % 2} for i in range(14)]
    engine = {"hardware": "constant", "iteration_s": 3600.0, "max_num_seqs": 1}
    scenario = Scenario(engine=engine, requests=requests, policies={policy: {}})
    log = simulate(scenario, policy)
    assert STOPPED in log.stop_reason
    assert log.end_ps == LONGEST_PS
    assert audit(log) == []
    assert (log.outcome == Outcome.UNFINISHED).any() and (log.outcome == Outcome.FINISHED).any()
    found = summary(log, scenario, analyse(log), in_full=True)
    assert any(STOPPED in note["text"] for note in found["notes"])


def test_an_iteration_beyond_64_bits_is_refused_in_a_sentence() -> None:
    engine = {
        "hardware": "affine",
        "affine": {"base_s": 1.0, "prefill_token_s": 60.0},
        "max_num_batched_tokens": 10_000_000,
    }
    # Each prompt alone takes 70 days; computed in one iteration, the two take 139.
    requests = [{"id": name, "prompt": 100_000, "output": 1} for name in "ab"]
    with pytest.raises(ScenarioError, match="an iteration that begins at 0 s would take 139 days"):
        simulate(Scenario(engine=engine, requests=requests), "fcfs")


def test_a_client_may_be_patient_beyond_the_end_of_the_run() -> None:
    # Arrival and patience together are beyond 2^63 ps; that moment never comes.
    request = {"arrival_s": 60 * DAY_S, "timeout_s": 60 * DAY_S}
    log = simulate(one(24, request=request, duration_s=61 * DAY_S), "fcfs")
    assert log.outcome.tolist() == [Outcome.FINISHED]
    assert log.stop_reason == ""


def test_who_waits_in_vain_for_100_days_is_left_unfinished_with_the_reason() -> None:
    # It can never fit and is not refused: only its client's patience, on day 120, would end it.
    request = {"arrival_s": 60 * DAY_S, "timeout_s": 60 * DAY_S, "prompt": 100}
    engine = {"kv_blocks": 1, "refuse_infeasible": False}
    log = simulate(one(24, request=request, engine=engine, duration_s=61 * DAY_S), "fcfs")
    assert log.outcome.tolist() == [Outcome.UNFINISHED]
    assert log.stop_reason == STOPPED


def _leaves(found: Any, path: str = "") -> dict[str, Any]:
    """Every number of nested figures by its path."""
    if isinstance(found, dict | list | tuple):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        return {name: one for key, part in pairs for name, one in _leaves(part, f"{path}.{key}").items()}
    return {path: found} if isinstance(found, int | float) else {}


def _slowed(times: int) -> Scenario:
    """Sixty requests on a tight engine, everything so many times slower."""
    affine = {"base_s": 0.5, "prefill_token_s": 0.006, "decode_seq_s": 0.012, "kv_token_s": 0.0002}
    affine["attention_s"] = 0.00001
    return Scenario(
        duration_s=700.0 * times,
        engine={
            "hardware": "affine",
            "affine": {name: value * times for name, value in affine.items()},
            "kv_blocks": 60,
            "max_num_seqs": 6,
            "max_num_batched_tokens": 64,
        },
        requests=[
            {
                "id": f"r{i}",
                "prompt": (30, 200, 5, 400, 90)[i % 5],
                "output": (5, 160, 1, 120, 33)[i % 5],
                "arrival_s": float(i * 37 % 700) * times,
                "priority": i % 3,
                "class": "uml"[i % 3],
                "tenant": "ABCD"[i % 4],
            }
            for i in range(60)
        ],
        annotate_after_s=5.0 * times,
        classes={"u": {"slo": {"ttft_s": 50.0 * times, "e2e_s": 100.0 * times}}},
    )


@pytest.mark.parametrize("policy", ["fcfs", "backfill", "preemptive", "vtc"])
def test_a_run_of_70_days_is_a_run_of_21_minutes_with_larger_numbers(policy: str) -> None:
    # Sums of such times exceed 64 bits by far: any that wrapped round would be no multiple.
    times = 4800
    found = []
    for factor in (1, times):
        scenario = _slowed(factor).changed(policies={policy: {}})
        log = simulate(scenario, policy)
        assert audit(log) == []
        inversion = analyse(log)
        told = explain(log, inversion, "r33", scenario, simulate)
        found.append(_leaves([summary(log, scenario, inversion, in_full=True), told]))
        if factor > 1:
            assert log.end_ps > 60 * 86400 * PS_PER_S
    short, long = found
    # Quality of experience has a pace of its own, a reader's.
    names = [name for name in short if ".qoe." not in name]
    assert names == [name for name in long if ".qoe." not in name]
    for name in names:
        rates = (1.0, float(times), 1.0 / times)
        assert any(long[name] == pytest.approx(short[name] * rate, rel=1e-9) for rate in rates), name


def test_what_lower_ones_add_to_an_iteration_is_exact_where_twice_its_length_exceeds_64_bits() -> None:
    # In one iteration two prompts of 2,450 tokens with a second a pair: 69 days, half of it added.
    engine = {"hardware": "affine", "affine": {"base_s": 1.0, "attention_s": 1.0}}
    requests = [
        {"id": name, "prompt": 2450, "output": 1, "priority": level} for level, name in enumerate("ab")
    ]
    scenario = Scenario(engine=engine | {"max_num_batched_tokens": 5000}, requests=requests)
    log = simulate(scenario, "priority")
    added = log.end_ps - alone_ps(log.machine, iteration_cost(scenario), 2450, 1)
    assert log.end_ps > 2**62
    assert execution_of(analyse(log), iteration_cost(scenario)).inversion_ps.tolist() == [added, 0]


def test_no_time_in_the_schema_is_beyond_64_bits_or_no_time_at_all() -> None:
    """An iteration without a base is refused by its length, and a gap in a burst may be none."""
    for knob in reference():
        if knob.unit != "s" or knob.type == "text":
            continue
        assert knob.high is not None and knob.high * PS_PER_S < 2**63, knob.path
        if knob.above is not None and not knob.path.endswith(("affine.base_s", "gap_s")):
            assert knob.above * PS_PER_S >= 1, knob.path
    for entry in known_policies().values():
        for setting in entry.settings:
            if setting.unit == "s":
                assert setting.high is not None and setting.high * PS_PER_S < 2**63


@pytest.mark.parametrize("goal", ["ttft_s", "tpot_s", "e2e_s"])
def test_a_promise_at_its_bounds_gives_figures_that_json_can_hold(goal: str) -> None:
    knob = field(f"traffic.chat.slo.{goal}")
    for value in (knob.low, knob.high):
        scenario = one(3, classes={"default": {"slo": {goal: value}}})
        log = simulate(scenario, "fcfs")
        json.dumps(summary(log, scenario, analyse(log), in_full=True), allow_nan=False)
    with pytest.raises(ScenarioError, match="must be at least 1e-12"):
        one(3, classes={"default": {"slo": {goal: 4e-13}}})


def test_a_shortest_run_gives_figures_that_json_can_hold() -> None:
    scenario = one(3, duration_s=1e-12, classes={"default": {"slo": {"e2e_s": 1e6}}})
    log = simulate(scenario, "fcfs")
    json.dumps(summary(log, scenario, analyse(log), in_full=True), allow_nan=False)
    with pytest.raises(ScenarioError, match="duration_s = 5e-324 s: must be at least 1e-12"):
        one(3, duration_s=5e-324)
