"""Where the machine's work and memory went, against a count iteration by iteration."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.inversion import analyse
from sched.log import Log
from sched.model import PS_PER_S, Outcome
from sched.waste import fragmentation, moved, repeated, stranded, token_occupancy, tokens_held, work
from tests.slow_inversion import batch_by_iteration, waits_of
from tests.slow_metrics import given_by_request
from tests.strategies import small_scenarios


def last_finish(log: Log) -> int:
    return int(log.ended_ps[log.outcome == Outcome.FINISHED].max(initial=-1))


def engines(scenario: Scenario) -> Iterator[Log]:
    """The log of each engine under each policy."""
    for policy in scenario.policies:
        log = simulate(scenario, policy)
        yield from log.replicas or (log,)


@settings(max_examples=80)
@given(small_scenarios(), st.sampled_from([None, 3.0]))
def test_useful_tokens_are_each_computed_for_the_first_time(
    scenario: Scenario, drain_s: float | None
) -> None:
    scenario = scenario.changed(duration_s=6.0, drain_s=drain_s)
    scenario = scenario.changed(engine=scenario.engine.changed(enable_prefix_caching=False))
    for log in engines(scenario):
        useful = sum(max(map(reached, rows)) for rows in given_by_request(log).values())
        until = last_finish(log)
        found, again = work(log, until), int(log.recomputed_tokens.sum())
        if until > 0:
            rate = sum(one or 0.0 for one in found.values())
            assert rate * until / PS_PER_S == pytest.approx(useful, rel=1e-12)
            assert repeated(log)["recomputed_share"] == again / useful
        else:
            assert set(found.values()) == {None}
        if (log.outcome == Outcome.FINISHED).all():
            # What is emitted last is never computed.
            listed = log.requests
            assert useful == int((listed.prompt_tokens + listed.output_tokens - 1).sum())


def reached(row: tuple[int, int, int]) -> int:
    """How many tokens were computed after this piece."""
    return row[1] + row[2]


@settings(max_examples=80)
@given(small_scenarios(), st.sampled_from([None, 3.0]))
def test_memory_and_budget_are_those_added_up_iteration_by_iteration(
    scenario: Scenario, drain_s: float | None
) -> None:
    scenario = scenario.changed(duration_s=6.0, drain_s=drain_s)
    engine = scenario.engine.changed(gate="full_prompt", enable_prefix_caching=False)
    scenario = scenario.changed(engine=engine)
    for log in engines(scenario):
        inversion, until = analyse(log), last_finish(log)
        batches, given_to = batch_by_iteration(log), given_by_request(log)
        starts, lengths = log.iteration_start_ps.tolist(), log.iteration_duration_ps.tolist()
        held, room, used = [], 0, 0
        for number, batch in enumerate(batches):
            tokens = 0
            for request in batch:
                rows = [row for row in given_to[request] if row[0] <= number]
                tokens += rows[-1][1] + rows[-1][2]
            held.append(tokens)
            room += lengths[number] * sum(one["kv"] for one in batch.values()) * log.machine.block_size
            inside = max(0, min(lengths[number], until - starts[number]))
            used += inside * sum(one["tokens"] for one in batch.values())
        assert tokens_held(log, inversion).tolist() == held
        filled = sum(tokens * length for tokens, length in zip(held, lengths, strict=True))
        expected = float(1 - Fraction(filled, room)) if room else None
        assert fragmentation(log, inversion) == (expected if expected is None else pytest.approx(expected))
        if until > 0:
            share = used / (log.machine.max_num_batched_tokens * until)
            assert token_occupancy(log, inversion, until) == pytest.approx(share)
        else:
            assert token_occupancy(log, inversion, until) is None


@settings(max_examples=80)
@given(small_scenarios())
def test_stranded_memory_is_what_is_free_while_somebody_waits(scenario: Scenario) -> None:
    scenario = scenario.changed(engine=scenario.engine.changed(enable_prefix_caching=False), drain_s=30.0)
    for log in engines(scenario):
        until, found = last_finish(log), stranded(log, analyse(log), last_finish(log))
        if until <= 0:
            assert set(found.values()) == {None}
            continue
        by_peak = log.machine.gate == "peak"
        waits, free, promised = waits_of(log), 0, 0
        for batch, start, length, line in zip(
            batch_by_iteration(log),
            log.iteration_start_ps.tolist(),
            log.iteration_duration_ps.tolist(),
            log.stretch_of_iteration.tolist(),
            strict=True,
        ):
            inside = max(0, min(length, until - start))
            if not any(wait[1] <= start < wait[2] for wait in waits):
                continue
            held = sum(one["kv"] for one in batch.values())
            free += inside * (log.machine.kv_blocks - held)
            if by_peak and log.stretches.count[line] == 1:
                promised += inside * (held - int(log.stretches.kv_used[line]))
        whole = until * log.machine.kv_blocks
        parts = sum(found[name] for name in ("promised", "reserved", "head_of_line"))
        assert found["share"] == pytest.approx(parts)
        assert min(found.values()) >= 0
        assert found["share"] - found["promised"] == pytest.approx(free / whole)
        if not by_peak:
            assert found["promised"] == 0
        elif (log.stretches.count == 1).all():
            assert found["promised"] == pytest.approx(promised / whole)


def blocks(policies: dict[str, Any], *requests: tuple[int, float, int, int], **engine: Any) -> Scenario:
    """Ten blocks of a hundred tokens, a second an iteration: (priority, arrival, prompt, output)."""
    rows = [
        {"id": f"r{number}", "priority": level, "arrival_s": at, "prompt": prompt, "output": output}
        for number, (level, at, prompt, output) in enumerate(requests)
    ]
    machine = {"hardware": "constant", "iteration_s": 1.0, "kv_blocks": 10, "block_size": 100, **engine}
    return Scenario(engine=machine, requests=rows, policies=policies)


def test_a_wide_request_at_the_head_strands_memory() -> None:
    # r0 holds six blocks until 4; r1 needs five and r2, which would fit, waits behind it: 4 of 10 for 3 s.
    scenario = blocks({"hol": {}}, (0, 0, 501, 4), (0, 1, 401, 4), (0, 1, 101, 2))
    log = simulate(scenario, "hol")
    assert last_finish(log) == 8 * PS_PER_S
    found = stranded(log, analyse(log), last_finish(log))
    assert found == {"share": 0.15, "promised": 0, "reserved": 0, "head_of_line": 0.15}


def test_a_strict_reserve_strands_memory_for_the_others_only() -> None:
    # Four of ten blocks are kept. r0 holds five until 4; r1 needs three and may have one.
    strict = {"rescue": {"kv": 0.4, "lend": False}}
    log = simulate(blocks(strict, (1, 0, 401, 4), (1, 1, 201, 4), (0, 9, 101, 1)), "rescue")
    found = stranded(log, analyse(log), last_finish(log))
    # Of five free blocks four are kept, for 3 of 10 s.
    assert found == {"share": 0.15, "promised": 0, "reserved": 0.12, "head_of_line": 0.03}


def test_a_gate_on_the_peak_strands_what_it_promised() -> None:
    # r0 comes to need ten blocks, one more every 100 s; r1 waits from 1 to 900 and leaves at 902. Eight of
    # them are still free from 1 to 100, then seven, and so on.
    log = simulate(blocks({"fcfs": {}}, (0, 0, 101, 900), (0, 1, 101, 2), gate="peak"), "fcfs")
    found = stranded(log, analyse(log), last_finish(log))
    assert found["reserved"] == found["head_of_line"] == 0
    assert found["promised"] == found["share"] == (99 * 8 + 100 * sum(range(8))) / (10 * 902)


def test_half_full_blocks_on_paper() -> None:
    # 50 tokens in a block of 100, then 51.
    log = simulate(blocks({"fcfs": {}}, (0, 0, 50, 2)), "fcfs")
    assert fragmentation(log, analyse(log)) == pytest.approx(1 - 101 / 200)
    assert repeated(log) == {"recomputed_share": 0, "preemptions_per_request": 0}


def test_a_preemption_on_paper() -> None:
    # r0 is preempted with 101 + 1 tokens computed; they are computed again, and a third is new.
    scenario = blocks({"preemptive": {}}, (1, 0, 101, 4), (0, 2, 801, 1))
    log = simulate(scenario, "preemptive")
    assert repeated(log) == {"recomputed_share": 102 / (104 + 801), "preemptions_per_request": 0.5}


def test_a_swap_on_paper() -> None:
    # As above, but the 102 tokens go to the host and back, and nothing is computed again.
    requests = (1, 0.0, 101, 4), (0, 2.0, 801, 1)
    scenario = blocks({"preemptive": {"mode": "swap"}}, *requests)
    log = simulate(scenario, "preemptive")
    assert repeated(log) == {"recomputed_share": 0, "preemptions_per_request": 0.5}
    assert moved(log, scenario) == {"swapped_tokens": 204}
    assert moved(log, blocks({"preemptive": {}}, *requests)) == {"swapped_tokens": 0}
    # Llama-3.1-8B: two (key and value) of 32 layers, 8 heads, 128 numbers of two bytes each.
    preset = scenario.changed(engine=scenario.engine.changed(hardware="h100_sxm|llama-3.1-8b|tp1"))
    assert moved(log, preset)["swapped_gb"] == 204 * 2 * 32 * 8 * 128 * 2 / 1e9
