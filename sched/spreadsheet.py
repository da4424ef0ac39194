"""Tables as CSV that a spreadsheet opens as data: no text in it is ever taken for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

FORMULA = tuple("=+-@\t\r\n|%＝＋－＠")
"""What a spreadsheet takes for the beginning of something to compute. Source: OWASP, CSV injection."""
BOM = "\ufeff"
"""The mark by which spreadsheets know UTF-8."""


def safe(value: Any) -> Any:
    """A cell: a number as it is, nothing as nothing, a text that looks like a formula with ' before it."""
    if value is None:
        return ""
    if isinstance(value, str) and (value.startswith(FORMULA) or value.lstrip().startswith(FORMULA)):
        return f"'{value}"
    return value


def csv_text(heads: Sequence[str], rows: Iterable[Iterable[Any]], line_end: str = "\n") -> str:
    """Heads and rows as CSV; numbers are written so that reading them gives the same number."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=line_end)
    writer.writerow(map(safe, heads))
    writer.writerows(map(safe, row) for row in rows)
    return out.getvalue()


def csv_file(heads: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """The same for a file that people open: by RFC 4180, with the mark that it is UTF-8."""
    return BOM + csv_text(heads, rows, "\r\n")
