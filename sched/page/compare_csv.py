"""A table as CSV that any spreadsheet opens, and that runs nothing there."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from sched.experiments import Comparison
from sched.page.compare_choices import Chosen
from sched.page.compare_table import Table
from sched.page.titles import title

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""A text that begins so may be taken for a formula; an apostrophe in front says that it is text."""


def safe(value: object) -> object:
    """A value as it may stand in a cell: numbers as they are, nothing for what does not exist."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return value
    text = str(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) or text.startswith(FORMULA) else text


def as_csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Heads and rows, with the mark by which spreadsheets know UTF-8."""
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe(head) for head in heads])
    writer.writerows([safe(value) for value in row] for row in rows)
    return "\ufeff" + out.getvalue()


def shown_csv(found: Comparison, what: Chosen, shown: Table) -> str:
    """The rows of the table in their order, each figure in full, and which seeds they are of."""
    heads = ["policy", *(name for column in shown.columns for name in column.numbers)]
    heads += [f"{what.name}.{what.metric} seed {seed}" for seed in found.seeds]
    rows = []
    for policy, cells in shown.rows:
        row: list[object] = [title(found.scenario, policy)]
        for column, cell in zip(shown.columns, cells, strict=True):
            row += cell.numbers or [None] * len(column.numbers)
        rows.append([*row, *found.values(policy, what.metric, what.name)])
    return as_csv(heads, rows)
