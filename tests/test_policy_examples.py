"""Small scenarios with outcomes worked out by hand or by another program.

SCHED_EXAMPLES names another such file: a JSON list of examples with `scenario`, `policy`, `settings`,
`expected` and perhaps `against`, a second run. Only the values that are there are compared, to a nanosecond.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sched import POLICIES, Log, Scenario, simulate
from sched.model import NEVER, PS_PER_S, Outcome
from sched.waits import waits
from tests.conftest import SHARED

FILE = Path(os.environ.get("SCHED_EXAMPLES", SHARED / "cases" / "policy_examples.json"))
TOLERANCE_S = 1e-9


def runs() -> Iterator[Any]:
    """Each run of the file: the scenario with the run's settings, the policy, what must come out."""
    examples = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else []
    for example in examples:
        for number, one in enumerate([example, example.get("against")]):
            if one is not None:
                scenario = example["scenario"] | {"policies": {one["policy"]: one["settings"]}}
                name = example["name"] + (f"-against-{one['policy']}" if number else "")
                yield pytest.param(scenario, one["policy"], one["expected"], id=name)


def outcomes(log: Log) -> dict[str, dict[str, Any]]:
    """What became of each request, in the words of such a file; a refused request has only its outcome."""
    total_wait = dict.fromkeys(range(len(log.requests)), 0)
    rows = waits(log)
    for request, start, end in zip(
        rows.request.tolist(), rows.from_ps.tolist(), rows.to_ps.tolist(), strict=True
    ):
        total_wait[request] += end - start
    found = {}
    for row, name in enumerate(log.requests.ids):
        times = {
            "first_scheduled_s": log.first_scheduled_ps[row],
            "first_token_s": log.first_token_ps[row],
            "finish_s": log.ended_ps[row] if log.outcome[row] == Outcome.FINISHED else NEVER,
        }
        found[name] = {key: int(ps) / PS_PER_S if ps != NEVER else None for key, ps in times.items()} | {
            "preemptions": int(log.preemptions[row]),
            "wait_s": total_wait[row] / PS_PER_S,
            "outcome": Outcome(int(log.outcome[row])).name.lower(),
        }
    return found


@pytest.mark.parametrize(("data", "policy", "expected"), list(runs()))
def test_a_policy_does_what_was_worked_out(
    data: dict[str, Any], policy: str, expected: dict[str, Any]
) -> None:
    if policy not in POLICIES:
        pytest.skip(f"{policy} is not built yet")
    log = simulate(Scenario.model_validate(data), policy)
    found = outcomes(log)
    for name, wanted in expected["requests"].items():
        got = {key: found[name][key] for key in wanted}
        assert got == pytest.approx(wanted, abs=TOLERANCE_S), name
    totals = expected.get("totals", {})
    if "preemptions" in totals:
        assert len(log.preempted.victim) == totals["preemptions"]
    if "makespan_s" in totals:
        finishes = [one["finish_s"] for one in found.values() if one["finish_s"] is not None]
        assert max(finishes) == pytest.approx(totals["makespan_s"], abs=TOLERANCE_S)
