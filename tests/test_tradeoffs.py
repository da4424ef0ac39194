"""Trade-offs: what stands on the page is what the runs say, and the link says what is chosen."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sched.advice import advice, goal, outcomes
from sched.command import experiments as command
from sched.external import change, parse_link
from sched.figures.palette import palette
from sched.figures.tradeoff_axes import Curve, Line, Mark, share_axis, share_ends, time_axis
from sched.figures.tradeoff_map import Grid, map_figure
from sched.figures.tradeoffs import curve_figure
from sched.grids import sweep
from sched.model import PS_PER_S
from sched.page.cards import seconds
from sched.page.computed import Memory
from sched.page.tradeoff_view import FACTORS, loaded
from sched.page.tradeoff_words import sizes_differ
from sched.page.varied import knobs, range_text, usual_range
from sched.ranges import axis
from sched.scenario import preset
from sched.trace_store import store
from sched.view import query_of
from sched.workload import requests
from tests.conftest import ROOT

pytestmark = pytest.mark.xdist_group("page")
QUICK = {"duration_s": "20", "seeds": "1", "vary": "rescue.kv=0:0.4:0.2"}


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, text in {"view": "tradeoffs", **QUICK, **query}.items():
        page.query_params[key.replace("__", ".")] = text
    return page.run()


def figure(page: AppTest) -> Any:
    charts = page.get("plotly_chart")
    assert len(charts) == 1
    return json.loads(charts[0].proto.spec)


def point(page: AppTest) -> Any:
    return next(one for one in page.selectbox if str(one.key).startswith("tradeoff_point_"))


def texts(page: AppTest) -> str:
    return "\n".join(one.value for one in [*page.markdown, *page.caption, *page.info, *page.error])


@pytest.fixture(scope="module")
def curve() -> Iterator[AppTest]:
    yield opened()


def test_the_curve_shows_what_the_sweep_says(curve: AppTest) -> None:
    assert not curve.exception
    scenario = change(preset("noisy-neighbour"), {"duration_s": "20"})
    found = sweep(scenario, (axis(QUICK["vary"]),), ["rescue"], 1)
    wanted = goal("chat.ttft_s.p99<=1")
    listed = outcomes(found, "rescue", wanted)
    lines = [one for one in figure(curve)["data"] if one.get("mode") == "lines+markers"]
    assert lines[0]["y"] == [one.mean for one in listed]
    assert lines[1]["y"] == [one.kept for one in listed]
    best = advice(listed, wanted)
    assert best is not None and seconds(best.outcome.mean) in texts(curve)
    rings = [one for one in figure(curve)["data"] if one.get("marker", {}).get("symbol") == "circle-open"]
    assert rings[0]["y"] == [best.outcome.mean]
    assert len(curve.table[0].value) == 3


def test_a_chosen_point_opens_in_the_lab(curve: AppTest) -> None:
    page = opened()
    point(page).set_value((2,)).run()
    page.button(key="tradeoff_open").click().run()
    assert not page.exception
    now = page.session_state["shown"]
    assert now.page == "lab" and now.scenario.policies["rescue"].kv == 0.4
    assert "rescue" in (now.a, now.b)


CHANGES: dict[str, Any] = {
    "tab": {"chart": "load"},
    "class": {"of": "docs", "goal": None},
    "goal": {"goal": "chat.ttft_s.p99<=0.3"},
    "knob": {"vary": "engine.max_num_seqs=16:48:16"},
    "seeds": {"seeds": 3},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_chosen_point_does_not_outlive_what_it_was_chosen_of(curve: AppTest, change: str) -> None:
    page = opened()
    point(page).set_value((1,)).run()
    assert point(page).value == (1,)
    before = page.session_state["shown"]
    page.session_state["shown"] = replace(before, **CHANGES[change])
    page.run()
    own = opened(**{key: str(one) for key, one in CHANGES[change].items() if one is not None})
    assert point(page).value == point(own).value and point(page).options == point(own).options
    page.session_state["shown"] = replace(before, chart="load")
    page.run()
    point(page).set_value((6,)).run()
    page.session_state["shown"] = before
    page.run()
    ringed = point(opened()).value
    chosen = point(page).value
    assert chosen in ((1,), ringed) and chosen != (6,)
    page.button(key="tradeoff_open").click().run()
    kept = page.session_state["shown"].scenario.policies["rescue"].kv
    assert kept == (0.0, 0.2, 0.4)[chosen[0]]


@pytest.mark.parametrize("view", ["tradeoffs", "compare"])
def test_where_nothing_is_drawn_there_is_one_run(view: str) -> None:
    page = opened(scenario="textbook", view=view, seeds="9", of="urgent" if view == "compare" else "")
    assert not page.exception and "of 9" not in texts(page) and "9 seeds" not in texts(page)
    assert not [one for one in page.segmented_control if one.key in ("seeds", "tradeoff_seeds")]
    if view == "tradeoffs":
        assert "nothing here is drawn" in texts(page) and "of **1" not in texts(page)
        assert "of 1**" not in texts(page) and "best to worst" not in " ".join(map(str, page.table[0].value))


def test_a_recorded_trace_is_counted_once(monkeypatch: Any, tmp_path: Path) -> None:
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    rows += [f"2023-11-16 18:01:{second:02d}.5,{100 * second},9" for second in range(10, 40)]
    digest = store("\n".join(rows).encode(), str(tmp_path))
    monkeypatch.setenv("SCHED_STORE", str(tmp_path))
    for view in ("tradeoffs", "compare"):
        page = opened(scenario="blank", duration_s="60", trace__digest=digest, seeds="9", view=view)
        said = texts(page)
        assert not page.exception and "Computed from 30 " in said and "9 seeds" not in said


def test_the_command_line_says_that_nothing_is_drawn(capsys: Any) -> None:
    assert command.compare(["textbook", "--seeds", "3"]) == 0
    said = capsys.readouterr().out
    assert "one run, as nothing here is drawn, the same requests for every policy\n" in said
    assert "3 seeds" not in said
    assert not re.search(r"[ (]-[0-9]", said)
    assert command.compare(["textbook", "--seeds", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["seeds"] == [7] and '"clear": true' not in json.dumps(found)
    assert command.sweep(["textbook", "--seeds", "3", "--vary", "rescue.kv=0:0.2:0.1"]) == 0
    assert "3 points, one run, as nothing here is drawn" in capsys.readouterr().out


def test_goal_class_seeds_and_range_are_in_the_link(curve: AppTest) -> None:
    page = opened()
    page.number_input(key="tradeoff_goal").set_value(0.4).run()
    assert page.session_state["shown"].goal == "chat.ttft_s.p99<=0.4"
    page.text_input(key="vary_range").set_value("0:0.2:0.1").run()
    assert page.session_state["shown"].vary == "rescue.kv=0:0.2:0.1"
    _, view, _ = parse_link(query_of(page.session_state["shown"]))
    assert view["goal"] == "chat.ttft_s.p99<=0.4" and view["vary"] == "rescue.kv=0:0.2:0.1"
    assert view["seeds"] == "1" and view["view"] == "tradeoffs"
    page.text_input(key="vary_range").set_value("0:2:1").run()
    assert "must be at least 0 and at most 1" in "\n".join(one.value for one in page.warning)
    assert page.session_state["shown"].vary == "rescue.kv=0:0.2:0.1"
    page.selectbox(key="tradeoff_class").set_value("docs").run()
    assert page.session_state["shown"].of == "docs" and not page.exception
    page.selectbox(key="vary_knob").set_value("engine.max_num_seqs").run()
    assert page.session_state["shown"].vary.startswith("engine.max_num_seqs=") and not page.exception


def test_two_knobs_are_a_map_with_a_word_in_every_cell() -> None:
    page = opened(chart="map", vary2="traffic.chat.rate_per_s=0.4:0.8:0.4")
    assert not page.exception
    drawn = figure(page)
    assert drawn["data"][0]["type"] == "heatmap" and len(drawn["layout"]["annotations"]) == 6
    assert all("●" in one["text"] or "◆" in one["text"] for one in drawn["layout"]["annotations"])
    assert "of 6" in texts(page) and len(page.table[0].value) == 6


def test_a_class_with_an_equals_sign_in_its_name_can_be_varied() -> None:
    key = 'traffic."a=b".rate_per_s'
    odd = '{name="a=b",rate_per_s=1,prompt={kind="constant",tokens=9},output={kind="constant",tokens=2}}'
    page = opened(traffic=f"[{odd}]", chart="map", vary2=f"{key}=1:2:1", duration_s="5")
    assert not page.exception and not page.error
    assert page.text_input(key="vary2_range").value == "1:2:1"
    page.selectbox(key="vary_knob").set_value("engine.max_num_seqs").run()
    page.selectbox(key="vary_knob").set_value(key).run()
    assert not page.exception and page.session_state["shown"].vary.startswith(f"{key}=")


def test_the_load_curve_names_its_rule() -> None:
    page = opened(chart="load", duration_s="10")
    assert not page.exception
    assert "Kleinrock" in texts(page) and len(page.table[0].value) == 10


def test_a_recorded_trace_has_a_load_curve_in_which_all_its_rows_arrive(
    monkeypatch: Any, tmp_path: Path
) -> None:
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    rows += [f"2023-11-16 18:01:{second:02d}.5,{100 * second},9" for second in range(10, 40)]
    digest = store("\n".join(rows).encode(), str(tmp_path))
    monkeypatch.setenv("SCHED_STORE", str(tmp_path))
    query = {"scenario": "blank", "duration_s": "29", "warmup_s": "1.5", "trace__digest": digest}
    page = opened(**query, chart="load", vary="")
    assert not page.exception and not page.error and len(page.table[0].value) == len(FACTORS)
    scenario = page.session_state["shown"].scenario
    alike = [requests(loaded(scenario, factor)) for factor in FACTORS]
    assert {len(one.ids) for one in alike} == {30}
    for factor, one in zip(FACTORS, alike, strict=True):
        own = loaded(scenario, factor)
        window = [own.warmup_s <= at / PS_PER_S <= own.duration_s for at in one.arrival_ps.tolist()]
        assert window == [False] * 2 + [True] * 28, factor
    assert usual_range(scenario, "trace.speed", 17).numbers[0] == 1.0


def test_a_list_of_requests_has_no_load_to_multiply() -> None:
    page = opened(scenario="textbook", chart="load")
    assert "no rate to multiply" in texts(page) and not page.exception and not page.get("plotly_chart")


def test_what_a_link_asks_in_vain_is_said() -> None:
    page = opened(vary="rescue.kv=0:3:1", goal="nobody.ttft_s.p99<=1", chart="curve")
    assert not page.exception
    assert "must be at least 0 and at most 1" in texts(page).replace("\\", "")
    assert "takes a time of one of the classes, so it is chat." in texts(page).replace("\\", "")
    page = opened(vary="seed=1:3:1")
    assert "use --seeds" in texts(page) and "at Seed" not in texts(page) and not page.exception
    page = opened(vary="rescue.kv=0:0.4:0.001")
    assert "take larger steps" in texts(page) and not page.exception


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"of": "nobody"}, "of = nobody: there is no such one here, so it is chat."),
        ({"chart": "nope"}, "chart = nope: must be one of curve, map, load. The link is read without it."),
        ({"of": "docs", "goal": "chat.ttft_s.p99<=1"}, "of = docs: the goal in the link is one of chat, so"),
    ],
)
def test_a_value_that_is_not_there_is_named_with_what_stands_for_it(query: dict[str, str], why: str) -> None:
    page = opened(**query)
    assert why in "\n".join(one.value for one in page.info).replace("\\", "") and not page.exception
    assert page.selectbox(key="tradeoff_class").value == "chat" and len(page.info) == 1
    page.number_input(key="tradeoff_goal").set_value(0.7).run()
    assert "of = docs" not in "\n".join(one.value for one in page.info)


def test_a_goal_of_nothing_is_shown_as_such() -> None:
    page = opened(goal="chat.ttft_s.p99<=0")
    assert page.number_input(key="tradeoff_goal").value == 0 and "goal of 0" in texts(page)
    assert page.session_state["shown"].goal == "chat.ttft_s.p99<=0" and not page.exception


def test_a_policy_that_is_not_compared_gets_its_buffer_all_the_same() -> None:
    page = opened(policies="fcfs,backfill")
    assert not page.exception and page.get("plotly_chart")
    page.button(key="tradeoff_open").click().run()
    assert "rescue" in page.session_state["shown"].scenario.policies


def test_the_page_speaks_chinese() -> None:
    page = opened(lang="zh")
    assert not page.exception and "救援缓冲" in texts(page) and "吞吐量" in texts(page)


def test_every_knob_of_the_list_has_a_range_that_the_schema_takes() -> None:
    for name in ("noisy-neighbour", "textbook", "tenant-burst"):
        scenario = preset(name)
        for key in knobs(scenario):
            for points in (5, 17):
                found = usual_range(scenario, key, points)
                assert 2 <= len(found.values) <= 41, key
                assert axis(range_text(found)) == found


def test_an_axis_has_several_ticks_however_narrow() -> None:
    for low in (1.01, 1.55, 2.05, 3.1, 5.05, 6.1, 8.1):
        assert len(time_axis(low, 1.9 * low, palette(False))["tickvals"]) >= 2


@pytest.mark.parametrize("most", [0.4, 1.0, 1.1, 1.26, 2.4, 37.0])
def test_the_axis_of_shares_holds_what_a_setting_adds(most: float) -> None:
    ends = share_ends([Line("kept", (1.0, None, most))])
    drawn = share_axis(ends, palette(False))
    assert drawn["range"][0] <= min(1.0, most) and max(1.0, most) < drawn["range"][1]
    assert 3 <= len(drawn["tickvals"]) <= 11 and drawn["tickvals"][-1] >= 1.0
    assert drawn["ticktext"][-1] == f"{drawn['tickvals'][-1]:.0%}"


def test_a_second_knob_that_makes_no_difference_is_said_once() -> None:
    page = opened(chart="map", vary2="engine.max_num_seqs=60:120:60")
    said = texts(page).replace("\u202f", " ")
    assert "With Seats 60 as with Seats 120 it takes **a rescue buffer of 20 %**." in said
    page = opened(chart="map", vary2="engine.max_num_seqs=60:120:60", goal="chat.ttft_s.p99<=0.01")
    assert "With Seats 60 as with Seats 120 **none** of these is enough." in texts(page)


def test_two_sizes_are_told_apart(curve: AppTest) -> None:
    wanted = goal("chat.ttft_s.p99<=1")
    assert not sizes_differ("0.25", 0.25, wanted) and not sizes_differ("0.25", None, wanted)
    said = sizes_differ("0.225", 0.25, wanted).replace("\u202f", " ")
    assert "suggests 25 %" in said and "22.5 % is sized for the goal of 1.0 s" in said
    assert "with no rescue buffer" in texts(curve)


def test_names_in_a_figure_are_never_markup() -> None:
    name = "<a href='x'>b</a>"
    curve = Curve(
        *(
            (0.0, 1.0),
            (name, name),
            name,
            Line(name, (1.0, 2.0), (0.5, 1.0), (2.0, 3.0)),
            [Line(name, (1.0, 0.9))],
        ),
        *(1.5, name, Mark(1, name), 0.5, name),
    )
    grid = Grid([[1.0]], [[True]], [[name]], (name,), (name,), name, name, [(0, 0)], (0, 0))
    for drawn in (curve_figure(curve), curve_figure(curve, True), map_figure(grid), map_figure(grid, True)):
        assert "<a" not in json.dumps(drawn)


def test_the_memory_forgets_the_oldest() -> None:
    memory = Memory(2)
    memory["a"], memory["b"] = 1, 2
    assert memory.get("a") == 1
    memory["c"] = 3
    assert memory.get("b") is None and len(memory) == 2 and set(memory) == {"a", "c"}


def test_all_runs_can_be_taken_along(curve: AppTest) -> None:
    button = next(one for one in curve.get("download_button") if "CSV" in one.proto.label)
    assert button.proto.label == "All runs as CSV"


def zero_curve(goal_s: float, *times: float | None) -> Any:
    x, names = tuple(map(float, range(len(times)))), [str(one) for one in times]
    shares = [Line("kept", [1.0] * len(times))]
    last = Mark(len(times) - 1, "last")
    return curve_figure(
        Curve(x, names, "knob", Line("chat", times, times, times), shares, goal_s, "goal", last, None, "")
    )


@pytest.mark.parametrize("times", [(15.0, 0.3, 0.0), (0.0, 0.0), (None, 0.0), (0.04, 0.02, 0.0)])
def test_a_time_of_nothing_is_drawn_at_its_place(times: tuple[float | None, ...]) -> None:
    drawn = zero_curve(0.5, *times)
    axis, ring = drawn["layout"]["yaxis"], drawn["data"][-1]
    assert axis.get("type") != "log" and axis["range"][0] < 0 < axis["range"][1] and ring["y"] == [0.0]
    assert axis["ticktext"][0] == "0 s" and 3 <= len(axis["tickvals"]) <= 9
    assert axis["range"][1] > max(one for one in times if one is not None)
    noted = next(one for one in drawn["layout"]["annotations"] if one["text"] == "last")
    assert noted["y"] == 0.0 and noted["yanchor"] == "bottom"


def test_a_goal_of_nothing_is_drawn_and_times_above_it_keep_their_log_axis() -> None:
    assert zero_curve(0.5, 15.0, 0.3)["layout"]["yaxis"]["type"] == "log"
    lines = [one for one in zero_curve(0.0, 15.0, 0.3)["layout"]["shapes"] if one["yref"] == "y"]
    assert [one["y0"] for one in lines] == [0.0]


def test_a_cell_of_nothing_keeps_its_colour_and_its_mark() -> None:
    texts_of = [["0 s", "4 s", "–"]]
    times = [[0.0, 4.0, None]]
    drawn = map_figure(Grid(times, [[True, False, False]], texts_of, ("a", "b", "c"), ("d",), "x", "y"))
    assert [one["text"] for one in drawn["layout"]["annotations"]] == ["0 s ●", "4 s ◆", "–"]
    first, second, last = drawn["data"][0]["z"][0]
    assert drawn["data"][0]["zmin"] == first < second and last is None


ALONE = {"scenario": "blank", "requests": '[{id = "a", prompt = 1000, output = 1}]'}


def test_a_first_point_that_serves_nobody_is_compared_with_nothing() -> None:
    page = opened(**ALONE, vary="engine.kv_blocks=2:102:50", policies="fcfs,rescue")
    said = texts(page)
    assert not page.exception and "instead of –" not in said and "the same throughput" not in said
    assert "nothing to compare it with" in said and "no throughput to compare" in said


def test_who_has_one_token_has_got_a_token() -> None:
    page = opened(**ALONE, goal="default.tpot_s.p99<=1", policies="fcfs,rescue")
    said = texts(page)
    assert not page.exception and "got a token" not in said
    assert "No default request has the figure TPOT p99" in said
