"""How often waits ended when they were told to: estimates scored against what came.

The figures of the ready scenarios are kept beside this file, as `python -m tests.scores` last computed them.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sched.eta import estimate, pace_ps
from sched.evidence import Evidence
from sched.inversion import Inversion
from sched.occupancy import expand
from sched.residual import Lengths

FILE = Path(__file__).parent / "scored.json"
"""Written by `python -m tests.scores`, never by hand."""
MOST = 300


@cache
def on_file() -> dict[str, Any]:
    """The scores of the ready scenarios as they were last computed: nothing is run."""
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


class Score(NamedTuple):
    """How a run's estimates came true.

    `told` were made and `untold` could not be; `coverage` is the share of waits that ended between p10 and
    p90, give or take half an iteration, which four in five should; errors are those of p50, in picoseconds,
    positive where it came too late. None where there is no estimate.
    """

    told: int
    untold: int
    coverage: float | None
    median_error_ps: int | None
    bias_ps: int | None


def score(inversion: Inversion, lengths: Lengths | None = None, most: int = MOST) -> Score:
    """Scores the estimates of the waits that ended with an admission, at most so many decisions of them."""
    seen = inversion.seen
    errors, covered, untold = list[int](), 0, 0
    for wait, slot in decisions(seen, most):
        told = estimate(inversion, wait, slot, lengths)
        if told.p10_ps is None or told.p50_ps is None or told.p90_ps is None:
            untold += 1
            continue
        actual, grace = int(seen.waits.to_ps[wait] - seen.time.begin_ps[slot]), pace_ps(seen, slot) // 2
        covered += told.p10_ps - grace <= actual <= told.p90_ps + grace
        errors.append(told.p50_ps - actual)
    if not errors:
        return Score(0, untold, None, None, None)
    middle = sorted(map(abs, errors))[(len(errors) - 1) // 2]
    return Score(len(errors), untold, covered / len(errors), middle, sum(errors) // len(errors))


def decisions(seen: Evidence, most: int) -> list[tuple[int, int]]:
    """Waits that ended in the batch and slots in them in which the engine ran, evenly thinned out."""
    found, log = seen.waits, seen.log
    width, entered = log.iterations + 1, np.searchsorted(log.iteration_start_ps, found.to_ps)
    admitted = np.isin(found.request * width + entered, log.stays.request * width + log.stays.iteration)
    some = np.flatnonzero(admitted)
    first = np.searchsorted(seen.time.begin_ps, found.from_ps[some])
    end = np.searchsorted(seen.time.begin_ps, found.to_ps[some])
    owner, slot = expand(first, end - first)
    runs = np.flatnonzero(seen.time.iteration[slot] >= 0)
    chosen = runs[np.unique(np.linspace(0, len(runs) - 1, min(most, len(runs))).astype(np.int64))]
    return list(zip(some[owner[chosen]].tolist(), slot[chosen].tolist(), strict=True))
