"""Every wait has its causes and every inversion its culprits, to the picosecond."""

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario, blame, causes, simulate, workload
from sched.blame import BYPASS, DIRECT, GROWTH, KINDS, ExactSums
from sched.chronicle import events
from sched.cost import iteration_cost, machine
from sched.engine import run
from sched.explain import UnknownRequest, explain, intervals
from sched.figures.captions import caption
from sched.figures.glance import Glance
from sched.figures.side import side
from sched.inversion import CAUSES, Inversion, analyse
from sched.log import Log
from sched.metrics import summary
from sched.model import PS_PER_S, RefusalCode, Request, SetAside, Standing, StayEnd
from sched.moments import moments
from sched.occupancy import held_by_group, pieces
from sched.policies.base import Policy, Rank, Scene, kept
from sched.shares import floor_share
from sched.story import story
from sched.supply import closed
from sched.verdict import verdict
from sched.waits import has_static_rank, order_by_rank, queue_order, waits
from tests.slow_inversion import Slow, batch_by_iteration
from tests.strategies import small_scenarios

TICK_S = 0.126
"""126 picoseconds can be shared by 2, 7 and 9 without a rest, and so can a tick of 0.126 s."""
TICK = 126 * 10**9


def contended(requests: list[dict[str, Any]], policy: str = "priority", **engine: Any) -> Log:
    """The run of a policy on explicit requests, one tick an iteration; times in ticks."""
    usual = {
        "hardware": "constant",
        "iteration_s": TICK_S,
        "kv_blocks": 10,
        "block_size": 100,
        "max_num_seqs": 64,
    }
    options = engine.pop("options", {})
    usual |= {"max_num_batched_tokens": 100_000} | engine
    listed = [{**one, "arrival_s": one.get("arrival_s", 0) * TICK_S} for one in requests]
    scenario = Scenario(duration_s=100.0, engine=usual, requests=listed, policies={policy: options})
    return simulate(scenario, policy)


def textbook(medium: int) -> list[dict[str, Any]]:
    """C holds, a stream of M keeps coming, and A needs more than they leave: 10 blocks of 100 tokens."""
    stream = [
        {"id": f"M{i}", "arrival_s": i, "prompt": 101, "output": 3, "priority": 1}
        for i in range(1, medium + 1)
    ]
    return [
        {"id": "C", "arrival_s": 0, "prompt": 201, "output": 5, "priority": 2},
        *stream,
        {"id": "A", "arrival_s": 2, "prompt": 601, "output": 4, "priority": 0},
    ]


def of(log: Log, name: str) -> int:
    return log.requests.ids.index(name)


def ticks(log: Log, ps: list[int]) -> dict[str, Fraction]:
    return {name: Fraction(one, TICK) for name, one in zip(log.requests.ids, ps, strict=True) if one}


def test_the_worked_example_is_shared_out_exactly() -> None:
    log = contended(textbook(6), "backfill")
    found = analyse(log)
    urgent = of(log, "A")
    assert found.wait_ps[urgent] == found.kv_ps[urgent] == found.inversion_ps[urgent] == 6 * TICK
    held = found.culprits
    assert ticks(log, held.total) == {
        "C": Fraction(23, 21),
        "M1": Fraction(32, 63),
        "M2": Fraction(46, 63),
        "M3": Fraction(7, 9),
        "M4": Fraction(8, 9),
        "M5": Fraction(7, 6),
        "M6": Fraction(5, 6),
    }
    assert sum(ticks(log, held.direct).values()) == Fraction(101, 63)
    assert sum(ticks(log, held.bypass).values()) == Fraction(277, 63)
    assert set(ticks(log, held.direct)) == {"C", "M1"} and not any(held.growth)
    assert ticks(log, found.exposure(urgent)) == {
        "C": 9,
        "M1": 4,
        "M2": 6,
        "M3": 6,
        "M4": 6,
        "M5": 6,
        "M6": 4,
    }
    assert found.bypasses[urgent] == 5 and found.bypasses.sum() == 5
    assert held.total == found.urgent_culprits.total


@pytest.mark.parametrize("medium", [6, 12, 24])
@pytest.mark.parametrize(
    ("policy", "options", "waits"),
    [
        ("backfill", {}, None),
        ("hol", {}, 2),
        ("skip_limit", {"limit": 1}, 3),
        ("skip_limit", {"limit": 3}, 4),
        ("preemptive", {}, 0),
        ("rescue", {"kv": 0.7, "lend": False}, 0),
        ("rescue", {"kv": 0.7}, 0),
        ("inheritance", {}, None),
    ],
)
def test_the_urgent_wait_is_inversion_under_every_policy(
    policy: str, options: dict[str, Any], waits: int | None, medium: int
) -> None:
    log = contended(textbook(medium), policy, options=options)
    found, urgent = analyse(log), of(log, "A")
    assert found.inversion_ps[urgent] == found.wait_ps[urgent] == (medium if waits is None else waits) * TICK
    assert sum(found.culprits.total) == sum(found.inversion_ps.tolist())


rescues = st.fixed_dictionaries(
    {
        "kv": st.sampled_from([0.0, 0.1, 0.34, 0.5, 1.0]),
        "tokens": st.sampled_from([0.0, 0.25]),
        "seats": st.sampled_from([0.0, 0.34, 0.5]),
        "lend": st.sampled_from([False, False, True]),
        "lend_share": st.sampled_from([0.0, 0.5, 1.0]),
        "misfit": st.sampled_from(["stop", "skip"]),
    }
)


@st.composite
def runs(draw: Any, lowest: int = 2) -> Log:
    """A small run of any policy, drained or cut off, in which nobody or somebody gives up.

    With priorities down to the lowest: 2 where they are those of the scenario.
    """
    scenario = draw(small_scenarios())
    policy = draw(st.sampled_from([*scenario.policies, "rescue"]))
    options = draw(rescues) if policy == "rescue" else {}
    changes: dict[str, Any] = {"duration_s": 10.0, "drain_s": draw(st.sampled_from([90.0, 90.0, 0.0, 2.0]))}
    if draw(st.booleans()):
        changes["classes"] = {"api": {"timeout_s": 3.3}, "docs": {"timeout_s": 5.0}}
    engine = scenario.engine.changed(enable_prefix_caching=False)
    requests = tuple(one.changed(prefix=()) for one in scenario.requests)
    if lowest > 2:
        requests = tuple(one.changed(priority=draw(st.integers(0, lowest))) for one in requests)
    scenario = scenario.changed(engine=engine, requests=requests, policies={policy: options}, **changes)
    log = simulate(scenario, policy)
    one: Log = draw(st.sampled_from([one for one in log.replicas or (log,) if len(one.requests)]))
    return one


@settings(max_examples=150)
@given(runs())
def test_causes_and_blame_are_those_of_the_slow_way(log: Log) -> None:
    agrees_with_the_slow_way(log, analyse(log))


def agrees_with_the_slow_way(log: Log, found: Inversion) -> None:
    slow = Slow(log)
    rounding = log.iterations + 1
    blamed = [0] * len(log.requests.ids)
    for request in range(len(log.requests.ids)):
        expected = slow.causes.get(request, {})
        for name in CAUSES:
            mine = int(getattr(found, f"{name}_ps")[request])
            assert abs(mine - expected.get(name, Fraction(0))) <= rounding, (request, name)
        wait = sum(until - since for who, since, until, _, _, _ in slow.waits if who == request)
        assert sum(int(getattr(found, f"{name}_ps")[request]) for name in CAUSES) == wait
        mine_by_kind = found.blame_of(request)
        assert int(mine_by_kind.ps.sum()) == found.inversion_ps[request]
        for kind, name in enumerate(KINDS):
            for who, share in enumerate(mine_by_kind.by_kind(kind)):
                blamed[who] += share
                assert abs(share - slow.blame.get((request, who, name), Fraction(0))) <= 2 * rounding, (
                    request,
                    who,
                    name,
                )
    assert blamed == found.culprits.total


@settings(max_examples=60)
@given(runs())
def test_what_is_looked_at_in_parts_comes_to_the_same(log: Log) -> None:
    whole = analyse(log)
    pairs, cells = causes.PAIRS_AT_ONCE, blame.CELLS_AT_ONCE
    causes.PAIRS_AT_ONCE, blame.CELLS_AT_ONCE = 3, 2
    try:
        parts = analyse(log)
        assert parts.culprits.direct == whole.culprits.direct
        assert parts.culprits.growth == whole.culprits.growth
        assert parts.culprits.bypass == whole.culprits.bypass
    finally:
        causes.PAIRS_AT_ONCE, blame.CELLS_AT_ONCE = pairs, cells
    for name in CAUSES:
        assert (getattr(parts, f"{name}_ps") == getattr(whole, f"{name}_ps")).all()
    assert (parts.spans.from_ps == whole.spans.from_ps).all() and (parts.spans.code == whole.spans.code).all()


@settings(max_examples=60)
@given(runs())
def test_with_one_level_there_is_no_inversion(log: Log) -> None:
    listed = replace(log.requests, priority=np.zeros_like(log.requests.priority))
    found = analyse(replace(log, requests=listed))
    assert not found.inversion_ps.any() and not found.bypasses.any() and not len(found.incidents.request)
    assert not any(found.culprits.total)


@settings(max_examples=60)
@given(runs())
def test_spans_tile_every_wait_and_moments_tile_every_span(log: Log) -> None:
    found = analyse(log)
    for rows in (found.spans, moments(found), moments(found, whole=True)):
        length = np.bincount(rows.request, weights=rows.to_ps - rows.from_ps, minlength=len(log.requests.ids))
        assert (length.astype(np.int64) == found.wait_ps).all()
        assert (rows.to_ps > rows.from_ps).all()
    incident = found.incidents
    by_request = np.bincount(incident.request, weights=incident.inversion_ps, minlength=len(found.wait_ps))
    assert (by_request.astype(np.int64) == found.inversion_ps).all()


@settings(max_examples=60)
@given(runs())
def test_sums_by_group_are_those_counted_one_by_one(log: Log) -> None:
    used = held_by_group(log, pieces(log), log.requests.class_index, len(log.requests.class_names))
    for iteration, batch in enumerate(batch_by_iteration(log)):
        for group in range(len(log.requests.class_names)):
            own = [one for who, one in batch.items() if log.requests.class_index[who] == group]
            assert used.claimed[group, iteration] == sum(one["kv"] for one in own)
            assert used.tokens[group, iteration] == sum(one["tokens"] for one in own)
            assert used.seats[group, iteration] == len(own)


# -- one cause at a time ---------------------------------------------------------------------------


def kinds(log: Log, found: Inversion, name: str, who: str) -> list[Fraction]:
    """Ticks of direct, growth and bypass that one request answers for in another's wait."""
    told = found.blame_of(of(log, name))
    return [Fraction(told.by_kind(kind)[of(log, who)], TICK) for kind in (DIRECT, GROWTH, BYPASS)]


def test_full_seats_are_an_inversion_by_those_who_sit() -> None:
    low = [{"id": f"L{i}", "prompt": 10, "output": 20, "priority": 10} for i in range(4)]
    log = contended([*low, {"id": "H", "arrival_s": 5, "prompt": 10, "output": 5}], max_num_seqs=4)
    found = analyse(log)
    assert found.seats_ps[of(log, "H")] == found.wait_ps[of(log, "H")] == 15 * TICK
    assert [kinds(log, found, "H", f"L{i}")[0] for i in range(4)] == [Fraction(15, 4)] * 4


def test_a_prefill_that_takes_the_whole_budget_is_an_inversion_by_tokens() -> None:
    # 40 prompt tokens at 8 an iteration: L takes all of them for 5 ticks, H has come at the first decision
    # after 0.
    log = contended(
        [
            {"id": "L", "prompt": 40, "output": 2, "priority": 1},
            {"id": "H", "arrival_s": 1, "prompt": 4, "output": 3},
        ],
        max_num_batched_tokens=8,
    )
    found, urgent = analyse(log), of(log, "H")
    assert found.tokens_ps[urgent] == found.wait_ps[urgent] == 4 * TICK
    # The tokens of the decision at which it came were there as soon as it was; the later ones were taken
    # since.
    assert kinds(log, found, "H", "L") == [1, 3, 0]


def test_a_holder_that_grows_while_another_waits_is_told_apart() -> None:
    # One token a block. L holds 4 blocks at tick 0 and one more each tick; H needs 5 of 10 and came at tick
    # 1.
    log = contended(
        [
            {"id": "L", "prompt": 4, "output": 6, "priority": 1},
            {"id": "H", "arrival_s": 1, "prompt": 6, "output": 1},
        ],
        block_size=1,
    )
    found = analyse(log)
    # At ticks 1 to 5 L holds 5 to 9 blocks; 5 of them at H's arrival.
    assert found.kv_ps[of(log, "H")] == 5 * TICK
    direct = sum(Fraction(5, held) for held in range(5, 10))
    told = kinds(log, found, "H", "L")
    assert abs(told[0] - direct) * TICK < 5 and told[0] + told[1] == 5 and told[2] == 0


def test_waiting_for_the_iteration_in_progress_is_nobodys_fault() -> None:
    log = contended(
        [
            {"id": "L", "prompt": 90, "output": 3, "priority": 1},
            {"id": "H", "arrival_s": 0.5, "prompt": 9, "output": 1},
        ]
    )
    found, urgent = analyse(log), of(log, "H")
    assert found.quantum_ps[urgent] == found.wait_ps[urgent] == TICK // 2 and not found.inversion_ps.any()
    told = explain(log, found, "H", Scenario(), simulate_again)
    assert told["quantum"] == {"lower_s": TICK_S / 2, "other_s": 0.0}


def test_waiting_behind_ones_own_level_is_legitimate() -> None:
    requests = [{"id": f"H{i}", "prompt": 501, "output": 5} for i in range(3)]
    low = {"id": "L", "prompt": 301, "output": 9, "priority": 1}
    found = analyse(contended([*requests, low], "backfill"))
    # L takes 4 blocks beside H0's 6. H1 needs 6, and would have to wait for H0 even without L.
    assert found.legitimate_ps.tolist() == found.wait_ps.tolist() == [0, 5 * TICK, 10 * TICK, 0]


def test_a_strict_reserve_that_stands_idle_is_no_inversion_for_those_it_keeps_out() -> None:
    requests = [
        {"id": "L0", "prompt": 401, "output": 5, "priority": 2},
        {"id": "L1", "prompt": 201, "output": 5, "priority": 1},
    ]
    urgent = {"id": "H", "arrival_s": 50, "prompt": 101, "output": 1}
    log = contended([*requests, urgent], "rescue", options={"kv": 0.4, "lend": False})
    found, kept_out = analyse(log), of(log, "L0")
    # 6 blocks are open to lower ones: L1 takes 3 and L0, which needs 5, is short of 2 although 7 are free.
    assert found.reserved_ps[kept_out] == found.wait_ps[kept_out] == 5 * TICK


def test_an_idle_reserve_answers_for_its_share_of_an_inversion() -> None:
    # L2 holds the 6 blocks that are open to all. L1 needs 5: 4 are free and kept, so L2 has 6 parts of 10,
    # the reserve 4.
    requests = [
        {"id": "L2", "prompt": 501, "output": 5, "priority": 2},
        {"id": "L1", "arrival_s": 1, "prompt": 401, "output": 1, "priority": 1},
        {"id": "H", "arrival_s": 50, "prompt": 101, "output": 1},
    ]
    log = contended(requests, "rescue", options={"kv": 0.4, "lend": False})
    found, waiting = analyse(log), of(log, "L1")
    assert found.kv_ps[waiting] == found.incidents.inversion_ps[0] == 4 * TICK * 6 // 10
    assert found.reserved_ps[waiting] == 4 * TICK * 4 // 10
    assert kinds(log, found, "L1", "L2") == [Fraction(24, 10), 0, 0]


@given(st.integers(0, 99), st.booleans(), st.sampled_from([0.0, 0.1, 0.25, 0.34, 0.5, 0.75, 1.0]))
def test_what_is_kept_is_what_the_policy_keeps(idle: int, lend: bool, share: float) -> None:
    aside = SetAside(0, kv_blocks=99, lend=lend, lend_share=share)
    assert closed(aside, np.array([idle])).tolist() == [kept(aside, idle)]


def test_two_shortages_share_a_wait_by_how_much_of_each_is_missing() -> None:
    # 2 seats, both taken; 3 blocks free and 5 needed: the seat weighs 1/2, the blocks 2/10.
    low = [{"id": f"L{i}", "prompt": 301, "output": 7, "priority": 1} for i in range(2)]
    low[1] = low[1] | {"prompt": 201}
    log = contended([*low, {"id": "H", "arrival_s": 1, "prompt": 401, "output": 1}], max_num_seqs=2)
    found, urgent = analyse(log), of(log, "H")
    assert Fraction(int(found.seats_ps[urgent]), TICK) == 6 * Fraction(5, 7)
    assert Fraction(int(found.kv_ps[urgent]), TICK) == 6 * Fraction(2, 7)


def test_first_come_puts_the_preempted_back_in_their_former_order() -> None:
    # One token a block, 8 blocks, pieces of 4: in its second iteration r0 needs 4, so r3, r2 and r1 must go.
    small = [{"id": f"r{i}", "prompt": 1, "output": 4, "priority": i % 2} for i in range(1, 4)]
    requests = [{"id": "r0", "prompt": 8, "output": 1}, *small]
    late = {"id": "r4", "arrival_s": 1, "prompt": 1, "output": 1}
    machine = {"block_size": 1, "kv_blocks": 8, "gate": "first_chunk", "long_prefill_token_threshold": 4}
    log = contended([*requests, late], "fcfs", **machine)
    assert log.preempted.victim[:3].tolist() == [3, 2, 1] and len(set(log.preempted.at_ps[:3].tolist())) == 1
    found = waits(log)
    then = found.from_ps == TICK
    order = [int(found.request[row]) for row in queue_order(log, found) if then[row]]
    assert order == [1, 2, 3, 4]


class Shortest(Policy):
    """The shortest prompt first, whatever its urgency; at most two at once."""

    key = "priority"
    batch_limit = 2

    def rank(self, request: Request, standing: Standing) -> Rank:
        return (request.prompt_tokens, request.arrival_ps, request.id)


def run_of(policy: type[Policy], requests: list[dict[str, Any]], **engine: Any) -> tuple[Log, Policy]:
    """The run of a policy that is not registered, on the textbook's machine."""
    usual = {"hardware": "constant", "iteration_s": TICK_S, "kv_blocks": 10, "block_size": 100} | engine
    listed = [{**one, "arrival_s": one.get("arrival_s", 0) * TICK_S} for one in requests]
    scenario = Scenario(duration_s=100.0, engine=usual, requests=listed)
    resolved = machine(scenario)
    rules = policy(SimpleNamespace(), Scene(resolved, 0, {}))
    return run(workload.requests(scenario), resolved, iteration_cost(scenario), rules), rules


def test_an_order_of_the_policys_own_is_read_as_the_policy_has_it() -> None:
    sizes = {"long": (300, 0), "short": (100, 1), "middle": (200, 0)}
    requests = [{"id": "first", "prompt": 99, "output": 5}, {"id": "second", "prompt": 99, "output": 9}]
    requests += [
        {"id": name, "prompt": size, "output": 1, "priority": level} for name, (size, level) in sizes.items()
    ]
    log, rules = run_of(Shortest, requests)
    assert has_static_rank(rules)
    found = waits(log)
    in_order = [log.requests.ids[int(found.request[row])] for row in order_by_rank(log, found, rules)]
    assert in_order == ["short", "middle", "long"]
    assert log.first_scheduled_ps.argsort(kind="stable").tolist() == [0, 1, 3, 4, 2]
    assert not has_static_rank(Policy(SimpleNamespace(), rules.scene))


def test_who_stands_in_front_and_is_lower_is_no_reason_to_wait() -> None:
    # Both seats are taken until tick 5. Then the short lower one goes first and keeps the middle one out for
    # its 4 ticks: that is inversion by its seat, although the policy's order has it so.
    requests = [
        {"id": "a", "prompt": 90, "output": 5},
        {"id": "b", "prompt": 90, "output": 9},
        {"id": "middle", "prompt": 200, "output": 1},
        {"id": "short", "prompt": 100, "output": 4, "priority": 1},
    ]
    log, rules = run_of(Shortest, requests, max_num_seqs=2)
    assert log.rules is rules and pickle.loads(pickle.dumps(log)).rules is None
    found, waiting = analyse(log), of(log, "middle")
    assert found.legitimate_ps[waiting] == 5 * TICK and found.seats_ps[waiting] == 4 * TICK
    assert found.wait_ps[waiting] == 9 * TICK


class OneAtATime(Policy):
    """Holds everybody back while anybody runs, by a cap that is its own."""

    key = "priority"

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.running = 0

    def admitted(self, request: Request, standing: Standing) -> None:
        self.running += 1

    def left(self, request: Request, standing: Standing, end: StayEnd) -> None:
        self.running -= 1

    def holds_back(self, request: Request, size_tokens: int) -> bool:
        return self.running > 0


class TwoSeats(Policy):
    """Uses two seats, however many there are."""

    key = "priority"
    batch_limit = 2


@pytest.mark.parametrize("policy", [OneAtATime, TwoSeats])
def test_who_would_fit_and_is_held_back_by_the_policy_waits_by_its_rule(policy: type[Policy]) -> None:
    requests = [{"id": "L", "prompt": 90, "output": 5, "priority": 1}]
    if policy is TwoSeats:
        requests.append({"id": "M", "prompt": 90, "output": 9, "priority": 1})
    log, _ = run_of(policy, [*requests, {"id": "H", "arrival_s": 1, "prompt": 90, "output": 1}])
    if policy is OneAtATime and not (log.refusals.code == RefusalCode.HELD).any():
        pytest.skip("the engine does not ask a policy whom it holds back yet")
    found, waiting = analyse(log), of(log, "H")
    assert found.reserved_ps[waiting] == found.wait_ps[waiting] == 4 * TICK
    assert not found.inversion_ps.any()


def test_a_preempted_urgent_request_is_counted_when_a_lower_one_stays() -> None:
    # One token a block, 10 blocks: both grow, and first come preempts the one admitted last, whatever its
    # urgency.
    log = contended(
        [{"id": "L", "prompt": 3, "output": 8, "priority": 1}, {"id": "H", "prompt": 3, "output": 8}],
        "fcfs",
        block_size=1,
    )
    found = analyse(log)
    assert log.preemptions[of(log, "H")] == found.preemption_inversions[of(log, "H")] == 1
    assert found.preemption_inversions[of(log, "L")] == 0
    assert found.inversion_ps[of(log, "H")] == found.wait_ps[of(log, "H")] > 0


def test_a_later_one_of_the_same_class_that_starts_earlier_is_an_order_inversion() -> None:
    requests = [
        {"id": "a", "prompt": 601, "output": 5},
        {"id": "wide", "arrival_s": 1, "prompt": 501, "output": 1},
        {"id": "slim", "arrival_s": 2, "prompt": 101, "output": 1},
    ]
    log = contended(requests, "backfill")
    found = analyse(log)
    assert found.order_inversions.tolist() == [0, 1, 0] and not found.inversion_ps.any()


# -- exact whatever the size -----------------------------------------------------------------------


@given(st.integers(0, 2**55), st.integers(1, 2**70), st.fractions(0, 1))
def test_a_share_is_rounded_down_exactly(length: int, whole: int, share: Fraction) -> None:
    part = int(whole * share)
    kind = np.int64 if whole < 2**60 else object
    found = floor_share(np.array([length]), np.array([part], kind), np.array([whole], kind))
    assert int(found[0]) == length * part // whole


def test_sums_may_exceed_sixty_four_bits() -> None:
    sums = ExactSums(2)
    values = np.full(1000, 2**52 - 1)
    for _ in range(10):
        sums.add(np.zeros(1000, np.int64), values)
    assert [int(one) for one in sums.total()] == [10_000 * (2**52 - 1), 0]
    big = ExactSums(1)
    big.high[0] = 2**50
    assert int(big.total()[0]) == 2**76


# -- told in words ---------------------------------------------------------------------------------


def simulate_again(scenario: Scenario, policy: str, listed: Any) -> Log:
    """Replays on the textbook's machine, whatever the scenario says."""
    usual = {
        "hardware": "constant",
        "iteration_s": TICK_S,
        "kv_blocks": 10,
        "block_size": 100,
        "max_num_batched_tokens": 100_000,
    }
    return simulate(Scenario(engine=usual, duration_s=100.0), policy, listed)


def test_an_explanation_adds_up_and_says_what_would_have_helped() -> None:
    log = contended(textbook(6), "backfill")
    found = analyse(log)
    told = explain(log, found, "A", Scenario(annotate_after_s=TICK_S), simulate_again)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    wait = 6 * TICK_S
    assert told["wait_s"] == pytest.approx(wait, abs=1e-12) == sum(told["causes"].values())
    assert sum(row["s"] for row in told["blame"]) == pytest.approx(wait, abs=1e-11)
    assert [row["to_s"] - row["from_s"] for row in told["intervals"]] == pytest.approx(
        [TICK_S, 2 * TICK_S, 2 * TICK_S, TICK_S]
    )
    assert [(row["needs"], row["free"]) for row in told["intervals"]] == [(7, 3), (7, 1), (7, 4), (7, 6)]
    assert told["intervals"][0]["culprits"][0] == {"id": "C", "holds": 3}
    assert told["counterfactual"]["no_bypass_wait_s"] == pytest.approx(2 * TICK_S)
    assert told["counterfactual"]["no_lower_wait_s"] == 0.0
    early, note = told["annotation"][:2]
    assert early["state"] == "not submitted yet" and early["actual_s"] == pytest.approx(2 * TICK_S)
    assert note["waited_s"] == pytest.approx(TICK_S) and note["kv_deficit"] == 6 and note["bypassed_by"] == 2
    assert note["state"] == "queued" and note["cause"] == "kv"
    assert [row["id"] for row in note["blockers"]] == ["C", "M1", "M2"]
    assert "nothing bounds how many are" in note["eta_is"]
    assert told["bound"]["kind"] == "unbounded"
    assert told["execution"]["running_s"] == pytest.approx(4 * TICK_S)
    sentences = " ".join(story(told))
    assert (
        "7 less urgent requests share the blame; most of it is of those that were admitted past it."
        in sentences
    )
    assert "5 less urgent requests went past it" in sentences


@settings(max_examples=60)
@given(runs())
def test_a_requests_life_is_told_without_gaps(log: Log) -> None:
    found = analyse(log)
    for request in range(len(log.requests.ids)):
        told = events(found, request)
        assert told[0]["event"] == "arrival" and told[-1]["event"] == "end"
        at = told[0]["from_s"]
        for row in told:
            assert row["from_s"] == pytest.approx(at, abs=1e-9) and row["to_s"] >= row["from_s"]
            at = row["to_s"]
        ended = int(log.ended_ps[request])
        assert ended < 0 or told[-1]["to_s"] == pytest.approx(ended / PS_PER_S)
        names = [row["event"] for row in told]
        assert names.count("preemption") == log.preemptions[request]
        assert names.count("admission") == (log.stays.request == request).sum()
        waited = sum(row["to_s"] - row["from_s"] for row in told if row["event"] == "wait")
        assert waited == pytest.approx(found.wait_ps[request] / PS_PER_S, abs=1e-9)


def test_a_life_in_words() -> None:
    # One token a block, 10 blocks: first come preempts H, admitted last, when both have grown to 5 blocks.
    log = contended(
        [{"id": "L", "prompt": 3, "output": 8, "priority": 1}, {"id": "H", "prompt": 3, "output": 8}],
        "fcfs",
        block_size=1,
    )
    told = [(row["event"], row["text"]) for row in events(analyse(log), of(log, "H"))]
    assert told == [
        ("arrival", "came with 3 prompt tokens, to emit 8"),
        ("admission", "got in beside 1 other, which is lower"),
        ("prefill", "prefilled 3 tokens in 1 piece; its blocks grew from 0 to 3"),
        ("decode", "decoded 2 tokens; its blocks grew from 3 to 5"),
        ("preemption", "preempted for L with 5 computed tokens, while 1 less urgent request stayed"),
        ("wait", "waited 0.63 s: kv 0.63 s; lower ones held what it lacked: L 0.63 s"),
        ("admission", "got in alone"),
        ("prefill", "prefilled 6 tokens in 1 piece; its blocks grew from 0 to 6"),
        ("decode", "decoded 4 tokens; its blocks grew from 6 to 10"),
        ("end", "finished, with 8 tokens emitted"),
    ]


def test_the_rule_that_keeps_somebody_out_is_named() -> None:
    requests = [{"id": f"r{i}", "prompt": 90, "output": 3 + i} for i in range(3)]
    requests.append({"id": "late", "arrival_s": 1, "prompt": 90, "output": 1})
    log = contended(requests, "static")
    rules = [row["rule"] for row in intervals(analyse(log), of(log, "late"))]
    assert set(rules) == {"the batch is closed"}
    requests = [
        {"id": "L", "prompt": 401, "output": 5, "priority": 2},
        {"id": "M", "prompt": 201, "output": 5, "priority": 1},
        {"id": "H", "arrival_s": 50, "prompt": 101, "output": 1},
    ]
    log = contended(requests, "rescue", options={"kv": 0.4, "lend": False})
    rules = [row["rule"] for row in intervals(analyse(log), of(log, "L"))]
    assert set(rules) == {"what is free is set aside for others"}


def test_an_unknown_request_is_refused_in_words() -> None:
    log = contended(textbook(6))
    with pytest.raises(UnknownRequest, match="none of the 8 has this id"):
        explain(log, analyse(log), "B", Scenario(), simulate_again)


def test_the_caption_says_what_is_short_who_holds_it_and_who_went_past() -> None:
    log = contended(textbook(6), "backfill")
    seen = side(log, analyse(log))
    assert caption(Glance(seen, 4 * TICK), of(log, "A")) == (
        "**A needs 7 blocks, 1 is free.** C holds 3; M3 and M4 were just admitted past it, 3 so far. "
        "It starts in 0.50\u202fs."
    )
    later = caption(Glance(seen, 9 * TICK), None)
    assert later == "**No urgent request waits.** No inversion of urgent requests lies ahead."
    assert caption(Glance(seen, 4 * TICK), of(log, "C")).startswith(
        "**C started as soon as it arrived.** 1 urgent"
    )


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            "backfill",
            "shared among 7 less urgent requests: some were there first, some were admitted past it",
        ),
        ("hol", "100 % of the waiting is inversion, mostly C, which was there first"),
        ("preemptive", "none of them had to wait"),
    ],
)
def test_the_verdict_names_the_mechanism_that_happened(policy: str, words: str) -> None:
    requests = [one | {"class": "urgent" if one["id"] == "A" else "rest"} for one in textbook(6)]
    scenario = Scenario(
        duration_s=100.0, requests=[{**one, "arrival_s": one["arrival_s"] * TICK_S} for one in requests]
    )
    found = {}
    for key in {policy, "hol"}:
        log = contended(requests, key)
        found[key] = summary(log, scenario, analyse(log))
    told = "".join(run.text for run in verdict(found, scenario, first=policy, second="hol"))
    assert words in told and told.endswith(".")
    assert log.end_ps < 100 * PS_PER_S


@pytest.mark.parametrize(
    ("policy", "options"), [("isolated", {}), ("kv_cap", {"split": True, "per_request": 300})]
)
def test_a_request_is_explained_on_several_engines_and_when_it_was_cut(
    policy: str, options: dict[str, Any]
) -> None:
    log = contended(textbook(6), policy, options=options, kv_blocks=20)
    found = analyse(log)
    scenario = Scenario(policies={policy: options})
    for name in log.requests.ids:
        told = explain(log, found, name, scenario, simulate_again)
        assert told["wait_s"] == pytest.approx(found.wait_ps[of(log, name)] / PS_PER_S)
        assert told["events"][-1]["event"] == "end" and told["counterfactual"]["no_lower_wait_s"] >= 0
        assert story(told)


@settings(max_examples=120)
@given(st.data())
def test_whoever_enters_stands_first_in_the_order_that_is_read(data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from(["fcfs", "hol", "sjf", "srpt", "edf", "aging", "preemptive"]))
    scenario = data.draw(small_scenarios()).changed(policies={policy: {}})
    log = simulate(scenario, policy)
    found = waits(log)
    place = np.empty(len(found), dtype=np.int64)
    place[queue_order(log, found)] = np.arange(len(found))
    stays = log.stays
    entered = set(zip(stays.request.tolist(), stays.start_ps.tolist(), strict=True))
    for row in range(len(found)):
        at = found.to_ps[row]
        if (int(found.request[row]), int(at)) in entered:
            # Nobody who has waited since before this decision, and waits on, stands before who enters.
            passed = (found.from_ps < at) & (found.to_ps > at) & (place < place[row])
            assert not passed.any(), (policy, log.requests.ids[int(found.request[row])])
