"""What a published row is, and when our figure counts as the same: bounds on figures that a run computes."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

REPRODUCED, NOT_REPRODUCED, FAILED, NOT_RUN = "reproduced", "not reproduced", "failed", "not run"
UNEXPECTED = "reproduced against expectation"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of ours in its unit, the published one where there is one, and the bounds it must keep.

    Without a bound it is told and not judged.
    """

    says: str
    value: float
    unit: str = ""
    published: float | None = None
    low: float | None = None
    high: float | None = None
    digits: int = 0

    @property
    def is_kept(self) -> bool:
        """Whether the figure lies within its bounds, both included."""
        return isfinite(self.value) and self._is_above() and (self.high is None or self.value <= self.high)

    def _is_above(self) -> bool:
        return self.low is None or self.value >= self.low

    @property
    def rule(self) -> str:
        """Its bounds in words; nothing where there are none."""
        low, high = (None if one is None else self.text(one) for one in (self.low, self.high))
        if low is not None and low == high:
            return f"{self.says}: exactly {low}"
        parts = [f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None)
        return f"{self.says}: {' and '.join(parts)}" if parts else ""

    def text(self, value: float | None = None) -> str:
        """The figure, or another value of its kind, with its unit."""
        number = f"{self.value if value is None else value:,.{self.digits}f}"
        return f"{number} {self.unit}" if self.unit else number


@dataclass(frozen=True, slots=True)
class Measured:
    """What was run, in words, and the figures that came of it."""

    ran: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """A published row and how it is run again.

    `why` says why the figure comes out, or, where `expected` is False, why it does not. What `measure` takes
    as keywords may be changed to see the row fail.
    """

    key: str
    source: str
    setting: str
    published: str
    why: str
    measure: Callable[..., Measured]
    expected: bool = True


@dataclass(frozen=True, slots=True)
class NotRun:
    """A published row that this simulator has nothing to run for, and why."""

    key: str
    source: str
    setting: str
    published: str
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """A published row beside ours. `rule` is what had to hold, made of the figures' own bounds."""

    key: str
    source: str
    setting: str
    published: str
    ran: str
    ours: str
    rule: str
    accepted: bool
    expected: bool
    verdict: str
    why: str
    figures: tuple[Figure, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON: every figure with its text, its bounds and whether it kept them."""
        figures = [asdict(one) | {"text": one.text(), "kept": one.is_kept} for one in self.figures]
        return asdict(self) | {"figures": figures}


def row_of(paper: Paper, **changes: Any) -> Row:
    """Run one row again. `changes` are keywords of its measure, such as another policy."""
    found = paper.measure(**changes)
    accepted = all(one.is_kept for one in found.figures)
    if paper.expected:
        verdict = REPRODUCED if accepted else FAILED
    else:
        verdict = UNEXPECTED if accepted else NOT_REPRODUCED
    why = paper.why
    if broken := [one for one in found.figures if not one.is_kept]:
        why = f"{told(broken)}, which the rule does not allow. {why}"
    rule = "; ".join(one.rule for one in found.figures if one.rule)
    return Row(
        paper.key, paper.source, paper.setting, paper.published, found.ran, told(found.figures), rule,
        accepted, paper.expected, verdict, why, found.figures,
    )  # fmt: skip


def left_out(paper: NotRun) -> Row:
    """The row of what is not run: no figure of ours, not accepted, and not expected to be."""
    return Row(
        paper.key, paper.source, paper.setting, paper.published, "", "", "", False, False, NOT_RUN, paper.why
    )


def told(figures: Sequence[Figure]) -> str:
    """Figures in words."""
    return "; ".join(f"{one.says}: {one.text()}" for one in figures)
