"""Every file that is taken away opens again, and says what the run said."""

import csv
import io
import json
import zipfile
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sched import simulate
from sched.__main__ import main
from sched.exports import (
    Runs,
    csv_text,
    csv_zip,
    file_name,
    joined,
    json_text,
    packed,
    parquet_zip,
    slug,
)
from sched.external import change
from sched.files import from_text
from sched.inversion import analyse
from sched.report import NAMES
from sched.scenario import Scenario, preset
from sched.spreadsheet import BOM, FORMULA, safe

EVIL = [f"{sign}cmd|' /C calc'!A0" for sign in FORMULA] + ['a "quoted", name', "两行\nname", "🦊", "<b>&lt;"]


def runs_of(scenario: Scenario, *keys: str) -> Runs:
    logs = {key: simulate(scenario, key) for key in keys or scenario.policies}
    return {key: (log, analyse(log)) for key, log in logs.items()}


@pytest.fixture(scope="module")
def evil() -> tuple[Scenario, Runs]:
    """Requests whose tenants and ids are what a spreadsheet must not take for a formula."""
    requests = [
        {"id": f"{name}-{place}", "tenant": name, "prompt": 9, "output": 9, "class": name}
        for place, name in enumerate(EVIL)
    ]
    scenario = Scenario.model_validate({"requests": requests, "policies": {"fcfs": {}, "priority": {}}})
    return scenario, runs_of(scenario)


def opened(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_csv_opens_again_with_the_values_of_the_tables() -> None:
    scenario = preset("textbook")
    runs = runs_of(scenario)
    files, made = opened(csv_zip(scenario, runs)), joined(scenario, runs)
    assert set(files) == {*(f"{name}.csv" for name in NAMES), "scenario.toml"}
    for name in NAMES:
        raw = files[f"{name}.csv"]
        assert raw.startswith(BOM.encode()) and b"\n" not in raw.replace(b"\r\n", b"")
        read = pd.read_csv(io.BytesIO(raw), encoding="utf-8-sig")
        wanted = made[name].to_pandas()
        assert list(read.columns) == list(wanted.columns) and len(read) == len(wanted)
        for column in wanted.columns:
            if pd.api.types.is_numeric_dtype(wanted[column]):
                pd.testing.assert_series_equal(read[column], wanted[column], check_dtype=False)


def test_no_text_is_a_formula_and_no_number_is_a_text(evil: tuple[Scenario, Runs]) -> None:
    scenario, runs = evil
    made = joined(scenario, runs)
    for name, table in made.items():
        lines = list(csv.reader(io.StringIO(csv_text(table).removeprefix(BOM), newline="")))
        assert lines[0] == [safe(one) for one in table.column_names]
        for cells, row in zip(lines[1:], table.to_pylist(), strict=True):
            for cell, value in zip(cells, row.values(), strict=True):
                if isinstance(value, str):
                    assert not cell.startswith(FORMULA), name
                    assert cell.removeprefix("'") == value
                elif value is None:
                    assert cell == ""
                else:
                    assert float(cell) == value


def test_a_negative_number_keeps_its_sign_and_is_no_text() -> None:
    text = 'urgency = "high_first"\n[[requests]]\npriority = -7\nprompt = 9\noutput = 9\n[policies.fcfs]\n'
    scenario = from_text(text)
    made = csv_text(joined(scenario, runs_of(scenario))["requests"])
    read = pd.read_csv(io.StringIO(made.removeprefix(BOM)))
    assert read["priority"].tolist() == [-7] and "'-7" not in made


def test_parquet_opens_again_with_every_policy(evil: tuple[Scenario, Runs]) -> None:
    scenario, runs = evil
    files, made = opened(parquet_zip(scenario, runs)), joined(scenario, runs)
    for name in NAMES:
        read = pq.read_table(io.BytesIO(files[f"{name}.parquet"]))
        assert read.equals(made[name])
        assert set(read["policy"].to_pylist()) <= {"fcfs", "priority"}


def refuse(word: str) -> Any:
    raise AssertionError(f"{word} is no JSON")


def test_json_is_what_the_command_line_prints(capsys: pytest.CaptureFixture[str]) -> None:
    scenario = preset("textbook")
    text = json_text(scenario, runs_of(scenario))
    read = json.loads(text, parse_constant=refuse)
    assert set(read["policies"]) == set(scenario.policies)
    assert main(["run", "textbook", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == read


@pytest.mark.parametrize("name", ["textbook", "noisy-neighbour"])
def test_the_scenario_that_is_packed_runs_to_the_same_bits(name: str) -> None:
    scenario = change(preset(name), {"title": "Mine = yours", "seed": "5"})
    runs = runs_of(scenario, "fcfs", "preemptive")
    again = from_text(opened(csv_zip(scenario, runs))["scenario.toml"].decode())
    assert csv_zip(again, runs_of(again, "fcfs", "preemptive")) == csv_zip(scenario, runs)


def test_a_run_without_requests_gives_files_too() -> None:
    scenario = Scenario()
    runs = runs_of(scenario, "fcfs")
    assert len(opened(csv_zip(scenario, runs))) == len(opened(parquet_zip(scenario, runs))) == 5
    json.loads(json_text(scenario, runs), parse_constant=refuse)


def test_names_of_files_are_plain() -> None:
    scenario = preset("noisy-neighbour")
    name = file_name(scenario, ["backfill", "rescue"], "tables", "zip")
    assert name == "noisy-neighbour-backfill-rescue-tables.zip"
    assert file_name(change(scenario, {"title": "吵闹的邻居"}), ["fcfs"], "report", "html") == (
        "noisy-neighbour-fcfs-report.html"
    )
    assert file_name(Scenario(title="../../etc/passwd\x00"), ["fcfs"], "x", "svg") == "etc-passwd-fcfs-x.svg"
    long = file_name(change(scenario, {"title": "A" * 300}), ["fcfs"] * 9, "x", "svg")
    assert len(long) < 140 and long.isascii()
    assert slug("Élan vital!") == "elan-vital"


def test_what_is_packed_carries_no_clock() -> None:
    assert packed([("a", "b")]) == packed([("a", b"b")])
