"""The engine jumps over iterations that decide nothing, the reference takes each: same log, bit for bit.

`SCHED_LAW_EXAMPLES` sets how many random scenarios each policy meets.
"""

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from sched import POLICIES, Scenario, simulate
from sched.cost import iteration_cost, machine
from sched.log import Log
from sched.model import NEVER, PS_PER_S, Outcome, StayEnd
from sched.predictors import predictions
from sched.workload import RequestList
from sched.workload import requests as request_list
from tests.reference import Job, Ratio, Result, run

EXAMPLES = int(os.environ.get("SCHED_LAW_EXAMPLES", "60"))

Draw = Callable[[st.SearchStrategy[Any]], Any]
Settings = dict[str, st.SearchStrategy[Any]]

SHARE = st.sampled_from([0.0, 0.1, 0.25, 0.34, 0.5, 0.75, 1.0])
MISFIT: Settings = {"misfit": st.sampled_from(["stop", "skip"])}
MODE: Settings = {"mode": st.sampled_from(["recompute", "swap"])}
PREDICTOR: Settings = {
    "predictor": st.sampled_from(["oracle", "oracle", "lognormal", "bucket", "rank"]),
    **{"error": st.sampled_from([0.3, 0.6, 1.5]), "tau": st.sampled_from([0.2, 0.6, 1.0])},
}
DEADLINE: Settings = {
    **PREDICTOR,
    **MISFIT,
    **{"deadline": st.sampled_from(["ttft", "e2e"]), "relegate": st.booleans()},
}
LEVELS: Settings = {
    "quanta": st.sampled_from([[1], [1, 1], [0.5, 2, 10], [3, 4], [0.02, 0.05, 0.3], [2, 2, 2, 7]]),
    **MODE,
    **MISFIT,
}
CAPS: Settings = {
    "per_request": st.sampled_from([None, 8, 30, 10_000]),
    "aggregate": st.sampled_from([None, 12, 50, 10_000]),
    **{"long_tokens": st.sampled_from([4, 20, 4096]), "long_limit": st.integers(1, 2)},
    **{"split": st.sampled_from([False, False, True]), "split_prefix": st.sampled_from([0, 0, 2])},
}
RESCUE: Settings = {
    **{"kv": SHARE, "tokens": SHARE, "seats": SHARE, "lend": st.booleans(), "lend_share": SHARE},
    **{"for_priority": st.sampled_from([None, 0, 1]), "guard_growth": st.booleans(), **MISFIT},
    "slices": st.sampled_from(
        [{}, {}, {"0": 0.3}, {"0": 0.2, "1": 0.3}, {"0": 0.5, "2": 0.25}, {"0": 0.1, "1": 0.1, "2": 0.4}]
    ),
}
SHARES: Settings = {"half_life_s": st.sampled_from([0, 0.5, 4, 30])}
SETTINGS: dict[str, Settings] = {
    "static": {
        "batch": st.integers(0, 4),
        "stream": st.booleans(),
        "max_wait_s": st.sampled_from([0, 1, 2.5]),
    },
    "fcfs": {},
    "priority": {},
    "backfill": {},
    "hol": {},
    "skip_limit": {"limit": st.integers(0, 4)},
    "preemptive": {"gap": st.integers(0, 2), "max_preemptions": st.integers(0, 4), **MODE},
    "inheritance": {},
    "rescue": RESCUE,
    "rescue_cap": {**RESCUE, **CAPS},
    "kv_cap": {**CAPS, **MISFIT},
    "ceiling": {"quantile": st.sampled_from([0.1, 0.5, 0.9, 1.0]), **MISFIT},
    "aging": {
        **{"per_s": st.sampled_from([0, 0.1, 0.2, 1, 3.7]), "threshold_s": st.sampled_from([None, 1, 3.5])},
        **{"floor": st.sampled_from([None, 0, 0.5, 1]), **MISFIT},
        "margin_s": st.sampled_from([None, None, 0, 0.5, 4]),
    },
    "sjf": {
        **PREDICTOR,
        **MISFIT,
        "key": st.sampled_from(["total", "prefill", "output"]),
        "aging_tokens_per_s": st.sampled_from([0, 0, 0.3, 1, 5, 100]),
    },
    "srpt": {
        **PREDICTOR,
        **MODE,
        **MISFIT,
        "hysteresis_tokens": st.sampled_from([0, 0, 1, 5, 30]),
        "preempt_until": st.sampled_from([1.0, 0.8, 0.3]),
    },
    "hrrn": {**PREDICTOR, **MISFIT},
    "edf": DEADLINE,
    "slack": DEADLINE,
    "mlfq": {
        **LEVELS,
        "boost_s": st.sampled_from([0, 10, 3, 0.7]),
        "promote_s": st.sampled_from([None, None, 1, 5]),
        "enter": st.sampled_from(["top", "class"]),
    },
    "skip_join_mlfq": {**LEVELS, "starve_s": st.sampled_from([0.05, 1, 6])},
    "article_mlfq": MISFIT,
    "vtc": {
        **{"prompt_weight": st.sampled_from([0, 1, 2.5]), "output_weight": st.sampled_from([0, 1, 2, 0.7])},
        **PREDICTOR,
        "predictor": st.sampled_from(["off", "off", "oracle", "lognormal", "bucket", "rank"]),
        **MISFIT,
    },
    "dlpm": {"quantum": st.sampled_from([1, 5, 40, 2000]), **MISFIT},
    "drr": {**PREDICTOR, **MISFIT},
    "drf": {
        **SHARES,
        "misfit": st.sampled_from(["pass", "pass", "stop", "skip"]),
        "cpu_cores": st.sampled_from([0, 0, 2, 3.5]),
        "cpu": st.sampled_from([{}, {"chat": 2}, {"api": 0.5, "batch": 1.5}]),
    },
    "article_drf": {**PREDICTOR, **MISFIT},
    "mlfq_drf": {
        **LEVELS,
        **SHARES,
        "promote_s": st.sampled_from([None, 1, 5]),
        "boost_s": st.sampled_from([0, 0, 3]),
        "enter": st.sampled_from(["top", "class"]),
        "preempt": st.booleans(),
        "misfit": st.sampled_from(["pass", "pass", "stop", "skip"]),
    },
    "quota": {
        "mode": st.sampled_from(["strict", "borrow"]),
        "misfit": st.sampled_from(["pass", "pass", "stop", "skip"]),
    },
    "shed": {
        **PREDICTOR,
        "max_queue": st.sampled_from([None, 0, 1, 3]),
        **{"per_class": st.booleans(), "on_full": st.sampled_from(["newcomer", "lowest"])},
        "max_wait_s": st.sampled_from([None, 0.2, 3, 20]),
        "by_slo": st.sampled_from([False, False, True]),
        "tokens_per_minute": st.sampled_from([None, None, 20, 100]),
        **MISFIT,
    },
}
"""What each policy's settings may be; a name that a policy does not have is left out."""

TIMES: dict[str, dict[str, Any]] = {
    "constant": {"hardware": "constant", "iteration_s": 1.0},
    "affine": {
        "hardware": "affine",
        "affine": {
            **{"base_s": 0.5, "prefill_token_s": 0.01, "decode_seq_s": 0.05, "kv_token_s": 0.003},
            **{"attention_s": 0.0007, "swap_token_s": 0.011},
        },
    },
    "free prefill": {
        "hardware": "affine",
        "affine": {
            **{"base_s": 0.25, "prefill_token_s": 0, "decode_seq_s": 0.25, "kv_token_s": 0},
            "attention_s": 0,
        },
    },
    "fitted": {"hardware": "rtx4090|llama-3.1-8b|tp1|lss"},
}


GATES = ["full_prompt"] * 3 + ["first_chunk", "peak", "expected", "lookahead"]


@st.composite
def engines(draw: Draw) -> dict[str, Any]:
    blocks = draw(st.integers(3, 40))
    threshold = draw(st.sampled_from([0, 0, 1, 3, 8, 17]))
    chunked = draw(st.sampled_from([True, True, True, False]))
    return {
        **TIMES[draw(st.sampled_from(sorted(TIMES)))],
        "kv_blocks": blocks,
        "block_size": draw(st.sampled_from([1, 2, 4, 16])),
        "max_num_seqs": draw(st.sampled_from([1, 2, 3, 5, 8, 12])),
        "max_num_batched_tokens": draw(st.sampled_from([1, 2, 3, 5, 8, 16, 40, 100_000])) if chunked else 200,
        "long_prefill_token_threshold": threshold,
        "long_prefill_adaptive": bool(threshold) and draw(st.booleans()),
        "enable_chunked_prefill": chunked,
        "enable_prefix_caching": draw(st.sampled_from([False, False, True])),
        "watermark": draw(st.sampled_from([0.0, 0.0, 0.0, 0.1, 0.3])),
        "max_model_len": draw(st.sampled_from([0, 0, 0, 24, 60])),
        "gate": draw(st.sampled_from(GATES)),
        "expected_ratio": draw(st.sampled_from([0.7, 0.3, 1.0, 0.05])),
        "expected_decay": draw(st.sampled_from([0.001, 0.0, 0.07])),
        "refuse_infeasible": draw(st.sampled_from([True, True, True, False])),
    }


@st.composite
def request_lists(draw: Draw, engine: dict[str, Any], counts: Sequence[int]) -> list[dict[str, Any]]:
    """Requests of a good part of the memory, arriving in bunches, so that they get in each other's way."""
    room = engine["kv_blocks"] * engine["block_size"]
    prompts = st.integers(1, max(1, min(room * draw(st.sampled_from([1, 2, 4, 9])) // 12, 120)))
    outputs = st.integers(1, min(draw(st.sampled_from([3, 12, 60, 250])), max(2, room * 2 // 3)))
    gaps = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0, 2.3, 7.0, 40.0])
    rows, now = [], 0.0
    patient = draw(st.booleans())
    pace = 0.02 if engine["hardware"] not in ("constant", "affine") else 1.0
    for i in range(draw(st.sampled_from(counts))):
        now = round(now + draw(gaps) * pace, 3)
        prompt = draw(prompts)
        row = {"id": f"r{i}", "arrival_s": now, "prompt": prompt, "output": draw(outputs)}
        row |= {"priority": draw(st.integers(0, 3)), "tenant": draw(st.sampled_from("ABC"))}
        row |= {"class": draw(st.sampled_from(["chat", "api", "batch"]))}
        goal = draw(st.sampled_from([None, None, 0.4, 3.0, 20.0]))
        row["slo"] = {"ttft_s": goal * pace, "e2e_s": 4 * goal * pace} if goal else {}
        patience = None if patient else draw(st.sampled_from([None] * 5 + [1.0, 12.5, 60.0]))
        if patience:
            row["timeout_s"] = patience * pace
        if engine["enable_prefix_caching"]:
            shared = min(prompt, draw(st.sampled_from([0, 3, 17, 48])))
            row["prefix"] = [[draw(st.sampled_from("xy")), shared]] if shared else []
        rows.append(row)
    return rows


@st.composite
def scenarios(draw: Draw, policy: str, counts: Sequence[int] = (1, 2, 3, 5, 8, 12, 16, 30)) -> Scenario:
    engine = draw(engines())
    known = type(Scenario(policies={policy: {}}).policies[policy]).model_fields
    values = {name: draw(value) for name, value in SETTINGS[policy].items() if name in known}
    values = {name: value for name, value in values.items() if value is not None}
    if values.get("slices"):
        values["tokens"] = 0.0
    counts_alone = engine["gate"] in ("expected", "lookahead")
    if counts_alone or values.get("split"):
        engine["enable_prefix_caching"] = False
    requests = draw(request_lists(engine, counts))
    data: dict[str, Any] = {
        "duration_s": 10_000.0,
        "engine": engine,
        "requests": requests,
        "tenants": {"B": {"weight": 2.0}, "C": {"weight": 0.3}},
        "policies": {policy: values},
    }
    if draw(st.sampled_from([False] * 5 + [True])):
        last = max(row["arrival_s"] for row in requests)
        data |= {"duration_s": last + 0.001, "drain_s": draw(st.sampled_from([0.0, 1.0, 9.3, 30.0]))}
    return Scenario(**data)


def predicted(scenario: Scenario, requests: RequestList, chosen: dict[str, Any]) -> list[int]:
    """Output tokens that the policy believes in before the first; zeros where it asks nobody."""
    kind = chosen.get("predictor") or "off"
    if kind == "off":
        return [0] * len(requests)
    error, tau = chosen.get("error", 0.6), chosen.get("tau", 0.6)
    return [int(n) for n in predictions(requests, kind, error, tau, scenario.seed)]


def step(scenario: Scenario, policy: str) -> Result:
    """The reference's run of the scenario."""
    requests, chosen = request_list(scenario), scenario.policies[policy].model_dump()
    beliefs = predicted(scenario, requests, chosen)
    jobs = [
        Job(
            id=name,
            arrival_ps=int(requests.arrival_ps[i]),
            prompt=int(requests.prompt_tokens[i]),
            output=int(requests.output_tokens[i]),
            priority=int(requests.priority[i]),
            tenant=requests.tenant_names[int(requests.tenant_index[i])],
            class_name=requests.class_names[int(requests.class_index[i])],
            segments=requests.segments[i] if requests.segments else (),
            ttft_goal=int(requests.ttft_goal_ps[i]),
            e2e_goal=int(requests.e2e_goal_ps[i]),
            timeout_ps=int(requests.timeout_ps[i]),
            prediction=beliefs[i],
        )
        for i, name in enumerate(requests.ids)
    ]
    horizon_ps = None
    if scenario.drain_s is not None:
        seconds = Fraction(str(scenario.duration_s)) + Fraction(str(scenario.drain_s))
        horizon_ps = int(seconds * PS_PER_S)
    weights = dict(zip(requests.tenant_names, requests.weights, strict=True))
    engine = scenario.engine
    ratio = Ratio(engine.expected_ratio, engine.expected_decay, engine.expected_floor)
    return run(machine(scenario), jobs, policy, chosen, iteration_cost(scenario), weights, horizon_ps, ratio)


def table(part: Any, names: str) -> list[tuple[int, ...]]:
    """Rows of some columns of a log's table."""
    return list(zip(*(getattr(part, name).tolist() for name in names.split()), strict=True))


def jumped_iterations(log: Log) -> list[tuple[Any, ...]]:
    """Every iteration of the log: start, duration, tokens by kind, running, waiting, who got which tokens."""
    pieces: list[list[tuple[int, int, int]]] = [[] for _ in range(log.iterations)]
    for request, iteration, tokens, before in table(log.chunks, "request iteration tokens before"):
        pieces[iteration].append((request, tokens, before))
    for request, iteration, before, count in table(log.runs, "request iteration before count"):
        for j in range(count):
            pieces[iteration + j].append((request, 1, before + j))
    rows = table(log.stretches, "prefill_tokens decode_tokens running waiting")
    times = zip(log.iteration_start_ps.tolist(), log.iteration_duration_ps.tolist(), strict=True)
    stretches = log.stretch_of_iteration.tolist()
    return [
        (*time, *rows[stretch], sorted(piece))
        for time, stretch, piece in zip(times, stretches, pieces, strict=True)
    ]


def stepped_iterations(result: Result, ordinal: dict[str, int]) -> list[tuple[Any, ...]]:
    return [
        (
            *(one.start_ps, one.duration_ps, one.prefill_tokens),
            sum(tokens for _, tokens in one.scheduled) - one.prefill_tokens,
            *(len(one.running), len(one.waiting)),
            sorted((ordinal[i], n, b) for (i, n), b in zip(one.scheduled, one.before, strict=True)),
        )
        for one in result.iterations
    ]


def stepped_preemptions(result: Result, ordinal: dict[str, int]) -> list[tuple[int, ...]]:
    return [
        (i, preempted.at_ps, ordinal[preempted.victim], ordinal[preempted.beneficiary], preempted.lost_tokens)
        for i, one in enumerate(result.iterations)
        for preempted in one.preempted
    ]


def stepped_stays(result: Result, ordinal: dict[str, int]) -> list[tuple[int, ...]]:
    """Stays in the batch: request, seq, iterations and times from and to, hit and known tokens, end."""
    stays: list[tuple[int, ...]] = []
    opened: dict[str, tuple[int, ...]] = {}
    emitted = dict.fromkeys(result.jobs, 0)
    seq = 0

    def close(name: str, iteration: int, at_ps: int, end: StayEnd) -> None:
        stays.append((*opened.pop(name), iteration, at_ps, end))

    for i, one in enumerate(result.iterations):
        entered = set(one.admitted + one.resumed)
        for preempted in one.preempted:
            end = StayEnd.DISPLACED if preempted.beneficiary in entered else StayEnd.OUTGROWN
            close(preempted.victim, i, one.start_ps, end)
        # What comes back from the host counts as found, and all that it had computed as known.
        hits = dict(one.hits) | {name: tokens for name, tokens, _ in one.returned}
        targets = {name: target for name, _, target in one.returned}
        for name in one.running[len(one.running) - len(entered) :]:
            job = result.jobs[name]
            known = targets.get(name, job.prompt + emitted[name])
            opened[name] = (ordinal[name], seq, i, one.start_ps, hits.get(name, 0), known)
            seq += 1
        for name, tokens in one.scheduled:
            before = one.before[one.scheduled.index((name, tokens))]
            if before + tokens == result.jobs[name].prompt + emitted[name]:
                emitted[name] += 1
        after_ps = one.start_ps + one.duration_ps
        for name in list(opened):
            job = result.jobs[name]
            if name in one.finished:
                close(name, i + 1, after_ps, StayEnd.FINISHED)
            elif job.outcome == Outcome.TIMED_OUT and job.ended_ps <= after_ps:
                close(name, i + 1, job.ended_ps, StayEnd.TIMED_OUT)
    for name in list(opened):
        close(name, len(result.iterations), result.end_ps, StayEnd.STILL_RUNNING)
    return sorted(stays)


REQUEST_COLUMNS = (
    "outcome first_scheduled_ps first_token_ps ended_ps emitted_tokens preemptions recomputed_tokens"
)
STAY_COLUMNS = "request seq iteration start_ps hit_tokens known_tokens end_iteration end_ps end"


def differences(log: Log, result: Result) -> dict[str, tuple[Any, Any]]:
    """What the log and the stepped run disagree about: by name, (jumped, stepped)."""
    ordinal = {name: i for i, name in enumerate(log.requests.ids)}
    jobs = [result.jobs[name] for name in log.requests.ids]
    requests = [
        (
            j.outcome,
            j.first_scheduled_ps,
            j.first_token_ps,
            j.ended_ps,
            j.emitted,
            j.preemptions,
            j.recomputed,
        )
        for j in jobs
    ]
    used = [log.machine.kv_blocks - one.free_after_schedule for one in result.iterations]
    firsts = table(log.stretches, "iteration kv_used")
    pairs: dict[str, tuple[Any, Any]] = {
        "iterations": (jumped_iterations(log), stepped_iterations(result, ordinal)),
        "preempted": (
            table(log.preempted, "iteration at_ps victim beneficiary lost_tokens"),
            stepped_preemptions(result, ordinal),
        ),
        "requests": (table(log, REQUEST_COLUMNS), requests),
        "stays": (sorted(table(log.stays, STAY_COLUMNS)), stepped_stays(result, ordinal)),
        "kv_used": (firsts, [(i, used[i]) for i, _ in firsts if i < len(used)]),
        "stopped": (bool(log.stop_reason), bool(result.stop_reason)),
    }
    horizon_came_first = log.horizon_ps != NEVER and not log.stop_reason
    if result.stop_reason == "livelock" and (log.stop_reason.startswith("livelock") or horizon_came_first):
        # The reference stops where it first sees a state again, the engine a little later or at the horizon.
        for name in ("iterations", "preempted"):
            pairs[name] = (pairs[name][0][: len(pairs[name][1])], pairs[name][1])
        pairs = {name: pairs[name] for name in ("iterations", "preempted")}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def first_difference(pair: tuple[Any, Any]) -> str:
    if not isinstance(pair[0], list):
        return f"jumped {pair[0]}, stepped {pair[1]}"
    for i, (jumped, stepped) in enumerate(zip(*pair, strict=False)):
        if jumped != stepped:
            return f"row {i}: jumped {jumped}, stepped {stepped}"
    return f"jumped has {len(pair[0])} rows, stepped {len(pair[1])}"


def assert_same(scenario: Scenario, policy: str) -> Log:
    log = simulate(scenario, policy)
    pairs = differences(log, step(scenario, policy))
    found = {name: first_difference(pair) for name, pair in pairs.items()}
    assert not found, found
    return log


def small(policy: str, values: dict[str, Any], engine: dict[str, Any], *rows: tuple[Any, ...]) -> Scenario:
    """A scenario of few requests: arrival, prompt, output, priority, and a time-out where there is one."""
    names = ("arrival_s", "prompt", "output", "priority", "timeout_s")
    requests = [{"id": f"r{i}"} | dict(zip(names, row, strict=False)) for i, row in enumerate(rows)]
    data: dict[str, Any] = {"hardware": "constant", "iteration_s": 1.0} | engine
    return Scenario(engine=data, requests=requests, policies={policy: values})


def test_a_time_out_inside_the_iteration_of_the_arrival_is_seen() -> None:
    engine = {"iteration_s": 3.0, "kv_blocks": 25, "max_num_seqs": 1}
    log = assert_same(small("fcfs", {}, engine, (0.0, 4, 4, 0), (3.5, 4, 3, 0, 1.0)), "fcfs")
    assert log.outcome.tolist() == [Outcome.FINISHED, Outcome.TIMED_OUT]
    assert log.ended_ps.tolist() == [12 * PS_PER_S, 6 * PS_PER_S]


def test_a_time_out_in_the_last_iteration_before_the_end_is_seen() -> None:
    # The run is cut off at 4 s, inside an iteration that ends at 6 s; the client came at 3.5 and left at 4.5.
    engine = {"iteration_s": 3.0, "max_num_seqs": 1}
    whole = small("fcfs", {}, engine, (0.0, 4, 9, 0), (3.5, 4, 3, 0, 1.0), (3.5, 4, 3, 0))
    log = assert_same(whole.changed(duration_s=4.0, drain_s=0.0), "fcfs")
    assert log.outcome.tolist() == [Outcome.UNFINISHED, Outcome.TIMED_OUT, Outcome.UNFINISHED]
    assert log.ended_ps.tolist() == [-1, 6 * PS_PER_S, -1]


def test_a_tenant_is_not_charged_for_the_token_that_nobody_heard() -> None:
    # A has been charged its prompt of 3 and the token of 1 s, and B was lifted to that when it came; the
    # token of 2 s is ignored. So both stand at 5 then, and r1 goes before r2 by its name.
    whole = small("vtc", {}, {"max_num_seqs": 1}, (0.0, 3, 3, 0, 1.5), (0.5, 1, 1), (0.5, 2, 2))
    owned = tuple(one.changed(tenant=who) for one, who in zip(whole.requests, "AAB", strict=True))
    log = assert_same(whole.changed(requests=owned), "vtc")
    assert log.emitted_tokens.tolist() == [1, 1, 2]
    assert (log.ended_ps // PS_PER_S).tolist() == [2, 3, 5]


def test_a_jump_stops_where_a_loan_begins_that_a_waiter_may_take_back() -> None:
    # Two lower ones hold the 5 unreserved blocks of 10. At 3 s the newer takes a sixth: that is a loan, and
    # without it 7 blocks are free for the 6 that the urgent one has waited for.
    rows = ((0.0, 9, 30, 1), (0.0, 6, 30, 1), (1.0, 24, 2, 0))
    log = assert_same(small("rescue", {"kv": 0.5}, {"kv_blocks": 10, "block_size": 4}, *rows), "rescue")
    assert log.first_scheduled_ps[2] == 3 * PS_PER_S and log.preempted.victim.tolist()[:1] == [1]


def test_a_jump_stops_where_a_cached_block_is_lost_that_a_waiter_would_have_shared() -> None:
    # r0 was thrown out with 16 tokens in 4 blocks of the cache. Sharing them it asks for a fifth, one more
    # than the strict reserve leaves. r1 takes one of them: now r0 begins at token 12 and asks for 4 in all.
    engine: dict[str, Any] = {"kv_blocks": 9, "block_size": 4, "max_num_seqs": 2, "max_num_batched_tokens": 2}
    engine |= {"gate": "first_chunk", "enable_prefix_caching": True, "refuse_infeasible": False}
    values = {"kv": 0.5, "lend": False, "guard_growth": True}
    rows = ((0.0, 1, 17, 1), (40.0, 1, 13, 0), (40.0, 1, 8, 0))
    log = assert_same(small("rescue", values, engine, *rows), "rescue")
    again = log.stays.request.tolist().index(0, 1)
    assert log.stays.start_ps[again] == 52 * PS_PER_S and log.stays.hit_tokens[again] == 12


def test_no_round_is_seen_where_the_cache_has_changed() -> None:
    engine: dict[str, Any] = {"kv_blocks": 9, "block_size": 2, "max_num_seqs": 2, "max_num_batched_tokens": 3}
    engine |= {"long_prefill_token_threshold": 3, "gate": "first_chunk", "enable_prefix_caching": True}
    rows = ((0.0, 7, 3, 1), (0.0, 1, 1, 0), (0.0, 1, 1, 0), (0.0, 9, 11, 0), (0.5, 1, 10, 0))
    log = assert_same(small("backfill", {}, engine | {"refuse_infeasible": False}, *rows), "backfill")
    assert log.stop_reason.startswith("stalled")


def test_a_token_slice_binds_with_prefix_caching_too() -> None:
    engine = {"kv_blocks": 15, "block_size": 4, "max_num_batched_tokens": 5, "enable_prefix_caching": True}
    values = {"kv": 0.0, "tokens": 0.2, "lend": False}
    log = assert_same(small("rescue", values, engine, (0.0, 1, 1, 0), (0.0, 9, 1, 1)), "rescue")
    assert max(log.chunks.tokens.tolist()) == 4


@pytest.mark.parametrize("policy", ["priority", "backfill"])
def test_requests_that_preempt_each_other_for_ever_end_the_run(policy: str) -> None:
    engine: dict[str, Any] = {"kv_blocks": 40, "block_size": 1, "max_num_seqs": 6}
    engine |= {"max_num_batched_tokens": 2, "long_prefill_token_threshold": 1, "gate": "first_chunk"}
    rows = [(0.0, 1, output, 0) for output in (1, 1, 31, 36, 1)]
    log = assert_same(small(policy, {}, engine, *rows), policy)
    assert log.stop_reason.startswith("livelock")
    # The fifth is not in it: the two take the budget of every iteration, so it is never looked at.
    assert log.outcome.tolist() == [Outcome.FINISHED] * 2 + [Outcome.UNFINISHED] * 3


@pytest.mark.parametrize("policy", sorted(SETTINGS))
def test_a_jump_gives_the_log_of_single_steps(policy: str) -> None:
    if policy not in POLICIES:
        pytest.skip(f"{policy} is not built yet")

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(scenarios(policy))
    def law(scenario: Scenario) -> None:
        log = assert_same(scenario, policy)
        event("preempted" if len(log.preempted.victim) else "not preempted")

    law()
