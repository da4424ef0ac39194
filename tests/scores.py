"""Scores the estimates of the ready scenarios and keeps the figures: `python -m tests.scores`."""

import json
from typing import Any

from sched import simulate
from sched.inversion import analyse
from sched.scenario import preset, presets
from sched.scored import FILE, score
from sched.version import MODEL

POLICIES = ("fcfs", "priority")
"""Where nobody is let past those who wait, and where more urgent ones are."""


def scored(name: str, policy: str) -> dict[str, Any]:
    """One row: how the estimates in a ready scenario came true under a policy."""
    found = score(analyse(simulate(preset(name), policy)))
    return {"scenario": name, "policy": policy, **found._asdict()}


if __name__ == "__main__":
    rows = [scored(one.name, policy) for one in presets() for policy in POLICIES]
    FILE.write_text(json.dumps({"model": MODEL, "rows": rows}, indent=1) + "\n", encoding="utf-8")
