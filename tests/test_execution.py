"""What lower requests add to an iteration, and who was overtaken: as counted one iteration at a time."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched import execution as module
from sched.cost import IterationCost, iteration_cost
from sched.evidence import evidence
from sched.execution import Execution, durations, execution, execution_of, slowest, work_by_level
from sched.inversion import analyse
from sched.log import Log
from sched.model import Outcome
from sched.overtaking import order_inversions, preemption_inversions
from tests.strategies import small_scenarios

PRESETS = ("h100_sxm|llama-3.1-8b|tp1", "h100_sxm|mixtral-8x7b|tp2", "rtx4090|llama-3.1-8b|tp1|lss")
"""Dense, with experts, and with a price on the longest prefix."""
Run = tuple[Log, IterationCost]
Piece = tuple[int, int, int, bool]
"""Priority, tokens, tokens before, whether it is a decode."""


@st.composite
def runs(draw: Any) -> Run:
    """A small run of any policy on hardware of every kind, drained or cut off."""
    scenario = draw(small_scenarios())
    hardware = draw(st.sampled_from(["constant", "affine", *PRESETS]))
    affine = {
        **{"base_s": 0.1, "prefill_token_s": 0.01, "decode_seq_s": 0.02},
        **{"kv_token_s": 0.001, "attention_s": 1e-6},
    }
    scenario = scenario.changed(
        engine=scenario.engine.changed(hardware=hardware, affine=affine),
        drain_s=draw(st.sampled_from([0.0, 90.0])),
    )
    policy = draw(st.sampled_from(sorted(scenario.policies)))
    log = simulate(scenario, policy)
    return draw(st.sampled_from(log.replicas or (log,))), iteration_cost(scenario)


def pieces_by_iteration(log: Log) -> list[dict[int, Piece]]:
    """For each iteration, what each request computed in it."""
    found: list[dict[int, Piece]] = [{} for _ in range(log.iterations)]
    stays = log.stays
    known = {
        (int(stays.request[row]), iteration): int(stays.known_tokens[row])
        for row in range(len(stays.request))
        for iteration in range(int(stays.iteration[row]), int(stays.end_iteration[row]))
    }
    names = ("request", "iteration", "tokens", "before")
    chunks = list(zip(*(getattr(log.chunks, name).tolist() for name in names), strict=True))
    names = ("request", "iteration", "before", "count")
    for request, first, before, count in zip(
        *(getattr(log.runs, name).tolist() for name in names), strict=True
    ):
        chunks += [(request, first + step, 1, before + step) for step in range(count)]
    for request, iteration, tokens, before in chunks:
        priority = int(log.requests.priority[request])
        found[iteration][request] = (priority, tokens, before, before >= known[request, iteration])
    return found


def duration(cost: IterationCost, pieces: list[Piece]) -> int:
    """What an iteration with these pieces takes, as `IterationCost` says that it is put together."""
    context = sum(before for _, _, before, is_decode in pieces if is_decode)
    decodes = sum(is_decode for *_, is_decode in pieces)
    chunks = [(tokens, before) for _, tokens, before, is_decode in pieces if not is_decode]
    if not chunks:
        return cost.decode_ps(decodes) + cost.kv_token_ps * context
    length = cost.mixed_ps(decodes, sum(tokens for tokens, _ in chunks), len(pieces))
    length += cost.kv_token_mixed_ps * context + cost.prefix_ps * max(before for _, before in chunks)
    return length + cost.attention_ps * sum(q * (2 * before + q) for q, before in chunks) // 2


@settings(max_examples=120)
@given(runs())
def test_it_is_what_each_iteration_takes_less_what_it_takes_without_lower_ones(run: Run) -> None:
    log, cost = run
    found, expected = execution(evidence(log), cost), defaultdict[int, int](int)
    for iteration, batch in enumerate(pieces_by_iteration(log)):
        whole = duration(cost, list(batch.values()))
        inside = (log.stays.iteration <= iteration) & (iteration < log.stays.end_iteration)
        for request in log.stays.request[inside].tolist():
            mine = int(log.requests.priority[request])
            expected[request] += whole - duration(cost, [one for one in batch.values() if one[0] <= mine])
    assert found.inversion_ps.tolist() == [expected[request] for request in range(len(log.requests))]
    by_class = found.by_group(log.requests.class_index, len(log.requests.class_names))
    assert sum(by_class) == sum(expected.values())


@settings(max_examples=60)
@given(runs(), st.integers(1, 4))
def test_a_run_looked_at_in_parts_comes_to_the_same(run: Run, at_once: int) -> None:
    log, cost = run
    seen = evidence(log)
    whole = execution(seen, cost)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_LEVELS", 1)
        patch.setattr(module, "STRETCHES_AT_ONCE", at_once)
        assert execution(seen, cost).inversion_ps.tolist() == whole.inversion_ps.tolist()


@settings(max_examples=60)
@given(runs())
def test_the_whole_batch_takes_what_the_engine_took(run: Run) -> None:
    log, cost = run
    rows = log.stretches
    if len(rows.count):
        seen = evidence(log)
        work = work_by_level(seen, np.arange(len(seen.levels.priority)), 0, len(rows.count))
        took = durations(work, cost, rows.count)[-1]
        ends = log.iteration_start_ps + log.iteration_duration_ps
        last = rows.iteration + rows.count - 1
        assert (took == ends[last] - rows.start_ps).all()
    assert slowest(log) == log.iteration_duration_ps.max(initial=0)


def told(requests: list[dict[str, Any]], policy: str = "priority", **engine: Any) -> tuple[Log, Execution]:
    affine = {"base_s": 1.0, "prefill_token_s": 0.5, "decode_seq_s": 0.25, "kv_token_s": 0.0625} | {
        "attention_s": 0.0
    }
    usual = {"hardware": "affine", "affine": affine, "kv_blocks": 1000} | engine
    scenario = Scenario(duration_s=1000.0, engine=usual, requests=requests, policies={policy: {}})
    log = simulate(scenario, policy)
    return log, execution(evidence(log), iteration_cost(scenario))


def test_two_decoders_worked_out_by_hand() -> None:
    # Both prefill 2 tokens in the first iteration: 1 + 4 * 0.5 = 3 s; without L it is 1 + 2 * 0.5 = 2 s.
    # Then H decodes twice, with 2 and 3 tokens in its cache, beside L with as many: each adds 0.25 s and
    # 0.0625 s a cached token, so L adds 0.25 + 0.125 and 0.25 + 0.1875.
    low, high = (
        {"id": name, "prompt": 2, "output": 3, "priority": level} for level, name in ((1, "L"), (0, "H"))
    )
    log, found = told([low, high])
    assert found.inversion_ps[log.requests.ids.index("H")] == round((1 + 0.375 + 0.4375) * 1e12)
    assert found.inversion_ps[log.requests.ids.index("L")] == 0
    assert (found.running_ps == log.end_ps).all()


@settings(max_examples=60)
@given(runs())
def test_with_one_level_nobody_slows_anybody(run: Run) -> None:
    log, cost = run
    listed = replace(log.requests, priority=np.zeros_like(log.requests.priority))
    assert not execution(evidence(replace(log, requests=listed)), cost).inversion_ps.any()


# -- overtaken -------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(runs())
def test_later_ones_of_ones_class_and_spared_lower_ones_are_counted_one_by_one(run: Run) -> None:
    log, _ = run
    listed, stays = log.requests, log.stays
    cut = log.horizon_ps if log.horizon_ps >= 0 else log.end_ps
    order = [0] * len(listed)
    for mine in range(len(listed)):
        if log.outcome[mine] == Outcome.REFUSED:
            continue
        until = int(log.first_scheduled_ps[mine])
        if until < 0:
            until = int(log.ended_ps[mine]) if log.ended_ps[mine] >= 0 else cut
        for other in range(len(listed)):
            later = listed.arrival_ps[other] > listed.arrival_ps[mine]
            same = listed.class_index[other] == listed.class_index[mine]
            order[mine] += bool(later and same and 0 <= log.first_scheduled_ps[other] < until)
    assert order_inversions(log).tolist() == order
    spared = [0] * len(listed)
    for victim, at in zip(log.preempted.victim.tolist(), log.preempted.iteration.tolist(), strict=True):
        stayed = (stays.iteration < at) & (stays.end_iteration > at)
        lower = listed.priority[stays.request] > listed.priority[victim]
        spared[victim] += bool((stayed & lower).any())
    assert preemption_inversions(evidence(log)).tolist() == spared


def test_who_never_got_in_was_overtaken_too() -> None:
    requests = [
        {"id": "first", "prompt": 96, "output": 50, "class": "a"},
        {"id": "wide", "arrival_s": 1, "prompt": 97, "output": 2, "class": "b"},
        {"id": "slim", "arrival_s": 2, "prompt": 16, "output": 2, "class": "b"},
    ]
    scenario = Scenario(
        duration_s=3.0,
        drain_s=0.0,
        engine={"hardware": "constant", "iteration_s": 0.5, "kv_blocks": 12, "block_size": 16},
        requests=requests,
        policies={"backfill": {}},
    )
    log = simulate(scenario, "backfill")
    assert log.first_scheduled_ps[1] < 0 <= log.first_scheduled_ps[2]
    assert order_inversions(log).tolist() == [0, 1, 0]


@pytest.mark.parametrize("policy", ["fcfs", "hol", "static"])
def test_in_order_of_arrival_nobody_is_overtaken_by_his_class(policy: str) -> None:
    requests = [{"id": f"r{i}", "arrival_s": i / 7, "prompt": 20 + i, "output": 5} for i in range(30)]
    log, _ = told(requests, policy, max_num_seqs=3)
    assert not order_inversions(log).any()


def test_on_several_engines_each_request_is_slowed_by_those_of_its_own() -> None:
    requests = [
        {"id": f"{name}{i}", "prompt": 20, "output": 5 + i, "priority": level, "arrival_s": i}
        for level, name in enumerate("HLM")
        for i in range(4)
    ]
    scenario = Scenario(duration_s=100.0, engine={"hardware": "affine"}, requests=requests)
    cost, log = iteration_cost(scenario), simulate(scenario, "isolated")
    found = execution_of(analyse(log), cost)
    for own, part in zip(log.rows, log.replicas, strict=True):
        alone = execution(evidence(part), cost)
        assert (found.inversion_ps[own] == alone.inversion_ps).all()
        assert (found.running_ps[own] == alone.running_ps).all()
    assert not found.inversion_ps[log.requests.priority == 0].any()
    assert found.inversion_ps[log.requests.priority == 1].any()
    one = simulate(scenario, "priority")
    again = execution_of(analyse(one), cost)
    assert (again.inversion_ps == execution(evidence(one), cost).inversion_ps).all()
    assert again.inversion_ps[one.requests.priority == 0].any()
