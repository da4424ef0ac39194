"""The figures of a run: exact where they can be, and None with a reason where there are none."""

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, simulate
from sched.explain import explain
from sched.inversion import analyse
from sched.log import Log
from sched.metrics import summary
from sched.model import PS_PER_S, Outcome
from sched.remarks import why_refused
from sched.story import story
from sched.sums import exact_dot, exact_sum, five
from tests.slow_inversion import batch_by_iteration
from tests.strategies import small_scenarios


def measured(
    scenario: Scenario, policy: str = "fcfs", *, in_full: bool = False
) -> tuple[Log, dict[str, Any]]:
    log = simulate(scenario, policy)
    return log, summary(log, scenario, analyse(log), in_full=in_full)


def seats(requests: list[dict[str, Any]], **rest: Any) -> Scenario:
    """One seat, one second an iteration, one token a block."""
    engine = {"hardware": "constant", "iteration_s": 1.0, "max_num_seqs": 1, "block_size": 1, "kv_blocks": 40}
    return Scenario(
        engine=engine, requests=requests, **({"duration_s": 20.0, "policies": {"fcfs": {}}} | rest)
    )


def test_every_figure_of_a_run_that_fits_on_paper() -> None:
    # One seat: a runs 0 to 3, b 3 to 5, c 5 to 6; b came at 1 and c at 1.5.
    listed = [
        {"id": "a", "class": "x", "tenant": "T", "arrival_s": 0.0, "prompt": 2, "output": 3},
        {"id": "b", "class": "x", "tenant": "T", "arrival_s": 1.0, "prompt": 4, "output": 2},
        {"id": "c", "class": "y", "tenant": "U", "arrival_s": 1.5, "prompt": 6, "output": 1},
    ]
    classes = {"x": {"slo": {"ttft_s": 2.0, "tpot_s": 1.0}}}
    _log, found = measured(seats(listed, classes=classes, tenants={"T": {"weight": 5.0}}))
    assert found["requests"] == {
        **{"arrived": 3, "finished": 3, "refused": 0, "timed_out": 0, "shed": 0, "unfinished": 0}
    }
    assert found["makespan_s"] == 6.0
    assert found["throughput"] == {"output_tokens_per_s": 1.0, "requests_per_s": 0.5}
    assert found["batch_occupancy"] == 1.0
    # Blocks held after scheduling: 2 3 4, 4 5, 6.
    assert found["kv_utilisation"] == (2 + 3 + 4 + 4 + 5 + 6) / (6 * 40)
    assert found["jain"] == 1.0  # five tokens at weight 5, one at weight 1
    assert found["classes"]["x"] == {
        "n": 2,
        "ttft_s": {"mean": 2.0, "p50": 1.0, "p90": 3.0, "p99": 3.0, "max": 3.0},
        "tpot_s": {"mean": 1.0, "p50": 1.0, "p90": 1.0, "p99": 1.0, "max": 1.0},
        "e2e_s": {"mean": 3.5, "p50": 3.0, "p90": 4.0, "p99": 4.0, "max": 4.0},
        "wait_s": {"mean": 1.0, "p50": 0.0, "p90": 2.0, "p99": 2.0, "max": 2.0},
        **{"slo_attainment": 0.5, "goodput_per_s": 1 / 20, "inversion_s": 0.0, "inversion_share": 0.0},
        "bypasses": 0,
    }
    # A single token has no gap, so class y has no TPOT; nothing was promised to it.
    missing = {"tpot_s": dict.fromkeys(("mean", "p50", "p90", "p99", "max")), "slo_attainment": None}
    assert {key: found["classes"]["y"][key] for key in missing} == missing
    paths = {note["path"] for note in found["notes"]}
    assert paths - {"engine.max_num_seqs"} == {
        *("classes.y.tpot_s", "classes.y.slo_attainment", "classes.y.goodput_per_s")
    }
    assert found["tenants"]["T"] == {"n": 2, "output_tokens": 5, "wait_s": 2.0, "inversion_s": 0.0}


def test_every_further_figure_of_a_run_that_fits_on_paper() -> None:
    # One seat: a runs 0 to 3 and b, of two seconds, 3 to 5, c 5 to 6; two tenants wait from 1.5 to 5.
    listed = [
        {"id": "a", "class": "x", "tenant": "T", "arrival_s": 0.0, "prompt": 2, "output": 3},
        {"id": "b", "class": "x", "tenant": "T", "arrival_s": 1.0, "prompt": 4, "output": 2},
        {"id": "c", "class": "y", "tenant": "U", "arrival_s": 1.5, "prompt": 6, "output": 1},
    ]
    classes = {"x": {"slo": {"ttft_s": 2.0}}}
    scenario = seats(listed, classes=classes, duration_s=4.0)
    _, plain = measured(scenario)
    _, found = measured(scenario, in_full=True)
    first, second = found["classes"]["x"], found["classes"]["y"]

    def five_of(mean: float, low: float, high: float) -> dict[str, Any]:
        """Two values: too few for any upper end, and for a lower one of the median."""
        ends = {"p50_interval": [None, None], "p90_interval": [low, None], "p99_interval": [high, None]}
        return {"mean": mean, "p50": low, "p90": high, "p99": high, "max": high} | ends

    assert first["queueing_s"] == five_of(1.0, 0.0, 2.0)
    assert first["itl_max_s"] == five_of(1.0, 1.0, 1.0)
    assert first["itl_s"]["mean"] == first["itl_s"]["max"] == 1.0
    assert first["normalised_latency_s"] == five_of(1.5, 1.0, 2.0)
    assert first["slowdown"] == five_of(1.5, 1.0, 2.0)  # 3 s in 3 s, 2 s in 4 s
    assert first["goodput_tokens_per_s"] == 3 / 4
    assert first["starvation"] == {
        **{"longest_wait_s": 2.0, "longest_without_service_s": 2.0, "longest_of_goal": 1.5},
        **{"past_goal": 1, "past_goal_at_once": 1, "unfinished": 0},
    }
    assert second["starvation"]["past_goal"] is None and second["starvation"]["longest_wait_s"] == 3.5
    assert found["throughput"] == plain["throughput"] | {
        "prefill_tokens_per_s": 12 / 6,
        "decode_tokens_per_s": 3 / 6,
    }
    assert found["token_occupancy"] == (12 + 3) / (2048 * 6)
    assert found["fragmentation"] == 0.0  # blocks of one token
    # From 1 s on somebody waits: of 40 blocks 3, 4, 4 and 5 are held. The seat keeps them out.
    stranded = (4 * 40 - 16) / (6 * 40)
    assert found["stranded_kv"] == {
        **{"share": stranded, "promised": 0, "reserved": 0, "head_of_line": stranded}
    }
    assert found["preemption_waste"] == {
        **{"recomputed_share": 0, "preemptions_per_request": 0, "swapped_tokens": 0}
    }
    window = {"from_s": 0.0, "to_s": 4.0, "output_tokens_per_s": 1.0, "requests_per_s": 0.25, "jain": 0.5}
    assert found["window"] == window
    # While both wait, from 2 to 3 s, a gets a token of weight 2, and at 3 s b is not yet charged.
    assert found["service_difference"] == {"tokens": 2.0, "bound": 2 * 2 * 7, "tenants": ["T", "U"]}
    assert found["suggested_warmup_s"] == 0 and found["five_residences_s"] == 5 * 4.5
    same = ("requests", "makespan_s", "preemptions", "kv_utilisation", "batch_occupancy", "jain", "inversion")
    assert {name: found[name] for name in same} == {name: plain[name] for name in same}


def test_the_warm_up_that_the_waits_suggest_is_said() -> None:
    # Ten come at once to one seat, 19 more when it is idle: the first two batches of five wait.
    crowd = [{"id": f"a{i}", "class": "x", "prompt": 1, "output": 1} for i in range(10)]
    later = [
        {"id": f"b{i}", "class": "x", "arrival_s": 20.0 + i, "prompt": 1, "output": 1} for i in range(19)
    ]
    scenario = seats(crowd + later, duration_s=60.0)
    _, found = measured(scenario, in_full=True)
    assert found["suggested_warmup_s"] == 20.0 and found["five_residences_s"] == pytest.approx(5 * 74 / 29)
    told = {note["path"]: note["text"] for note in found["notes"]}
    assert told["suggested_warmup_s"].startswith("the first 10 waits still tell of the empty start")
    assert told["classes.x"].startswith("29 requests are too few to quote p99 alone, that takes 5,000")
    _, found = measured(scenario.changed(warmup_s=20.0), in_full=True)
    assert "suggested_warmup_s" not in {note["path"] for note in found["notes"]}


def test_requests_of_the_warm_up_are_simulated_and_not_counted() -> None:
    listed = [
        {"id": f"r{i}", "class": "x", "arrival_s": float(i), "prompt": 2, "output": 2} for i in range(4)
    ]
    _, found = measured(seats(listed, warmup_s=2.0, classes={"x": {"slo": {"ttft_s": 9.0}}}))
    assert found["requests"]["arrived"] == 4 and found["classes"]["x"]["n"] == 2
    assert found["classes"]["x"]["wait_s"]["max"] == 3.0  # r3 waits for those of the warm-up too
    assert found["classes"]["x"]["goodput_per_s"] == 2 / 18
    assert any(note["path"] == "warmup_s" for note in found["notes"])


def test_a_refused_request_counts_against_the_promise_and_not_as_a_wait() -> None:
    listed = [
        {"id": "fits", "class": "x", "prompt": 2, "output": 2},
        {"id": "never", "class": "x", "prompt": 60, "output": 2},
    ]
    log, found = measured(seats(listed, classes={"x": {"slo": {"ttft_s": 9.0}}}))
    assert found["requests"]["refused"] == 1 and log.outcome[1] == Outcome.REFUSED
    assert found["classes"]["x"]["slo_attainment"] == 0.5
    assert found["classes"]["x"]["wait_s"]["max"] == 0.0


@pytest.mark.parametrize(
    ("engine", "policies", "words"),
    [
        ({}, {"fcfs": {}}, "it comes to need 61 KV blocks of 40"),
        (
            {"kv_blocks": 70},
            {"rescue": {"kv": 0.5, "lend": False}},
            "it comes to need 61 KV blocks of 70, 35 of them kept for others",
        ),
        (
            {"max_model_len": 60},
            {"fcfs": {}},
            "its prompt of 60 leaves no room below the context limit of 60 tokens",
        ),
        (
            {"kv_blocks": 90},
            {"rescue": {"kv": 0, "seats": 1, "lend": False}},
            "each of the 1 seats is kept for others",
        ),
        (
            {"kv_blocks": 90, "max_num_batched_tokens": 64},
            {"rescue": {"kv": 0, "tokens": 1, "lend": False}},
            "all 64 tokens of an iteration are kept for others",
        ),
    ],
)
def test_a_refusal_names_the_two_numbers(
    engine: dict[str, Any], policies: dict[str, Any], words: str
) -> None:
    listed = [
        {"id": "fits", "prompt": 2, "output": 2},
        {"id": "never", "priority": 1, "prompt": 60, "output": 2},
    ]
    scenario = seats(listed, policies=policies)
    scenario = scenario.changed(engine=scenario.engine.changed(**engine))
    log, found = measured(scenario, next(iter(policies)))
    assert log.outcome.tolist() == [Outcome.FINISHED, Outcome.REFUSED]
    note = {"path": "requests.refused", "text": f"1 of 2 requests can never run; of never: {words}"}
    assert note in found["notes"]
    told = explain(log, analyse(log), "never", scenario, simulate)
    assert story(told) == [f"never was refused on arrival: {words}."]


def test_what_a_trace_left_out_is_said_beside_the_figures(tmp_path: Path) -> None:
    file = tmp_path / "recorded.csv"
    file.write_text("arrival,prompt,output,id\n3,2,2,a\n1,2,2,a\n2,0,2,b\n")
    _, found = measured(seats([], trace={"file": str(file)}))
    assert found["requests"]["arrived"] == 2
    told = [note["text"] for note in found["notes"] if note["path"] == "trace"]
    assert told[0] == "left out of it: 1 line; line 4: prompt is 0 tokens"
    assert "1 repeated id renamed; the records are all kept" in told
    assert "no priorities are recorded: every request has priority 0" in told


def test_who_could_run_has_no_reason_against_it() -> None:
    log, found = measured(seats([{"id": "fits", "prompt": 2, "output": 2}]))
    assert why_refused(log, 0) == "" and "requests.refused" not in {note["path"] for note in found["notes"]}


@pytest.mark.parametrize(("blocks", "reason"), [("unlimited", "there is no limit"), (1, "nothing finished")])
def test_the_missing_use_of_memory_has_the_reason_that_holds(blocks: int | str, reason: str) -> None:
    scenario = seats([{"id": "a", "prompt": 2, "output": 2}])
    _, found = measured(scenario.changed(engine=scenario.engine.changed(kv_blocks=blocks)))
    text = next(note["text"] for note in found["notes"] if note["path"] == "kv_utilisation")
    assert text.startswith(reason)


def test_what_does_not_exist_is_none_with_a_reason() -> None:
    for listed in ([], [{"id": "never", "class": "x", "prompt": 60, "output": 2}]):
        _, found = measured(seats(listed))
        assert found["makespan_s"] is None and found["throughput"]["requests_per_s"] is None
        assert found["inversion"]["total_s"] == 0 and found["inversion"]["top_culprits"] == []
        told = {note["path"] for note in found["notes"]}
        assert {"makespan_s", "kv_utilisation", "batch_occupancy", "jain"} <= told
        assert {path for path in nothing(found) if ".classes" not in path} <= {*told, ""}
    unlimited = seats([{"id": "a", "prompt": 2, "output": 2}])
    unlimited = unlimited.changed(engine=unlimited.engine.changed(kv_blocks="unlimited"))
    _, found = measured(unlimited)
    assert found["kv_utilisation"] is None
    assert [note["path"] for note in found["notes"]].count("kv_utilisation") == 1


def nothing(found: Any, path: str = "") -> Iterator[str]:
    """Paths of every None, those of the parts of one measure as one; an interval's is that of its class."""
    for key, value in found.items():
        if isinstance(value, dict):
            yield from nothing(value, f"{path}{key}.")
        elif key.endswith("_interval") and None in value:
            yield ".".join(path.split(".")[:2])
        elif value is None:
            is_part = key in ("mean", "p50", "p90", "p99", "max") or path.startswith("stranded_kv")
            yield (path if is_part else path + key).strip(".")


@settings(max_examples=80)
@given(small_scenarios(), st.sampled_from([90.0, 0.0, 3.0]))
def test_every_none_has_its_note_and_nothing_is_nan(scenario: Scenario, drain_s: float) -> None:
    scenario = scenario.changed(duration_s=8.0, drain_s=drain_s)
    for policy in scenario.policies:
        _, found = measured(scenario, policy, in_full=True)
        json.dumps(found, allow_nan=False)
        told = {note["path"] for note in found["notes"]}
        assert set(nothing(found)) <= told
        assert sum(found["requests"].values()) == 2 * found["requests"]["arrived"]
        kinds = [found["inversion"][f"{kind}_s"] for kind in ("direct", "growth", "bypass")]
        assert sum(kinds) == pytest.approx(found["inversion"]["total_s"], abs=1e-9)
        by_class = sum(one["inversion_s"] for one in found["classes"].values())
        by_tenant = sum(one["inversion_s"] for one in found["tenants"].values())
        assert by_class == pytest.approx(found["inversion"]["total_s"], abs=1e-9) == by_tenant


@settings(max_examples=60)
@given(small_scenarios())
def test_means_over_time_are_those_added_up_iteration_by_iteration(scenario: Scenario) -> None:
    engine = scenario.engine.changed(enable_prefix_caching=False, gate="full_prompt")
    scenario = scenario.changed(engine=engine, drain_s=90.0)
    for policy in scenario.policies:
        log, found = measured(scenario, policy)
        if found["makespan_s"] is None:
            continue
        until = round(found["makespan_s"] * PS_PER_S)
        blocks = seats_taken = 0
        engines = log.replicas or (log,)
        for one in engines:
            for batch, start, length in zip(
                batch_by_iteration(one),
                one.iteration_start_ps.tolist(),
                one.iteration_duration_ps.tolist(),
                strict=True,
            ):
                inside = max(0, min(length, until - start))
                blocks += inside * sum(row["kv"] for row in batch.values())
                seats_taken += inside * len(batch)
        pool, seats = (
            sum(getattr(one.machine, name) for one in engines) for name in ("kv_blocks", "max_num_seqs")
        )
        assert found["kv_utilisation"] == pytest.approx(blocks / (until * pool), rel=1e-12)
        assert found["batch_occupancy"] == pytest.approx(seats_taken / (until * seats), rel=1e-12)


@settings(max_examples=60)
@given(small_scenarios())
def test_time_in_the_system_is_waiting_and_running(scenario: Scenario) -> None:
    # Little's law for one request at a time, as whole numbers: what does not run, waits.
    for policy in scenario.policies:
        log = simulate(scenario.changed(drain_s=90.0), policy)
        found, stays = analyse(log), log.stays
        inside = np.zeros(len(log.requests.ids), dtype=np.int64)
        np.add.at(inside, stays.request, stays.end_ps - stays.start_ps)
        ended = np.where(log.ended_ps >= 0, log.ended_ps, log.end_ps)
        kept = log.outcome == Outcome.FINISHED
        if policy != "static":
            assert (inside + found.wait_ps == ended - log.requests.arrival_ps)[kept].all()


def test_jain_over_ten_ten_ten_one() -> None:
    listed = [
        {"id": f"r{i}", "tenant": f"T{i}", "prompt": 1, "output": output}
        for i, output in enumerate((10, 10, 10, 1))
    ]
    _, found = measured(seats(listed, duration_s=60.0))
    assert found["jain"] == pytest.approx(31**2 / (4 * 301))  # 0.798


def test_percentiles_are_nearest_rank() -> None:
    ms = np.arange(1, 101) * PS_PER_S // 1000
    found = five(ms[::-1])
    assert found == {"mean": 0.0505, "p50": 0.05, "p90": 0.09, "p99": 0.099, "max": 0.1}
    assert five(ms[:7])["p50"] == 0.004 and five(ms[:7])["p99"] == 0.007
    assert set(five(ms[:0]).values()) == {None}


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**62)), max_size=30))
def test_sums_and_products_are_exact_beyond_sixty_four_bits(pairs: list[tuple[int, int]]) -> None:
    units, lengths = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in (0, 1))
    assert exact_sum(lengths) == sum(length for _, length in pairs)
    assert exact_dot(units, lengths) == sum(unit * length for unit, length in pairs)


def test_a_policy_that_is_blind_to_priority_says_so() -> None:
    listed = [{"id": "a", "prompt": 1, "output": 1}, {"id": "b", "prompt": 1, "output": 1, "priority": 1}]
    _, found = measured(seats(listed))
    assert any(note["path"] == "policies.fcfs" for note in found["notes"])
    log = simulate(seats(listed), "priority")
    assert not summary(log, seats(listed), analyse(log))["notes"][0]["path"].startswith("policies")


def test_without_blame_the_rest_is_the_same() -> None:
    scenario = seats(
        [
            {"id": "a", "prompt": 1, "output": 5, "priority": 1},
            {"id": "b", "arrival_s": 1.0, "prompt": 1, "output": 1},
        ]
    )
    log = simulate(scenario, "fcfs")
    whole, part = (summary(log, scenario, analyse(log), with_blame=blame) for blame in (True, False))
    assert {key: value for key, value in whole.items() if key != "inversion"} == {
        key: value for key, value in part.items() if key != "inversion"
    }
    assert part["inversion"] == {"total_s": 4.0, "incidents": 1, "urgent_class": "default"}
    assert part["inversion"].items() <= whole["inversion"].items()


def test_a_promise_kept_to_the_picosecond_is_kept() -> None:
    listed = [{"id": "a", "class": "x", "prompt": 2, "output": 4}]
    log = simulate(seats(listed), "fcfs")
    for goal, is_kept in ((PS_PER_S, True), (PS_PER_S - 1, False)):
        promised = replace(log.requests, tpot_goal_ps=np.array([goal]))
        found = summary(replace(log, requests=promised), seats(listed), analyse(log))
        assert found["classes"]["x"]["slo_attainment"] == float(is_kept)
    late = replace(
        log, ended_ps=log.ended_ps + 1, requests=replace(log.requests, tpot_goal_ps=np.array([PS_PER_S]))
    )
    assert summary(late, seats(listed), analyse(log))["classes"]["x"]["slo_attainment"] == 0.0
    assert Fraction(int(log.ended_ps[0] - log.first_token_ps[0]), 3) == PS_PER_S
