"""`anchors`: what queueing theory says of the engine, and what the engine says."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from sched.command.arguments import Parser, Progress, print_json
from sched.command.checks import number
from sched.command.tables import NOTHING, print_text, table
from sched.fields import ScenarioError, suggestion
from sched.theory import CHECKED, FIGURES, Measured, anchor_rows, checked, holds, measured
from sched.theory.trials import TRIALS

SEEDS, JOBS = 10, 20_000
DIGITS = 12
"""Significant digits of a figure that is kept: beyond them it is the order of the additions."""


def anchors(words: Sequence[str]) -> int:
    """Show the anchors with the figures of the last long check, or run them through the engine."""
    parser = Parser("anchors", "What queueing theory says of the engine, and what the engine says.")
    parser.add_argument("--run", action="store_true", help="run the trials; without it: the last long check")
    parser.add_argument("--jobs", metavar="N", default=str(JOBS), help=f"requests a seed ({JOBS})")
    parser.add_argument("--seeds", metavar="N", default=str(SEEDS), help=f"seeds 1 to N ({SEEDS})")
    parser.add_argument("--trial", metavar="NAME", help="this trial only")
    parser.add_argument("--write", action="store_true", help="keep the figures for the page")
    options = parser.read(words)
    if not options.run:
        if options.write or options.trial is not None:
            raise ScenarioError("anchors: --write and --trial need --run")
        found = dict(checked())
    else:
        jobs, seeds = number(options.jobs, "jobs", 1000, 10**7), number(options.seeds, "seeds", 2, 1000)
        found = _run(_chosen(options.trial), jobs, seeds)
        if options.write:
            _write(found)
    if options.json:
        print_json(_told(found) if options.run else anchor_rows())
    else:
        print_text(_table(found))
    failed = [key for key, one in found.items() if not holds(key, one)]
    if failed:
        print_text(f"not as theory says: {', '.join(failed)}")
    return 1 if failed else 0


def _chosen(name: str | None) -> list[str]:
    """The trials to run. Says which cannot, for want of a policy."""
    if name is not None and name not in TRIALS:
        raise ScenarioError(f"anchors: {name}: no such trial{suggestion(name, list(TRIALS))}")
    names = list(TRIALS) if name is None else [name]
    for one in names:
        if missing := TRIALS[one].missing():
            print(f"{one}: not run, this version has no policy {missing}", file=sys.stderr)
    return [one for one in names if not TRIALS[one].missing()]


def _one(task: tuple[str, int, int]) -> dict[str, float]:
    """One seed of one trial."""
    name, seed, jobs = task
    return TRIALS[name].run(seed, jobs)


def _run(names: list[str], jobs: int, seeds: int) -> dict[str, Measured]:
    """All seeds of these trials, on all processors."""
    tasks = [(name, seed, jobs) for name in names for seed in range(1, seeds + 1)]
    values: dict[str, list[float]] = {}
    progress = Progress(slow=jobs > JOBS)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for (name, seed, _), found in zip(tasks, pool.map(_one, tasks), strict=True):
            progress.tell(f"{name}, seed {seed} of {seeds}")
            for key, value in found.items():
                values.setdefault(key, []).append(value)
    progress.end()
    return {key: measured(key, values[key], jobs) for key in FIGURES if key in values}


def _write(found: dict[str, Measured]) -> None:
    """Keep these figures beside the code, in place of the same ones of earlier checks."""

    def digits(value: float) -> float:
        return float(f"{value:.{DIGITS}g}")

    kept = dict(checked()) | found
    rows = {
        key: kept[key]._asdict()
        | {"ours": digits(kept[key].ours), "standard_error": digits(kept[key].standard_error)}
        for key in FIGURES
        if key in kept
    }
    CHECKED.write_text(json.dumps(rows, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def _told(found: dict[str, Measured]) -> list[dict[str, Any]]:
    return [{"key": key, **one._asdict(), "holds": holds(key, one)} for key, one in found.items()]


def _table(found: dict[str, Measured]) -> str:
    heads = ["", "anchor", "figure", "theory", "engine", "error", "holds"]
    return table(heads, list(_lines(found)), left=3)


def _lines(found: dict[str, Measured]) -> Iterator[list[str]]:
    for key, (anchor, figure) in FIGURES.items():
        sense = {"=": "", "<=": "≤ ", ">=": "≥ "}[figure.sense]
        ours = [NOTHING, NOTHING, NOTHING]
        if one := found.get(key):
            error = f"{one.standard_error:.2g}" if one.standard_error else NOTHING
            ours = [f"{one.ours:.6g}", error, "yes" if holds(key, one) else "NO"]
        unit = f", {figure.unit}" if figure.unit else ""
        yield [
            *(str(anchor.number), anchor.title, f"{figure.what}{unit}"),
            *(f"{sense}{figure.target():.6g}", *ours),
        ]
