"""What the table of Compare is made of: cells, columns, and numbers as people write them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sched.experiments import Comparison
from sched.intervals import Difference
from sched.page.cards import seconds
from sched.page.language import tr
from sched.words import NARROW

MINUS = "\u2212"
LONGEST = 20
"""Letters of a name above a column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a row's column: a text, a smaller one, and the number by which it is sorted.

    `numbers` are those of the CSV. A `dot` is a picture: the values of all seeds and their mean.
    """

    text: str
    sub: str = ""
    note: str = ""
    order: float | None = None
    tone: str = ""
    numbers: tuple[float | str | None, ...] = ()
    dot: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, what it means, how its numbers are called in the CSV, and how its cells are made."""

    key: str
    title: str
    help: str
    numbers: tuple[str, ...]
    cell: Callable[[str], Cell] = field(repr=False)
    is_sortable: bool = True


def short(name: str) -> str:
    """A user's name as a column bears it; the whole of it stands in the column's help."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…"


def number(value: float | None, digits: int = 1) -> str:
    """A number with thousands and so many decimals; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}".replace("-", MINUS)


def few(many: float | None) -> str:
    """How many requests, on average."""
    return "–" if many is None else f"{many:,.1f}".removesuffix(".0")


def share(value: float | None, digits: int = 0) -> str:
    """A share in per cent."""
    return "–" if value is None else f"{100 * value:.{digits}f}{NARROW}%".replace("-", MINUS)


def signed(text: str) -> str:
    """A text of a number that is not negative, with its plus."""
    is_zero = not any(one in "123456789" for one in text)
    return text if is_zero or text.startswith(MINUS) else f"+{text}"


def signed_seconds(value: float) -> str:
    """A difference of times."""
    text = seconds(abs(value))
    return f"{MINUS if value < 0 else '+'}{text}" if value else text


def relative(found: Comparison, value: float | None, metric: str, name: str = "") -> float | None:
    """A difference as a share of the mean under the baseline."""
    base = found.estimate(found.baseline, metric, name).mean
    return value / base if value is not None and base else None


def between(low: str, high: str) -> str:
    """Two numbers with one unit where both have the same: "0.56 to 0.91 s"."""
    number_low, _, unit_low = low.rpartition(NARROW)
    _, _, unit_high = high.rpartition(NARROW)
    return tr("{low} to {high}", low=number_low if unit_low == unit_high and number_low else low, high=high)


def sure(one: Difference, write: Callable[[float | None], str]) -> tuple[str, str]:
    """The interval of a difference, and how sure it is in words."""
    if one.low is None or one.high is None:
        return "", tr("one seed") if one.n == 1 else ""
    if one.low == one.high:
        return tr("on every seed"), ""
    return between(write(one.low), write(one.high)), "" if one.is_clear else tr("may be chance")
