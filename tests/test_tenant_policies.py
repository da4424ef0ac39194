"""Fairness among tenants, caps and shedding: bounds on what tenants get, and examples worked out by hand."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import POLICIES, Log, Scenario, simulate
from sched.explain import explain
from sched.fields import ScenarioError
from sched.fuzz import scenario_of_seed
from sched.inversion import analyse
from sched.metrics import summary
from sched.model import PS_PER_S, Holding, Machine, Outcome, Request, Standing, StayEnd
from sched.pieces import pieces_of
from sched.policies import Scene
from sched.policies.reserve import Demand, Feedback
from sched.policies.tenants import charges, stays_smallest
from sched.scenario import known_policies
from sched.story import story
from sched.whole import told, whole_requests
from sched.workload import requests as request_list

MACHINE = Machine(100, 16, 8, 256)
ENGINE = {"hardware": "constant", "iteration_s": 1.0, "block_size": 100, "max_num_seqs": 64}
ENGINE |= {"max_num_batched_tokens": 100_000}
S = PS_PER_S


def scenario(
    rows: list[dict[str, Any]],
    policy: str,
    options: Mapping[str, Any],
    weights: Mapping[str, float],
    **engine: Any,
) -> Scenario:
    """Explicit requests on an engine with iterations of a second, 100 tokens a block."""
    tenants = {name: {"weight": weight} for name, weight in weights.items()}
    return Scenario(
        engine=ENGINE | engine,
        requests=rows,
        tenants=tenants,
        policies={policy: dict(options)},
        duration_s=1000,
    )


def row(
    name: str, prompt: int, output: int, tenant: str = "A", priority: int = 0, kind: str = "c", **rest: Any
) -> dict[str, Any]:
    found = {"id": name, "prompt": prompt, "output": output, "tenant": tenant, "priority": priority}
    return found | {"class": kind} | rest


def run(
    rows: list[dict[str, Any]], policy: str, options: Mapping[str, Any] | None = None,
    weights: Mapping[str, float] | None = None, **engine: Any,
) -> Log:  # fmt: skip
    return simulate(scenario(rows, policy, options or {}, weights or {}, **engine), policy)


def starts_s(log: Log) -> dict[str, float]:
    """When each request first entered the batch, in seconds."""
    return {
        name: at / S
        for name, at in zip(log.requests.ids, log.first_scheduled_ps.tolist(), strict=True)
        if at >= 0
    }


def entered(log: Log) -> str:
    """The requests in the order of their admissions."""
    return " ".join(log.requests.ids[row] for row in log.stays.request[np.argsort(log.stays.seq)].tolist())


def rules(policy: str, scene: Mapping[str, Any] | None = None, /, **options: Any) -> Any:
    """A policy by itself, with tenants A and B of equal weight."""
    usual = Scene(MACHINE, 0, {"A": Fraction(1), "B": Fraction(1)})
    chosen = known_policies()[policy].model.model_validate(options)
    return POLICIES[policy](chosen, replace(usual, **(scene or {})))


def request(ordinal: int, tenant: str = "A", prompt: int = 10, **rest: Any) -> Request:
    fields: dict[str, Any] = {"class_name": "c", "priority": 1, "arrival_ps": 0} | rest
    return Request(ordinal=ordinal, id=f"r{ordinal}", tenant=tenant, prompt_tokens=prompt, **fields)


# -- bounds on the difference between two tenants that both have something waiting

LENGTHS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 12)), min_size=4, max_size=25)


def backlog(of: dict[str, list[tuple[int, int]]]) -> list[dict[str, Any]]:
    return [
        row(f"{tenant}{number:02}", prompt, output, tenant)
        for tenant, sizes in of.items()
        for number, (prompt, output) in enumerate(sizes)
    ]


def service(log: Log, prompt_price: int, output_price: int) -> tuple[list[dict[str, int]], int]:
    """What each tenant has been given at each iteration boundary, prompts counted at admission; and the last
    boundary at which both still have somebody waiting. Needs whole prompts in one iteration, no preemptions.
    """
    assert not len(log.preempted.victim)
    stays, listed = log.stays, log.requests
    tenant = [listed.tenant_names[index] for index in listed.tenant_index.tolist()]
    last = dict.fromkeys(listed.tenant_names, 0)
    for who, start in zip(stays.request.tolist(), stays.iteration.tolist(), strict=True):
        last[tenant[who]] = max(last[tenant[who]], start)
    found = []
    for now in range(min(last.values()) + 1):
        given_now = dict.fromkeys(listed.tenant_names, 0)
        for who, start, end in zip(
            stays.request.tolist(), stays.iteration.tolist(), stays.end_iteration.tolist(), strict=True
        ):
            if start < now:
                tokens = min(now, end) - start
                given_now[tenant[who]] += (
                    prompt_price * int(listed.prompt_tokens[who]) + output_price * tokens
                )
        found.append(given_now)
    return found, min(last.values())


@settings(max_examples=60)
@given(
    LENGTHS, LENGTHS, st.integers(1, 4), st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from(["off", "oracle"])
)
def test_two_backlogged_tenants_under_vtc_are_never_further_apart_than_twice_the_bound(
    a: list[tuple[int, int]], b: list[tuple[int, int]], seats: int, weight: float, predictor: str
) -> None:
    # Sheng et al.: |W_f - W_g| <= 2U, U = max(w_p L_input, w_q M), M the most tokens of a batch; by weight.
    log = run(backlog({"A": a, "B": b}), "vtc", {"predictor": predictor}, {"A": weight}, max_num_seqs=seats)
    longest = max(prompt for prompt, _ in a + b)
    bound = 2 * max(longest, 2 * seats * max(prompt + output for prompt, output in a + b))
    for given_now in service(log, 1, 2)[0]:
        assert abs(Fraction(given_now["A"]) / Fraction(weight) - given_now["B"]) <= bound


@settings(max_examples=60)
@given(LENGTHS, LENGTHS, st.integers(1, 4), st.sampled_from([1, 20, 200]))
def test_dlpm_lets_tenants_drift_apart_by_a_quantum_at_most_beyond_one_batch(
    a: list[tuple[int, int]], b: list[tuple[int, int]], seats: int, quantum: int
) -> None:
    # Both gain in the same rounds. A deficit is at most a quantum, and at least what one admission and the
    # answers of a batch can take after it was last positive.
    log = run(backlog({"A": a, "B": b}), "dlpm", {"quantum": quantum}, max_num_seqs=seats)
    longest = max(prompt for prompt, _ in a + b)
    bound = quantum + longest + seats * max(output for _, output in a + b)
    for given_now in service(log, 1, 1)[0]:
        assert abs(given_now["A"] - given_now["B"]) <= bound


@settings(max_examples=60)
@given(LENGTHS, LENGTHS, st.sampled_from([1.0, 2.0, 0.5]))
def test_deficit_round_robin_gives_backlogged_tenants_the_same_number_of_quanta(
    a: list[tuple[int, int]], b: list[tuple[int, int]], weight: float
) -> None:
    # Visits differ by one at most; what a tenant has saved is less than a quantum and the largest cost.
    log = run(backlog({"A": a, "B": b}), "drr", {}, {"A": weight}, max_num_seqs=1)
    costs = [prompt + 2 * output for prompt, output in a + b]
    mean, weights = Fraction(sum(costs), len(costs)), {"A": Fraction(weight), "B": Fraction(1)}
    bound = 2 * mean + max(costs) / min(weights.values())
    paid = dict.fromkeys("AB", Fraction(0))
    left = {"A": len(a), "B": len(b)}
    for name in entered(log).split():
        tenant, place = name[0], int(name[1:])
        prompt, output = (a if tenant == "A" else b)[place]
        paid[tenant] += (prompt + 2 * output) / weights[tenant]
        left[tenant] -= 1
        if not all(left.values()):
            break
        assert abs(paid["A"] - paid["B"]) <= bound


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=5), st.integers(1, 60))
def test_the_smallest_counter_stays_so_for_exactly_as_long_as_is_said(
    rows: list[tuple[int, int]], most: int
) -> None:
    rows.sort()
    counters, rises = [one for one, _ in rows], [rise for _, rise in rows]
    turns = stays_smallest(counters, rises)
    for turn in range(1, most):
        now = [counter + rise * turn for counter, rise in zip(counters, rises, strict=True)]
        if now[0] > min(now):
            assert turns is not None and turn >= turns
        elif turns is not None and turn < turns:
            assert now[0] == min(now)


@given(
    st.dictionaries(st.sampled_from("ABC"), st.sampled_from([0.1, 0.3, 1.0, 2.5]), min_size=1),
    st.lists(st.sampled_from([0.0, 0.7, 1.0, 2.0]), min_size=1, max_size=3),
)
def test_charges_are_whole_and_keep_the_proportions(weights: dict[str, float], prices: list[float]) -> None:
    shares = {tenant: Fraction(repr(weight)) for tenant, weight in weights.items()}
    exact = [Fraction(repr(price)) / share for price in prices for share in shares.values()]
    whole = [
        cost for table in charges([Fraction(repr(one)) for one in prices], shares) for cost in table.values()
    ]
    pairs = list(zip(exact, whole, strict=True))
    assert all(one * other == also * cost for one, cost in pairs for also, other in pairs)


# -- dominant resource fairness


def cores_and_memory(cores: int, memory: int, weights: Mapping[str, float]) -> str:
    """Who enters at once: A asks for 1 core and 4 GB, B for 3 cores and 1 GB; a block is a GB."""
    rows = [row(f"A{n}", 350, 5, "A", kind="wide") for n in range(9)]
    rows += [row(f"B{n}", 50, 5, "B", kind="busy") for n in range(9)]
    options = {"half_life_s": 0, "cpu_cores": cores, "cpu": {"wide": 1, "busy": 3}}
    log = run(rows, "drf", options, weights, kv_blocks=memory, max_num_seqs=1000)
    return " ".join(name for name, at in starts_s(log).items() if at == 0)


def test_drf_gives_the_shares_of_the_paper() -> None:
    # Ghodsi et al., section 4.1: (9 cores, 18 GB) makes 3 tasks of A and 2 of B, 2/3 of memory and of cores.
    assert cores_and_memory(9, 18, {}) == "A0 A1 A2 B0 B1"


def test_drf_by_weight() -> None:
    # (18, 36) at 2 : 1: 8 of A hold 8/9 of the memory, half of that by weight, 3 of B half of the cores.
    assert cores_and_memory(18, 36, {"A": 2.0}) == "A0 A1 A2 A3 A4 A5 A6 A7 B0 B1 B2"


def test_drf_refuses_what_has_too_few_cores_in_all() -> None:
    log = run([row("A0", 50, 2, kind="busy")], "drf", {"cpu_cores": 2, "cpu": {"busy": 3}})
    assert log.outcome.tolist() == [Outcome.REFUSED]


def test_use_of_tokens_is_halved_by_a_half_life() -> None:
    drf = rules("drf", half_life_s=8.0)
    drf.computed("A", 1000)
    drf.ran(10)
    used, offered = drf.used["A"], drf.offered
    assert Fraction(used, offered) == Fraction(1000, 2560)
    for second in range(1, 9):
        assert drf.next_ps == second * S
        drf.tick(second * S)
    # Each of the eight epochs cuts off less than one part of 2**20 tokens, and the factor has 32 bits.
    assert used // 2 - 16 <= drf.used["A"] <= used // 2 + 16
    assert offered // 2 - 16 <= drf.offered <= offered // 2 + 16


def test_epochs_that_passed_together_fade_as_one_by_one() -> None:
    slow, fast = rules("drf", half_life_s=8.0), rules("drf", half_life_s=8.0)
    for one in (slow, fast):
        one.computed("B", 777)
        one.ran(5)
    for second in range(1, 21):
        slow.tick(second * S)
    fast.tick(20 * S + 7)
    assert (slow.used, slow.offered, slow.next_ps) == (fast.used, fast.offered, fast.next_ps)


def test_a_tenants_largest_share_counts_by_weight() -> None:
    drf = rules("drf", {"weights": {"A": Fraction(4), "B": Fraction(1)}}, half_life_s=0)
    drf.holding = {"A": Holding(40, 1), "B": Holding(5, 1)}.__getitem__
    # A holds 40 of 100 blocks and 1 of 8 seats; B's seat is its largest share.
    assert drf.counter("A", request(0)) == (Fraction(1, 10),)
    assert drf.counter("B", request(1, "B")) == (Fraction(1, 8),)


def test_the_articles_shares_flip_the_order() -> None:
    # Of 40 s and 80,000 tokens A used 10 and 10, B 30 and 1. By capacity A has a quarter and goes next; by
    # the sum of use A's 10 of 11 tokens are its dominant share, and B goes next.
    article = rules("article_drf")
    article.compute, article.memory = {"A": 10, "B": 30}, {"A": 10, "B": 1}
    assert article.counter("A", request(0)) == (0, Fraction(10, 11))
    assert article.counter("B", request(1, "B")) == (0, Fraction(3, 4))
    drf = rules("drf", {"machine": replace(MACHINE, kv_blocks=80_000, max_num_batched_tokens=40)})
    drf.holding = {"A": Holding(10, 0), "B": Holding(1, 0)}.__getitem__
    drf.ran(1)
    drf.computed("A", 10)
    drf.computed("B", 30)
    assert drf.counter("A", request(0)) == (Fraction(1, 4),)
    assert drf.counter("B", request(1, "B")) == (Fraction(3, 4),)


def test_the_article_serves_each_tenant_once_a_round_whatever_the_weights() -> None:
    rows = [row(f"{tenant}{n}", 10, 2, tenant) for tenant in "AB" for n in range(3)]
    assert entered(run(rows, "article_drf", {}, {"A": 9.0}, max_num_seqs=1)) == "A0 B0 A1 B1 A2 B2"


def test_levels_first_then_shares() -> None:
    if "mlfq_drf" not in POLICIES:
        pytest.skip("mlfq_drf is not built yet")
    rows = [row(f"A{n}", 10, 2, "A") for n in (1, 2, 3)]
    rows += [row("B1", 10, 2, "B"), row("X", 10, 2, "B", priority=2)]
    assert entered(run(rows, "mlfq_drf", max_num_seqs=1)) == "A1 B1 A2 A3 X"


# -- token counters and deficits


@pytest.mark.parametrize("predictor", ["off", "oracle"])
def test_vtc_gives_equal_tokens_for_unequal_requests(predictor: str) -> None:
    # A request of A costs 4 + 2 * 2 = 8, one of B 4 + 2 * 10 = 24; at a tie the earlier id.
    rows = [row(f"A{n}", 4, 2, "A") for n in range(6)] + [row(f"B{n}", 4, 10, "B") for n in range(2)]
    log = run(rows, "vtc", {"predictor": predictor}, max_num_seqs=1)
    assert entered(log) == "A0 B0 A1 A2 A3 B1 A4 A5"


def test_vtc_by_weight() -> None:
    rows = [row(f"{tenant}{n}", 4, 2, tenant) for tenant, count in (("A", 2), ("B", 6)) for n in range(count)]
    assert entered(run(rows, "vtc", {}, {"B": 3.0}, max_num_seqs=1)) == "A0 B0 B1 B2 A1 B3 B4 B5"


def test_a_wrong_prediction_is_put_right_at_the_end() -> None:
    vtc = rules("vtc", {"forecast": lambda ordinal, emitted: 5}, predictor="lognormal")
    one = request(0)
    vtc.admitted(one, Standing(0, 0))
    assert vtc.counters["A"] == 10 + 2 * 5
    vtc.served("A", 2)
    vtc.admitted(one, Standing(0, 0, emitted_tokens=2, preemptions=1))
    assert vtc.counters["A"] == 10 + 2 * 5
    vtc.ended(one, 7)
    assert vtc.counters["A"] == 10 + 2 * 7
    vtc.ended(request(1), 0)
    assert vtc.counters["A"] == 10 + 2 * 7, "one that never entered was never charged"


def test_drr_lets_small_requests_save_a_tenant_no_time() -> None:
    # Costs 3 and 9, a quantum of the mean cost 4.5: for every 9 of B three of A, round trip by round trip.
    rows = [row(f"A{n}", 1, 1, "A") for n in range(6)] + [row(f"B{n}", 7, 1, "B") for n in range(2)]
    assert entered(run(rows, "drr", max_num_seqs=1)) == "A0 A1 A2 B0 A3 A4 A5 B1"


def test_drr_forfeits_what_is_left_when_a_tenant_has_nobody() -> None:
    scene = {"mean_prompt_tokens": Fraction(8), "peaks": {0: (1,)}, "forecast": lambda ordinal, emitted: 1}
    drr = rules("drr", scene)
    first, second = request(0, prompt=1), request(1, prompt=1)
    drr.queued(first, Standing(0, 0))
    assert drr.counter("A", first) == (0, 0)
    drr.drained("A")
    drr.admitted(first, Standing(0, 0))
    assert drr.deficit["A"] == 10 - 3
    drr.queued(second, Standing(0, 0))
    assert drr.deficit["A"] == 0 and drr.counter("A", second) == (1, 0)
    # Who was preempted has paid: it returns in the round that its tenant is in.
    drr.queued(first, Standing(0, 0, preemptions=1))
    assert drr.counter("A", first) == (0, 0)


def test_dlpm_refills_until_somebody_may_go() -> None:
    dlpm = rules("dlpm", {"weights": {"A": Fraction(1), "B": Fraction(1, 2)}}, quantum=10)
    dlpm.choosing(["A", "B"])
    assert dlpm.deficit == {"A": 20, "B": 10}, "in halves of a token"
    dlpm.admitted(request(0, prompt=45), Standing(0, 0, cached_tokens=10))
    dlpm.served("B", 5)
    assert dlpm.deficit == {"A": 20 - 70, "B": 0}
    dlpm.choosing(["A"])
    assert dlpm.deficit == {"A": 10, "B": 0}, (
        "three rounds of 20, and only for those who have somebody waiting"
    )


def test_dlpm_follows_the_cache_within_a_quantum_and_fairness_beyond_it() -> None:
    a = [row(f"A{n}", 100, 1, "A", prefix=[["a", 90]]) for n in range(4)]
    b = [row(f"B{n}", 100, 1, "B", prefix=[["b", 90]]) for n in range(4)]
    engine: dict[str, Any] = {
        "max_num_seqs": 1,
        "block_size": 10,
        "enable_prefix_caching": True,
        "kv_blocks": 100,
    }
    mixed = [one for pair in zip(a, b, strict=True) for one in pair]
    assert entered(run(mixed, "dlpm", {"quantum": 100_000}, **engine)) == "A0 A1 A2 A3 B0 B1 B2 B3"
    assert entered(run(mixed, "dlpm", {"quantum": 1}, **engine)) == "A0 B0 A1 B1 A2 B2 A3 B3"


# -- quotas, caps, pieces

QUOTA = [
    *(row("A1", 301, 4, "A"), row("A2", 301, 4, "A")),
    *(row("B1", 250, 2, "B"), row("B2", 250, 2, "B")),
]


@pytest.mark.parametrize(
    ("mode", "expected", "makespan_s"),
    [
        # Seven blocks for A: its two need eight. Three for B: one at a time.
        ("strict", {"A1": 0, "A2": 4, "B1": 0, "B2": 2}, 8),
        # B2 borrows the three blocks that A leaves; A2 has to wait for them.
        ("borrow", {"A1": 0, "A2": 2, "B1": 0, "B2": 0}, 6),
    ],
)
def test_quota(mode: str, expected: dict[str, float], makespan_s: float) -> None:
    weights = {"A": 7.0, "B": 3.0}
    log = run(QUOTA, "quota", {"mode": mode}, weights, kv_blocks=10, max_num_seqs=10)
    assert starts_s(log) == expected
    assert log.end_ps == makespan_s * S


def test_strict_quota_refuses_what_is_larger_than_its_tenants_share() -> None:
    rows = [row("A1", 301, 4, "A"), row("B1", 301, 4, "B")]
    weights = {"A": 7.0, "B": 3.0}
    strict, borrow = (
        run(rows, "quota", {"mode": mode}, weights, kv_blocks=10, max_num_seqs=10)
        for mode in ("strict", "borrow")
    )
    assert strict.outcome.tolist() == [Outcome.FINISHED, Outcome.REFUSED]
    assert borrow.outcome.tolist() == [Outcome.FINISHED] * 2


@settings(max_examples=40)
@given(LENGTHS, LENGTHS, st.sampled_from([1.0, 3.0]), st.integers(8, 30))
def test_under_a_strict_quota_a_tenant_never_notices_the_other(
    a: list[tuple[int, int]], b: list[tuple[int, int]], weight: float, blocks: int
) -> None:
    engine: dict[str, Any] = {"block_size": 10, "kv_blocks": blocks, "max_num_seqs": 8}
    # With the peak promised nobody is preempted: a preemption, of anybody, holds up all newcomers.
    engine |= {"max_num_batched_tokens": 64, "gate": "peak"}
    weights = {"A": weight, "B": 1.0}
    both = run(backlog({"A": a, "B": b}), "quota", {}, weights, **engine)
    # B alone, with one request of A so that the shares are the same: it is over before B could meet it.
    alone = run(backlog({"A": [(1, 1)], "B": b}), "quota", {}, weights, **engine)

    def of_b(log: Log) -> list[tuple[str, int, int]]:
        columns = zip(log.requests.ids, log.first_scheduled_ps.tolist(), log.ended_ps.tolist(), strict=True)
        return [one for one in columns if one[0].startswith("B")]

    assert of_b(both) == of_b(alone)


LARGE = [row("C", 790, 4, priority=2, kind="batch")]
LARGE += [row("A", 590, 2, priority=0, arrival_s=1.0, kind="chat")]


def test_a_large_request_in_pieces_lets_the_urgent_in_and_takes_longer_itself() -> None:
    # C needs 8 of 10 blocks, A 6. Cut in two by a cap of 4 blocks, one piece at a time, A never waits.
    whole = run(LARGE, "priority", kv_blocks=10)
    assert starts_s(whole) == {"C": 0, "A": 4}
    cut = run(LARGE, "kv_cap", {"per_request": 400, "split": True}, kv_blocks=10)
    assert starts_s(cut) == {"C/1": 0, "C/2": 4, "A": 1}
    found = whole_requests(cut)
    assert found.ids == ("C", "A") and found.pieces.tolist() == [2, 1]
    assert found.ended_ps.tolist() == [8 * S, 3 * S] and whole.ended_ps.tolist() == [4 * S, 6 * S]
    (only,) = told(cut).values()
    assert list(told(cut)) == ["batch"]
    assert (only["n"], only["cut"], only["e2e_s"]["max"], only["ttft_s"]["max"]) == (1, 1, 8.0, 1.0)
    assert found.first_token_ps.tolist() == [1 * S, 2 * S] and found.arrival_ps.tolist() == [0, S]
    assert found.outcome.tolist() == [Outcome.FINISHED] * 2


def test_a_cut_run_that_stops_early_tells_of_both() -> None:
    # D is exempt from the cap, larger than the pool, and not refused: once the others are through, it stalls.
    rows = [*LARGE, row("D", 1190, 2, priority=0, arrival_s=20.0, kind="chat")]
    engine = {"kv_blocks": 10, "refuse_infeasible": False}
    one = scenario(rows, "kv_cap", {"per_request": 400, "split": True}, {}, **engine)
    log = simulate(one, "kv_cap")
    notes = {note["path"]: note["text"] for note in summary(log, one, analyse(log))["notes"]}
    assert notes["requests"].startswith("the run stopped early: stalled at 20 s: D waits (kv)")
    assert notes["whole_requests"].startswith("1 cut into pieces")


def test_without_cuts_every_request_is_a_whole_one() -> None:
    log = run(LARGE, "kv_cap", {"per_request": 400}, kv_blocks=10)
    found = whole_requests(log)
    assert found.ids == ("C", "A") and found.outcome.tolist() == [Outcome.REFUSED, Outcome.FINISHED]
    assert np.array_equal(found.ended_ps, log.ended_ps)


def test_pieces_come_one_after_the_other_in_the_order_of_their_numbers() -> None:
    # Twelve pieces: "C/10" sorts before "C/2", yet comes after it.
    rows = [row("C", 1200, 2, priority=1)]
    log = run(rows, "kv_cap", {"per_request": 101, "split": True}, kv_blocks=20)
    assert entered(log) == " ".join(f"C/{number}" for number in range(1, 13))
    assert list(starts_s(log).values()) == [2.0 * number for number in range(12)]


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(1, 60), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(20, 200),
    st.integers(0, 9),
)
def test_pieces_hold_the_whole_prompt_and_keep_the_cap(
    sizes: list[tuple[int, int, int]], most: int, prefix: int
) -> None:
    rows = [row(f"r{n}", prompt, output, priority=level) for n, (prompt, output, level) in enumerate(sizes)]
    listed = request_list(scenario(rows, "kv_cap", {}, {}))
    cut = pieces_of(listed, MACHINE, 0, most, prefix)
    prompts = cut.prompt_tokens.tolist()
    for number, (prompt, output, level) in enumerate(sizes):
        rows_of = [place for place, name in enumerate(cut.ids) if name.split("/")[0] == f"r{number}"]
        parts = [prompts[place] - (prefix if len(rows_of) > 1 else 0) for place in rows_of]
        assert sum(parts) == prompt and max(parts) - min(parts) <= 1
        assert cut.output_tokens[rows_of].tolist() == [output] * len(rows_of)
        is_large, room = prompt + output - 1 > most, most - output + 1 - prefix
        assert len(rows_of) == (-(-prompt // room) if level > 0 and is_large and room > 0 else 1)
        if len(rows_of) > 1:
            assert all(prompts[place] + output - 1 <= most for place in rows_of)
    assert len(set(cut.ids)) == len(cut)


def test_the_names_of_a_prompts_beginning_go_with_the_pieces() -> None:
    rows = [row("C", 100, 1, priority=1, prefix=[["system", 30], ["document", 40]])]
    listed = request_list(scenario(rows, "kv_cap", {}, {}))
    cut = pieces_of(listed, MACHINE, 0, 55, 5)
    assert cut.parents == ("C", "C") and cut.segments == (
        (("instructions of a piece", 5), ("system", 30), ("document", 20)),
        (("instructions of a piece", 5), ("document from 20", 20)),
    )


def test_a_piece_may_not_have_the_id_of_another_request() -> None:
    rows = [row("C", 100, 1, priority=1), row("C/2", 1, 1)]
    listed = request_list(scenario(rows, "kv_cap", {}, {}))
    with pytest.raises(ScenarioError, match="the id C/2 is that of a piece"):
        pieces_of(listed, MACHINE, 0, 60)


def test_a_class_holds_no_more_than_its_cap_and_others_are_not_counted() -> None:
    cap = rules("kv_cap", aggregate=100, per_request=100, long_tokens=60, long_limit=1)
    docs, other = request(0, class_name="docs"), request(1, class_name="api")
    assert not cap.holds_back(docs, 70)
    cap.admitted(docs, Standing(0, 0))
    assert cap.holds_back(request(2, class_name="docs"), 31) and not cap.holds_back(other, 70)
    assert not cap.holds_back(request(3, class_name="docs"), 30)
    assert not cap.holds_back(request(4, class_name="docs", priority=0), 1000), "no cap binds the most urgent"
    cap.left(docs, Standing(0, 0), StayEnd.DISPLACED)
    assert not cap.holds_back(request(2, class_name="docs"), 100)
    assert cap.refuses(request(5), 101) == "it comes to 101 tokens, its class may have 100"


# -- a reserve that sizes itself


def test_what_the_urgent_will_hold_is_shot_noise() -> None:
    # Half an arrival a second that stays 6 s, from 500 tokens to 700: 1,800 tokens on average with a variance
    # of 1,090,000; 2.326 standard deviations more are 4,228 tokens, 265 blocks of 16.
    demand = Demand()
    for number in range(1, 31):
        demand.arrived(2 * number * S)
    demand.finished(500, 200, 6 * S)
    tokens = demand.tokens(60 * S, Fraction("2.326"))
    assert tokens == 4228 and MACHINE.blocks(tokens) == 265
    assert demand.tokens(60 * S, Fraction(0)) == 1800
    # A minute after the last of them nothing is expected.
    assert demand.tokens(120 * S, Fraction("2.326")) == 0


def feedback(**options: Any) -> Feedback:
    """Of 1,000 blocks, aiming at a wait of 1 s, every 2 s."""
    chosen = known_policies()["auto_rescue"].model.model_validate(options)
    return Feedback(chosen, 1000, S, 2 * S)


def test_the_reserve_rises_with_the_wait_and_decays_when_it_idles() -> None:
    found = feedback(kv=0.1, up=0.05, low=0.08, high=0.5)
    found.step([2 * S], mostly_idle=False)
    assert found.blocks() == 150, "twice the target: by the gain"
    found.step([], mostly_idle=True)
    assert found.blocks() == 150, "nothing was asked for: nothing is learnt"
    found.step([100 * S], mostly_idle=False)
    assert found.blocks() == 350, "a mean wait of 51 s asks for 2,500 blocks: at most a tenth of all a second"
    found.step([0], mostly_idle=False)
    found.step([100 * S], mostly_idle=False)
    assert found.blocks() == 500, "its bound"
    for _ in range(8):
        found.step([0], mostly_idle=False)
    assert found.blocks() == 500, "no wait, but it is used"
    found.step([0], mostly_idle=True)
    assert found.blocks() == 490
    for _ in range(99):
        found.step([0], mostly_idle=True)
    assert found.blocks() == 80


def test_the_wait_that_counts_is_the_nearest_rank_of_95_in_100() -> None:
    found = feedback()
    found.step([S * number for number in range(1, 41)], mostly_idle=False)
    assert found.wait_ps == 38 * S


def test_a_self_sizing_buffer_grows_under_urgent_load_and_stays_within_its_bounds() -> None:
    rows = [row("L{i}", 190, 30, priority=1, count=40, every_s=1.0)]
    rows += [row("U{i}", 350, 8, priority=0, count=20, every_s=4.0, arrival_s=20.0)]
    options = {"kv": 0.0, "low": 0.0, "high": 0.6, "lend": False}
    log = run(rows, "auto_rescue", options, kv_blocks=20, max_num_seqs=16)
    kept = [aside.kv_blocks for _, aside in log.asides if aside]
    assert log.set_aside and log.set_aside.kv_blocks == 0
    assert max(kept) >= 4 and all(0 <= blocks <= 12 for blocks in kept)
    assert all(at % S == 0 for at, _ in log.asides)
    assert sorted(log.outcome.tolist()) == [Outcome.FINISHED] * 60


def test_a_jump_does_not_change_how_the_buffer_is_sized() -> None:
    resized = 0
    for seed in range(60):
        random = scenario_of_seed(seed, ["auto_rescue"])
        jumped, stepped = simulate(random, "auto_rescue"), simulate(random, "auto_rescue", longest_jump=1)
        assert jumped.asides == stepped.asides, f"seed {seed}"
        resized += len({aside and aside.kv_blocks for _, aside in jumped.asides}) > 1
    assert resized > 5


def test_a_strict_self_sizing_buffer_refuses_what_its_largest_size_leaves_no_room_for() -> None:
    rows = [row("L", 1190, 2, priority=1), row("M", 790, 2, priority=1), row("U", 10, 2, priority=0)]
    log = run(rows, "auto_rescue", {"high": 0.6, "lend": False}, kv_blocks=20)
    assert log.outcome.tolist() == [Outcome.REFUSED, Outcome.FINISHED, Outcome.FINISHED]
    lent = run(rows, "auto_rescue", {"high": 0.6}, kv_blocks=20)
    assert lent.outcome.tolist() == [Outcome.FINISHED] * 3


# -- shedding

FOUR = [row(f"r{n}", 10, 2) for n in range(4)]


def outcomes(log: Log) -> str:
    return " ".join(Outcome(one).name.lower() for one in log.outcome.tolist())


def test_who_would_wait_too_long_is_shed() -> None:
    # One seat, two seconds each: predicted waits 0, 2, then 4 and still 4, as the third is not let in.
    log = run(FOUR, "shed", {"max_wait_s": 3}, max_num_seqs=1)
    assert outcomes(log) == "finished finished shed shed"
    assert log.ended_ps.tolist() == [2 * S, 4 * S, 0, 0]


def test_who_would_miss_its_goal_is_shed() -> None:
    # A goal of 4 s for the first token, which takes 1 s alone: it may wait 3 s.
    rows = [one | {"slo": {"ttft_s": 4.0}} for one in FOUR]
    assert outcomes(run(rows, "shed", {"by_slo": True}, max_num_seqs=1)) == "finished finished shed shed"
    assert outcomes(run(FOUR, "shed", {"by_slo": True}, max_num_seqs=1)) == "finished " * 3 + "finished"


def test_a_full_queue_turns_the_newcomer_away_or_drops_its_lowest() -> None:
    rows = [row("a", 10, 4, priority=1)]
    rows += [
        row(name, 10, 1, priority=level, arrival_s=1.0) for name, level in (("b", 2), ("c", 1), ("d", 0))
    ]
    newcomer = run(rows, "shed", {"max_queue": 2}, max_num_seqs=1)
    assert outcomes(newcomer) == "finished finished finished shed"
    lowest = run(rows, "shed", {"max_queue": 2, "on_full": "lowest"}, max_num_seqs=1)
    assert outcomes(lowest) == "finished shed finished finished"
    assert lowest.ended_ps.tolist() == [4 * S, S, 6 * S, 5 * S]


def test_a_queue_for_each_class() -> None:
    rows = [
        row("a", 10, 4),
        *(row(name, 10, 1, arrival_s=1.0, kind=name[0]) for name in ("b1", "b2", "c1")),
    ]
    both = {"max_queue": 1, "per_class": True}
    assert outcomes(run(rows, "shed", both, max_num_seqs=1)) == "finished finished shed finished"


def test_a_tenants_minute() -> None:
    # Each costs 12 tokens; the minute begins anew at 60 s.
    rows = [row(name, 10, 2, tenant, arrival_s=at) for name, tenant, at in (
        ("a", "A", 0.0), ("b", "A", 1.0), ("c", "A", 59.9), ("d", "B", 59.9), ("e", "A", 60.0))]  # fmt: skip
    log = run(rows, "shed", {"tokens_per_minute": 30})
    assert outcomes(log) == "finished finished shed finished finished"


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(0, 2)), min_size=1, max_size=20),
    st.integers(0, 3),
    st.sampled_from(["newcomer", "lowest"]),
)
def test_the_queue_is_never_longer_than_its_bound_and_everyone_ends(
    rows: list[tuple[int, int, int]], most: int, on_full: str
) -> None:
    listed = [
        row(f"r{n}", 10, output, priority=level, arrival_s=float(at))
        for n, (at, output, level) in enumerate(rows)
    ]
    log = run(listed, "shed", {"max_queue": most, "on_full": on_full}, max_num_seqs=2)
    assert set(log.outcome.tolist()) <= {Outcome.FINISHED, Outcome.SHED}
    assert not len(log.stretches.waiting) or log.stretches.waiting.max() <= most
    if most == 0:
        assert not len(log.stays.request), "nobody can enter past a queue that holds nobody"


def test_the_story_of_one_turned_away_says_so() -> None:
    # One seat and one place in the queue: a runs at once, b and c come with it, and c finds the queue full.
    rows = [row("a", 10, 5), row("b", 10, 5, arrival_s=1.0), row("c", 10, 5, arrival_s=1.0)]
    given = scenario(rows, "shed", {"max_queue": 1}, {}, max_num_seqs=1)
    log = simulate(given, "shed")
    explained = explain(log, analyse(log), "c", given, simulate)
    assert explained["request"]["outcome"] == "shed"
    assert story(explained) == ["c was turned away by the policy on arrival; it got no token."]
