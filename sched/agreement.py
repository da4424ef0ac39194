"""How far the engine agrees with the recorded decisions of the real vLLM scheduler, counted by kind of load.

The recordings do not come with the program; `python -m sched lockstep FOLDER --write` counts them where they
are, and the figures are kept beside this file for whoever reads about the model.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from sched.fields import ScenarioError
from sched.lockstep import difference_in
from sched.recorded import Step
from sched.version import MODEL

FILE = Path(__file__).parent / "lockstep.json"
"""Written by `python -m sched lockstep FOLDER --write`, never by hand."""
FORMAT = 1
KINDS = {
    "light": "light",
    "saturated": "big",
    "seats": "seqs_bound",
    "memory": "kv_starved tiny stall no_reserve",
    "prompts": "long_chunked lpt no_chunk no_chunk_thr",
    "priorities": "priority3 prio_mixed prio_ties prio_tight fcfs_skew",
    "prefixes": "apc_shared apc_dup",
    "limits": "model_len_cap watermark watermark_idle",
    "by_hand": "micro",
}
"""Kinds of load, and the recordings' own names for what belongs to each."""
COUNTS = ("traces", "agreeing", "requests", "iterations", "agreeing_iterations", "preemptions")
OTHER = "other"


def kind_of(category: str) -> str:
    """The kind of load that a recording's category belongs to."""
    return next((kind for kind, names in KINDS.items() if category in (kind, *names.split())), OTHER)


def counted(paths: Sequence[Path], tell: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """What the engine agrees on in these recordings. Raises ScenarioError for a file that is none.

    An iteration counts as agreeing only in a trace that agrees from its first iteration to its last.
    """
    kinds: dict[str, dict[str, int]] = {}
    schedulers: dict[str, dict[str, str]] = {}
    policies: dict[str, int] = {}
    for path in paths:
        tell(path.name)
        try:
            trace = json.loads(path.read_text(encoding="utf-8"))
            agrees = not difference_in(trace)
            steps, summary, config = trace["steps"], trace["summary"], trace["config"]
            schedulers[json.dumps(trace["vllm"], sort_keys=True)] = trace["vllm"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ScenarioError(f"{path}: is not a decision trace: {error}") from None
        row = kinds.setdefault(kind_of(trace["category"]), dict.fromkeys(COUNTS, 0))
        values = (1, agrees, len(trace["requests"]), len(steps), len(steps) * agrees, summary["preemptions"])
        for name, value in zip(COUNTS, values, strict=True):
            row[name] += int(value)
        what = config["policy"] + (" with prefix caching" if config["enable_prefix_caching"] else "")
        policies[what] = policies.get(what, 0) + 1
    order = [*KINDS, OTHER]
    return {
        "format": FORMAT,
        "model": MODEL,
        "schedulers": [schedulers[key] for key in sorted(schedulers)],
        "compared": [one.name for one in fields(Step)],
        "policies": dict(sorted(policies.items())),
        "total": {name: sum(row[name] for row in kinds.values()) for name in COUNTS},
        "kinds": {kind: kinds[kind] for kind in sorted(kinds, key=order.index)},
    }


def write(found: dict[str, Any]) -> None:
    """Keep the figures in the file from which they are shown."""
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


@cache
def on_file() -> dict[str, Any]:
    """The figures as they were last counted and kept: nothing is run."""
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept
