"""The engine beside recorded decisions of the real vLLM scheduler, iteration by iteration."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sched.agreement import COUNTS, FORMAT, counted, kind_of, on_file
from sched.fields import ScenarioError
from sched.lockstep import compare_file, first_difference
from sched.version import MODEL
from tests.conftest import SHARED

TRACES = sorted(path for path in (SHARED / "golden").glob("*.json") if path.name != "INDEX.json")


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_every_decision_is_the_recorded_one(path: Path) -> None:
    assert compare_file(path) == ""


@pytest.fixture
def recorded(shared: Path) -> dict[str, Any]:
    trace: dict[str, Any] = json.loads((shared / "golden" / "micro_00a.json").read_text(encoding="utf-8"))
    return trace


@pytest.mark.parametrize(
    ("key", "value"),
    [("p", [0]), ("b", 4), ("s", [0, [2, 99]]), ("f", []), ("w", [1, 2]), ("r", []), ("n", [1])],
)
def test_a_changed_recording_is_noticed(recorded: dict[str, Any], key: str, value: Any) -> None:
    changed = copy.deepcopy(recorded)
    row = next(
        row for row, step in enumerate(recorded["steps"]) if row and key in step and step[key] != value
    )
    changed["steps"][row][key] = value
    assert first_difference(recorded) == ""
    assert first_difference(changed).startswith(f"iteration {row}: ")


def test_a_recording_that_ends_early_or_late_is_noticed(recorded: dict[str, Any]) -> None:
    shorter = recorded | {"steps": recorded["steps"][:-1]}
    longer = recorded | {"steps": recorded["steps"] + [{"b": 20}]}
    assert "the engine goes on" in first_difference(shorter)
    assert "the engine had stopped" in first_difference(longer)


def test_what_is_not_a_trace_is_a_difference_in_words(tmp_path: Path) -> None:
    for name, text in {"a.json": "{", "b.json": "[]", "c.json": '{"format": "x"}'}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert compare_file(tmp_path / name)
    assert "cannot be read" in compare_file(tmp_path / "none.json")


def test_the_agreement_told_on_the_page_is_what_the_recordings_give(shared: Path) -> None:
    assert TRACES and counted(TRACES) == on_file()


def test_the_figures_on_file_add_up_and_are_of_this_model() -> None:
    found = on_file()
    assert (found["format"], found["model"]) == (FORMAT, MODEL)
    assert found["total"]["traces"] == sum(found["policies"].values()) > 0
    for name in COUNTS:
        assert found["total"][name] == sum(row[name] for row in found["kinds"].values())
    assert all(row["agreeing"] <= row["traces"] for row in found["kinds"].values())


def test_a_recording_that_differs_counts_as_none_of_its_iterations(
    recorded: dict[str, Any], tmp_path: Path
) -> None:
    steps = recorded["steps"]
    for name, trace in {"a": recorded, "b": recorded | {"steps": steps[:-1]}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(trace), encoding="utf-8")
    found = counted(sorted(tmp_path.glob("*.json")))["kinds"]["by_hand"]
    assert (found["traces"], found["agreeing"]) == (2, 1)
    assert (found["iterations"], found["agreeing_iterations"]) == (2 * len(steps) - 1, len(steps))
    (tmp_path / "a.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ScenarioError, match="is not a decision trace"):
        counted([tmp_path / "a.json"])
    assert kind_of("never heard of") == "other"
