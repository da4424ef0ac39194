"""The charts of Compare say what the metrics say, and cost no more than their pixels."""

from fractions import Fraction

import numpy as np
import pytest

from sched import Log, Scenario, simulate
from sched.counters import counters
from sched.engine import settings_of
from sched.figures.decomposition import causes_ps, decomposition
from sched.figures.distributions import curve, distributions, in_line_labels, log_ticks, sample_ps
from sched.figures.lines import MOST_POINTS, Line, end_labels, escaped, thinned
from sched.figures.tenants import lines_of, tenants_figure
from sched.figures.waiting import waiting_figure, waiting_of
from sched.fuzz import scenario_of_seed
from sched.inversion import CAUSES, Inversion, analyse
from sched.language import language
from sched.log import Stretches
from sched.metrics import summary
from sched.model import PS_PER_S
from sched.occupancy import held_by_group
from sched.policies.usage import FADE
from sched.scenario import preset
from sched.sums import exact_sum
from sched.trajectories import dominant_shares, recent, service
from sched.view import FAMILIES

Run = tuple[Scenario, Log, Inversion]


@pytest.fixture(scope="module", params=["fcfs", "rescue"])
def run(request: pytest.FixtureRequest) -> Run:
    scenario = preset("noisy-neighbour")
    log = simulate(scenario, request.param)
    return scenario, log, analyse(log)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_curve_passes_through_the_percentiles(run: Run, family: str) -> None:
    scenario, log, inversion = run
    found = summary(log, scenario, inversion)["classes"]
    for name in log.requests.class_names:
        values = sample_ps(log, inversion, name, family, scenario.warmup_s)
        x, share = curve(values)
        for percent in (50, 90, 99):
            metric = found[name][f"{family}_s"][f"p{percent}"]
            read = x[np.flatnonzero(share >= percent / 100 - 1e-12)[0]]
            assert read == pytest.approx(max(metric, 1e-3), rel=1e-12), (name, percent)
        assert x[-1] == pytest.approx(found[name][f"{family}_s"]["max"]) and share[-1] == 1


def test_the_causes_add_up_to_the_wait_exactly(run: Run) -> None:
    scenario, log, inversion = run
    parts = {
        ("P", name): causes_ps(log, inversion, name, scenario.warmup_s) for name in log.requests.class_names
    }
    for index, (_, found) in enumerate(parts.values()):
        own = np.flatnonzero(log.requests.class_index == index)
        assert sum(found.values()) == exact_sum(inversion.wait_ps[own])
    chart = decomposition(parts, "chat")
    for row in chart.rows:
        assert sum(row[3:-1]) == pytest.approx(row[-1])
    drawn = sum(np.asarray(bar["x"], dtype=float) for bar in chart.figure["data"])
    means = [sum(found.values()) / PS_PER_S / many for many, found in parts.values()]
    assert drawn == pytest.approx(means, rel=1e-5)
    for bar in chart.figure["data"]:
        assert bar["marker"]["line"]["width"] == [int(one > 0) for one in bar["x"]]


def test_service_ends_at_the_totals_of_the_tenants(run: Run) -> None:
    scenario, log, inversion = run
    found = service(log, scenario, inversion)
    assert (np.diff(found.values, axis=1) >= 0).all()
    for tenant, row in zip(found.tenants, found.values, strict=True):
        own = log.requests.tenant_index == log.requests.tenant_names.index(tenant)
        prompts = int(log.requests.prompt_tokens[own & (log.first_scheduled_ps >= 0)].sum())
        assert row[-1] == prompts + 2 * int(log.emitted_tokens[own].sum())


def test_service_of_several_engines_is_that_of_all() -> None:
    scenario = preset("noisy-neighbour").changed(policies={"isolated": {}})
    log = simulate(scenario, "isolated")
    assert log.replicas
    found = service(log, scenario, analyse(log))
    total = int(log.requests.prompt_tokens[log.first_scheduled_ps >= 0].sum())
    total += 2 * int(log.emitted_tokens.sum())
    assert found.values[:, -1].sum() == total
    assert counters(log, scenario, analyse(log)) is None


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("cut", [None, 0.4])
def test_the_counters_are_those_of_the_policy(seed: int, cut: float | None) -> None:
    # The policy as the run left it holds its own counters; a run that is cut off holds those of that moment.
    drawn = scenario_of_seed(seed)
    vtc = settings_of(drawn, "vtc").changed(predictor="off", prompt_weight=1.5, output_weight=2.0)
    scenario = drawn.changed(policies={"vtc": vtc}, drain_s=cut)
    log = simulate(scenario, "vtc")
    found = counters(log, scenario, analyse(log))
    assert found is not None and log.rules is not None
    for tenant, row in zip(found.tenants, found.values, strict=True):
        weight = log.requests.weights[log.requests.tenant_names.index(tenant)]
        unit = log.rules.token_charge[tenant] * weight / Fraction(2)  # type: ignore[attr-defined]
        assert row[-1] == pytest.approx(float(log.rules.counters[tenant] / unit))  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", [3, 5, 8, 44, 91])
def test_recent_tokens_are_those_of_the_policy(seed: int) -> None:
    scenario = scenario_of_seed(seed)
    options = settings_of(scenario, "drf").changed(half_life_s=2.0)
    scenario = scenario.changed(policies={"drf": options})
    log = simulate(scenario, "drf")
    inversion = analyse(log)
    held = held_by_group(log, inversion.seen.held, log.requests.tenant_index, len(log.requests.weights))
    share, used, offered = recent(log, held.tokens, options.half_life_s)
    own = [log.rules.used[name] for name in log.requests.tenant_names]  # type: ignore[union-attr]
    mine, fades = list(used.values()), 0
    # After the last iteration the policy's timer may have gone on for requests that were never let in.
    while (mine, offered) != (own, log.rules.offered) and fades < 200:  # type: ignore[union-attr]
        mine, offered, fades = [one * FADE >> 32 for one in mine], offered * FADE >> 32, fades + 1
    assert mine == own and offered == log.rules.offered  # type: ignore[union-attr]
    assert share.shape == (len(own), log.iterations + 1) and (share <= 1).all()


def test_dominant_shares_are_the_largest_of_three(run: Run) -> None:
    scenario, log, inversion = run
    found = dominant_shares(log, scenario, inversion)
    listed, place = log.requests, np.flatnonzero(inversion.seen.time.iteration == 40)[0]
    held = held_by_group(log, inversion.seen.held, listed.tenant_index, len(listed.weights))
    for row, tenant in enumerate(found.tenants):
        index = listed.tenant_names.index(tenant)
        blocks = held.claimed[index, 40] / log.machine.kv_blocks
        seats = held.seats[index, 40] / log.machine.max_num_seqs
        assert found.values[row, place] >= max(blocks, seats) - 1e-12
    assert found.values.max() <= 1


def test_a_long_run_of_zeros_is_few_points_and_no_peak_is_lost() -> None:
    x = np.arange(100_000.0)
    assert len(thinned(x, np.zeros(100_000))) == 2
    spiky = np.where(x % 977 == 5, x, 0.0)
    some = thinned(x, spiky)
    assert len(some) <= MOST_POINTS and spiky[some].max() == spiky.max() and some[-1] == 99_999
    noise = np.random.default_rng(1).random(100_000)
    some = thinned(x, noise)
    assert len(some) <= MOST_POINTS and {noise[some].max(), noise[some].min()} == {noise.max(), noise.min()}


def test_no_line_has_more_points_than_the_page_can_draw(run: Run) -> None:
    scenario, log, inversion = run
    found = counters(log, scenario, inversion)
    assert found is not None
    lines = [*lines_of(found, steps=False), *lines_of(dominant_shares(log, scenario, inversion))]
    assert lines and all(2 <= len(line.x) <= MOST_POINTS for line in lines)
    sample = np.sort(np.random.default_rng(2).integers(1, 10**14, 30_000))
    assert len(curve(sample)[0]) <= MOST_POINTS + 3


def test_names_of_users_are_no_markup_in_a_figure() -> None:
    nasty = '<a href="x">& <b>me</b></a>'
    assert escaped(nasty) == '&lt;a href="x"&gt;&amp; &lt;b&gt;me&lt;/b&gt;&lt;/a&gt;'
    chart = distributions({nasty: np.array([PS_PER_S, 2 * PS_PER_S])}, 0.5)
    texts = [one["name"] for one in chart.figure["data"]]
    texts += [one["text"] for one in chart.figure["layout"]["annotations"]]
    assert all("<" not in one for one in texts)
    bars = decomposition({(nasty, nasty): (1, dict.fromkeys(CAUSES, 1))}, "other")
    assert all("<" not in one for one in bars.figure["layout"]["yaxis"]["ticktext"])


def test_labels_at_the_ends_do_not_touch() -> None:
    lines = [Line(f"tenant {n}", np.array([0.0, 1.0]), np.array([0.0, 10.0 + n / 10])) for n in range(8)]
    heights = sorted(one["y"] for one in end_labels(lines, 12.0, False))
    assert min(np.diff(heights)) >= 0.064 and heights[-1] <= 1.0
    found = in_line_labels([Line("a", np.array([1.0, 2.0]), np.array([0.5, 1.0]))] * 2, 0.0, 1.0, False)
    assert len(found) == 2


def test_ticks_are_round_numbers_inside_the_axis() -> None:
    assert log_ticks(0.04, 2.5) == [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
    assert log_ticks(0.001, 90.0) == [0.001, 0.01, 0.1, 1.0, 10.0]


def test_figures_speak_the_language_they_are_asked_in(run: Run) -> None:
    scenario, log, inversion = run
    chinese = language("zh")
    sample = {"P": sample_ps(log, inversion, "chat", "ttft", 0.0)}
    distributions(sample, 1.0, say=chinese)
    decomposition({("P", "chat"): causes_ps(log, inversion, "chat", 0.0)}, "chat", say=chinese)
    for what, found in (("service", service), ("shares", dominant_shares), ("counters", counters)):
        told = found(log, scenario, inversion)
        assert told is not None
        tenants_figure(told, what, say=chinese)
    assert not {one for one in chinese.missing if "{" in one or one == "policy"}


def test_the_queue_of_a_hundred_thousand_steps_is_quick_to_draw(run: Run) -> None:
    from dataclasses import replace

    log, many = run[1], 100_000
    zeros = np.zeros(many, dtype=np.int64)
    steps = np.arange(many, dtype=np.int64)
    stretches = Stretches(steps * PS_PER_S, steps, zeros + 1, zeros + 1, *(zeros for _ in range(6)))
    long = replace(log, stretches=stretches)
    assert len(waiting_figure({"a": long, "b": log}).figure["data"][0]["x"]) <= 3


def test_the_queue_shows_the_most_that_wait(run: Run) -> None:
    log = run[1]
    chart = waiting_figure({"P": log, "Q": log})
    start, waiting = waiting_of(log)
    assert max(chart.figure["data"][0]["y"]) == waiting.max() == chart.rows[0][1]
    area = float((waiting * np.diff(np.append(start, log.end_ps))).sum())
    assert chart.rows[0][2] == pytest.approx(area / log.end_ps)
    first, second = chart.figure["layout"]["annotations"]
    assert abs(first["x"] - second["x"]) > 1 or abs(first["y"] - second["y"]) > 1
