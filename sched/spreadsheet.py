"""Tables as CSV that a spreadsheet opens as data: no text in it is ever taken for a formula."""

import csv
import io
from collections.abc import Sequence
from typing import Any

FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a spreadsheet takes for the beginning of something to compute. Source: OWASP, CSV injection."""


def safe(value: Any) -> Any:
    """A cell: a number as it is, nothing as nothing, a text that looks like a formula with ' before it."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


def csv_text(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Heads and rows as CSV; numbers are written so that reading them gives the same number."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(safe, heads))
    writer.writerows([map(safe, row) for row in rows])
    return out.getvalue()
