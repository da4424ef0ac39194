"""The table of Compare as a file that any spreadsheet opens."""

from sched.experiments import Comparison
from sched.page.compare_choices import Chosen
from sched.page.compare_table import Table
from sched.page.titles import title
from sched.spreadsheet import csv_file


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
    return csv_file(heads, rows)
