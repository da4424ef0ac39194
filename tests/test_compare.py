"""Compare without a browser: the table says what the runs say, and each control is in the link."""

import csv
import json
from io import StringIO
from statistics import fmean
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sched.experiments import compare
from sched.experiments import told as told_of
from sched.external import change
from sched.intervals import Difference, mean_of
from sched.page.cards import seconds
from sched.page.compare_cells import Cell, between, signed, sure
from sched.page.compare_choices import Chosen, usual_seeds
from sched.page.compare_csv import shown_csv
from sched.page.compare_table import ordered, table
from sched.page.marked import mark, pieces
from sched.page.titles import title
from sched.scenario import preset
from sched.view import CHARTS, COLUMNS, Shown, default_pair, query_of, shown_by
from tests.conftest import ROOT

pytestmark = pytest.mark.xdist_group("page")
NOISY = preset("noisy-neighbour")
WHAT = Chosen("chat", "ttft", "p99", "backfill", 3, "ecdf", "mean")


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90)
    for key, text in ({"view": "compare", "seeds": "3"} | query).items():
        page.query_params[key.replace("__", ".")] = text
    return page.run()


THROUGHPUT = "throughput.output_tokens_per_s"


def sent(page: AppTest, key: str = "compare") -> Any:
    found = [one for one in page.get("bidi_component") if one.proto.component_name.endswith("sched_compare")]
    assert not page.exception and found
    return json.loads(found[0 if key == "compare" else -1].proto.json)


def spoken(data: Any) -> str:
    return "".join(text for text, _ in data["verdict"]).replace("\u202f", " ")


@pytest.fixture(scope="module")
def page() -> AppTest:
    return opened()


@pytest.fixture(scope="module")
def found() -> Any:
    return compare(NOISY, list(NOISY.policies), 3, baseline="backfill")


def test_the_table_shows_the_mean_of_the_seeds(page: AppTest, found: Any) -> None:
    data = sent(page)
    assert {row["key"] for row in data["rows"]} == set(NOISY.policies)
    for row in data["rows"]:
        values = found.values(row["key"], "ttft_s.p99", "chat")
        assert row["cells"][0]["dot"]["values"] == pytest.approx(values)
        assert row["cells"][1]["text"] == seconds(fmean(values))
    assert "3 seeds" in data["trust"]


def test_the_verdict_is_made_of_the_figures(page: AppTest, found: Any) -> None:
    base, mine = (fmean(found.values(key, "ttft_s.p99", "chat")) for key in ("backfill", "rescue"))
    said = spoken(sent(page))
    assert f"from {seconds(base)} to {seconds(mine)}".replace("\u202f", " ") in said
    kept, many = found.meets("rescue", "ttft_s.p99", 1.0, "chat")
    assert f"on {kept} of {many}" in said
    price = 1 - fmean(found.values("preemptive", THROUGHPUT)) / fmean(found.values("backfill", THROUGHPUT))
    assert f"costs {100 * price:.1f} % throughput" in said


def test_headline_columns_csv_and_command_line_give_one_answer(page: AppTest, found: Any) -> None:
    data = sent(page)
    said, place = spoken(data), {one["key"]: at for at, one in enumerate(data["columns"])}
    rows = {row["key"]: row["cells"] for row in data["rows"]}
    told = told_of(found)["policies"]
    base = told["backfill"]["total"][THROUGHPUT]["mean"]
    for key in ("rescue", "preemptive"):
        own = told[key]["total"][THROUGHPUT]
        change = own["difference"] / base
        assert own["mean"] / base - 1 == pytest.approx(change)
        assert rows[key][place["price"]]["text"] == f"−{-100 * change:.1f}\u202f%"
        assert f"{-100 * change:.1f} %" in said
        assert rows[key][place["throughput"]]["text"] == f"{own['mean']:,.0f}"
        figure = told[key]["classes"]["chat"]["ttft_s.p99"]
        before = told["backfill"]["classes"]["chat"]["ttft_s.p99"]["mean"]
        assert before + figure["difference"] == pytest.approx(figure["mean"])
        assert rows[key][place["against"]]["text"] == f"−{seconds(-figure['difference'])}"
        low, high = figure["difference_low"], figure["difference_high"]
        assert low <= figure["difference"] <= high
    shown = table(found, WHAT, 1.0)
    line = next(csv.DictReader(StringIO(shown_csv(found, WHAT, shown).removeprefix("\ufeff"))))
    policy = {title(NOISY, key): key for key in NOISY.policies}[line["policy"]]
    own = told[policy]["classes"]["chat"]["ttft_s.p99"]
    assert float(line["chat.ttft_s.p99 mean"]) == own["mean"]
    assert float(line["chat.ttft_s.p99 against baseline mean"]) == own["difference"]
    assert "means over these seeds" in data["trust"]


def test_one_seed_has_no_interval_and_says_so() -> None:
    data = sent(opened(seeds="1"))
    assert "One run" in data["trust"] and "In this run" in spoken(data)
    assert not any("range" in column["title"] for column in data["columns"])


def test_the_default_is_nine_seeds() -> None:
    first = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90)
    first.query_params["view"] = "compare"
    data = sent(first.run())
    assert all(len(row["cells"][0]["dot"]["values"]) == 9 for row in data["rows"])


@pytest.mark.parametrize(
    ("widget", "option", "key", "value"),
    [
        ("of", "docs", "of", "docs"),
        ("baseline", "fcfs", "baseline", "fcfs"),
        ("family", "e2e", "metric", "e2e.p99"),
        ("part", "p50", "metric", "ttft.p50"),
        ("seeds", 1, "seeds", "1"),
    ],
)
def test_each_control_is_in_the_link_and_changes_the_table(
    widget: str, option: Any, key: str, value: str
) -> None:
    page = opened()
    before = sent(page)
    if widget in ("of", "baseline"):
        page.selectbox(key=widget).select(option).run()
    else:
        page.segmented_control(key=widget).set_value(option).run()
    assert page.query_params[key] in (value, [value])
    assert (sent(page)["rows"], sent(page)["columns"]) != (before["rows"], before["columns"])


@pytest.mark.parametrize("chart", CHARTS["compare"])
def test_each_tab_is_in_the_link_and_builds_only_its_own(chart: str) -> None:
    page = opened(chart=chart)
    assert not page.exception
    drawn = page.get("plotly_chart")
    assert len(drawn) == {"table": 0, "service": 2, "shares": 2, "counters": 2}.get(chart, 1)
    if chart == "table":
        data = sent(page, "full")
        assert len(data["rows"]) == 3 * len(NOISY.policies) and len(data["columns"]) == 13


def test_what_the_link_says_and_is_not_there_is_said_in_words() -> None:
    page = opened(of="nobody", metric="ttft.p75", sort="colour", chart="pie")
    said = " ".join(one.value for one in page.info)
    assert not page.exception and all(word in said for word in ("nobody", "p75", "colour", "pie"))


@pytest.mark.parametrize("sort", ["other5", "-unserved"])
def test_a_column_that_is_not_there_is_said_in_words(sort: str) -> None:
    page = opened(sort=sort, seeds="1")
    said = " ".join(one.value for one in page.info).replace("\\", "")
    assert f"sort = {sort}: there is no such one here, so it is mean." in said and not page.exception
    assert sent(page)["sort"] == "mean"


def test_the_choices_survive_the_link() -> None:
    first, second = default_pair(NOISY)
    now = Shown(NOISY, first, second, page="compare", seeds=20, baseline="fcfs", of="docs", metric="e2e.p90")
    told = query_of(now).split("&")
    query = {key: [value] for key, value in (one.split("=") for one in told)}
    back, notes = shown_by(query)
    assert not notes and (back.seeds, back.baseline, back.of, back.metric) == (20, "fcfs", "docs", "e2e.p90")


@pytest.mark.parametrize("key", COLUMNS)
def test_the_table_is_sorted_by_any_column_in_both_directions(found: Any, key: str) -> None:
    for sign in ("", "-"):
        what = Chosen("chat", "ttft", "p99", "backfill", 3, "ecdf", f"{sign}{key}")
        shown = table(found, what, 1.0)
        place = next((at for at, one in enumerate(shown.columns) if one.key == key), None)
        if place is None:
            continue
        values = [cells[place].order for _, cells in shown.rows]
        known = [one for one in values if one is not None]
        assert known == sorted(known, reverse=bool(sign)) and values[: len(known)] == known


def test_who_has_no_figure_comes_last_either_way(found: Any) -> None:
    cells = {"a": Cell("–"), "b": Cell("2", order=2.0), "c": Cell("1", order=1.0)}
    assert ordered("abc", cells, False) == ["c", "b", "a"] and ordered("abc", cells, True) == ["b", "c", "a"]


def test_the_csv_has_the_rows_as_shown_and_every_seed(found: Any) -> None:
    shown = table(found, WHAT, 1.0)
    text = shown_csv(found, WHAT, shown)
    rows = list(csv.reader(StringIO(text.removeprefix("\ufeff"))))
    assert [row[0] for row in rows[1:]] == [title(NOISY, key) for key, _ in shown.rows]
    place = rows[0].index("chat.ttft_s.p99 seed 13")
    for row, (key, _) in zip(rows[1:], shown.rows, strict=True):
        assert len(row) == len(rows[0])
        assert float(row[place]) == found.values(key, "ttft_s.p99", "chat")[1]


def test_much_work_is_not_begun_unasked() -> None:
    assert usual_seeds(NOISY) == 9 and usual_seeds(preset("textbook")) == 1
    assert usual_seeds(change(NOISY, {"traffic.chat.rate_per_s": "60"})) == 1


def test_two_policies_have_a_price_too() -> None:
    said = spoken(sent(opened(policies="backfill,rescue")))
    assert said.count("throughput") == 1 and "It costs" in said


def test_who_gets_no_answer_is_told_of() -> None:
    page = opened(policies="backfill,rescue", traffic__chat__timeout_s="0.3")
    data = sent(page)
    assert "without a full answer" in spoken(data)
    assert any(column["key"] == "unserved" for column in data["columns"])


def test_what_misses_the_goal_is_not_in_the_good_colour() -> None:
    for size, tone in (("0.15", "strong"), ("0.25", "good")):
        data = sent(opened(policies="backfill,rescue", rescue__kv=size))
        time = next(row for row in data["rows"] if row["key"] == "rescue")["cells"][1]["text"]
        assert (time, tone) in [tuple(one) for one in data["verdict"]]


def test_a_long_name_is_short_above_a_column_and_whole_in_its_help() -> None:
    name = "a" * 40
    page = opened(scenario="blank", requests=f'[{{id="a", class="{name}", prompt=9, output=3}}]')
    first = sent(page)["columns"][0]
    assert name not in first["title"] and "a…" in first["title"] and name in first["help"]


def test_words() -> None:
    assert pieces(f"a {mark('1 s', 'good')} b") == [("a ", ""), ("1\u202fs", "good"), (" b", "")]
    assert between("0.56\u202fs", "0.91\u202fs") == "0.56 to 0.91\u202fs"
    assert between("12\u202fms", "0.91\u202fs") == "12\u202fms to 0.91\u202fs"
    assert signed("1.0") == "+1.0" and signed("−1.0") == "−1.0" and mean_of((None, 4.0, 1.0, 1.0)) == 2.0
    assert sure(Difference(1.0, None, None, 1), str) == ("", "one seed")
    assert sure(Difference(1.0, -1.0, 3.0, 9, 0.4), str)[1] == "may be chance"
    assert sure(Difference(2.0, 1.0, 3.0, 9, 0.01, True), str) == ("1.0 to 3.0", "")


def test_the_page_speaks_chinese() -> None:
    data = sent(opened(lang="zh"))
    assert "种子" in data["trust"] and any("基线" in column["title"] for column in data["columns"])
    assert not [text for text, _ in data["verdict"] if "mean" in text]


@pytest.mark.parametrize("chart", CHARTS["compare"])
def test_where_nobody_has_a_figure_there_are_words_and_no_picture(chart: str) -> None:
    # Each answer has one token, so there is no time between two of them.
    page = opened(scenario="textbook", metric="tpot.p99", chart=chart, traffic="[]", requests=ONE_TOKEN)
    assert not page.exception
    if chart == "ecdf":
        assert any("nothing to draw" in one.value for one in page.info) and not page.get("plotly_chart")
    if chart == "waits":
        alone = opened(scenario="blank", chart=chart, requests='[{id = "a", prompt = 10, output = 1}]')
        assert any("nobody waited" in one.value for one in alone.info) and not alone.get("plotly_chart")


ONE_TOKEN = '[{id = "a", prompt = 10, output = 1}, {id = "b", prompt = 10, output = 1}]'
