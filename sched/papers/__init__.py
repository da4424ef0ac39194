"""Published rows, run again by the simulator: what was published, what we get, and whether it is the same.

Each row says its source and setting, what was run here, our figures, the bounds they must keep, and why they
do or do not. Nothing of ours is typed in; `figures.json` is what `python -m sched papers --write` computed.
"""

import json
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sched.papers import batching, fairness, headroom, lengths, memory, prefixes, promised, urgent
from sched.papers.left_out import LEFT_OUT
from sched.papers.row import FAILED, NOT_RUN, REPRODUCED, Figure, NotRun, Paper, Row, left_out, row_of
from sched.scenario import SCHEMA

PAPERS: dict[str, Paper] = {
    paper.key: paper
    for part in (fairness, prefixes, lengths, batching, memory, urgent, headroom, promised)
    for paper in part.PAPERS
}
"""Every row that is run, by key, in the order in which they are shown."""
FILE = Path(__file__).parent / "figures.json"
FORMAT = 1
"""Version of the file's layout."""
COMPUTED_WITH = ("numpy", "simpy")


def rows(keys: Sequence[str] = (), tell: Callable[[str], None] = lambda key: None) -> list[Row]:
    """Run these rows, or all and those that are left out. `tell` is told the key of each before it runs."""
    found = []
    for key in keys or PAPERS:
        tell(key)
        found.append(row_of(PAPERS[key]))
    return found if keys else found + [left_out(paper) for paper in LEFT_OUT]


def document(found: Sequence[Row]) -> dict[str, Any]:
    """The rows with what they were computed with, as plain data for JSON."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "computed_with": {"python": platform.python_version()}
        | {name: version(name) for name in COMPUTED_WITH},
        "reproduced": sum(row.accepted for row in found),
        "failed": sum(row.verdict == FAILED for row in found),
        "rows": [row.as_data() for row in found],
    }


def write(found: Sequence[Row]) -> None:
    """Keep the rows in the file from which they are shown without running."""
    text = json.dumps(document(found), allow_nan=False, indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


def rows_on_file() -> list[dict[str, Any]]:
    """The rows as they were last computed and kept: plain data, one entry a row, nothing is run."""
    kept: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["rows"]
    return kept


__all__ = [
    "FAILED",
    "LEFT_OUT",
    "NOT_RUN",
    "PAPERS",
    "REPRODUCED",
    "Figure",
    "NotRun",
    "Paper",
    "Row",
    "document",
    "left_out",
    "row_of",
    "rows",
    "rows_on_file",
    "write",
]
