"""What a sweep recommends: the rule worked by hand, goals as they are written, where a load curve bends."""

from dataclasses import replace

import pytest

from sched.advice import THROUGHPUT, Goal, Load, Outcome, advice, goal, knee, loads, outcomes
from sched.external import change
from sched.fields import ScenarioError
from sched.grids import sweep
from sched.ranges import axis
from sched.scenario import preset

WANTED = Goal("chat", "ttft_s.p99", 1.0)


def outcome(place: int, mean: float | None, kept: float = 1.0, left: float = 0.0) -> Outcome:
    return Outcome((place,), mean, mean, mean, 0, 1, kept, 100.0 * kept, left, 0.0, None)


def test_the_smallest_setting_that_keeps_the_goal_at_least_cost_is_recommended() -> None:
    listed = [outcome(0, 3.0), outcome(1, 0.9, 0.98), outcome(2, 0.8, 0.98), outcome(3, 0.5, 0.9)]
    found = advice(listed, WANTED)
    assert found is not None and found.meets and found.meeting == 3
    assert found.outcome.place == (1,)
    # A later one that keeps clearly more throughput costs less.
    cheaper = [*listed[:3], outcome(3, 0.95, 1.01)]
    assert (found := advice(cheaper, WANTED)) is not None and found.outcome.place == (3,)
    # Less than two per cent is no difference.
    alike = [*listed[:3], outcome(3, 0.95, 0.99)]
    assert (found := advice(alike, WANTED)) is not None and found.outcome.place == (1,)


def test_where_none_keeps_the_goal_the_nearest_is_named() -> None:
    found = advice([outcome(0, 3.0), outcome(1, 1.4), outcome(2, 1.4)], WANTED)
    assert found is not None and not found.meets and found.outcome.place == (1,)
    assert advice([outcome(0, None)], WANTED) is None


def test_turning_requests_away_is_no_way_to_a_goal() -> None:
    found = advice([outcome(0, 3.0), outcome(1, 0.5, left=7.0), outcome(2, 0.9)], WANTED)
    assert found is not None and found.outcome.place == (2,)


def test_a_goal_reads_as_it_is_written() -> None:
    for text in ("chat.ttft_s.p99<=0.5", '"a.b".wait_s.max<=30', "docs.slo_attainment>=0.9"):
        assert goal(text).text == text
    assert goal("kv_utilisation >= 0.5") == Goal("", "kv_utilisation", 0.5)
    assert goal('"a.b".wait_s.max<=30').class_name == "a.b"
    assert goal("chat.ttft_s.p99<=0.5").is_met(0.5) and not goal("chat.ttft_s.p99<=0.5").is_met(None)
    assert goal("docs.slo_attainment>=0.9").is_met(0.95)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fast", "must be written like"),
        ("chat.ttft_s.p98<=1", "must name a class and one of"),
        ("ttft_s.p99<=1", "must name a class and one of"),
        ("chat.ttft_s.p99>=1", "lower is better, so turn the sign"),
        ("chat.ttft_s.p99<=soon", "must be a number"),
        ("chat.ttft_s.p99<=nan", "must be a number"),
        ("chat.ttft_s.p99<=-1", "must be a number"),
    ],
)
def test_a_goal_that_is_not_understood_is_a_sentence(text: str, why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        goal(text)


def test_the_knee_is_where_throughput_by_time_is_greatest() -> None:
    # 100/1, 180/1.2, 200/2, 200/4: the second is the best.
    listed = [
        Load((place,), throughput, None, response)
        for place, (throughput, response) in enumerate(
            [(100.0, 1.0), (180.0, 1.2), (200.0, 2.0), (200.0, 4.0)]
        )
    ]
    assert knee(listed) is listed[1]
    assert knee(listed[:2]) is None, "it may bend further on"
    assert knee([replace(one, response_s=None) for one in listed]) is None


def test_outcomes_are_those_of_the_runs() -> None:
    scenario = change(preset("noisy-neighbour"), {"duration_s": "10"})
    found = sweep(scenario, (axis("rescue.kv=0:0.4:0.2"),), ["rescue"], 2)
    listed = outcomes(found, "rescue", WANTED)
    assert [one.place for one in listed] == [(0,), (1,), (2,)] and listed[0].kept == 1
    through = [point.estimate("rescue", THROUGHPUT).mean or 0.0 for point in found.points.values()]
    # As a comparison tells it: the difference of the means as a share of the first mean.
    assert [one.kept for one in listed] == pytest.approx([mine / through[0] for mine in through], rel=1e-12)
    values = found.points[1,].values("rescue", "ttft_s.p99", "chat")
    assert listed[1].many == 2 and {listed[1].least, listed[1].most} == set(values)
    assert listed[1].met == sum(one is not None and one <= 1 for one in values)
    own = loads(found, "rescue")[0]
    runs = found.points[0,].runs["rescue"]
    assert own.throughput == pytest.approx(sum(run["window"]["output_tokens_per_s"] for run in runs) / 2)
