"""`compare` and `sweep`: policies over seeds, and a scenario over a grid of its values."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sched.command.arguments import Parser, Progress, print_json, scenario_of
from sched.command.checks import number
from sched.command.tables import print_text
from sched.fields import ScenarioError
from sched.scenario import Scenario

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sched.grids import Sweep

SEEDS = 9
SEEDS_HELP = "the scenario's seed and those after it, N in all"


def _parser(command: str, about: str, seeds: int) -> Parser:
    parser = Parser(command, about, scenario=True)
    parser.add_argument("--policies", metavar="a,b", help="only these policies, in this order")
    parser.add_argument("--seeds", metavar="N", default=str(seeds), help=f"{SEEDS_HELP} ({seeds})")
    parser.add_argument("--seed", metavar="N", help="begin with this seed")
    parser.add_argument("--cluster", metavar="ADDRESS", help="not in this version")
    return parser


def _read(options: Namespace) -> tuple[Scenario, int]:
    """The scenario and how many seeds, one where nothing is drawn. Raises ScenarioError for a cluster too."""
    if options.cluster is not None:
        text = "this version computes with the processes of this machine; leave --cluster out"
        raise ScenarioError(f"cluster = {options.cluster}: {text}")
    from sched.experiments import MOST_SEEDS, is_random

    scenario = scenario_of(options, policies=options.policies, seed=options.seed)
    seeds = number(options.seeds, "seeds", 1, MOST_SEEDS)
    return scenario, seeds if is_random(scenario) else 1


@contextmanager
def _workers(requests: float) -> Iterator["Executor | None"]:
    """Whoever runs so many requests soonest; the processes end with the command."""
    from sched.workers import Workers

    workers = Workers()
    try:
        yield workers.executor_for(requests)
    finally:
        workers.close()


def _telling(what: str, progress: Progress) -> Any:
    last = -1

    def tell(done: int, total: int) -> None:
        nonlocal last
        if done != last:
            last = done
            progress.tell(f"{what}: {done:,} of {total:,} runs")

    return tell


def compare(words: Sequence[str]) -> int:
    """Policies on the identical requests of several seeds."""
    about = "Policies on the identical requests of each seed, with intervals and paired differences."
    parser = _parser("compare", about, SEEDS)
    parser.add_argument("--baseline", metavar="P", help="what the others are compared with (the first)")
    options = parser.read(words)
    scenario, seeds = _read(options)
    from sched.command.compared import compared
    from sched.experiments import compare as run
    from sched.experiments import expected_requests, told

    policies, progress = list(scenario.policies), Progress()
    with _workers(expected_requests(scenario) * len(policies) * seeds) as executor:
        tell = _telling("compare", progress)
        found = run(scenario, policies, seeds, baseline=options.baseline, executor=executor, progress=tell)
    progress.end()
    if options.json:
        print_json(told(found))
    else:
        print_text(compared(found))
    return 0


def sweep(words: Sequence[str]) -> int:
    """A scenario over a grid of its values."""
    parser = _parser("sweep", "A scenario over a grid: every policy and seed at every point.", 1)
    vary = "a value and its points, the stop included; several make a grid"
    parser.add_argument("--vary", metavar="key=start:stop:step", action="append", default=[], help=vary)
    parser.add_argument("--out", metavar="DIR", type=Path, help="write scenario.toml and runs.parquet here")
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the runs as CSV, a row a run")
    options = parser.read(words)
    scenario, seeds = _read(options)
    if not options.vary:
        raise ScenarioError("sweep: name what to vary, as in --vary rescue.kv=0:0.4:0.05")
    from sched.command.compared import swept
    from sched.grids import expected_work, grid, rows
    from sched.grids import sweep as run
    from sched.ranges import axis

    axes, policies, progress = tuple(map(axis, options.vary)), list(scenario.policies), Progress()
    work = expected_work(grid(scenario, axes, policies, seeds), policies, seeds)
    _tried(options.out, options.csv)
    with _workers(work) as executor:
        tell = _telling("sweep", progress)
        found = run(scenario, axes, policies, seeds, executor=executor, progress=tell)
    progress.end()
    _write(found, options.out, options.csv)
    if options.json:
        named = [{"key": one.key, "values": list(one.numbers)} for one in axes]
        print_json({"axes": named, "seeds": list(found.seeds), "rows": rows(found)})
    else:
        print_text(swept(found))
    return 0


def _tried(out: Path | None, csv: Path | None) -> None:
    """Raise OSError before anything is computed where the runs cannot be written; nothing is left behind."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    for path in (csv, *(() if out is None else (out / "scenario.toml", out / "runs.parquet"))):
        if path is None or (path.exists() and not path.is_file() and not path.is_dir()):
            continue  # a pipe or a device would notice
        is_new = not path.exists()
        path.open("a").close()
        if is_new:
            path.unlink()


def _write(found: "Sweep", out: Path | None, csv: Path | None) -> None:
    """Put the runs where they were asked for."""
    from sched.grids import columns

    if csv is not None:
        from sched.spreadsheet import csv_text

        csv.write_text(csv_text(*columns(found)), encoding="utf-8", newline="")
    if out is not None:
        from sched.report import write_table

        heads, lines = columns(found)
        write_table(
            out, "runs", found.scenario, dict(zip(heads, map(list, zip(*lines, strict=True)), strict=True))
        )
