"""The exported tables say what the log says, under the names that are promised."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from sched import Scenario, simulate
from sched.__main__ import main
from sched.files import read_file
from sched.fuzz import scenario_of_seed
from sched.inversion import analyse
from sched.log import Log
from sched.model import PS_PER_S
from sched.presets import preset
from sched.report import tables
from tests.slow_inversion import batch_by_iteration
from tests.strategies import small_scenarios

COLUMNS = {
    "requests": [
        *("id", "class", "tenant", "priority", "arrival_s", "first_scheduled_s", "first_token_s", "finish_s"),
        *(
            "prompt",
            "output",
            "outcome",
            "preemptions",
            "recomputed_tokens",
            "wait_s",
            "inversion_s",
            "cause",
        ),
    ],
    "iterations": [
        *("from_s", "to_s", "count", "prefill_tokens", "decode_tokens", "running", "waiting", "kv_used"),
        *("kv_used_batch", "kv_used_api", "kv_used_chat"),
    ],
    "spans": ["request", "phase", "from_s", "to_s", "kv_from", "kv_to"],
    "waits": ["request", "from_s", "to_s", "cause", "needs", "free", "entitled"],
}


def written(folder: Path) -> dict[str, Any]:
    return {name: pq.read_table(folder / f"{name}.parquet") for name in COLUMNS}


def test_a_run_writes_the_tables_that_scripts_rely_on(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    assert main(["run", "textbook", "--policies", "rescue", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*(f"{name}.parquet" for name in COLUMNS), "scenario.toml"]
    )
    for name, table in written(out).items():
        assert table.column_names == COLUMNS[name]
    again = read_file(out / "scenario.toml")
    assert again == preset("textbook").changed(policies={"rescue": {"kv": 0.7}})


def test_several_policies_share_the_tables(tmp_path: Path) -> None:
    assert main(["run", "textbook", "--policies", "hol,rescue", "--out", str(tmp_path)]) == 0
    for name, table in written(tmp_path).items():
        assert table.column_names == ["policy", *COLUMNS[name]]
        assert set(table["policy"].to_pylist()) == {"hol", "rescue"}


def rows(table: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def engines(scenario: Scenario, policy: str) -> Iterator[tuple[Log, dict[str, Any]]]:
    """Each engine of a run with its tables."""
    log = simulate(scenario, policy)
    for one in log.replicas or (log,):
        yield one, checked(one, scenario)


def checked(log: Log, scenario: Scenario) -> dict[str, Any]:
    inversion = analyse(log)
    made = tables(log, scenario, inversion)
    waits: dict[str, float] = {}
    for row in rows(made["waits"]):
        waits[row["request"]] = waits.get(row["request"], 0.0) + row["to_s"] - row["from_s"]
        assert row["entitled"] <= row["free"] and row["from_s"] < row["to_s"]
    for row, wait_ps in zip(rows(made["requests"]), inversion.wait_ps.tolist(), strict=True):
        assert waits.get(row["id"], 0.0) == pytest.approx(wait_ps / PS_PER_S) == pytest.approx(row["wait_s"])
        assert (row["cause"] is None) == (not wait_ps and row["outcome"] != "refused")
    return made


def test_phases_fill_a_requests_life_without_gap_or_overlap() -> None:
    for seed in range(30):
        phases_fill_life(scenario_of_seed(seed))


def test_promises_that_share_a_prefix_may_exceed_the_pool_but_nothing_free_is_negative() -> None:
    # Under the peak gate the hits of a newcomer are its own need's alone, so the promises add up to 29 of 28.
    prompts = [(19, 1), (1, 0), (1, 0), (8, 1), (1, 0)]
    requests = [
        {"prompt": prompt, "output": 1, "prefix": [["x", shared]] if shared else []}
        for prompt, shared in prompts
    ]
    engine = {
        "hardware": "constant",
        "iteration_s": 0.25,
        "kv_blocks": 28,
        "block_size": 1,
        "max_num_seqs": 4,
    }
    engine |= {"enable_prefix_caching": True, "gate": "peak"}
    policies: dict[str, dict[str, float]] = {"aging": {}}
    phases_fill_life(Scenario.model_validate({"engine": engine, "requests": requests, "policies": policies}))


@settings(max_examples=60)
@given(small_scenarios())
def test_phases_fill_a_requests_life_on_little_memory(scenario: Scenario) -> None:
    phases_fill_life(scenario)


def phases_fill_life(scenario: Scenario) -> None:
    for log, made in (one for policy in scenario.policies for one in engines(scenario, policy)):
        listed = rows(made["requests"])
        by_id: dict[str, list[dict[str, Any]]] = {row["id"]: [] for row in listed}
        for span in rows(made["spans"]):
            assert span["from_s"] < span["to_s"]
            by_id[span["request"]].append(span)
        for request in listed:
            spans = by_id[request["id"]]
            # Whoever is turned away at the door has no life; whoever is dropped later has waited.
            if request["outcome"] == "refused" or (request["outcome"] == "shed" and not request["wait_s"]):
                assert spans == []
                continue
            assert spans[0]["from_s"] == pytest.approx(request["arrival_s"])
            assert all(a["to_s"] == pytest.approx(b["from_s"]) for a, b in pairwise(spans))
            if not request["preemptions"] and request["first_token_s"] is not None:
                prefilled = next(span["to_s"] for span in spans if span["phase"] == "prefill")
                assert prefilled == pytest.approx(request["first_token_s"])
            if request["finish_s"] is not None:
                assert spans[-1]["to_s"] == pytest.approx(request["finish_s"])
            returns = [span for span in spans if span["phase"] == "preempted"]
            assert len(returns) <= request["preemptions"]
        for name in ("running", "waiting", "count", "kv_used"):
            assert made["iterations"][name].to_pylist() == getattr(log.stretches, name).tolist()


@settings(max_examples=40)
@given(small_scenarios())
def test_blocks_in_the_tables_are_those_that_are_held(scenario: Scenario) -> None:
    # The slow way counts shared blocks for each holder, and promised ones where the peak is reserved.
    gate = "full_prompt" if scenario.engine.gate == "peak" else scenario.engine.gate
    scenario = scenario.changed(engine=scenario.engine.changed(enable_prefix_caching=False, gate=gate))
    for log, made in (one for policy in scenario.policies for one in engines(scenario, policy)):
        iterations = rows(made["iterations"])
        for row in iterations:
            assert row["kv_used"] == sum(v for name, v in row.items() if name.startswith("kv_used_"))
        batch = batch_by_iteration(log)
        begins = log.iteration_start_ps.tolist()
        start = {ps / PS_PER_S: number for number, ps in enumerate(begins)}
        ends = ((log.iteration_start_ps + log.iteration_duration_ps) / PS_PER_S).tolist()
        for span in rows(made["spans"]):
            if span["phase"] in ("waiting", "preempted"):
                assert (span["kv_from"], span["kv_to"]) == (0, 0)
                continue
            request, first = log.requests.ids.index(span["request"]), start[span["from_s"]]
            last = next(number for number, end in enumerate(ends) if end >= span["to_s"])
            assert span["kv_from"] == batch[first][request]["kv"]
            assert span["kv_to"] == batch[last][request]["kv"]


def test_a_trace_is_found_from_where_the_scenario_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("arrival,prompt,output\n0,10,3\n1,20,4\n")
    assert main(["trace", "rows.csv", "--out", "replay.toml"]) == 0
    assert main(["run", "replay.toml", "--policies", "fcfs", "--out", "deep/er"]) == 0
    assert main(["run", "deep/er/scenario.toml", "--policies", "fcfs"]) == 0


def test_a_run_without_requests_writes_empty_tables(tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("[policies.fcfs]\n")
    assert main(["run", str(tmp_path / "none.toml"), "--out", str(tmp_path)]) == 0
    assert {len(table) for table in written(tmp_path).values()} == {0}


def test_a_request_that_never_fits_has_no_phases_and_a_cause(tmp_path: Path) -> None:
    text = "[engine]\nkv_blocks = 2\n[[requests]]\nprompt = 99\noutput = 9\n[policies.fcfs]\n"
    (tmp_path / "one.toml").write_text(text)
    assert main(["run", str(tmp_path / "one.toml"), "--out", str(tmp_path)]) == 0
    made = written(tmp_path)
    assert [(row["outcome"], row["cause"]) for row in rows(made["requests"])] == [("refused", "infeasible")]
    assert len(made["spans"]) == len(made["waits"]) == 0


def test_priorities_are_exported_as_they_were_written(tmp_path: Path) -> None:
    text = 'urgency = "high_first"\n[[requests]]\npriority = 7\nprompt = 9\noutput = 9\n[policies.fcfs]\n'
    (tmp_path / "one.toml").write_text(text)
    assert main(["run", str(tmp_path / "one.toml"), "--out", str(tmp_path)]) == 0
    assert written(tmp_path)["requests"]["priority"].to_pylist() == [7]
