"""A request on an engine of its own: the closed form is the run, and nobody is faster in company."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.alone import alone_ps, prefill_alone_ps
from sched.cost import iteration_cost, machine

PRESETS = ["h100_sxm|llama-3.1-8b|tp1", "rtx4090|llama-3.1-8b|tp1|lss", "h100_sxm|mixtral-8x7b|tp2"]


def engine_of(hardware: str, **rest: Any) -> dict[str, Any]:
    affine = {"base_s": 0.008, "attention_s": 3e-12, "prefill_token_s": 1e-5, "kv_token_s": 1e-7}
    return {"hardware": hardware, "iteration_s": 0.5, "affine": affine, "kv_blocks": 2000, **rest}


@settings(max_examples=150)
@given(
    hardware=st.sampled_from(["constant", "affine", *PRESETS]),
    prompt=st.integers(1, 5000),
    output=st.integers(1, 300),
    budget=st.integers(1, 700),
    whole=st.booleans(),
    threshold=st.sampled_from([0, 100]),
    longest=st.sampled_from([0, 5100]),
)
def test_alone_is_what_a_run_of_one_request_takes(
    hardware: str, prompt: int, output: int, budget: int, whole: bool, threshold: int, longest: int
) -> None:
    limits = {"max_num_batched_tokens": 5000 if whole else budget, "enable_chunked_prefill": not whole}
    engine = engine_of(hardware, long_prefill_token_threshold=threshold, max_model_len=longest, **limits)
    scenario = Scenario(engine=engine, requests=[{"id": "a", "prompt": prompt, "output": output}])
    log = simulate(scenario, "fcfs")
    expected = alone_ps(machine(scenario), iteration_cost(scenario), prompt, output)
    assert int(log.ended_ps[0] - log.requests.arrival_ps[0]) == expected


@settings(max_examples=40)
@given(
    hardware=st.sampled_from(["affine", *PRESETS]),
    shared=st.integers(1, 40),
    own=st.integers(1, 700),
    budget=st.integers(1, 500),
)
def test_alone_with_hits_is_a_run_after_the_one_that_filled_the_cache(
    hardware: str, shared: int, own: int, budget: int
) -> None:
    engine = engine_of(hardware, enable_prefix_caching=True, max_num_batched_tokens=budget)
    prompt = 16 * shared + own
    first = {"id": "a", "prompt": 16 * shared, "output": 1, "prefix": [["x", 16 * shared]]}
    second = {"id": "b", "arrival_s": 5000.0, "prompt": prompt, "output": 3, "prefix": [["x", 16 * shared]]}
    scenario = Scenario(engine=engine, requests=[first, second], duration_s=6000.0)
    log = simulate(scenario, "fcfs")
    hits = int(log.stays.hit_tokens[1])
    assert hits == 16 * shared
    expected = alone_ps(machine(scenario), iteration_cost(scenario), prompt, 3, hits)
    assert int(log.ended_ps[1] - log.requests.arrival_ps[1]) == expected


def test_alone_on_paper() -> None:
    # A second an iteration: 10 tokens at 4 an iteration are three, and four more tokens are four.
    scenario = Scenario(engine={"hardware": "constant", "iteration_s": 1.0, "max_num_batched_tokens": 4})
    assert alone_ps(machine(scenario), iteration_cost(scenario), 10, 5) == 7 * 10**12
    assert prefill_alone_ps(machine(scenario), iteration_cost(scenario), 10, 10) == 0


@given(st.integers(0, 999), st.integers(1, 999), st.integers(1, 99), st.sampled_from(["affine", *PRESETS]))
def test_the_closed_form_is_the_sum_over_chunks(cached: int, new: int, budget: int, hardware: str) -> None:
    scenario = Scenario(engine=engine_of(hardware, max_num_batched_tokens=budget))
    cost, before, total = iteration_cost(scenario), cached, 0
    while before < cached + new:
        tokens = min(cached + new - before, budget)
        squares = tokens * (before + before + tokens)
        total += cost.mixed_ps(0, tokens, 1) + cost.attention_ps * squares // 2 + cost.prefix_ps * before
        before += tokens
    assert prefill_alone_ps(machine(scenario), cost, cached + new, cached) == total
