"""The rows of Compare in the order in which they are shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from sched.experiments import Comparison
from sched.page.compare_cells import Cell, Column
from sched.page.compare_choices import Chosen
from sched.page.compare_rows import columns
from sched.page.titles import title


def ordered(policies: Sequence[str], cells: dict[str, Cell], is_down: bool) -> list[str]:
    """The policies by their cells in a column; those without a figure come last in either direction."""
    sign = -1 if is_down else 1
    known = {key: cells[key].order for key in policies}
    return sorted(policies, key=lambda key: inf if (one := known[key]) is None else sign * one)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, the rows in the order in which they are shown, and by which column, as a link writes it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    sort: str

    @property
    def sorts(self) -> list[str]:
        """By what these rows can be sorted."""
        return [
            f"{sign}{key}" for key in ("policy", *(one.key for one in self.columns)) for sign in ("", "-")
        ]


def table(found: Comparison, what: Chosen, goal_s: float | None) -> Table:
    """What is shown, sorted as it is chosen."""
    listed = columns(found, what, goal_s)
    cells = {policy: tuple(one.cell(policy) for one in listed) for policy in found.policies}
    known = ("policy", *(one.key for one in listed))
    sort = what.sort if what.sort.removeprefix("-") in known else "mean"
    wanted, is_down = sort.removeprefix("-"), sort.startswith("-")
    if wanted == "policy":
        names = sorted(found.policies, key=lambda key: title(found.scenario, key).casefold())
        order = names[::-1] if is_down else names
    else:
        place = next(at for at, one in enumerate(listed) if one.key == wanted)
        order = ordered(found.policies, {key: own[place] for key, own in cells.items()}, is_down)
    return Table(tuple(listed), tuple((key, cells[key]) for key in order), sort)
