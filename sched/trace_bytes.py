"""The bytes of a trace as named columns: CSV, JSON in three layouts, Parquet, each also gzipped.

What is no table is refused in one sentence.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sched.sentences import TOO_DEEP, ScenarioError
from sched.trace_size import USUAL, Most, unpacked
from sched.trace_text import Decoder, text_of

LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
JSON_LINE = re.compile(r"[^\n]*\n|[^\n]+")
"""A line of text with its end. Unlike a text that is split, they come one at a time."""

PARQUET_ROWS = 1000
"""Unpacked at once."""

DEEPEST = 6
"""Nested JSON objects become dotted column names down to this level."""


@dataclass(slots=True)
class Table:
    """Records as columns of equal length, in the file's order; None or "" where a record has nothing.

    `lines` is the line a record starts at (its number for JSON documents and Parquet). `dropped` are records
    that could not be read, as (line, reason). `whole` is the document of a file that holds one JSON object.
    """

    layout: str
    columns: dict[str, list[Any]]
    lines: list[int]
    dropped: list[tuple[int, str]] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    decimal_comma: bool = False
    headed: bool = True
    twins: tuple[str, ...] = ()
    whole: list[Any] | None = None


def table(source: bytes, name: str, most: Most = USUAL) -> Table:
    """The records of a trace. Raises ScenarioError, one sentence, for whatever holds none or too much."""
    data = unpacked(source, name, most)
    if data[:4] == b"PAR1":
        return _parquet(data, name, most)
    text, assumed = text_of(data, name)
    del data
    first = re.search(r"\S", text)
    if not first:
        raise ScenarioError(f"{name}: is empty")
    start = text[first.start() : first.start() + 200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml", "<head")):
        raise ScenarioError(f"{name}: is a web page, not a trace; the download may have needed a login")
    found = (_json if start[0] in "[{" else _csv)(text, name, most)
    found.assumed[:0] = assumed
    if not found.columns:
        raise ScenarioError(f"{name}: {_why_empty(found)}", "trace")
    return found


def _why_empty(found: Table) -> str:
    """Why there is nothing in any column."""
    if not found.dropped:
        return "holds no records"
    line, reason = found.dropped[0]
    return f"holds no records that could be read; the first: line {line} {reason}"


def _parquet(data: bytes, name: str, most: Most) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        told, titles = file.metadata, file.schema_arrow.names
        size = sum(told.row_group(place).total_byte_size for place in range(told.num_row_groups))
        most.check(name, bytes=size, rows=told.num_rows, values=told.num_rows * told.num_columns)
        texts = [one.name for one in file.schema_arrow if pa.types.is_string(one.type)]
        file = pq.ParquetFile(io.BytesIO(data), read_dictionary=texts)
        columns: list[list[Any]] = [[] for _ in titles]
        size = 0
        for part in file.iter_batches(PARQUET_ROWS):
            size += part.nbytes + sum(_text_bytes(column) for column in part.columns)
            most.check(name, bytes=size)
            for cells, column in zip(columns, part.columns, strict=True):
                if pa.types.is_timestamp(column.type):
                    column = column.cast(pa.timestamp("ns")).cast(pa.int64())
                cells += [repr(cell) if isinstance(cell, float) else cell for cell in column.to_pylist()]
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{name}: is Parquet, but cannot be read: {str(error).splitlines()[0]}") from None
    rows = len(columns[0]) if columns else 0
    return Table("parquet", dict(zip(titles, columns, strict=True)), list(range(1, rows + 1)))


def _text_bytes(column: Any) -> int:
    """What the texts of a column come to, of which each is held once however often it stands there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return 0
    return int(pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0)


def _csv(text: str, name: str, most: Most) -> Table:
    """Comma, semicolon, tab or bar separated values; a quoted cell may hold line ends."""
    first = next(line[0] for line in LINE.finditer(text) if line[0].strip())
    separator = max(",;\t|", key=first.count)
    reader = csv.reader((line[0] for line in LINE.finditer(text)), delimiter=separator, skipinitialspace=True)
    table = Table("csv", {}, [], decimal_comma=separator == ";")
    titles: list[str] = []
    cells: list[list[str]] = []
    rows = before = allowed = 0
    try:
        for row in reader:
            line, before = before + 1, reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if not titles:
                titles = [cell.strip() for cell in row]
                cells = [[] for _ in titles]
                allowed = min(most.rows, most.values // len(titles))
                table.headed = 2 * sum(_looks_numeric(cell) for cell in titles) < len(titles)
                if table.headed:
                    continue
            rows += 1
            if rows > allowed:
                most.check(name, rows=rows, values=rows * len(titles))
            if len(row) != len(titles):
                table.dropped.append((line, f"has {len(row)} cells instead of {len(titles)}"))
                continue
            table.lines.append(line)
            for column, cell in zip(cells, row, strict=True):
                column.append(cell)
    except csv.Error as error:
        raise ScenarioError(f"{name}: line {reader.line_num} is not CSV: {error}") from None
    if not titles:
        raise ScenarioError(f"{name}: is empty")
    if not table.headed:
        titles = [str(place) for place in range(1, len(titles) + 1)]
    often = Counter(titles)
    table.twins = tuple(title for title, times in often.items() if times > 1)
    for place, (title, column) in enumerate(zip(titles, cells, strict=True), start=1):
        table.columns[str(place) if often[title] > 1 else title] = column
    return table


def _looks_numeric(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _json(text: str, name: str, most: Most) -> Table:
    """One JSON document, JSON lines, or objects one after the other. Decimals stay as written."""
    # No value comes without one of these before it, but the first of all.
    most.check(name, values=sum(text.count(sign) for sign in ",[{"))
    decoder = Decoder(text)
    first = next(line[0] for line in JSON_LINE.finditer(text) if line[0].strip())
    try:
        if not isinstance(decoder.decode(first.strip()), dict):
            raise ValueError
    except ValueError:
        return _json_document(text, name, decoder)
    except RecursionError:
        raise ScenarioError(f"{name}: {TOO_DEEP}") from None
    records: list[Any] = []
    found: list[int] = []
    dropped: list[tuple[int, str]] = []
    last = text.count("\n", 0, len(text.rstrip())) + 1
    for number, match in enumerate(JSON_LINE.finditer(text), start=1):
        if not (line := match[0].strip()):
            continue
        most.check(name, rows=len(found) + len(dropped) + 1)
        try:
            record = decoder.decode(line)
        except (ValueError, RecursionError):
            cut = " (the file was cut off)" if number == last else ""
            dropped.append((number, f"is not a whole JSON object{cut}"))
            continue
        if isinstance(record, dict):
            records.append(record)
            found.append(number)
        else:
            dropped.append((number, "is not a JSON object"))
    return Table("jsonl", _flat_columns(records), found, dropped, decoder.assumed, whole=records)


def _json_document(text: str, name: str, decoder: Decoder) -> Table:
    records: list[Any] = []
    at, end = len(text) - len(text.lstrip()), len(text)
    try:
        while at < end:
            record, at = decoder.raw_decode(text, at)
            records.append(record)
            while at < end and text[at] in " \t\r\n,":
                at += 1
    except (ValueError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise ScenarioError(f"{name}: {TOO_DEEP}") from None
        if not records:
            where = f" (line {text.count(chr(10), 0, at) + 1})"
            raise ScenarioError(f"{name}: is not valid JSON{where}; was the file cut off?") from None
        broken = [(len(records) + 1, "is not a whole JSON object (the file was cut off)")]
    else:
        broken = []
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    objects = [(n, one) for n, one in enumerate(records, start=1) if isinstance(one, dict)]
    broken += [
        (n, "is not a JSON object") for n, one in enumerate(records, start=1) if not isinstance(one, dict)
    ]
    only = [one for _, one in objects]
    lines = [n for n, _ in objects]
    return Table("json", _flat_columns(only), lines, sorted(broken), decoder.assumed, whole=only)


def _flat_columns(records: list[Any]) -> dict[str, list[Any]]:
    """Columns by dotted name; lists stay lists."""
    columns: dict[str, list[Any]] = {}
    for place, record in enumerate(records):
        for title, value in flat(record):
            column = columns.setdefault(title, [])
            column.extend([None] * (place - len(column)))
            column.append(value)
    for column in columns.values():
        column.extend([None] * (len(records) - len(column)))
    return columns


def flat(record: dict[str, Any], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """The leaves of nested objects with their dotted names."""
    for key, value in record.items():
        if isinstance(value, dict) and value and depth < DEEPEST:
            yield from flat(value, f"{prefix}{key}.", depth + 1)
        else:
            yield prefix + key, value
