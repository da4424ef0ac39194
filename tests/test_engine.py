"""The engine against theory and closed forms: exact to the picosecond, because its time is an integer."""

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sched import POLICIES, Log, Scenario, simulate
from sched.jump import iterations_until
from sched.kv import Decoders, last_true
from sched.model import NEVER, PS_PER_S, UNLIMITED_BLOCKS, Outcome
from sched.scenario import preset

NON_PREEMPTIVE = ("fcfs", "priority", "hol", "backfill", "aging", "vtc")


def scenario(requests: list[dict[str, Any]], policy: str = "fcfs", **engine: Any) -> Scenario:
    """Explicit requests on one-second iterations, unless `engine` says otherwise."""
    return Scenario.model_validate(
        {
            "duration_s": 1e6,
            "engine": {"hardware": "constant", "iteration_s": 1.0} | engine,
            "requests": [{"id": f"r{place}"} | one for place, one in enumerate(requests)],
            "policies": {policy: {}},
        }
    )


def inv(medium: int, policy: str, **settings: Any) -> Scenario:
    """The textbook's three tasks on KV blocks: C holds 3 of 10, the M hold 2 each, A needs 7."""
    rows = [("C", 0, 3, 5, 2)]
    rows += [(f"M{place}", place, 2, 3, 1) for place in range(1, medium + 1)] + [("A", 2, 7, 4, 0)]
    requests = [
        {"id": name, "arrival_s": at, "prompt": 100 * (width - 1) + 1, "output": length, "priority": level}
        for name, at, width, length, level in rows
    ]
    whole = scenario(requests, kv_blocks=10, block_size=100)
    return whole.changed(policies={policy: settings})


@pytest.mark.parametrize("medium", [6, 7, 12, 24, 48])
@pytest.mark.parametrize(
    ("policy", "settings", "wait_s"),
    [
        ("backfill", {}, None),
        ("inheritance", {}, None),
        ("hol", {}, 2),
        ("priority", {}, 2),
        ("skip_limit", {"limit": 1}, 3),
        ("skip_limit", {"limit": 3}, 4),
        ("preemptive", {}, 0),
        ("rescue", {"kv": 0.7, "lend": False}, 0),
        ("rescue", {"kv": 0.7, "lend": True}, 0),
    ],
)
def test_the_urgent_wait_of_the_textbook_is_bounded_or_grows_with_the_stream(
    medium: int, policy: str, settings: dict[str, Any], wait_s: int | None
) -> None:
    log = simulate(inv(medium, policy, **settings), policy)
    row = log.requests.ids.index("A")
    wait_ps = log.first_scheduled_ps[row] - log.requests.arrival_ps[row]
    assert wait_ps == (medium if wait_s is None else wait_s) * PS_PER_S


gaps_and_lengths = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=40)


@given(gaps_and_lengths)
def test_one_seat_waits_as_lindley_says(rows: list[tuple[int, int]]) -> None:
    # W(n+1) = max(0, W(n) + S(n) - gap). An idle engine starts at the arrival, so no time is lost between.
    arrivals = np.cumsum([gap for gap, _ in rows]) / 16
    requests = [
        {"arrival_s": float(at), "prompt": 1, "output": length}
        for at, (_, length) in zip(arrivals, rows, strict=True)
    ]
    log = simulate(scenario(requests, max_num_seqs=1, iteration_s=0.25), "fcfs")
    waited, previous = 0, None
    for row, (gap, length) in enumerate(rows):
        if previous is not None:
            waited = max(0, waited + previous - gap * PS_PER_S // 16)
        assert log.first_scheduled_ps[row] - log.requests.arrival_ps[row] == waited
        previous = length * PS_PER_S // 4


@given(gaps_and_lengths, st.sampled_from(sorted(NON_PREEMPTIVE)))
def test_unfinished_work_is_the_same_under_every_order(rows: list[tuple[int, int]], policy: str) -> None:
    arrivals = np.cumsum([gap for gap, _ in rows]) / 16
    requests = [
        {"arrival_s": float(at), "prompt": 1, "output": length, "priority": length % 3}
        for at, (_, length) in zip(arrivals, rows, strict=True)
    ]
    logs = [
        simulate(scenario(requests, name, max_num_seqs=1, iteration_s=0.25), name)
        for name in ("fcfs", policy)
    ]
    busy = [[(int(a), int(b)) for a, b in busy_periods(log)] for log in logs]
    assert busy[0] == busy[1]


def busy_periods(log: Log) -> list[tuple[int, int]]:
    """From and to of each time without a gap in which iterations ran."""
    periods: list[list[int]] = []
    for start, length in zip(log.iteration_start_ps, log.iteration_duration_ps, strict=True):
        if periods and periods[-1][1] == start:
            periods[-1][1] += int(length)
        else:
            periods.append([int(start), int(start + length)])
    return [(start, end) for start, end in periods]


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_little_holds_as_an_identity_of_integers(policy: str) -> None:
    log = simulate(preset("noisy-neighbour"), policy)
    ends = log.ended_ps.tolist()
    arrivals = log.requests.arrival_ps.tolist()
    events = sorted([(at, 1) for at in arrivals] + [(at, -1) for at in ends])
    present, area, before = 0, 0, 0
    for at, change in events:
        area += present * (at - before)
        present, before = present + change, at
    assert present == 0
    assert area == sum(ends) - sum(arrivals)


def test_a_lone_request_ends_when_the_closed_form_says() -> None:
    # t(k) = base + decode + kv * context; 100 prefill tokens: base + 100 prefill + attention 100^2/2.
    affine = {"base_s": 0.01, "prefill_token_s": 0.0001, "decode_seq_s": 0.001, "kv_token_s": 1e-6}
    affine["attention_s"] = 1e-7
    one = scenario(
        [{"arrival_s": 3.0, "prompt": 100, "output": 1000}], hardware="affine", affine=affine, block_size=16
    )
    log = simulate(one, "fcfs")
    prefill = Fraction("0.01") + 100 * Fraction("0.0001") + Fraction("1e-7") * 100 * 100 / 2
    decodes = 999 * (Fraction("0.01") + Fraction("0.001")) + Fraction("1e-6") * sum(range(100, 1099))
    assert log.first_token_ps[0] == (3 + prefill) * PS_PER_S
    assert log.ended_ps[0] == (3 + prefill + decodes) * PS_PER_S
    assert log.stretches.count.tolist() == [1, 999]


@given(st.integers(0, 10**15), st.integers(1, 10**12), st.integers(0, 10**9), st.integers(1, 2000))
def test_the_jump_ends_at_the_first_boundary_that_is_late_enough(
    gap_ps: int, first_ps: int, step_ps: int, most: int
) -> None:
    def lasts(count: int) -> int:
        return count * first_ps + step_ps * count * (count - 1) // 2

    count = iterations_until(gap_ps, first_ps, step_ps, most)
    assert 1 <= count <= most
    assert count == most or lasts(count) >= gap_ps
    assert count == 1 or lasts(count - 1) < gap_ps


@given(
    st.integers(1, 40), st.lists(st.integers(0, 500), max_size=12), st.integers(0, 700), st.integers(0, 90)
)
def test_blocks_of_straight_decoders_have_a_closed_form(
    size: int, contexts: list[int], iteration: int, later: int
) -> None:
    decoders = Decoders(size)
    for context in contexts:
        decoders.add(context - iteration)
    number = iteration + later
    assert decoders.held(number) == sum(-(-(context + later + 1) // size) for context in contexts)
    assert decoders.context(number) == sum(context + later for context in contexts)
    for context in contexts:
        decoders.remove(context - iteration)
    assert decoders.held(number) == decoders.context(number) == 0


@given(st.integers(-50, 50), st.integers(0, 100), st.integers(0, 100))
def test_the_last_true_number_is_found(low: int, width: int, true_for: int) -> None:
    high, last = low + width, low + min(true_for, width)
    assert last_true(lambda number: number <= last, low, high) == last


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_the_same_scenario_gives_the_same_bits(policy: str) -> None:
    logs = [simulate(preset("noisy-neighbour"), policy) for _ in range(2)]
    assert digest(logs[0]) == digest(logs[1])


def test_the_bits_are_the_same_on_every_machine() -> None:
    traffic = {
        "name": "chat", "rate_per_s": 4.0, "arrivals": {"kind": "gamma", "cv": 2.0},
        "prompt": {"kind": "lognormal", "mean": 700, "cv": 1.5, "max": 9000},
        "output": {"kind": "gamma", "mean": 90, "cv": 0.7, "max": 800},
    }  # fmt: skip
    engine = {"hardware": "h100_sxm|mixtral-8x7b|tp2", "kv_blocks": 900}
    one = Scenario.model_validate({"seed": 11, "duration_s": 40, "engine": engine, "traffic": [traffic]})
    assert digest(simulate(one, "fcfs")) == "1e923543b6d8f9ad"


def digest(log: Log) -> str:
    """Of when each request came, started, spoke and ended, and of each stretch."""
    hashed = hashlib.sha256()
    for column in (log.requests.arrival_ps, log.first_scheduled_ps, log.first_token_ps, log.ended_ps):
        hashed.update(column.astype("<i8").tobytes())
    for name in ("start_ps", "count", "first_ps", "step_ps", "kv_used", "running"):
        hashed.update(getattr(log.stretches, name).astype("<i8").tobytes())
    return hashed.hexdigest()[:16]


def test_a_run_of_a_hundred_days_stays_exact() -> None:
    days = 99 * 86_400
    requests: list[dict[str, Any]] = [{"arrival_s": at, "prompt": 1, "output": 3} for at in (0.0, days)]
    one = scenario(requests[:1], iteration_s=1000.0).model_dump(by_alias=True)
    whole = {"duration_s": days + 1.0, "engine": one["engine"], "requests": requests}
    log = simulate(Scenario.model_validate(whole), "fcfs")
    assert int(log.ended_ps[1]) == (days + 3000) * PS_PER_S
    assert sum(log.ended_ps.tolist()) > 0


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_larger_number_may_be_the_more_urgent(policy: str) -> None:
    low = preset("noisy-neighbour").changed(policies={policy: {}})
    turned = tuple(one.changed(priority=-one.priority) for one in low.traffic)
    high = low.changed(urgency="high_first", traffic=turned)
    assert digest(simulate(low, policy)) == digest(simulate(high, policy))


@pytest.mark.parametrize("lend", [False, True])
def test_what_is_kept_for_a_level_is_kept_in_either_direction(lend: bool) -> None:
    low = preset("noisy-neighbour").changed(policies={"rescue": {"kv": 0.3, "for_priority": 1, "lend": lend}})
    turned = tuple(one.changed(priority=-one.priority) for one in low.traffic)
    settings = {"rescue": {"kv": 0.3, "for_priority": -1, "lend": lend}}
    high = low.changed(urgency="high_first", traffic=turned, policies=settings)
    assert digest(simulate(low, "rescue")) == digest(simulate(high, "rescue"))


@pytest.mark.parametrize(("asked", "start_s", "preempted"), [(6, 1, [1]), (7, 20, []), (8, 20, [])])
def test_only_loans_are_taken_back_and_none_where_they_are_too_little(
    asked: int, start_s: int, preempted: list[int]
) -> None:
    # Two lower ones hold 4 blocks of 10 each, 3 of them beyond the 5 unreserved. Without the newer, 6 are
    # free and nothing is on loan any more: whoever asks for 7 waits until both have ended.
    lower = {"arrival_s": 0.0, "prompt": 301, "output": 20, "priority": 1}
    asks = {"arrival_s": 1.0, "prompt": 100 * asked - 99, "output": 2, "priority": 0}
    whole = scenario([lower, lower, asks], kv_blocks=10, block_size=100)
    log = simulate(whole.changed(policies={"rescue": {"kv": 0.5}}), "rescue")
    assert log.first_scheduled_ps[2] == start_s * PS_PER_S
    assert log.preempted.victim.tolist() == preempted


def test_what_an_urgent_one_was_promised_is_kept_again_when_it_has_left() -> None:
    # Of 10 blocks 5 are kept. Two lower ones are promised 3 each: the second waits, urgent ones or not.
    urgent = {"arrival_s": 0.0, "prompt": 101, "output": 2, "priority": 0}
    lower = {"arrival_s": 3.0, "prompt": 201, "output": 4, "priority": 1}
    whole = scenario([urgent, lower, lower], kv_blocks=10, block_size=100, gate="peak")
    log = simulate(whole.changed(policies={"rescue": {"kv": 0.5, "lend": False}}), "rescue")
    assert (log.first_scheduled_ps // PS_PER_S).tolist() == [0, 3, 7]


def test_a_jump_stops_where_ageing_changes_who_is_first() -> None:
    # At 4 s 4 of 10 blocks come free and r3, who asks for 7, is first. At 6 s r2 has earned its level, and it
    # came earlier; nothing else happens before r0 ends at 50 s.
    rows = [(0.0, 501, 50, 0), (0.0, 301, 4, 0), (1.0, 101, 2, 1), (3.0, 601, 2, 0)]
    names = ("arrival_s", "prompt", "output", "priority")
    whole = scenario([dict(zip(names, row, strict=True)) for row in rows], kv_blocks=10, block_size=100)
    log = simulate(whole.changed(policies={"aging": {"threshold_s": 5.0, "floor": 0.0}}), "aging")
    assert (log.first_scheduled_ps // PS_PER_S).tolist() == [0, 0, 6, 50]


def test_in_company_the_longest_chunk_cuts_a_prompt_above_the_budget_of_whole_ones() -> None:
    requests: list[dict[str, Any]] = [{"arrival_s": 0.0, "prompt": 65, "output": 2} for _ in range(2)]
    engine: dict[str, Any] = {"enable_chunked_prefill": False, "long_prefill_token_threshold": 16}
    log = simulate(scenario(requests, max_num_batched_tokens=64, **engine), "fcfs")
    assert log.outcome.tolist() == [Outcome.FINISHED] * 2 and int(log.chunks.tokens.max()) == 16


def test_what_can_never_fit_is_refused_and_the_rest_goes_on() -> None:
    requests = [
        {"arrival_s": 0.0, "prompt": 60, "output": 40},
        {"arrival_s": 0.0, "prompt": 60, "output": 22},
        {"arrival_s": 1.0, "prompt": 5, "output": 2},
    ]
    # 60 + 22 - 1 tokens need 6 blocks of 16, exactly what there is; 99 tokens would need 7.
    log = simulate(scenario(requests, kv_blocks=6, block_size=16), "fcfs")
    assert [Outcome(one) for one in log.outcome] == [Outcome.REFUSED, Outcome.FINISHED, Outcome.FINISHED]
    assert log.ended_ps[0] == 0 and log.first_scheduled_ps[0] == NEVER


def test_a_client_gives_up_at_the_first_boundary_after_its_patience() -> None:
    requests = [
        {"arrival_s": 0.0, "prompt": 1, "output": 9, "timeout_s": 3.5},
        {"arrival_s": 0.0, "prompt": 1, "output": 2, "timeout_s": 4.5},
        {"arrival_s": 0.25, "prompt": 1, "output": 1, "timeout_s": 0.5},
    ]
    log = simulate(scenario(requests, max_num_seqs=1), "fcfs")
    assert [Outcome(one).name for one in log.outcome] == ["TIMED_OUT", "TIMED_OUT", "TIMED_OUT"]
    # The first ends at 4 s with three tokens: the fourth came out of the iteration that 3.5 s fell into.
    assert (log.ended_ps // PS_PER_S).tolist() == [4, 5, 1]
    assert log.emitted_tokens.tolist() == [3, 0, 0]


def test_a_run_that_is_cut_off_says_who_was_unfinished() -> None:
    one = scenario([{"arrival_s": 0.0, "prompt": 1, "output": 100}], max_num_seqs=1)
    log = simulate(one.changed(duration_s=5.0, drain_s=2.5), "fcfs")
    assert log.outcome.tolist() == [Outcome.UNFINISHED]
    assert log.emitted_tokens.tolist() == [8]


def test_an_engine_that_cannot_go_on_stops_with_the_reason() -> None:
    requests: list[dict[str, Any]] = [{"arrival_s": 0.0, "prompt": 100, "output": 2}]
    log = simulate(scenario(requests, kv_blocks=2, block_size=16, refuse_infeasible=False), "fcfs")
    assert log.stop_reason.startswith("stalled at 0 s: r0 waits (kv)")
    assert log.outcome.tolist() == [Outcome.UNFINISHED]


def test_requests_that_preempt_each_other_for_ever_stop_with_the_reason() -> None:
    # Both came at once, so the longer admitted yields, and each prompt alone nearly fills the pool.
    requests: list[dict[str, Any]] = [
        {"arrival_s": 0.0, "prompt": prompt, "output": 3} for prompt in (117, 127)
    ]
    engine = {"kv_blocks": 39, "block_size": 4, "max_num_batched_tokens": 39, "gate": "first_chunk"}
    one = scenario(requests, "backfill", long_prefill_token_threshold=17, watermark=0.1, **engine)
    log = simulate(one, "backfill")
    assert log.stop_reason.startswith("livelock at ")
    assert log.iterations < 1000


def test_preemptions_beside_one_who_decodes_are_no_livelock() -> None:
    # As above in blocks a thousand times as large, beside one that needs a single block to its end.
    large = 1024
    requests: list[dict[str, Any]] = [
        {"arrival_s": 0.0, "prompt": prompt, "output": output, "priority": level}
        for prompt, output, level in ((1, 1000, 0), (117 * large, 3, 1), (127 * large, 3, 1))
    ]
    engine: dict[str, Any] = {
        "kv_blocks": 40,
        "block_size": 4 * large,
        "max_num_batched_tokens": 39 * large + 1,
    }
    engine |= {"gate": "first_chunk", "long_prefill_token_threshold": 17 * large, "watermark": 0.1}
    log = simulate(scenario(requests, "backfill", **engine), "backfill")
    assert log.outcome.tolist() == [Outcome.FINISHED, Outcome.UNFINISHED, Outcome.UNFINISHED]
    assert log.stop_reason.startswith("livelock at ") and log.ended_ps[0] == 1000 * PS_PER_S


def test_prefix_caching_without_a_limit_of_memory_lists_no_blocks() -> None:
    # Two prompts of 40 tokens share their first 32, two blocks; B comes when A has them.
    prefix = [["system", 32]]
    requests = [
        {"id": "A", "prompt": 40, "output": 30, "prefix": prefix},
        {"id": "B", "prompt": 40, "output": 30, "prefix": prefix, "arrival_s": 2},
    ]
    engine = {"hardware": "constant", "iteration_s": 1.0, "enable_prefix_caching": True}
    log = simulate(Scenario.model_validate({"engine": engine, "requests": requests}), "fcfs")
    assert log.machine.kv_blocks == UNLIMITED_BLOCKS
    assert log.stays.hit_tokens.tolist() == [0, 32]
    assert (log.ended_ps // PS_PER_S).tolist() == [30, 32]
