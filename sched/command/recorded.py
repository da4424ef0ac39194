"""`trace`: what is made of a recorded trace."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sched.command.arguments import Parser, print_json
from sched.command.tables import number_text, print_text, share_text, table, time_text
from sched.external import assignments
from sched.files import write_file
from sched.words import count

MOST_LINES = 10
SHARES = ("share", "prompt_token_share")


def read_file(words: Sequence[str]) -> int:
    """Read a trace, say what was dropped and assumed, and write a scenario that replays it."""
    parser = Parser("trace", "Reads a recorded trace; says what it dropped and assumed.")
    parser.add_argument("file", metavar="FILE", help="CSV, JSON, JSON lines or Parquet, also compressed")
    fields = "which column holds arrival, prompt, output, class, tenant, priority, id"
    parser.add_argument("--map", metavar="field=column", nargs="+", action="extend", default=[], help=fields)
    parser.add_argument("--unit", choices=("s", "ms", "us", "ns"), help="of a numeric arrival column")
    parser.add_argument("--urgency", choices=("low_first", "high_first"), help="which priority is urgent")
    parser.add_argument("--out", metavar="SCENARIO.toml", type=Path, help="write a scenario that replays it")
    options = parser.read(words)
    from sched.traces import read_trace, trace_scenario  # reads Parquet: only a trace waits for it

    mapping = assignments(options.map)
    trace = read_trace(Path(options.file), mapping=mapping, unit=options.unit, urgency=options.urgency)
    if options.out is not None:
        write_file(options.out, trace_scenario(trace, file=options.file, urgency=options.urgency))
    if options.json:
        print_json(trace.report)
        return 0
    print_text(_told(trace.name, trace.report))
    if options.out is not None:
        print_text(f"\nWritten: {options.out}")
    return 0


def _told(name: str, report: Mapping[str, Any]) -> str:
    rate = "no mean rate" if report["rate_per_s"] is None else f"{report['rate_per_s']:.3g} requests/s"
    parts = [
        f"{name}: {report['format']}, {count(report['rows'], 'request')} in "
        f"{time_text(report['duration_s'])}, {rate}"
    ]
    names = ("mean", "min", "p50", "p90", "p99", "max")
    rows = [[what, *(number_text(report[what][one]) for one in names)] for what in ("prompt", "output")]
    parts.append(table(["tokens", *names], rows))
    for kind, title in (("classes", "class"), ("tenants", "tenant")):
        shares = [
            [who, number_text(one["requests"]), *(share_text(one[name]) for name in SHARES)]
            for who, one in report[kind].items()
        ]
        if len(shares) > 1:
            parts.append(_cut([title, "requests", "share", "of prompt tokens"], shares))
    if report["dropped"]:
        lines = [f"  line {one['line']}: {one['reason']}" for one in report["dropped"][:MOST_LINES]]
        more = len(report["dropped"]) - MOST_LINES
        lines += [f"  … and {more:,} more; --json has them all"] if more > 0 else []
        parts.append("\n".join([f"Dropped, {count(len(report['dropped']), 'record')}:", *lines]))
    if report["assumed"]:
        parts.append("\n".join(["Assumed:", *(f"  {one}" for one in report["assumed"])]))
    return "\n\n".join(parts)


def _cut(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    more = len(rows) - MOST_LINES
    text = table(heads, rows[:MOST_LINES])
    return f"{text}\n… and {more:,} more; --json has them all" if more > 0 else text
