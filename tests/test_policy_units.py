"""Policies by themselves, without an engine: orders worked out by hand, and the laws of orders that move."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sched import POLICIES
from sched.model import NEVER, PS_PER_S, Machine, Request, Standing, StayEnd
from sched.policies import Policy, Scene
from sched.scenario import known_policies

MACHINE = Machine(100, 16, 8, 256)
S = PS_PER_S


def tokens_as_seconds(prompt_tokens: int, output_tokens: int) -> int:
    """A time alone that is easy to add up: a second a token."""
    return (prompt_tokens + output_tokens) * S


def policy(name: str, scene: Mapping[str, Any] | None = None, /, **settings: Any) -> Any:
    """A policy with these settings on a small machine; each prompt and output token takes a second alone."""
    usual = Scene(MACHINE, 0, {"a": Fraction(1)}, alone_ps=tokens_as_seconds)
    options = known_policies()[name].model.model_validate(settings)
    return POLICIES[name](options, replace(usual, **(scene or {})))


def request(name: str, arrival_s: float = 0, **rest: Any) -> Request:
    """A request with one token of prompt whose ordinal is in its name: r3 is the third."""
    fields: dict[str, Any] = {"class_name": "c", "tenant": "a", "priority": 1, "prompt_tokens": 1} | rest
    return Request(ordinal=int(name[1:]), id=name, arrival_ps=int(arrival_s * S), **fields)


def waiting(now_s: float, request: Request, **rest: Any) -> Standing:
    """How it stands at this moment, having waited since it came."""
    return Standing(int(now_s * S), request.arrival_ps, **rest)


def order(rules: Policy, now_s: float, *requests: Request, **standings: Standing) -> str:
    """The ids of those who wait, first first."""
    ranked = sorted(requests, key=lambda one: rules.rank(one, standings.get(one.id) or waiting(now_s, one)))
    return " ".join(one.id for one in ranked)


def lengths(*output_tokens: int) -> dict[str, Callable[[int, int], int]]:
    """A forecast that is right about these."""
    return {"forecast": lambda ordinal, emitted: output_tokens[ordinal]}


# -- by size


@pytest.mark.parametrize(
    ("key", "expected"), [("total", "r1 r2 r0"), ("prefill", "r2 r0 r1"), ("output", "r1 r0 r2")]
)
def test_sjf_orders_by_what_counts_as_short(key: str, expected: str) -> None:
    rules = policy("sjf", lengths(9, 2, 10), key=key)
    requests = [
        request("r0", prompt_tokens=5),
        request("r1", prompt_tokens=6),
        request("r2", prompt_tokens=3),
    ]
    assert order(rules, 0, *requests) == expected


def test_sjf_asks_the_cache_when_it_goes_by_prefill() -> None:
    rules = policy("sjf", {"machine": replace(MACHINE, enable_prefix_caching=True)}, key="prefill")
    assert rules.moving and rules.reads_cache
    long, short = request("r0", prompt_tokens=50), request("r1", prompt_tokens=20)
    assert order(rules, 0, long, short) == "r1 r0"
    assert order(rules, 0, long, short, r0=waiting(0, long, cached_tokens=32)) == "r0 r1"


@given(
    sizes=st.lists(st.integers(1, 60), min_size=2, max_size=6),
    arrivals=st.lists(st.integers(0, 20 * S), min_size=6, max_size=6),
    credit=st.sampled_from([0.0, 0.1, 1.0, 2.5]),
    later=st.integers(0, 100 * S),
)
def test_sjf_with_credit_is_a_static_order(
    sizes: list[int], arrivals: list[int], credit: float, later: int
) -> None:
    rules = policy("sjf", lengths(*sizes), key="output", aging_tokens_per_s=credit)
    requests = [replace_arrival(request(f"r{row}"), arrivals[row]) for row in range(len(sizes))]
    now_ps = 20 * S + later

    def with_credit(one: Request) -> Any:
        waited_s = Fraction(now_ps - one.arrival_ps, S)
        return (sizes[one.ordinal] - Fraction(repr(credit)) * waited_s, one.arrival_ps, one.id)

    by_rank = sorted(requests, key=lambda one: rules.rank(one, Standing(now_ps, one.arrival_ps)))
    assert by_rank == sorted(requests, key=with_credit)


def replace_arrival(one: Request, arrival_ps: int) -> Request:
    return one._replace(arrival_ps=arrival_ps)


def test_srpt_counts_what_is_left_and_preempts_the_largest_first() -> None:
    rules = policy("srpt", lengths(100, 100, 5), hysteresis_tokens=10)
    first, second, short = (request(f"r{row}", prompt_tokens=10) for row in range(3))
    # 10 + 100 - 1 tokens of life; a decoder that has emitted 40 has the KV of 49.
    ran = Standing(0, 0, emitted_tokens=40, computed_tokens=49, admission=0)
    new = Standing(0, 0, computed_tokens=0, admission=1)
    assert rules.rank(first, ran)[0] == 60 and rules.rank(second, new)[0] == 109
    waits = Standing(0, 0)
    assert rules.displaces(short, waits, first, ran) == (60, 0)
    assert rules.displaces(short, waits, second, new) == (109, 1)
    # 14 tokens are left of the waiting one: a holder with 24 is not worse by more than 10.
    worse = Standing(0, 0, emitted_tokens=75, computed_tokens=84, admission=0)
    assert rules.rank(first, worse)[0] == 25 and rules.displaces(short, waits, first, worse)
    nearly = Standing(0, 0, emitted_tokens=76, computed_tokens=85, admission=0)
    assert rules.displaces(short, waits, first, nearly) is None


def test_srpt_leaves_those_alone_who_are_nearly_done() -> None:
    rules = policy("srpt", lengths(100, 1), preempt_until=0.8)
    holder, short = request("r0"), request("r1")
    for emitted, expected in ((79, (21, 0)), (80, None)):
        held = Standing(0, 0, emitted_tokens=emitted, computed_tokens=emitted, admission=0)
        assert rules.displaces(short, Standing(0, 0), holder, held) == expected


@given(
    predicted=st.integers(1, 40),
    true=st.integers(1, 200),
    kind=st.sampled_from(["lognormal", "refreshed"]),
    until=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    emitted=st.integers(1, 150),
    waiter=st.integers(1, 60),
)
def test_whom_srpt_may_not_preempt_stays_safe_until_the_prediction_turns(
    predicted: int, true: int, kind: str, until: float, emitted: int, waiter: int
) -> None:
    def outlived(emitted: int) -> int:
        total = predicted
        while total <= emitted:
            total *= 2
        return total

    def refreshed(emitted: int) -> int:
        return emitted + max(1, max(1, true - emitted) * predicted // true)

    belief = refreshed if kind == "refreshed" else outlived
    scene = {"forecast": lambda ordinal, emitted: belief(emitted) if ordinal == 0 else waiter}
    rules = policy("srpt", scene, preempt_until=until, predictor=kind)
    holder, short = request("r0"), request("r1")
    turns = rules.turns_tokens(holder, emitted)
    assert turns > emitted
    may = [
        rules.displaces(short, Standing(0, 0), holder, Standing(0, 0, one, one, admission=0)) is not None
        for one in range(emitted, turns)
    ]
    assert may == sorted(may, reverse=True)


# -- by ratio


def test_hrrn_prefers_the_longer_wait_in_proportion() -> None:
    rules = policy("hrrn", lengths(9, 1))
    long, short = request("r0", 0), request("r1", 8)
    # Alone they take 10 s and 2 s. At 9 s: 9/10 against 1/2; at 10 s: 1 against 1, the first arrival wins.
    assert order(rules, 9, long, short) == "r0 r1"
    assert order(rules, 10, long, short) == "r0 r1"
    assert rules.order_stands_until_ps([(one, waiting(9, one)) for one in (long, short)]) == 10 * S + 1
    assert order(rules, 10.5, long, short) == "r1 r0"
    assert rules.order_stands_until_ps([(one, waiting(11, one)) for one in (long, short)]) is None


@st.composite
def crowds(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[tuple[int, ...], list[Request], int]:
    """Outputs, requests that wait, and the time, with ties in everything."""
    some = draw(st.integers(2, 6))
    unit = draw(st.sampled_from([1, 7, S // 10, S]))
    outputs = tuple(draw(st.lists(st.integers(1, 30), min_size=some, max_size=some)))
    requests = [
        request(
            f"r{row}",
            priority=draw(st.integers(0, 3)),
            prompt_tokens=draw(st.integers(1, 9)),
            ttft_goal_ps=draw(st.sampled_from([NEVER, 3 * S, 12 * S])),
            e2e_goal_ps=draw(st.sampled_from([NEVER, 9 * S, 30 * S])),
        )._replace(arrival_ps=draw(st.integers(0, 20)) * unit)
        for row in range(some)
    ]
    return outputs, requests, max(one.arrival_ps for one in requests) + draw(st.integers(0, 40)) * unit


@given(crowds())
def test_hrrn_compares_ratios_exactly(crowd: tuple[tuple[int, ...], list[Request], int]) -> None:
    outputs, requests, now_ps = crowd
    rules = policy("hrrn", lengths(*outputs))

    def ratio(one: Request) -> Any:
        alone_ps = tokens_as_seconds(one.prompt_tokens, outputs[one.ordinal])
        return (-Fraction(now_ps - one.arrival_ps, alone_ps), one.arrival_ps, one.id)

    by_rank = sorted(requests, key=lambda one: rules.rank(one, Standing(now_ps, one.arrival_ps)))
    assert by_rank == sorted(requests, key=ratio)


@given(crowds(), st.floats(0, 1))
def test_the_head_of_hrrn_is_overtaken_at_that_moment_and_not_before(
    crowd: tuple[tuple[int, ...], list[Request], int], part: float
) -> None:
    outputs, requests, now_ps = crowd
    rules = policy("hrrn", lengths(*outputs))

    def head(at_ps: int) -> Request:
        return min(requests, key=lambda one: rules.rank(one, Standing(at_ps, one.arrival_ps)))

    until_ps = rules.order_stands_until_ps([(one, Standing(now_ps, one.arrival_ps)) for one in requests])
    first = head(now_ps)
    if until_ps is None:
        assert head(now_ps + 10**6 * S) == first
        return
    assert until_ps > now_ps
    assert head(until_ps) != first
    for at_ps in (until_ps - 1, now_ps + int(part * (until_ps - 1 - now_ps))):
        assert head(at_ps) == first


MOVING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("aging", {"threshold_s": 2.5}),
    ("aging", {"floor": 0.5}),
    ("aging", {"per_s": 0.3, "margin_s": 1.0}),
    ("aging", {"per_s": 0.0, "margin_s": 0.0}),
    ("aging", {"threshold_s": 1.5, "floor": 1.0, "margin_s": 4.0}),
    ("aging", {"per_s": 3.7, "floor": -1.0, "margin_s": 4.0}),
    ("edf", {"relegate": True}),
    ("edf", {"relegate": True, "deadline": "e2e"}),
    ("slack", {}),
    ("slack", {"deadline": "e2e"}),
    ("mlfq", {"promote_s": 1.5, "enter": "class"}),
    ("skip_join_mlfq", {"quanta": [2, 5, 8], "starve_s": 2.5}),
)


@pytest.mark.parametrize(("key", "settings"), MOVING, ids=lambda one: str(one))
def test_an_order_that_moves_stands_until_it_says(key: str, settings: dict[str, Any]) -> None:
    changes = 0

    @given(crowds(), st.floats(0, 1))
    def law(crowd: tuple[tuple[int, ...], list[Request], int], part: float) -> None:
        nonlocal changes
        outputs, requests, now_ps = crowd
        peaks = {one.priority: (1,) for one in requests}
        rules = policy(key, {"peaks": peaks, **lengths(*outputs), "most_urgent": min(peaks)}, **settings)
        assert rules.moving
        for one in requests:
            rules.arrived(one, one.arrival_ps)

        def in_order(at_ps: int) -> list[Request]:
            return sorted(requests, key=lambda one: rules.rank(one, Standing(at_ps, one.arrival_ps)))

        for _ in range(9):
            crowd_now = [(one, Standing(now_ps, one.arrival_ps)) for one in requests]
            now, until_ps = in_order(now_ps), rules.order_stands_until_ps(crowd_now)
            if until_ps is None:
                assert in_order(now_ps + 10**6 * S) == now
                return
            assert until_ps > now_ps
            for at_ps in (until_ps - 1, now_ps + int(part * (until_ps - 1 - now_ps))):
                assert in_order(at_ps) == now
            changes += in_order(until_ps) != now
            now_ps = until_ps

    law()
    assert changes


# -- by deadline


def test_edf_keeps_three_promises_where_first_come_keeps_one() -> None:
    # The first is due last: due at 10, 3 and 6.
    goals = {"r0": 10, "r1": 3, "r2": 6}
    requests = [request(name, e2e_goal_ps=goal * S) for name, goal in goals.items()]
    rules = policy("edf", lengths(3, 1, 2), deadline="e2e")
    assert order(rules, 0, *requests, request("r3")) == "r1 r2 r0 r3"
    assert not rules.moving


def test_slack_starts_the_longer_prompt_first() -> None:
    # Due at 20 and 18 s, they take 15 and 5 s to their first token: they must start by 5 and 13 s.
    long = request("r0", ttft_goal_ps=20 * S, prompt_tokens=14)
    short = request("r1", ttft_goal_ps=18 * S, prompt_tokens=4)
    assert order(policy("edf"), 0, long, short) == "r1 r0"
    assert order(policy("slack"), 0, long, short) == "r0 r1"
    # At 5 s the first can still make it; a moment later it is behind everybody who can.
    assert order(policy("slack"), 5, long, short) == "r0 r1"
    assert order(policy("slack"), 5.1, long, short) == "r1 r0"
    assert order(policy("slack", relegate=False), 5.1, long, short) == "r0 r1"
    assert policy("slack").stands_until_ps(long, waiting(1, long)) == 5 * S + 1


def test_emitted_tokens_count_for_what_is_left_to_the_deadline() -> None:
    # With 4 of 10 tokens out, 1 + 4 are recomputed and 6 are to come: 11 s before 30 s.
    one = request("r0", e2e_goal_ps=30 * S)
    rules = policy("slack", lengths(10), deadline="e2e")
    assert rules.rank(one, waiting(0, one, emitted_tokens=4))[1] == 19 * S


# -- by level


def at(now_s: float, **rest: Any) -> Standing:
    return Standing(int(now_s * S), 0, **rest)


def test_time_in_the_batch_is_added_up_over_stays_and_counts_for_one_level() -> None:
    rules, one = policy("mlfq", quanta=[1, 2, 4]), request("r0")
    rules.arrived(one, 0)
    rules.admitted(one, at(3))
    assert rules.turns_ps(one, 3 * S) == 4 * S
    # Preempted after 0.75 s; back at 10 s, a quarter of a second is left of the first level.
    rules.left(one, at(3.75), StayEnd.DISPLACED)
    assert rules.rank(one, at(9))[0] == 0
    rules.admitted(one, at(10))
    assert rules.turns_ps(one, 10 * S) == int(10.25 * S)
    # The iteration ends late: it sinks by one level all the same, and the excess is forgotten.
    rules.turned(one, 14 * S)
    assert rules.rank(one, at(14))[0] == 1 and rules.turns_ps(one, 14 * S) == 16 * S
    rules.turned(one, 16 * S)
    assert rules.rank(one, at(16))[0] == 2 and rules.turns_ps(one, 16 * S) is None
    rules.left(one, at(90), StayEnd.FINISHED)
    rules.ended(one, 5)
    assert not (rules.level or rules.used_ps or rules.from_ps)


def test_a_waiter_preempts_those_of_lower_levels_only_lowest_and_newest_first() -> None:
    rules = policy("mlfq", quanta=[1, 1, 1])
    low, middle, top, new = (request(f"r{row}") for row in range(4))
    for one in (low, middle, top, new):
        rules.arrived(one, 0)
    for number, one in enumerate((low, middle, top)):
        rules.admitted(one, at(0, admission=number))
    for one in (low, low, middle):
        rules.turned(one, 5 * S if one is middle or rules.level[0] == 0 else 6 * S)
    keys = [rules.displaces(new, at(6), one, at(6, admission=n)) for n, one in enumerate((low, middle, top))]
    assert keys == [(2, 0), (1, 1), None]
    assert [rules.yields(one, at(6))[0] for one in (low, middle, top)] == [2, 1, 0]


def test_a_boost_brings_everybody_to_the_top_with_nothing_used() -> None:
    rules, runs, waits = policy("mlfq", quanta=[1, 2, 4], boost_s=10), request("r0"), request("r1")
    for one in (runs, waits):
        rules.arrived(one, 0)
        rules.admitted(one, at(0))
        rules.turned(one, S)
    rules.left(waits, at(2), StayEnd.OUTGROWN)
    assert rules.next_ps == 10 * S
    rules.tick(10 * S)
    assert rules.next_ps == 20 * S
    assert [rules.rank(one, at(10))[0] for one in (runs, waits)] == [0, 0]
    assert rules.turns_ps(runs, 10 * S) == 11 * S
    # A turn that was planned before the boost comes too early, and does nothing.
    rules.turned(runs, int(10.5 * S))
    assert rules.level[0] == 0
    # Several that passed at once act once.
    rules.tick(47 * S)
    assert rules.next_ps == 50 * S
    assert policy("mlfq", boost_s=0).next_ps is None


def test_waiting_lifts_by_a_level_each_time_and_the_lift_lasts_once_admitted() -> None:
    peaks = {"peaks": {0: (1,), 2: (1,)}}
    rules, one = policy("mlfq", peaks, promote_s=5, enter="class"), request("r0", priority=2)
    rules.arrived(one, 0)
    assert [rules.rank(one, at(now))[0] for now in (0, 4.9, 5, 9.9, 10, 60)] == [2, 2, 1, 1, 0, 0]
    rules.admitted(one, at(7))
    assert rules.rank(one, at(30))[0] == 1
    rules.left(one, at(8), StayEnd.OUTGROWN)
    assert rules.rank(one, Standing(9 * S, 8 * S))[0] == 1 and rules.used_ps[0] == S


@pytest.mark.parametrize("key", ["mlfq", "article_mlfq"])
def test_the_least_urgent_class_enters_at_the_bottom_if_there_is_another(key: str) -> None:
    settings = {"enter": "class"} if key == "mlfq" else {}
    for peaks, expected in (({0: (1,), 1: (1,), 5: (1,)}, [0, 0, 2]), ({5: (1,)}, [0])):
        rules = policy(key, {"peaks": peaks}, **settings)
        requests = [request(f"r{row}", priority=priority) for row, priority in enumerate(peaks)]
        for one in requests:
            rules.arrived(one, 0)
        assert [rules.rank(one, at(0))[0] for one in requests] == expected


def test_the_article_never_lifts_a_batch_request() -> None:
    rules = policy("article_mlfq", {"peaks": {0: (1,), 1: (1,)}})
    old, new = request("r0", 0, priority=1), request("r1", 100_000, priority=0)
    assert order(rules, 100_000, old, new) == "r1 r0"


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(1, 60))
def test_skip_join_enters_at_the_first_level_that_its_prompt_does_not_overrun(
    quanta: list[int], prompt_tokens: int
) -> None:
    rules = policy("skip_join_mlfq", quanta=quanta)
    one = request("r0", prompt_tokens=prompt_tokens)
    rules.arrived(one, 0)
    level = rules.rank(one, at(0))[0]
    assert all(quantum < prompt_tokens + 1 for quantum in quanta[:level])
    assert level == len(quanta) - 1 or quanta[level] >= prompt_tokens + 1


def test_skip_join_lifts_who_starves_to_the_top() -> None:
    rules, one = policy("skip_join_mlfq", starve_s=3), request("r0", prompt_tokens=90)
    rules.arrived(one, 0)
    assert [rules.rank(one, at(now))[0] for now in (0, 2.9, 3)] == [3, 3, 0]
    rules.admitted(one, at(3))
    assert rules.rank(one, at(50))[0] == 0


# -- ceilings


@given(
    st.dictionaries(st.integers(0, 4), st.lists(st.integers(1, 50), min_size=1, max_size=9), min_size=1),
    st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]),
)
def test_a_ceiling_is_a_quantile_of_what_the_more_urgent_need(
    peaks: dict[int, list[int]], quantile: float
) -> None:
    scene = {"peaks": {level: tuple(sorted(blocks)) for level, blocks in peaks.items()}}
    rules = policy("ceiling", scene, quantile=quantile)
    for level in peaks:
        above = [need for other, blocks in peaks.items() if other < level for need in blocks]
        expected = int(np.quantile(above, quantile, method="inverted_cdf")) if above else 0
        assert rules.keeps_free(request("r0", priority=level)) == expected


def test_who_cannot_leave_room_for_the_urgent_is_refused_in_words() -> None:
    rules = policy("ceiling", {"peaks": {0: (10, 40), 1: (60, 61)}})
    low, urgent = request("r0", priority=1), request("r1", priority=0)
    assert rules.refuses(low, 60 * 16) == ""
    assert rules.refuses(low, 60 * 16 + 1) == (
        "it comes to need 61 KV blocks of 100, 40 of them kept for the more urgent"
    )
    assert rules.refuses(urgent, 100 * 16) == ""


# -- ageing


def test_a_request_that_runs_late_is_of_the_most_urgent_level() -> None:
    # Due at 20 s, it takes 5 s to its first token: with a margin of 3 s it is pressed after 12 s.
    rules = policy("aging", {"most_urgent": 0}, per_s=0, margin_s=3)
    pressed = request("r0", 0, priority=2, prompt_tokens=4, ttft_goal_ps=20 * S)
    urgent = request("r1", 5, priority=0)
    assert order(rules, 12, pressed, urgent) == "r1 r0"
    assert rules.stands_until_ps(pressed, waiting(1, pressed)) == 12 * S + 1
    assert order(rules, 12.1, pressed, urgent) == "r0 r1"
    assert order(rules, 99, pressed._replace(ttft_goal_ps=NEVER), urgent) == "r1 r0"


def test_the_credit_counts_where_it_is_more_than_the_deadline_gives() -> None:
    rules = policy("aging", per_s=1, margin_s=3)
    pressed = request("r0", 0, priority=2, ttft_goal_ps=S)
    assert rules.rank(pressed, waiting(1, pressed))[0] == 0
    assert Fraction(rules.rank(pressed, waiting(5, pressed))[0], rules.unit) == -3


@given(crowds(), st.integers(0, 100))
def test_without_threshold_floor_or_margin_ageing_never_changes_an_order(
    crowd: tuple[tuple[int, ...], list[Request], int], later_s: int
) -> None:
    _, requests, now_ps = crowd
    rules = policy("aging", per_s=0.3)
    assume(not rules.moving)

    def in_order(at_ps: int) -> list[Request]:
        return sorted(requests, key=lambda one: rules.rank(one, Standing(at_ps, one.arrival_ps)))

    def with_credit(one: Request) -> Any:
        return (one.priority - Fraction(3, 10) * Fraction(now_ps - one.arrival_ps, S), one.arrival_ps, one.id)

    assert in_order(now_ps) == in_order(now_ps + later_s * S) == sorted(requests, key=with_credit)
