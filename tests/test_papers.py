"""Published rows come out as the rules say, the rules can fail, and what is shown is what was computed."""

import json
import math
from typing import Any

import numpy as np
import pytest

from sched import papers
from sched.__main__ import main
from sched.model import PS_PER_S
from sched.papers.measure import emissions, gaps_ps, percentile_s, service
from sched.papers.row import (
    FAILED,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    UNEXPECTED,
    Figure,
    Measured,
    NotRun,
    Paper,
    Row,
)

CHEAP = ("vtc-eight-clients", "whole-prompt-gate", "priority-needs-contention", "batch-loss")
WRONG: dict[str, dict[str, Any]] = {
    "vtc-two-clients": {"fair": "fcfs"},
    "vtc-eight-clients": {"fair": "priority"},
    "vtc-short-and-long": {"fair": "fcfs"},
    "vtc-weights": {"fair": "fcfs"},
    "vtc-predicted": {"fair": "fcfs"},
    "locality-and-fairness": {"policy": "vtc"},
    "shortest-first-toy": {"policy": "fcfs"},
    "learning-to-rank": {"tau": 0.0},
    "fastserve": {"policy": "fcfs"},
    "trail-latency": {"policy": "fcfs"},
    "trail-limit": {"until": 1.0},
    "sarathi-chunks": {"chunked": False},
    "continuous-batching": {"joining": "static"},
    "batch-loss": {"lost_seats": 3},
    "recompute-or-swap": {"models": dict.fromkeys("ab", ("a100_sxm|llama-3.1-8b|tp1", 5.5))},
    "watermark": {"factor": 0.0},
    "whole-prompt-gate": {"gate": "first_chunk"},
    "priority-needs-contention": {"seats": 2},
    "urgent-beside-thirty": {"seats": 30},
    "lend-and-take-back": {"lending": "priority"},
    "headroom": {"policy": "fcfs"},
    "shared-deadlines": {"capacity": "fcfs", "overload": "fcfs"},
}
"""A wrong policy or setting for each row: with it the figure must not be accepted."""
SLOW = ("shared-deadlines",)
KEYS = [pytest.param(key, marks=[pytest.mark.slow] * (key in SLOW)) for key in papers.PAPERS]


@pytest.mark.parametrize("key", KEYS)
def test_a_published_row_comes_out(key: str) -> None:
    paper = papers.PAPERS[key]
    row = papers.row_of(paper)
    assert row.accepted == paper.expected, row.why
    assert row.figures and row.rule and row.ran
    assert all(math.isfinite(one.value) for one in row.figures)


@pytest.mark.parametrize("key", KEYS)
def test_a_wrong_setting_is_not_accepted(key: str) -> None:
    row = papers.row_of(papers.PAPERS[key], **WRONG[key])
    assert not row.accepted
    assert row.verdict == (FAILED if row.expected else NOT_REPRODUCED)
    assert "which the rule does not allow" in row.why


@pytest.mark.parametrize("low, high, kept", [
    (None, None, True), (1, 3, True), (2, 2, True), (2.5, None, False), (None, 1.9, False),
])  # fmt: skip
def test_a_figure_keeps_its_bounds(low: float | None, high: float | None, kept: bool) -> None:
    assert Figure("it", 2.0, "s", low=low, high=high).is_kept == kept


def test_what_is_no_number_is_never_accepted() -> None:
    assert not Figure("it", math.nan).is_kept
    assert not Figure("it", math.inf, low=0).is_kept


def test_a_rule_says_its_bounds() -> None:
    assert Figure("gap", 3.0, "s", low=1, high=4, digits=1).rule == "gap: at least 1.0 s and at most 4.0 s"
    assert Figure("gap", 3.0, "s", low=2, high=2).rule == "gap: exactly 2 s"
    assert Figure("gap", 3.0).rule == ""


def _paper(value: float, *, expected: bool) -> Paper:
    measured = Measured("nothing", (Figure("it", value, high=1),))
    return Paper("it", "source", "setting", "published", "because", lambda: measured, expected)


def test_a_failure_that_is_expected_is_no_failed_check() -> None:
    verdicts = [
        papers.row_of(_paper(value, expected=expected)).verdict
        for expected in (True, False)
        for value in (1.0, 2.0)
    ]
    assert verdicts == [REPRODUCED, FAILED, UNEXPECTED, NOT_REPRODUCED]


def test_what_is_left_out_has_no_figure_of_ours() -> None:
    row = papers.left_out(NotRun("it", "source", "setting", "published", "not modelled"))
    assert (row.verdict, row.ours, row.figures, row.accepted) == (NOT_RUN, "", (), False)


def test_every_key_is_there_once() -> None:
    keys = [*papers.PAPERS, *(paper.key for paper in papers.LEFT_OUT)]
    assert len(keys) == len(set(keys)) and len(papers.PAPERS) >= 12


@pytest.mark.parametrize("key", CHEAP)
def test_the_figures_on_file_are_those_of_a_run(key: str) -> None:
    kept = {row["key"]: row for row in papers.rows_on_file()}[key]
    fresh = papers.row_of(papers.PAPERS[key]).as_data()
    assert [one["text"] for one in kept["figures"]] == [one["text"] for one in fresh["figures"]]
    assert [one["value"] for one in kept["figures"]] == pytest.approx(
        [one["value"] for one in fresh["figures"]], rel=1e-9
    )
    assert {name: text for name, text in kept.items() if name != "figures"} == {
        name: text for name, text in fresh.items() if name != "figures"
    }


def test_every_row_is_on_file() -> None:
    kept = papers.rows_on_file()
    assert [row["key"] for row in kept] == [*papers.PAPERS, *(paper.key for paper in papers.LEFT_OUT)]
    for row in kept:
        assert row["verdict"] != FAILED and row["why"]


def test_the_command_prints_json_without_nan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "batch-loss", "whole-prompt-gate", "--json"]) == 0

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in the JSON")

    told = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert [row["key"] for row in told["rows"]] == ["batch-loss", "whole-prompt-gate"]
    assert told["reproduced"] == 2 and told["failed"] == 0 and told["computed_with"]["python"]


def test_the_command_prints_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", "batch-loss"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("batch-loss: reproduced\n") and text.endswith("\n1 reproduced\n")
    assert max(map(len, text.splitlines())) <= 110


def test_a_row_that_should_come_out_and_does_not_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(papers.PAPERS, "batch-loss", _paper(2.0, expected=True))
    assert main(["papers", "batch-loss"]) == 1
    assert "it: failed" in capsys.readouterr().out
    monkeypatch.setitem(papers.PAPERS, "batch-loss", _paper(2.0, expected=False))
    assert main(["papers", "batch-loss"]) == 0
    assert "it: not reproduced" in capsys.readouterr().out


@pytest.mark.parametrize("words, said", [
    (["batch-los"], "did you mean batch-loss"), (["batch-loss", "--write"], "--write keeps all rows"),
])  # fmt: skip
def test_a_mistake_is_one_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["papers", *words]) == 2
    assert said in capsys.readouterr().err


def test_the_kept_file_is_what_rows_on_file_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(papers, "FILE", tmp_path / "figures.json")
    row: Row = papers.row_of(_paper(1.0, expected=True))
    papers.write([row])
    (kept,) = papers.rows_on_file()
    assert kept["key"] == "it" and kept["figures"][0]["value"] == 1.0 and kept["figures"][0]["kept"]


def test_tokens_gaps_and_service_by_hand() -> None:
    # One seat, one second an iteration. a (prompt 3, 2 tokens): tokens at 1 and 2. b: admitted at 2, at 3.
    from sched import Scenario, simulate

    requests = [
        {"id": "a", "tenant": "one", "prompt": 3, "output": 2},
        {"id": "b", "tenant": "two", "prompt": 4, "output": 1},
    ]
    engine = {"hardware": "constant", "iteration_s": 1.0, "max_num_seqs": 1}
    log = simulate(Scenario(engine=engine, requests=requests), "fcfs")
    request, iteration = emissions(log)
    assert (request.tolist(), iteration.tolist()) == ([0, 0, 1], [0, 1, 2])
    assert gaps_ps(log).tolist() == [10**12] and percentile_s(gaps_ps(log), 99) == 1.0
    moments = np.array([0, 1, 2, 3], np.int64) * PS_PER_S
    assert service(log, moments).tolist() == [[3, 5, 7, 7], [0, 0, 4, 6]]
