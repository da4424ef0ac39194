"""Several engines as one run: isolation, overflow, and that the whole is the sum of its parts."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from sched import Scenario, simulate
from sched.audit import audit
from sched.explain import explain
from sched.inversion import CAUSES, analyse
from sched.metrics import summary
from sched.model import Outcome
from sched.report import tables, write
from tests.strategies import small_scenarios

ENGINE = {"hardware": "constant", "iteration_s": 1.0, "kv_blocks": 10, "block_size": 100, "max_num_seqs": 8}


def boxes(*rows: tuple[str, float, int, int, int], **settings: object) -> Scenario:
    """Requests as boxes: id, arrival, width in blocks, duration in iterations, priority."""
    requests = [
        {"id": name, "class": f"p{level}", "priority": level, "arrival_s": at,
         "prompt": 100 * (width - 1) + 1, "output": long}
        for name, at, width, long, level in rows
    ]  # fmt: skip
    return Scenario.model_validate(
        {"duration_s": 100, "engine": ENGINE, "requests": requests, "policies": {"isolated": settings}}
    )


def ends(scenario: Scenario) -> dict[str, float]:
    log = simulate(scenario, "isolated")
    return {name: at / 1e12 for name, at in zip(log.requests.ids, log.ended_ps.tolist(), strict=True)}


def test_the_urgent_never_wait_for_lower_ones() -> None:
    # Each side has five blocks: A starts when it comes, although C holds all of the other five.
    found = ends(boxes(("C", 0, 5, 5, 2), ("A", 1, 5, 3, 0)))
    assert found == {"C": 5.0, "A": 4.0}


def test_splitting_the_memory_can_make_a_request_infeasible() -> None:
    log = simulate(boxes(("C", 0, 3, 5, 2), ("A", 2, 7, 4, 0)), "isolated")
    assert log.outcome.tolist() == [Outcome.FINISHED, Outcome.REFUSED]
    assert log.why_refused[1] == "it comes to need 7 KV blocks of 5"


def test_an_urgent_request_overflows_where_there_is_room() -> None:
    rows = (("A1", 0, 5, 4, 0), ("A2", 0, 4, 4, 0), ("C", 6, 5, 2, 2))
    # Alone on its half A2 waits for A1; sent on, it starts at once beside nobody.
    assert ends(boxes(*rows)) == {"A1": 4.0, "A2": 8.0, "C": 8.0}
    assert ends(boxes(*rows, overflow=True)) == {"A1": 4.0, "A2": 4.0, "C": 8.0}


def test_a_lower_request_never_overflows() -> None:
    rows = (("A", 0, 1, 9, 0), ("C1", 0, 5, 4, 2), ("C2", 0, 4, 4, 2))
    assert ends(boxes(*rows, overflow=True)) == {"A": 9.0, "C1": 4.0, "C2": 8.0}


def test_an_urgent_request_that_can_never_fit_at_home_waits_where_it_can() -> None:
    # Of 10 blocks the urgent have 3; A needs 7 and waits for C, which holds 5 of the other 7 until 5 s.
    rows = (("C", 0, 5, 5, 2), ("A", 1, 7, 3, 0))
    assert simulate(boxes(*rows, share=0.3), "isolated").outcome.tolist() == [0, Outcome.REFUSED]
    assert ends(boxes(*rows, share=0.3, overflow=True)) == {"C": 5.0, "A": 8.0}


def test_what_cannot_be_split_is_said() -> None:
    scenario = boxes(("C", 0, 1, 2, 2), ("A", 0, 1, 2, 0))
    scenario = scenario.changed(engine=scenario.engine.changed(max_num_seqs=1))
    log = simulate(scenario, "isolated")
    notes = {one["path"]: one["text"] for one in summary(log, scenario, analyse(log))["notes"]}
    assert "cannot be split" in notes["engine.max_num_seqs"]


@given(small_scenarios(("isolated",)))
def test_the_whole_is_its_replicas(scenario: Scenario) -> None:
    log = simulate(scenario, "isolated")
    found = analyse(log)
    assert audit(log) == []
    assert sorted(np.concatenate(log.rows).tolist()) == list(range(len(log.requests)))
    for own, part in zip(log.rows, log.replicas, strict=True):
        assert np.array_equal(log.ended_ps[own], part.ended_ps)
        assert np.array_equal(found.wait_ps[own], analyse(part).wait_ps)
    assert sum(found.culprits.total) == int(found.inversion_ps.sum())
    assert sum(int(getattr(found, f"{cause}_ps").sum()) for cause in CAUSES) == int(found.wait_ps.sum())


def test_figures_tables_and_stories_of_several_engines(tmp_path: pytest.TempPathFactory) -> None:
    scenario = boxes(("C1", 0, 4, 5, 2), ("C2", 1, 4, 3, 2), ("A", 1, 2, 3, 0))
    log = simulate(scenario, "isolated")
    found = analyse(log)
    told = summary(log, scenario, found, in_full=True)
    # Blocks times seconds: C1 4 x 5, C2 4 x 3 from 5 s on, A 2 x 3, of 10 blocks and 8 s.
    assert told["kv_utilisation"] == pytest.approx((20 + 12 + 6) / 80, rel=1e-12)
    assert told["batch_occupancy"] == pytest.approx((5 + 3 + 3) / (8 * 8), rel=1e-12)
    assert [one["requests"]["arrived"] for one in told["replicas"]] == [1, 2]
    story = explain(log, found, "C2", scenario, simulate)
    assert story["wait_s"] == 4.0 and story["request"]["id"] == "C2"
    write(tmp_path, scenario, {"isolated": tables(log, scenario, found)})  # type: ignore[arg-type]
    rows = pq.read_table(tmp_path / "requests.parquet").to_pylist()  # type: ignore[operator]
    assert [(row["id"], row["replica"]) for row in rows] == [("A", 0), ("C1", 1), ("C2", 1)]
