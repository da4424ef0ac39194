"""What an anchor is, and the test points at which the engine is held against the closed forms.

A figure has the closed form's value (`target`) and, where whole tokens make a difference, the same form for
the law in steps (`expected`). What a run may be off by besides its sampling error is `slack`, in words in the
anchor's `setting`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sched.theory.laws import Exponential, geometric, points

STEP_S = 0.001
"""Time of a token, where the mean service time is 1 s."""
COARSE_S = 0.01
"""The step where memory is counted in two large blocks, which must be longer than any answer."""

LOAD = 0.8
SRPT_LOADS = (0.5, 0.7, 0.8, 0.9)
CLASS_RATES = (0.3, 0.5)
"""Requests per second of the urgent and of the others."""
EXPONENTIAL = Exponential(1.0)
IN_STEPS = geometric(1.0, STEP_S)
"""The exponential law as the engine has it: whole tokens."""
TWO_SIZES = points({0.5: 0.9, 5.5: 0.1})
SMALL, BIG = 0.5, 5.5
QUANTA_S = (0.499, 0.001, 4.999, 0.001)
"""Levels that end one token before the two sizes: the last token of a request then waits for all who have
been served less, as it does with tiny quanta. The order on a level makes no difference.
"""
BURSTY_SHAPE = 0.5
"""Gaps of a gamma law with twice the variance of exponential ones."""
SMALL_SHARES = (0.25, 0.5, 0.75, 0.9)
"""Shares of the requests that need one of two KV units."""
SEATS = ((8, 0.8), (4, 0.8), (8, 0.9))
"""Seats and their load."""
PLACES, LOST_LOAD = 10, 0.9
STREAM_RATE_PER_S, STREAM_PROMPT, STREAM_OUTPUT, STREAM_TPOT_S = 0.5, 500, 200, 0.03
CACHE_BLOCKS, CACHE_BLOCK_SIZE = 1250, 16

Kind = Literal["exact", "statistical", "inequality"]
"""Exact: on every run, to the picosecond. Statistical: a mean, within its sampling error."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of an anchor; `tolerance` is relative, `slack` is in the figure's own unit."""

    key: str
    what: str
    target: Callable[[], float]
    tolerance: float = 0.0
    expected: Callable[[], float] | None = None
    slack: float = 0.0
    unit: str = "s"
    sense: Literal["=", "<=", ">="] = "="


@dataclass(frozen=True, slots=True)
class Anchor:
    """A law, in words for the page: what it says, where it was tried, and how the engine was set for it."""

    number: int
    key: str
    title: str
    formula: str
    point: str
    setting: str
    source: str
    figures: tuple[Figure, ...]
    kind: Kind = "statistical"


def nothing() -> float:
    """The target of a difference that must not be there."""
    return 0.0


def one() -> float:
    """The target of a ratio that must be one."""
    return 1.0
