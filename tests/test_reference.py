"""The slow engine against the real scheduler's recorded decisions and the worked examples of the policies."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sched.model import NEVER, PS_PER_S, UNLIMITED_BLOCKS, Machine, Outcome
from sched.recorded import machine_of
from tests.reference import Iteration, Job, Result, run
from tests.reference_policies import BOOKS

SHARED = Path(__file__).parent.parent.parent / "shared"
GOLDEN = sorted(path for path in (SHARED / "golden").glob("*.json") if path.name != "INDEX.json")
EXAMPLES = SHARED / "cases" / "policy_examples.json"


@dataclass(frozen=True)
class Constant:
    """Every iteration takes the same time."""

    iteration_ps: int = 1
    kv_token_ps: int = 0
    kv_token_mixed_ps: int = 0
    attention_ps: int = 0
    prefix_ps: int = 0

    def decode_ps(self, decodes: int, /) -> int:
        return self.iteration_ps

    def mixed_ps(self, decodes: int, prefill_tokens: int, sequences: int, /) -> int:
        return self.iteration_ps


def recorded(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The trace's steps with the defaults of the format filled in."""
    steps: list[dict[str, Any]] = []
    scheduled: list[list[int]] = []
    waiting: list[int] = []
    for step in trace["steps"]:
        scheduled = [[x, 1] if isinstance(x, int) else x for x in step["s"]] if "s" in step else scheduled
        waiting = step.get("w", waiting)
        free = step["b"]
        steps.append(
            {key: step.get(key, []) for key in "anrphf"}
            | {"t": step.get("t", steps[-1]["t"] + 1 if steps else 0), "s": scheduled, "w": waiting}
            | {"R": step.get("R", [request for request, _ in scheduled])}
            | {"b": [free, free] if isinstance(free, int) else free}
        )
    return steps


def replay(trace: dict[str, Any]) -> tuple[Result, dict[str, int]]:
    config, columns = trace["config"], trace["request_columns"]
    rows = [dict(zip(columns, row, strict=False)) for row in trace["requests"]]
    names = {str(500_000 + i): f"private:{row['id']}" for i, row in enumerate(rows)}
    names |= {str(1_000_000 + i): f"generated:{row['id']}" for i, row in enumerate(rows)}
    machine = machine_of(config)
    jobs = [
        Job(
            id=row["id"],
            arrival_ps=row["arrival_step"],
            prompt=row["prompt_tokens"],
            output=row["output_tokens"],
            priority=row["priority"],
            segments=tuple((names.get(str(key), str(key)), n) for key, n in row.get("segments") or []),
            clock=row["arrival_time"],
        )
        for row in rows
    ]
    in_order = sorted(jobs, key=lambda job: job.arrival_ps)
    ordinals = {job.id: i for i, job in enumerate(jobs)}
    return run(machine, in_order, config["policy"], {}, Constant()), ordinals


def decisions(iteration: Iteration, ordinal: dict[str, int]) -> dict[str, Any]:
    """An iteration in the words of the recorded format."""
    return {
        "t": iteration.start_ps,
        "a": [ordinal[i] for i in iteration.arrived],
        "n": [ordinal[i] for i in iteration.admitted],
        "r": [ordinal[i] for i in iteration.resumed],
        "p": [ordinal[preemption.victim] for preemption in iteration.preempted],
        "h": [[ordinal[i], tokens] for i, tokens in iteration.hits],
        "f": [ordinal[i] for i in iteration.finished],
        "s": [[ordinal[i], tokens] for i, tokens in iteration.scheduled],
        "w": [ordinal[i] for i in iteration.waiting],
        "R": [ordinal[i] for i in iteration.running],
        "b": [iteration.free_after_schedule, iteration.free_after_update],
    }


@pytest.mark.skipif(not GOLDEN, reason="the recorded traces (../shared/golden) are not beside the project")
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_reference_decides_as_the_real_scheduler(path: Path) -> None:
    trace = json.loads(path.read_text())
    result, ordinal = replay(trace)
    steps = recorded(trace)
    # A stalled engine keeps being asked in the recording; the reference stands still and is not.
    arrived: list[int] = []
    moving = []
    for step in steps:
        arrived += step["a"]
        if step["s"] or step["p"]:
            moving.append(step | {"a": arrived})
            arrived = []
    refused = [ordinal[job.id] for job in result.jobs.values() if job.outcome == Outcome.REFUSED]
    assert len(moving) == len(result.iterations)
    for expected, iteration in zip(moving, result.iterations, strict=True):
        seen = decisions(iteration, ordinal)
        seen["a"] = [i for i in seen["a"] if i not in refused]
        assert seen == expected
    summary = trace["summary"]
    assert [ordinal[i] for i in result.waiting] == steps[-1]["w"]
    assert bool(result.stop_reason) == summary["stalled"]
    assert sorted(refused) == summary["rejected"]
    jobs = sorted(result.jobs.values(), key=lambda job: ordinal[job.id])
    finish = [job.ended_ps if job.outcome == Outcome.FINISHED else NEVER for job in jobs]
    assert [step_before(job.first_token_ps) for job in jobs] == summary["first_token_step"]
    assert [step_before(at_ps) for at_ps in finish] == summary["finish_step"]
    assert [job.emitted for job in jobs] == summary["output_tokens"]
    assert [job.preemptions for job in jobs] == summary["num_preemptions"]


def step_before(at_ps: int) -> int:
    """The step whose end this is; -1 for never."""
    return at_ps - 1 if at_ps != NEVER else -1


def to_ps(seconds: float) -> int:
    return int(Fraction(str(seconds)) * PS_PER_S)


def run_example(scenario: dict[str, Any], policy: str, settings: dict[str, Any]) -> Result:
    engine = scenario["engine"]
    blocks = engine["kv_blocks"]
    machine = Machine(
        kv_blocks=UNLIMITED_BLOCKS if blocks == "unlimited" else blocks,
        block_size=engine["block_size"],
        max_num_seqs=engine["max_num_seqs"],
        max_num_batched_tokens=engine["max_num_batched_tokens"],
        long_prefill_token_threshold=engine["long_prefill_token_threshold"],
        enable_chunked_prefill=engine["enable_chunked_prefill"],
        enable_prefix_caching=engine["enable_prefix_caching"],
    )
    jobs = [
        Job(
            *(
                r["id"],
                to_ps(r["arrival_s"]),
                r["prompt"],
                r["output"],
                r["priority"],
                r["tenant"],
                r["class"],
            ),
            ttft_goal=to_ps(r["slo"]["ttft_s"]) if "slo" in r else NEVER,
        )
        for r in scenario["requests"]
    ]
    jobs.sort(key=lambda job: job.arrival_ps)
    weights = {name: Fraction(str(t["weight"])) for name, t in scenario.get("tenants", {}).items()}
    return run(machine, jobs, policy, settings, Constant(to_ps(engine["iteration_s"])), weights)


def is_same(seen: Any, value: Any) -> bool:
    return bool(seen == value if isinstance(value, str) else math.isclose(seen, value, abs_tol=1e-9))


def example_runs() -> list[Any]:
    if not EXAMPLES.exists():
        return []
    runs = []
    for example in json.loads(EXAMPLES.read_text()):
        for part, name in ((example, ""), (example.get("against"), "-against")):
            if part and part["policy"] in BOOKS:
                values = (example["scenario"], part["policy"], part["settings"], part["expected"])
                runs.append(pytest.param(*values, id=example["name"] + name))
    return runs


@pytest.mark.skipif(not EXAMPLES.exists(), reason="the worked examples (../shared/cases) are not here")
@pytest.mark.parametrize(("scenario", "policy", "settings", "expected"), example_runs())
def test_the_reference_gives_the_worked_outcome(
    scenario: dict[str, Any], policy: str, settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    result = run_example(scenario, policy, settings)
    seen = {
        job.id: {
            "first_scheduled_s": job.first_scheduled_ps / PS_PER_S,
            "first_token_s": job.first_token_ps / PS_PER_S,
            "finish_s": job.ended_ps / PS_PER_S,
            "preemptions": job.preemptions,
            "wait_s": job.wait_ps / PS_PER_S,
            "outcome": job.outcome.name.lower(),
        }
        for job in result.jobs.values()
    }
    for request, values in expected["requests"].items():
        for key, value in values.items():
            assert is_same(seen[request][key], value), (request, key, seen[request][key], value)
    finished = [job.ended_ps for job in result.jobs.values() if job.outcome == Outcome.FINISHED]
    preemptions = sum(job.preemptions for job in result.jobs.values())
    totals = {"makespan_s": max(finished) / PS_PER_S, "preemptions": preemptions}
    for key, value in expected["totals"].items():
        assert is_same(totals[key], value), (key, totals[key], value)
