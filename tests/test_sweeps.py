"""`compare` and `sweep`: exact points, the figures of `run`, sentences for mistakes, safe tables."""

import csv
import io
import json
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sched.advice import Goal, goal
from sched.experiments import compare
from sched.external import change
from sched.fields import ScenarioError
from sched.files import read_file
from sched.grids import columns, rows, sweep
from sched.ranges import Axis, axis, different
from sched.scenario import preset
from sched.spreadsheet import csv_text, safe
from sched.workers import Workers
from tests.conftest import Told

ODD = '{name="a=b",rate_per_s=1,prompt={kind="constant",tokens=9},output={kind="constant",tokens=2}}'
SHORT = ("noisy-neighbour", "duration_s=12")


def test_a_range_includes_its_stop_and_is_decimal() -> None:
    assert axis("rescue.kv=0:0.4:0.05").values == (
        *("0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4"),
    )
    assert axis("engine.kv_blocks=100:2500:800").values == ("100", "900", "1700", "2500")
    assert axis("engine.kv_blocks=30:10:-10").values == ("30", "20", "10")
    assert axis("rescue.kv=0.1:0.1:0.1").values == axis("rescue.kv=0.10").values == ("0.1",)
    assert axis("traffic.chat.rate_per_s=1e-1:3e-1:1e-1").numbers == (0.1, 0.2, 0.3)
    assert axis("rescue.kv=-0:0.1:0.1").values == axis("rescue.kv=-0.0:0.1:0.1").values == ("0", "0.1")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rescue.kv", "vary = rescue.kv: must be written key=start:stop:step"),
        ("rescue.kv=0:0.4", "vary rescue.kv = 0:0.4: must be written start:stop:step"),
        ("rescue.kv=0:0.4:0", "vary rescue.kv = 0:0.4:0: the step must be above 0, it is 0"),
        ("rescue.kv=0.4:0:0.1", "the step must be below 0, it is 0.1"),
        ("rescue.kv=a:1:1", "a is no number"),
        ("rescue.kv=0:nan:1", "nan must be a finite number"),
        ("rescue.kv=0:1:0.00001", "is 100,001 points, must be at most 10,000"),
        ("rescue.kv=0:2:0.5", "rescue.kv = 2: must be at least 0 and at most 1 (share of KV)"),
        ("rescue.kx=0:1:1", "rescue.kx: no such setting; did you mean rescue.kv?"),
        ("rescue.kv=0:0.4:0_1", "0_1 is no number"),
        ("seed=1:3:1", "vary seed: every point runs on the same seeds; for several use --seeds"),
        ('"seed"=1', "vary seed: every point runs on the same seeds; for several use --seeds"),
    ],
)
def test_a_bad_range_is_one_sentence(told: Told, text: str, sentence: str) -> None:
    assert sentence in told("sweep", *SHORT, "--vary", text, code=2)


def test_other_mistakes_are_sentences_too(told: Told) -> None:
    assert "name what to vary" in told("sweep", *SHORT, code=2)
    twice = ("--vary", "rescue.kv=0:1:1", "--vary", "policies.rescue.kv=0:1:1")
    assert "is varied twice" in told("sweep", *SHORT, *twice, code=2)
    for command, more in (("compare", ()), ("sweep", ("--vary", "rescue.kv=0:1:1"))):
        said = told(command, *SHORT, *more, "--cluster", "tcp://there:8786", code=2)
        assert said.startswith("cluster = tcp://there:8786: this version computes with the processes")
    assert 'seeds = "1_0": must be a whole number' in told("compare", *SHORT, "--seeds", "1_0", code=2)
    assert "seeds = 0: must be at least 1" in told("compare", *SHORT, "--seeds", "0", code=2)
    assert "baseline = hrrn: must be one of" in told("compare", *SHORT, "--baseline", "hrrn", code=2)
    many = ("--vary", "rescue.kv=0:1:0.001", "--seeds", "1000")
    assert "runs, must be at most 100,000" in told("sweep", *SHORT, *many, code=2)
    assert "this policy is not among those compared" in told(
        "sweep", *SHORT, "--vary", "aging.per_s=0:1:1", code=2
    )


@pytest.mark.parametrize("option", ["--csv", "--out"])
def test_what_cannot_be_written_is_said_before_the_runs(option: str, told: Told, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    for name in ("taken/runs.csv", "." if option == "--csv" else "taken"):
        words = ("--vary", "rescue.kv=0:1:0.01", "--seeds", "20", option, str(tmp_path / name))
        said = told("sweep", "office-hours", *words, code=2)
        assert said.count("\n") == 1 and str(tmp_path) in said
    good = str(tmp_path / "good")
    told("sweep", *SHORT, "--policies", "fcfs", "--vary", "rescue.kv=0", option, good, code=2)
    assert not (tmp_path / "good").exists()


def test_a_sweep_of_one_point_equals_run(told: Told) -> None:
    words = ("--policies", "backfill,rescue", "--json")
    swept = json.loads(told("sweep", *SHORT, "--vary", "rescue.kv=0.2:0.2:0.1", *words))
    ran = json.loads(told("run", *SHORT, "rescue.kv=0.2", *words))
    assert swept["axes"] == [{"key": "rescue.kv", "values": [0.2]}]
    assert [row["policy"] for row in swept["rows"]] == ["backfill", "rescue"]
    for row in swept["rows"]:
        assert row["rescue.kv"] == 0.2 and row["seed"] == ran["scenario"]["seed"]
        full = ran["policies"][row["policy"]]
        for key in ("requests", "makespan_s", "preemptions", "recomputed_tokens", "jain", "tenants"):
            assert row[key] == full[key]
        for key in ("throughput", "window", "stranded_kv", "preemption_waste"):
            assert row[key].items() <= full[key].items()
        for name, found in row["classes"].items():
            assert found["ttft_s"].items() <= full["classes"][name]["ttft_s"].items()


def test_compare_json_has_what_scripts_rely_on(told: Told) -> None:
    words = ("--policies", "fcfs,rescue", "--seeds", "3", "--json")
    found = json.loads(told("compare", *SHORT, *words))
    row = found["policies"]["rescue"]["classes"]["chat"]["ttft_s.p99"]
    assert row.keys() >= {"mean", "low", "high", "difference", "difference_low", "difference_high", "n"}
    assert row["n"] == 3 and row["low"] <= row["mean"] <= row["high"]
    assert found["baseline"] == "fcfs" and found["seeds"] == [12, 13, 14]
    base = found["policies"]["fcfs"]["classes"]["chat"]["ttft_s.p99"]["mean"]
    assert row["difference"] == pytest.approx(row["mean"] - base)
    turned = json.loads(told("compare", *SHORT, *words, "--baseline", "rescue", "--seed", "13"))
    assert turned["baseline"] == "rescue" and turned["seeds"] == [13, 14, 15]


def test_people_get_tables(told: Told) -> None:
    shown = told("compare", *SHORT, "--policies", "fcfs,rescue", "--seeds", "3")
    assert "against fcfs" in shown and "docs Worst wait" in shown and " to " in shown
    assert "95 %" in shown and "Holm" in shown
    shown = told("sweep", *SHORT, "--vary", "rescue.kv=0:0.2:0.1", "--policies", "rescue")
    assert shown.startswith("3 points, 1 seed from 12") and "chat TTFT p99" in shown


def test_a_grid_runs_every_point_and_what_is_the_same_once() -> None:
    scenario = change(preset("noisy-neighbour"), {"duration_s": "8"})
    axes = (axis("rescue.kv=0:0.2:0.1"), axis("traffic.docs.rate_per_s=0.05:0.1:0.05"))
    seen: list[int] = []
    found = sweep(scenario, axes, ["fcfs", "rescue"], 2, progress=lambda done, total: seen.append(total))
    assert len(found.points) == 6 and len(rows(found)) == 24
    # First come first served keeps no buffer: its two rates over two seeds run once, not at each buffer.
    assert set(seen) == {6 * 2 + 2 * 2}
    alone = change(scenario, {"rescue.kv": "0.1", "traffic.docs.rate_per_s": "0.1"})
    assert found.points[1, 1].runs == compare(alone, ["fcfs", "rescue"], 2).runs


def test_a_sweep_is_the_same_in_processes() -> None:
    scenario = change(preset("noisy-neighbour"), {"duration_s": "8"})
    axes = (axis("rescue.kv=0:0.2:0.2"),)
    workers = Workers(2)
    try:
        there = sweep(scenario, axes, ["rescue"], 2, executor=workers.executor())
    finally:
        workers.close()
    assert rows(there) == rows(sweep(scenario, axes, ["rescue"], 2))


def test_a_value_cannot_be_varied_twice() -> None:
    with pytest.raises(ScenarioError, match="is varied twice"):
        different((axis("rescue.kv=0:1:1"), axis("rescue.kv=0.5")))


def test_a_name_may_hold_what_parts_key_and_value(told: Told) -> None:
    words = (
        "noisy-neighbour",
        "duration_s=3",
        f"traffic=[{ODD}]",
        'traffic."a=b".rate_per_s=2',
        "policies=fcfs",
    )
    assert axis('traffic."a=b".rate_per_s=1:2:1') == Axis('traffic."a=b".rate_per_s', ("1", "2"))
    said = told("sweep", *words, "--vary", 'traffic."a=b".rate_per_s=1:2:1')
    assert said.startswith("2 points") and 'traffic."a=b".rate_per_s' in said
    assert "a=b" in told("run", *words)
    assert "key=value" in told("run", "blank", '"a=b"', code=2)
    for name in ("a<=b", "a=b", 'a" >=b.c', "chat"):
        wanted = Goal(name, "ttft_s.p99", 0.5)
        assert goal(wanted.text) == wanted
    with pytest.raises(ScenarioError, match="1_0 must be a number"):
        goal("chat.ttft_s.p99<=1_0")
    assert goal("a<=b.ttft_s.p99 <= 1") == Goal("a<=b", "ttft_s.p99", 1.0)


def test_files_say_what_the_screen_says(told: Told, tmp_path: Path) -> None:
    out, file = tmp_path / "out", tmp_path / "runs.csv"
    words = ("--vary", "rescue.kv=0:0.2:0.1", "--policies", "rescue", "--seeds", "2")
    found: dict[str, Any] = json.loads(
        told("sweep", *SHORT, *words, "--out", str(out), "--csv", str(file), "--json")
    )
    lines = list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))
    table = pq.read_table(out / "runs.parquet").to_pylist()
    assert len(lines) == len(table) == len(found["rows"]) == 6
    for line, entry, row in zip(lines, table, found["rows"], strict=True):
        value = row["classes"]["chat"]["ttft_s"]["p99"]
        assert float(line["chat.ttft_s.p99"]) == entry["chat.ttft_s.p99"] == value
        assert float(line["rescue.kv"]) == row["rescue.kv"]
    assert list(read_file(out / "scenario.toml").policies) == ["rescue"]


def test_no_text_in_a_table_is_a_formula() -> None:
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1", "\t=1", "%0A", "＝1", "|x"):
        assert safe(text) == f"'{text}"
    assert safe(-1.5) == -1.5 and safe(None) == "" and safe("docs-1") == "docs-1"
    text = csv_text(["=a", "n"], [["=1", -0.1], ['quo"te, comma', None]])
    assert list(csv.reader(io.StringIO(text))) == [["'=a", "n"], ["'=1", "-0.1"], ['quo"te, comma', ""]]


def test_a_class_with_a_formula_for_a_name_is_a_text_in_the_table() -> None:
    scenario = change(preset("noisy-neighbour"), {"duration_s": "5"})
    traffic = [one.changed(name="=HYPERLINK()") if one.name == "docs" else one for one in scenario.traffic]
    found = sweep(scenario.changed(traffic=traffic), (axis("rescue.kv=0.1"),), ["rescue"])
    heads = next(csv.reader(io.StringIO(csv_text(*columns(found)))))
    assert "'=HYPERLINK().ttft_s.p99" in heads and not any(head.startswith("=") for head in heads)


def test_an_interrupted_sweep_ends_its_processes_whatever_they_are_doing() -> None:
    scenario = change(preset("noisy-neighbour"), {"duration_s": "20000"})
    before, workers = set(active_children()), Workers(2)

    def interrupt(done: int, total: int) -> None:
        if workers.are_ready:
            raise KeyboardInterrupt

    executor = workers.executor()
    own = set(active_children()) - before
    with pytest.raises(KeyboardInterrupt):
        sweep(scenario, (axis("rescue.kv=0:0.4:0.1"),), ["rescue"], 9, executor=executor, progress=interrupt)
    workers.close()
    for one in own:
        one.join(30)
    assert own and not [one for one in own if one.is_alive()]
