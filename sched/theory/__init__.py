"""What queueing theory says that a simulation must come to: the table of anchors and the closed forms.

The forms take their own parameters and stand in `queues`, `seats` and `kv`; this is the front door.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from sched.theory.kv import (
    batch_loss,
    fluid_rate_per_s,
    head_of_line_rate_per_s,
    kv_capacity_per_s,
    kv_occupancy,
    kv_occupancy_of,
    kv_seconds,
    repeated_boost_s,
)
from sched.theory.laws import Exponential, Law, Points, constant, geometric, points
from sched.theory.one_seat import ONE_SEAT_ANCHORS
from sched.theory.parameters import Anchor, Figure
from sched.theory.queues import (
    conserved_wait_s,
    feedback_time_s,
    levels_time_s,
    md1_wait_s,
    mg1_wait_s,
    mm1_wait_s,
    preemptive_times_s,
    priority_waits_s,
    sharing_time_s,
    sjf_wait_s,
    srpt_time_s,
    utilisation,
)
from sched.theory.seats import all_busy, kingman_bound_s, mm1k_lost, mmc_wait_s, pooling_ratio
from sched.theory.whole_engine import WHOLE_ENGINE_ANCHORS

ANCHORS: tuple[Anchor, ...] = ONE_SEAT_ANCHORS + WHOLE_ENGINE_ANCHORS
FIGURES: dict[str, tuple[Anchor, Figure]] = {
    figure.key: (anchor, figure) for anchor in ANCHORS for figure in anchor.figures
}
CHECKED = Path(__file__).parent / "figures.json"
"""Written by `python -m sched anchors --run --write`, never by hand."""
HALF_WIDTHS = 3.0
"""How many half widths of the 95 % confidence interval a mean may be off."""


class Measured(NamedTuple):
    """A figure of the engine: its value over the seeds, the standard error, seeds, requests a seed."""

    ours: float
    standard_error: float
    seeds: int
    jobs: int


def measured(key: str, values: Sequence[float], jobs: int) -> Measured:
    """What independent runs say of a figure, one value each, two at least.

    Their mean with its standard error; of a law that holds on every run the worst of them, without error.
    """
    anchor, figure = FIGURES[key]
    count = len(values)
    if count < 2:
        raise ValueError(f"{count} runs say nothing of the error of their mean: give at least 2")
    if anchor.kind == "exact":
        return Measured(min(values) if figure.sense == ">=" else max(values), 0.0, count, jobs)
    mean = sum(values) / count
    spread = sum((value - mean) ** 2 for value in values) / (count - 1)
    return Measured(mean, sqrt(spread / count), count, jobs)


def half_width(found: Measured) -> float:
    """Half the 95 % confidence interval of a mean, by Student's law."""
    from scipy.special import stdtrit

    return float(stdtrit(found.seeds - 1, 0.975)) * found.standard_error


def allowed(key: str, found: Measured) -> float:
    """How far a figure may be from what is expected of it.

    An exact one not at all; else three half widths of its confidence interval or its listed tolerance, the
    larger, and what the steps of the engine may add.
    """
    anchor, figure = FIGURES[key]
    if anchor.kind == "exact":
        return 0.0
    expected = (figure.expected or figure.target)()
    return max(HALF_WIDTHS * half_width(found), figure.tolerance * abs(expected)) + figure.slack


def holds(key: str, found: Measured) -> bool:
    """Whether a figure of the engine is what theory says."""
    figure = FIGURES[key][1]
    off = found.ours - (figure.expected or figure.target)()
    over = {"=": abs(off), "<=": off, ">=": -off}[figure.sense]
    return over <= allowed(key, found)


@cache
def checked() -> Mapping[str, Measured]:
    """The figures of the engine that came with this version, by key: those of its last long check."""
    written: dict[str, dict[str, Any]] = json.loads(CHECKED.read_text(encoding="utf-8"))
    return {key: Measured(**row) for key, row in written.items() if key in FIGURES}


def anchor_rows() -> list[dict[str, Any]]:
    """The table for people: every anchor with its closed form's values and what the engine came to.

    `figures` of a row: `what`, `unit`, `sense` (=, <= or >=), `target`, `tolerance` (relative), and of the
    last long check `ours`, `standard_error`, `seeds`, `jobs`, `holds`, which are None where it did not run.
    """
    return [
        {
            **{"number": anchor.number, "key": anchor.key, "title": anchor.title, "formula": anchor.formula},
            **{"point": anchor.point, "setting": anchor.setting, "source": anchor.source},
            **{"kind": anchor.kind, "figures": [dict(_row(figure.key)) for figure in anchor.figures]},
        }
        for anchor in ANCHORS
    ]


@cache
def _row(key: str) -> Mapping[str, Any]:
    """One figure of the table, worked out once."""
    figure = FIGURES[key][1]
    found = checked().get(figure.key)
    return {
        **{"key": figure.key, "what": figure.what, "unit": figure.unit, "sense": figure.sense},
        **{"target": figure.target(), "tolerance": figure.tolerance},
        **(found._asdict() if found else dict.fromkeys(Measured._fields)),
        "holds": holds(figure.key, found) if found else None,
    }


__all__ = [
    "ANCHORS",
    "FIGURES",
    "Anchor",
    "Exponential",
    "Figure",
    "Law",
    "Measured",
    "Points",
    "all_busy",
    "allowed",
    "anchor_rows",
    "batch_loss",
    "checked",
    "conserved_wait_s",
    "constant",
    "feedback_time_s",
    "fluid_rate_per_s",
    "geometric",
    "half_width",
    "head_of_line_rate_per_s",
    "holds",
    "kingman_bound_s",
    "kv_capacity_per_s",
    "kv_occupancy",
    "kv_occupancy_of",
    "kv_seconds",
    "levels_time_s",
    "md1_wait_s",
    "measured",
    "mg1_wait_s",
    "mm1_wait_s",
    "mm1k_lost",
    "mmc_wait_s",
    "points",
    "pooling_ratio",
    "preemptive_times_s",
    "priority_waits_s",
    "repeated_boost_s",
    "sharing_time_s",
    "sjf_wait_s",
    "srpt_time_s",
    "utilisation",
]
