"""Requests recorded elsewhere: read a trace whatever its layout, report what was made of it, replay it.

Nothing is lost in silence: every record is kept, or dropped with its line and a reason, and every guess is
listed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sched.arrivals import MAX_REQUESTS
from sched.fields import ScenarioError, suggestion
from sched.lengths import Ints
from sched.model import PS_PER_S
from sched.scenario import Scenario
from sched.scenario import Trace as TraceSettings
from sched.trace_bytes import Table, table
from sched.trace_documents import UNFOLDED, UNFOLDED_UNITS, unfolded
from sched.trace_formats import FIELDS, Segments, by_synonyms, prefixes_of, recognise
from sched.trace_order import in_order, within_bounds
from sched.trace_rows import Layout, frozen, ids_of, labels_of, readable_rows
from sched.trace_size import USUAL, Most, bytes_of
from sched.trace_store import load


@dataclass(frozen=True, slots=True)
class Trace:
    """Requests of a trace in order of arrival, the first at 0. Columns are read-only int64 of shape (n,).

    `priority` is as recorded, not yet turned. `digest` is the SHA-256 of the bytes. `report` is what
    `python -m sched trace --json` prints.
    """

    name: str
    digest: str
    ids: tuple[str, ...]
    arrival_ps: Ints
    prompt_tokens: Ints
    output_tokens: Ints
    priority: Ints
    class_index: Ints
    tenant_index: Ints
    class_names: tuple[str, ...]
    tenant_names: tuple[str, ...]
    segments: tuple[Segments, ...] | None
    settings: TraceSettings
    report: dict[str, Any]


def read_trace(
    source: bytes | Path | str,
    name: str = "",
    mapping: Mapping[str, str] | None = None,
    unit: str | None = None,
    urgency: str | None = None,
    settings: TraceSettings | None = None,
    most: Most = USUAL,
) -> Trace:
    """A trace from its bytes or its path. Raises ScenarioError, in one sentence, for what is none.

    `mapping` says which column (a name, or its number from 1) holds a field: arrival, prompt, output, class,
    tenant, priority, id. `unit` is the unit of a numeric arrival column, `urgency` which priorities are the
    more urgent ("low_first" when not said). `settings` are those of a scenario's [trace]; mapping and unit go
    over them. What holds more than `most` is refused while it is read.
    """
    data, name = _bytes(source, name, most)
    chosen = settings or TraceSettings(file=name[-4096:] or "trace")
    chosen = chosen.changed(map={**chosen.map, **(mapping or {})}, unit=unit or chosen.unit)
    found, digest = table(data, name, most), hashlib.sha256(data).hexdigest()
    del data
    layout, found = _layout(found, chosen, name)
    if not found.lines:
        first = f"; the first: line {found.dropped[0][0]} {found.dropped[0][1]}" if found.dropped else ""
        raise ScenarioError(f"{name}: holds no records that could be read{first}", "trace")
    return _assembled(found, layout, chosen, urgency or "low_first", name, digest)


def _bytes(source: bytes | Path | str, name: str, most: Most) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, name or "the trace"
    return bytes_of(Path(source), most), name or Path(source).name


def _layout(found: Table, chosen: TraceSettings, name: str) -> tuple[Layout, Table]:
    """How the table is read, and the table itself, unfolded where requests are nested."""
    document = unfolded(found, name) if chosen.format == "auto" else None
    found.whole = None  # It takes more memory than its columns.
    if document is not None:
        title, inner = document
        inner.dropped = found.dropped + inner.dropped
        inner.assumed = found.assumed + inner.assumed
        layout, found = Layout(title, dict(UNFOLDED), UNFOLDED_UNITS.get(title)), inner
    elif (known := recognise(found, chosen.format)) is not None:
        layout = Layout(known.name, dict(known.columns), known.unit, known)
    else:
        layout = Layout(f"generic {found.layout}", by_synonyms(found))
    titles = list(found.columns)
    for field, column in chosen.map.items():
        if field not in FIELDS:
            raise ScenarioError(f"trace.map.{field}: no such field{suggestion(field, FIELDS)}", "trace.map")
        if column not in found.columns and column.isdecimal() and 0 < int(column) <= len(titles):
            column = titles[int(column) - 1]
        if column not in found.columns:
            raise ScenarioError(
                f"trace.map.{field} = {column}: no such column{suggestion(column, titles)}", "trace.map"
            )
        layout.columns[field] = (column,)
    missing = [
        field for field in ("prompt", "output") if not set(layout.columns.get(field, ())) & set(titles)
    ]
    if missing:
        raise ScenarioError(f"{name}: {_what_is_missing(found, missing)}", "trace.map")
    return layout, found


def _what_is_missing(found: Table, missing: list[str]) -> str:
    """Why the columns of a table do not say enough, and what to do."""
    how = " ".join(f"{field}=COLUMN" for field in missing)
    if not found.headed:
        return (
            f"the first line is no header ({len(found.columns)} columns); say which column is what by "
            "number, such as --map arrival=1 prompt=2 output=3"
        )
    if found.twins:
        return (
            f"several columns are named {', '.join(found.twins)}; say which is which by number, such as "
            f"--map {' '.join(f'{field}={place}' for place, field in enumerate(missing, start=2))}"
        )
    shown = ", ".join(list(found.columns)[:12]) + (", …" if len(found.columns) > 12 else "")
    return f"no column of {' or '.join(missing)} tokens was recognised; say --map {how} (columns: {shown})"


def _assembled(
    found: Table, layout: Layout, chosen: TraceSettings, urgency: str, name: str, digest: str
) -> Trace:
    dropped, assumed = list(found.dropped), list(found.assumed)
    records = len(found.lines) + len(found.dropped)
    if len(found.lines) > MAX_REQUESTS and chosen.limit is None:
        raise ScenarioError(
            f"{name}: {len(found.lines):,} rows: at most {MAX_REQUESTS:,} can be replayed; set trace.limit",
            "trace.limit",
        )
    rows = readable_rows(found, layout, chosen, dropped, assumed)
    if not rows.places:
        first = f"; the first: line {dropped[0][0]} {dropped[0][1]}" if dropped else ""
        raise ScenarioError(f"{name}: none of its {records:,} records can be replayed{first}")
    moments, order = in_order(rows.moments, rows.clock, found, rows.places, assumed)
    speed = Fraction(repr(chosen.speed))
    if speed != 1:
        moments = [int(moment / speed) for moment in moments]
    order = order[: chosen.limit]
    arrival = within_bounds([moments[place] for place in order], found, rows.places, order, name, assumed)
    places = [rows.places[place] for place in order]
    classes, class_index, tenants, tenant_index, urgencies = labels_of(
        found, layout, places, chosen, urgency, assumed
    )
    prompt = frozen([rows.prompt[place] for place in order])
    output = frozen([rows.output[place] for place in order])
    ids = ids_of(found, layout, places, [classes[one] for one in class_index.tolist()], assumed)
    trace = Trace(
        name, digest, ids, frozen(arrival), prompt, output, urgencies, class_index, tenant_index, classes,
        tenants, prefixes_of(found, layout.known, places, prompt.tolist(), assumed), chosen, {},
    )  # fmt: skip
    trace.report.update(_report(trace, layout.format, dropped, assumed))
    return trace


def _report(trace: Trace, format: str, dropped: list[tuple[int, str]], assumed: list[str]) -> dict[str, Any]:
    """What was made of the file. Every number is one that JSON can hold."""
    rows, last = len(trace.ids), int(trace.arrival_ps[-1])
    distinct = len(np.unique(trace.arrival_ps))
    if last and rows > 100 and distinct * 5 < rows:
        assumed.append(f"only {distinct:,} distinct arrival times for {rows:,} requests: the clock is coarse")
    if last == 0 and rows > 1:
        assumed.append("all requests arrive at the same time, so there is no mean rate")
    return {
        "format": format,
        "rows": rows,
        "dropped": [{"line": line, "reason": reason} for line, reason in dropped],
        "assumed": assumed,
        "rate_per_s": (rows - 1) * PS_PER_S / last if last else None,
        "duration_s": last / PS_PER_S,
        "classes": _shares(trace.class_names, trace.class_index, trace.prompt_tokens),
        "tenants": _shares(trace.tenant_names, trace.tenant_index, trace.prompt_tokens),
        "prompt": _summary(trace.prompt_tokens),
        "output": _summary(trace.output_tokens),
        "digest": trace.digest,
    }


def _shares(names: tuple[str, ...], index: Ints, prompt: Ints) -> dict[str, Any]:
    """Requests and prompt tokens of each name; their shares differ widely where some prompts are long."""
    counts = np.bincount(index, minlength=len(names)).tolist()
    sums = np.bincount(index, weights=prompt, minlength=len(names)).tolist()
    total = sum(sums)
    return {
        name: {"requests": count, "share": count / len(index), "prompt_token_share": tokens / total}
        for name, count, tokens in zip(names, counts, sums, strict=True)
    }


def _summary(values: Ints) -> dict[str, float]:
    ordered = np.sort(values)
    ranks = {f"p{share}": int(ordered[-(-share * len(values) // 100) - 1]) for share in (50, 90, 99)}
    return {"mean": float(values.mean()), "min": int(ordered[0]), **ranks, "max": int(ordered[-1])}


def of_scenario(settings: TraceSettings, urgency: str) -> Trace:
    """The trace that a scenario names by file or digest, read as it says; the last few are remembered."""
    stamp = 0
    if settings.file:
        try:
            stamp = Path(settings.file).stat().st_mtime_ns
        except OSError as error:
            if not settings.digest:
                raise ScenarioError(
                    f"trace.file = {settings.file}: cannot be read: {error.strerror}", "trace.file"
                ) from None
    return _read_again(settings, urgency, stamp)


@lru_cache(maxsize=4)
def _read_again(settings: TraceSettings, urgency: str, stamp: int) -> Trace:
    path = Path(settings.file) if stamp else None
    data = bytes_of(path) if path else load(settings.digest)
    if path and settings.digest and hashlib.sha256(data).hexdigest() != settings.digest:
        raise ScenarioError(
            f"trace.file = {settings.file}: is not the file whose digest the scenario names", "trace.digest"
        )
    name = path.name if path else f"trace {settings.digest[:8]}"
    return read_trace(data, name, urgency=urgency, settings=settings)


def trace_scenario(trace: Trace, *, file: str = "", urgency: str | None = None, **more: Any) -> Scenario:
    """A scenario that replays a trace by its file, or by its digest when `file` is ""."""
    source = {"file": file, "digest": "" if file else trace.digest}
    seconds = -(-int(trace.arrival_ps[-1]) // PS_PER_S)
    given = {
        "title": f"Replay of {trace.name}"[:300],
        "duration_s": float(max(1, seconds)),
        "urgency": urgency or "low_first",
        **more,
    }
    return Scenario(trace=trace.settings.changed(**source), **given)
