"""The bytes of a trace as named columns: CSV, JSON in three layouts, Parquet, each also gzipped.

What is no table of text is refused in one sentence. Nothing here is ever executed: pickles are refused, not
loaded.
"""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sched.sentences import TOO_DEEP, ScenarioError

MOST_BYTES = 1_000_000_000
"""Largest trace in bytes, unpacked."""

DEEPEST = 6
"""Nested JSON objects become dotted column names down to this level."""

_REFUSED = (
    (b"version https://git-lfs", "is a Git LFS pointer, not the data; fetch the file itself"),
    (b"PK\x03\x04", "is a zip archive or an Excel workbook; unpack it, or save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it, or use gzip"),
    (b"BZh", "is compressed with bzip2; unpack it, or use gzip"),
    (b"\xfd7zXZ", "is compressed with xz; unpack it, or use gzip"),
    (b"\x89PNG", "is a picture"),
    (b"%PDF", "is a PDF"),
)


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


def unpacked(source: bytes, name: str) -> bytes:
    """The bytes themselves, ungzipped whatever the file is called. Raises ScenarioError for no trace."""
    data = source
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                data = file.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            raise ScenarioError(f"{name}: is gzip, but damaged or cut off; fetch it again") from None
    if len(data) > MOST_BYTES:
        raise ScenarioError(f"{name}: is larger than {MOST_BYTES:,} bytes; cut it")
    if not data.strip():
        raise ScenarioError(f"{name}: is empty")
    if name.lower().endswith((".pkl", ".pickle")) or (data[:1] == b"\x80" and data[-1:] == b"."):
        raise ScenarioError(
            f"{name}: is a Python pickle, which can run code; convert it to CSV or JSON lines"
        )
    for start, what in _REFUSED:
        if data.startswith(start):
            raise ScenarioError(f"{name}: {what}")
    return data


def table(source: bytes, name: str) -> Table:
    """The records of a trace. Raises ScenarioError, one sentence, for whatever holds none."""
    data = unpacked(source, name)
    if data[:4] == b"PAR1":
        return _parquet(data, name)
    text, assumed = _text(data, name)
    start = text.lstrip()[:200].lower()
    if not start:
        raise ScenarioError(f"{name}: is empty")
    if start.startswith(("<!doctype", "<html", "<?xml", "<head")):
        raise ScenarioError(f"{name}: is a web page, not a trace; the download may have needed a login")
    found = _json(text, name) if start[0] in "[{" else _csv(text, name)
    found.assumed[:0] = assumed
    return found


def _text(data: bytes, name: str) -> tuple[str, list[str]]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace"), ["the file is UTF-16"]
    if b"\0" in data[:65536]:
        raise ScenarioError(f"{name}: is binary, not text; give it as CSV, JSON lines or Parquet")
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), [
            "the text is not UTF-8 and was read as Windows Latin"
        ]


def _parquet(data: bytes, name: str) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        read = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:
        raise ScenarioError(f"{name}: is Parquet, but cannot be read: {str(error).splitlines()[0]}") from None
    columns: dict[str, list[Any]] = {}
    for title, column in zip(read.column_names, read.columns, strict=True):
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ns")).cast(pa.int64())
        columns[title] = [repr(value) if isinstance(value, float) else value for value in column.to_pylist()]
    return Table("parquet", columns, list(range(1, read.num_rows + 1)))


def _csv(text: str, name: str) -> Table:
    """Comma, semicolon, tab or bar separated values; a quoted cell may hold line ends."""
    first = text.lstrip().split("\n", 1)[0]
    separator = max(",;\t|", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    before = 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(before + 1)
            before = reader.line_num
    except csv.Error as error:
        raise ScenarioError(f"{name}: line {reader.line_num} is not CSV: {error}") from None
    if not rows:
        raise ScenarioError(f"{name}: is empty")
    titles = [cell.strip() for cell in rows[0]]
    headed = 2 * sum(_looks_numeric(cell) for cell in titles) < len(titles)
    if headed:
        del rows[0], lines[0]
    else:
        titles = [str(place) for place in range(1, len(titles) + 1)]
    table = Table("csv", {}, [], decimal_comma=separator == ";", headed=headed)
    table.twins = tuple(dict.fromkeys(title for title in titles if titles.count(title) > 1))
    kept: list[list[str]] = []
    for row, line in zip(rows, lines, strict=True):
        if len(row) == len(titles):
            kept.append(row)
            table.lines.append(line)
        else:
            table.dropped.append((line, f"has {len(row)} cells instead of {len(titles)}"))
    cells = [list(column) for column in zip(*kept, strict=True)] if kept else [[] for _ in titles]
    for place, (title, column) in enumerate(zip(titles, cells, strict=True), start=1):
        table.columns[str(place) if title in table.twins else title] = column
    return table


def _looks_numeric(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _json(text: str, name: str) -> Table:
    """One JSON document, JSON lines, or objects one after the other. Decimals stay as written."""
    decoder = json.JSONDecoder(parse_float=str, parse_constant=str)
    lines = text.split("\n")
    first = next(line for line in lines if line.strip())
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
    last = max(number for number, line in enumerate(lines, start=1) if line.strip())
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = decoder.decode(line.strip())
        except (ValueError, RecursionError):
            cut = " (the file was cut off)" if number == last else ""
            dropped.append((number, f"is not a whole JSON object{cut}"))
            continue
        if isinstance(record, dict):
            records.append(record)
            found.append(number)
        else:
            dropped.append((number, "is not a JSON object"))
    return Table("jsonl", _flat_columns(records), found, dropped, whole=records)


def _json_document(text: str, name: str, decoder: json.JSONDecoder) -> Table:
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
    return Table("json", _flat_columns(only), [n for n, _ in objects], sorted(broken), whole=only)


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
