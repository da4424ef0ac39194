"""The closed forms of queueing theory, by hand and at their limits; and the engine, which comes to them."""

import json
from collections.abc import Callable
from itertools import pairwise
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import POLICIES, simulate
from sched.command.anchors import JOBS, anchors
from sched.fields import ScenarioError
from sched.model import PS_PER_S
from sched.theory import (
    ANCHORS,
    FIGURES,
    Exponential,
    Law,
    Measured,
    Points,
    all_busy,
    allowed,
    anchor_rows,
    batch_loss,
    checked,
    conserved_wait_s,
    constant,
    feedback_time_s,
    fluid_rate_per_s,
    geometric,
    head_of_line_rate_per_s,
    holds,
    kingman_bound_s,
    kv_capacity_per_s,
    kv_occupancy,
    kv_occupancy_of,
    kv_seconds,
    levels_time_s,
    md1_wait_s,
    measured,
    mg1_wait_s,
    mm1_wait_s,
    mm1k_lost,
    mmc_wait_s,
    points,
    pooling_ratio,
    preemptive_times_s,
    priority_waits_s,
    repeated_boost_s,
    sharing_time_s,
    sjf_wait_s,
    srpt_time_s,
)
from sched.theory import parameters as at
from sched.theory.runs import ONE_SEAT, exponential_tokens, listed, poisson_ps, scene
from sched.theory.trials import TRIALS, class_list

TARGETS = {
    **{
        "mm1.wait": 4.0,
        "md1.wait": 2.0,
        "mg1.wait": 6.5,
        "priority.urgent": 1.1429,
        "priority.other": 5.7143,
    },
    **{
        "conserved.priority": 3.2,
        "conserved.fcfs": 3.2,
        "preemptive.urgent": 1.4286,
        "preemptive.other": 7.1429,
    },
    **{"srpt.0.5": 1.425, "srpt.0.7": 1.875, "srpt.0.8": 2.353, "srpt.0.9": 3.552, "sjf.wait": 1.882},
    **{"feedback.small": 1.111, "feedback.big": 60.0, "feedback.mean": 7.0},
    **{"sharing.small": 2.5, "sharing.big": 27.5, "sharing.mean": 5.0},
    **{"head_of_line.0.25": 1.0323, "head_of_line.0.5": 1.1429},
    **{"head_of_line.0.75": 1.3913, "head_of_line.0.9": 1.6807},
    **{"seats.4x0.8": 0.7455, "seats.8x0.8": 0.2860, "seats.8x0.9": 0.8769, "pooling.ratio": 2.0},
    **{
        "kingman.poisson": 5.125,
        "lost.share": 0.0508,
        "occupancy.mean": 1800.0,
        "occupancy.deviation": 1044.0,
    },
}
"""As published or worked out on paper, to the digits that were given."""


@pytest.mark.parametrize("key", TARGETS)
def test_every_anchor_has_its_published_value(key: str) -> None:
    target = TARGETS[key]
    digits = len(repr(target).partition(".")[2])
    assert FIGURES[key][1].target() == pytest.approx(target, abs=0.5 * 10.0**-digits + 1e-9)


def test_the_table_is_complete_and_cheap_to_show() -> None:
    assert [anchor.number for anchor in ANCHORS] == list(range(1, 22))
    assert len({anchor.key for anchor in ANCHORS}) == len(ANCHORS)
    rows = anchor_rows()
    assert [row["key"] for row in rows] == [anchor.key for anchor in ANCHORS]
    assert all(row["figures"] and row["formula"] and row["setting"] and row["source"] for row in rows)


def test_whole_tokens_hardly_change_what_is_expected() -> None:
    # Steps of 0.001 s, or of 0.01 s where memory is counted, and levels that end a step before a size.
    for key, (_, figure) in FIGURES.items():
        if figure.expected is not None:
            assert figure.expected() == pytest.approx(figure.target(), rel=0.002), key


# The forms, where they are known otherwise.

loads = st.floats(0.05, 0.95)
means = st.floats(0.01, 50.0)


@given(loads, means)
def test_the_general_form_contains_the_special_ones(load: float, mean_s: float) -> None:
    rate = load / mean_s
    assert mg1_wait_s(rate, Exponential(mean_s)) == pytest.approx(mm1_wait_s(rate, mean_s), rel=1e-9)
    assert mg1_wait_s(rate, constant(mean_s)) == pytest.approx(md1_wait_s(rate, mean_s), rel=1e-9)
    assert mmc_wait_s(rate, mean_s, 1) == pytest.approx(mm1_wait_s(rate, mean_s), rel=1e-9)
    assert pooling_ratio(rate, mean_s) == pytest.approx(2.0, rel=1e-9)
    exact = kingman_bound_s(rate, 1.0 / rate**2, mean_s, mean_s**2)
    assert exact >= mm1_wait_s(rate, mean_s)


@given(loads, st.floats(0.05, 0.95), means)
def test_two_classes_conserve_their_waiting(load: float, share: float, mean_s: float) -> None:
    rates = (load * share / mean_s, load * (1.0 - share) / mean_s)
    laws: tuple[Law, ...] = (Exponential(mean_s), constant(mean_s))
    waits = priority_waits_s(rates, laws)
    kept = sum(rate * law.mean_s * wait for rate, law, wait in zip(rates, laws, waits, strict=True))
    assert kept == pytest.approx(conserved_wait_s(rates, laws), rel=1e-9)
    first_come = conserved_wait_s(rates, laws) / load
    assert waits[0] < first_come < waits[1]


@given(loads, means)
def test_one_class_is_no_class(load: float, mean_s: float) -> None:
    rate, law = load / mean_s, Exponential(mean_s)
    wait = mm1_wait_s(rate, mean_s)
    assert priority_waits_s([rate], [law]) == pytest.approx((wait,), rel=1e-9)
    assert preemptive_times_s([rate], [law]) == pytest.approx((wait + mean_s,), rel=1e-9)


@given(loads, means)
def test_equal_sizes_leave_nothing_to_choose(load: float, mean_s: float) -> None:
    # Shortest first and shortest remaining are then first come; least served first makes all end together.
    rate, law = load / mean_s, constant(mean_s)
    wait = md1_wait_s(rate, mean_s)
    assert sjf_wait_s(rate, law) == pytest.approx(wait, rel=1e-9)
    assert srpt_time_s(rate, law) == pytest.approx(wait + mean_s, rel=1e-9)
    together = wait / (1.0 - load) + mean_s / (1.0 - load)
    assert feedback_time_s(rate, law) == pytest.approx(together, rel=1e-9)


laws = st.dictionaries(st.integers(1, 60), st.integers(1, 9), min_size=1, max_size=6).map(
    lambda found: points({time / 4: weight / sum(found.values()) for time, weight in sorted(found.items())})
)


@given(laws, loads)
def test_who_knows_the_sizes_and_interrupts_is_never_slower(law: Points, load: float) -> None:
    rate = load / law.mean_s
    best = srpt_time_s(rate, law)
    others = (
        sjf_wait_s(rate, law) + law.mean_s,
        mg1_wait_s(rate, law) + law.mean_s,
        feedback_time_s(rate, law),
        sharing_time_s(rate, law),
    )
    assert best <= min(others) * (1.0 + 1e-9)
    assert sjf_wait_s(rate, law) <= mg1_wait_s(rate, law) * (1.0 + 1e-9)
    sizes, chances = law.times_s.tolist(), law.chances.tolist()
    for form, mean in (
        (srpt_time_s, best),
        (sjf_wait_s, others[0] - law.mean_s),
        (feedback_time_s, others[2]),
    ):
        by_size = [form(rate, law, size) for size in sizes]
        assert np.dot(chances, by_size) == pytest.approx(mean, rel=1e-9)
        assert all(one <= other * (1.0 + 1e-9) for one, other in pairwise(by_size))


@given(loads, means)
def test_least_served_first_is_processor_sharing_for_exponential_sizes(load: float, mean_s: float) -> None:
    # Both are blind to sizes, and an exponential size tells nothing of what is left.
    rate = load / mean_s
    assert feedback_time_s(rate, Exponential(mean_s)) == pytest.approx(mean_s / (1.0 - load), rel=1e-6)


def test_feedback_levels_lie_between_first_come_and_least_served_first() -> None:
    rate, law = 0.8, points({0.5: 0.9, 5.5: 0.1})
    # One level is first come; a hundred of 0.001 s around each size are as good as infinitely many.
    assert levels_time_s(rate, law, [1.0]) == pytest.approx(mg1_wait_s(rate, law) + law.mean_s, rel=1e-12)
    assert levels_time_s(rate, law, [0.01] * 600) == pytest.approx(feedback_time_s(rate, law), rel=0.01)
    # Two levels, 0.5 s and the rest: small ones wait as if all took 0.5 s, (0.8·0.25/2)/(1 - 0.4) = 1/6 s;
    # big ones for all there is, and for small ones that come meanwhile: (6.5 + 5.5)/(1 - 0.4) = 20 s.
    assert levels_time_s(rate, law, [0.5, 1.0], 0.5) == pytest.approx(1.0 / 6.0 + 0.5, rel=1e-12)
    assert levels_time_s(rate, law, [0.5, 1.0], 5.5) == pytest.approx(20.0, rel=1e-12)


@settings(max_examples=20)
@given(laws, loads)
def test_tiny_quanta_are_least_served_first(law: Points, load: float) -> None:
    rate = load / law.mean_s
    fine = levels_time_s(rate, law, [2.0**-13] * 2**17, 0.75)
    assert fine == pytest.approx(feedback_time_s(rate, law, 0.75), rel=0.02)


def test_a_law_in_fine_steps_is_the_law() -> None:
    fine, law = geometric(2.0, 0.0005), Exponential(2.0)
    for form in (mg1_wait_s, srpt_time_s, sjf_wait_s, feedback_time_s):
        call: Any = form
        assert call(0.35, fine) == pytest.approx(call(0.35, law), rel=1e-3)
    limit = np.array([0.3, 2.0, 9.0])
    for part in ("part", "beyond", "capped", "capped_square"):
        assert getattr(fine, part)(limit) == pytest.approx(getattr(law, part)(limit), rel=2e-3)
    assert law.average(lambda times: times**2) == pytest.approx(law.square_s2, rel=1e-12)
    assert fine.square_s2 == pytest.approx(law.square_s2 - 0.0005 * 2.0, rel=1e-9)


def test_seats_that_are_all_busy() -> None:
    # Two seats, a = 1: states 0, 1, 2+ as 1 : 1 : 1/2 + 1/4 + ... = 1, so a third of the arrivals wait.
    assert all_busy(1.0, 2) == pytest.approx(1.0 / 3.0, rel=1e-12)
    assert all_busy(0.0, 3) == 0.0
    assert all_busy(0.7, 1) == pytest.approx(0.7, rel=1e-12)


def test_few_places() -> None:
    assert [round(mm1k_lost(0.9, places), 4) for places in (5, 10, 20)] == [0.1260, 0.0508, 0.0137]
    assert mm1k_lost(1.0, 9) == pytest.approx(0.1, rel=1e-12)
    assert mm1k_lost(2.0, 3) == pytest.approx(8.0 / 15.0, rel=1e-12)
    assert mm1k_lost(1e200, 3) == pytest.approx(1.0) and mm1k_lost(0.0, 3) == 0.0
    assert 0.0 < mm1k_lost(0.5, 400) < 1e-100


@given(st.floats(0.01, 0.99), means)
def test_the_head_of_the_line_costs_less_than_everything(small: float, mean_s: float) -> None:
    rate = head_of_line_rate_per_s(small, mean_s)
    assert 1.0 / mean_s <= rate <= fluid_rate_per_s(small, mean_s) * (1.0 + 1e-12)
    assert head_of_line_rate_per_s(small, mean_s, 1e-7 * mean_s) == pytest.approx(rate, rel=1e-6)


def test_the_head_of_the_line_in_long_steps() -> None:
    # Every step is the last with chance 1/2. Between large ones (2 steps) come 0, 1, 2, ... small ones with
    # chances 1/2, 1/4, ...; g of them take F(g) steps: 0, 2, then F(g) = (4 + 2 F(g-1) + F(g-2)) / 3.
    steps = [0.0, 2.0]
    for _ in range(200):
        steps.append((4.0 + 2.0 * steps[-1] + steps[-2]) / 3.0)
    drained = sum(0.5 ** (count + 1) * each for count, each in enumerate(steps))
    assert head_of_line_rate_per_s(0.5, 2.0, 1.0) == pytest.approx(2.0 / (2.0 + drained), rel=1e-12)


def test_the_cache_of_a_stream_of_equal_requests_is_shot_noise() -> None:
    # 0.03 · (500·200 + 200²/2) = 3,600 token seconds a request, and (700³ - 500³)/3 = 72.67 million by 0.03.
    mean, variance = kv_occupancy(0.5, 500, 200, 0.03)
    assert mean == pytest.approx(1800.0, rel=1e-12)
    assert variance == pytest.approx(0.5 * 0.03 * (700**3 - 500**3) / 3, rel=1e-12)
    assert round(sqrt(variance)) == 1044


def test_streams_of_different_lengths_add_up() -> None:
    # A stream of two lengths is two streams of half the rate, and independent streams add mean and variance.
    both = kv_occupancy_of(3.0, np.array([100, 700]), np.array([50, 9]), 0.02)
    parts = np.add(kv_occupancy(1.5, 100, 50, 0.02), kv_occupancy(1.5, 700, 9, 0.02))
    assert both == pytest.approx(tuple(parts), rel=1e-12)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 40))
def test_what_a_request_holds_over_its_life(prompt: int, output: int, size: int) -> None:
    blocks = sum(-(-(prompt + step) // size) for step in range(output))
    assert kv_seconds(prompt, output, 0.25, size) == size * blocks * 0.25
    assert kv_capacity_per_s(size * blocks, kv_seconds(prompt, output, 0.25, size)) == pytest.approx(4.0)
    assert kv_capacity_per_s(size * blocks, kv_seconds(prompt, output, 0.25, size), 0.5) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("ratio", "kept"), [(0.0, (92.0, 87.0)), (0.25, (93.5, 89.3)), (1.0, (95.8, 93.0)), (4.0, (98.3, 97.1))]
)
def test_a_smaller_batch_loses_less_the_more_of_its_time_is_variable(
    ratio: float, kept: tuple[float, float]
) -> None:
    assert tuple(round(100.0 * batch_loss(fill, ratio), 1) for fill in (0.92, 0.87)) == kept
    assert batch_loss(1.0, ratio) == 1.0


@pytest.mark.parametrize(("calls_per_s", "at_s"), [(1, 9.0), (10, 6.4), (1000, 5.141)])
def test_a_boost_that_is_repeated_saturates_early(calls_per_s: int, at_s: float) -> None:
    assert repeated_boost_s(calls_per_s) == pytest.approx(at_s, rel=1e-12)
    # The code it is about: each call subtracts ten times what the wait is over five seconds.
    level, calls = 100.0, 0
    while level > 1e-9:
        calls += 1
        level -= 10.0 * (calls / calls_per_s)
    assert repeated_boost_s(calls_per_s) == pytest.approx(5.0 + calls / calls_per_s, rel=1e-12)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: mm1_wait_s(1.0, 1.0), "grows for ever"),
    (lambda: mm1_wait_s(nan, 1.0), "rate"),
    (lambda: mm1_wait_s(-0.5, 1.0), "rate"),
    (lambda: srpt_time_s(0.5, constant(2.5)), "grows for ever"),
    (lambda: sharing_time_s(0.5, constant(1.0), 0.0), "size"),
    (lambda: levels_time_s(0.5, constant(1.0), []), "quanta"),
    (lambda: priority_waits_s([0.3, 0.8], [Exponential(1.0)] * 2), "grows for ever"),
    (lambda: priority_waits_s([0.3], []), "one of each"),
    (lambda: Exponential(-1.0), "above 0"),
    (lambda: points({1.0: 0.5, 2.0: 0.6}), "sum to"),
    (lambda: points({0.0: 1.0}), "above 0"),
    (lambda: points({}), "one chance a time"),
    (lambda: geometric(1.0, 1.0), "step"),
    (lambda: mmc_wait_s(4.0, 1.0, 4), "less than the seats"),
    (lambda: mm1k_lost(0.5, 0), "one place"),
    (lambda: kingman_bound_s(0.5, -1.0, 1.0, 1.0), "variances"),
    (lambda: head_of_line_rate_per_s(1.5, 1.0), "from 0 to 1"),
    (lambda: head_of_line_rate_per_s(0.5, 1.0, 1.0), "step"),
    (lambda: kv_occupancy(-1.0, 5, 5, 0.1), "at least 0"),
    (lambda: kv_occupancy(1.0, 5, nan, 0.1), "at least 0"),
    (lambda: kv_occupancy(1.0, inf, 5, 0.1), "at least 0"),
    (lambda: kv_occupancy_of(1.0, np.array([]), np.array([]), 0.1), "a request"),
    (lambda: kv_seconds(0, 5, 0.1), "above 0"),
    (lambda: kv_capacity_per_s(0.0, 1.0), "above 0"),
    (lambda: batch_loss(0.0, 1.0), "above 0"),
    (lambda: repeated_boost_s(0.0), "above 0"),
]


@pytest.mark.parametrize("place", range(len(REFUSED)))
def test_what_has_no_answer_is_refused_in_words(place: int) -> None:
    call, words = REFUSED[place]
    with pytest.raises(ValueError, match=words):
        call()


# The engine.


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, trial in TRIALS.items() if trial.quick])
def test_the_engine_comes_to_what_theory_says(name: str) -> None:
    trial = TRIALS[name]
    if missing := trial.missing():
        pytest.skip(f"this version has no policy {missing}")
    runs = [trial.run(seed, JOBS) for seed in range(1, trial.quick + 1)]
    for key in runs[0]:
        found = measured(key, [run[key] for run in runs], JOBS)
        assert holds(key, found), (key, found, FIGURES[key][1].target(), allowed(key, found))


def test_every_figure_has_its_trial() -> None:
    trials = {name for name, trial in TRIALS.items() if not trial.missing()}
    seen = set().union(*(TRIALS[name].run(1, 1000) for name in trials))
    assert seen <= set(FIGURES)
    if len(trials) == len(TRIALS):
        assert seen == set(FIGURES)


def test_the_figures_on_the_page_are_those_of_the_long_check() -> None:
    assert set(checked()) == set(FIGURES)
    for key, found in checked().items():
        assert found.seeds >= 10 and found.jobs >= JOBS
        assert holds(key, found), (key, found, FIGURES[key][1].target(), allowed(key, found))


def test_the_command_shows_runs_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert anchors([]) == 0
    shown = capsys.readouterr().out
    assert all(anchor.title in shown for anchor in ANCHORS) and " NO" not in shown
    assert anchors(["--json"]) == 0
    assert [row["key"] for row in json.loads(capsys.readouterr().out)] == [anchor.key for anchor in ANCHORS]
    assert anchors(["--run", "--trial", "identities", "--jobs", "1000", "--seeds", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["key"]: one["ours"] for one in told if one["key"].endswith("difference")} == {
        "little.difference": 0.0, "kv_little.difference": 0.0, "blame.difference": 0.0
    }  # fmt: skip
    for words, complaint in (
        (["--write"], "need --run"),
        (["--run", "--trial", "two seats"], "no such trial; did you mean"),
        (["--run", "--seeds", "1"], "at least 2"),
    ):
        with pytest.raises(ScenarioError, match=complaint):
            anchors(words)


def test_a_figure_that_is_off_does_not_hold() -> None:
    assert holds("mm1.wait", Measured(4.1, 0.0, 10, JOBS)) and not holds(
        "mm1.wait", Measured(4.2, 0.0, 10, JOBS)
    )
    assert holds("mm1.wait", Measured(4.2, 0.05, 10, JOBS))
    assert holds("kingman.poisson", Measured(1.0, 0.0, 10, JOBS))
    assert not holds("kingman.poisson", Measured(5.2, 0.0, 10, JOBS))
    assert not holds("slowdown.least", measured("slowdown.least", [1.5, 0.999], JOBS))
    assert not holds("little.difference", measured("little.difference", [0.0, 1.0], JOBS))


def test_twenty_thousand_requests_wait_as_lindley_says() -> None:
    # W(n+1) = max(0, W(n) + S(n) - gap) has no sampling error: what the means above may hide shows here.
    arrival, output = poisson_ps(7, JOBS, 0.95), exponential_tokens(7, JOBS, 1.0)
    log = simulate(scene("fcfs", **ONE_SEAT), "fcfs", listed(arrival, output))
    free = 0
    for at_ps, tokens, started in zip(
        arrival.tolist(), output.tolist(), log.first_scheduled_ps.tolist(), strict=True
    ):
        assert started == max(free, at_ps)
        free = started + tokens * round(at.STEP_S * PS_PER_S)


NON_PREEMPTIVE = ("priority", "backfill", "hol", "aging", "sjf", "hrrn", "edf", "slack", "vtc", "drf")


@pytest.mark.parametrize("policy", NON_PREEMPTIVE)
def test_the_work_that_waits_is_the_same_in_every_order(policy: str) -> None:
    # ∫V dt = Σ S·W + Σ S²/2 whoever goes first, sizes known or not: in whole numbers and on every path. Of
    # this identity Kleinrock's law is the mean for orders that are blind to sizes.
    if policy not in POLICIES:
        pytest.skip(f"this version has no policy {policy}")
    requests, _ = class_list(3, 5000)
    sums = []
    for one in ("fcfs", policy):
        log = simulate(scene(one, **ONE_SEAT), one, requests)
        waited = (log.first_scheduled_ps - requests.arrival_ps).tolist()
        assert not len(log.preempted.victim)
        sums.append(
            sum(size * wait for size, wait in zip(requests.output_tokens.tolist(), waited, strict=True))
        )
    assert sums[0] == sums[1] > 0
