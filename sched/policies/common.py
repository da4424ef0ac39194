"""What the policies share: the scene that they are set in, settings that several have, exact arithmetic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

from sched.model import Machine, SetAside, Setting

Rank = tuple[Any, ...]

MISFIT = Setting(
    "misfit",
    "stop",
    "When a request does not fit",
    "stop: nobody behind it is admitted; skip: whoever fits is.",
    choices=("stop", "skip"),
)
MODE = Setting(
    "mode",
    "recompute",
    "What becomes of preempted KV",
    "recompute: it is prefilled anew; swap: it waits on the host, at the cost of moving it there and back. "
    "With prefix caching it stays in the cache while nobody needs the blocks, and mode says nothing.",
    choices=("recompute", "swap"),
)
SWAP = replace(MODE, default="swap")
"""For policies that preempt so often that recomputing may leave no time for anything else."""
PREDICTOR = (
    Setting("predictor", "oracle", "Length predictor", "How output lengths are known before they are.",
            choices=("oracle", "lognormal", "bucket", "rank", "refreshed")),
    Setting("error", 0.6, "Predictor's error", "Standard deviation of the logarithm (lognormal, refreshed).",
            "", 0, 5, 0.1),
    Setting("tau", 0.6, "Predictor's rank agreement", "Kendall's tau with the true order (rank).",
            "", 0, 1, 0.05),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """What a policy may know of a run before it begins.

    `weights` are the tenants', `peaks` the blocks of each request's peak, ascending, by priority (turned, as
    all priorities here); the means are over the request list. `forecast` is the policy's predictor: of an
    ordinal and its emitted tokens, the output tokens expected in all. `alone_ps` is the time that so many
    prompt and output tokens take on the empty engine.
    """

    machine: Machine
    most_urgent: int
    weights: Mapping[str, Fraction]
    sign: int = 1
    """-1 when the scenario's larger number is the more urgent; priorities here are already turned."""
    peaks: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    mean_prompt_tokens: Fraction = Fraction(0)
    mean_output_tokens: Fraction = Fraction(0)
    forecast: Callable[[int, int], int] = lambda ordinal, emitted: emitted + 1
    alone_ps: Callable[[int, int], int] = lambda prompt_tokens, output_tokens: 0
    iteration_ps: int = 0
    """An iteration of one decode: what a policy assumes before it has seen any."""


@cache
def as_written(number: float) -> Fraction:
    """The decimal that was written, exactly: 0.1 is one tenth."""
    return Fraction(repr(number))


def round_half_up(fraction: float, whole: int) -> int:
    """A fraction of a count, rounded half up on the decimal as written (0.15 of 10 is 2)."""
    part = as_written(fraction)
    return (2 * part.numerator * whole + part.denominator) // (2 * part.denominator)


def kept(aside: SetAside, idle: int) -> int:
    """Of an idle set-aside, what lower classes may not even borrow."""
    return idle - round_half_up(aside.lend_share, idle) if aside.lend else idle
