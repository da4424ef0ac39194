"""The laws that requests follow when they are generated: when they arrive, and how long they are."""

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from sched.fields import Part, Real, Whole, knob, problem, whole

MOST_TOKENS = 10_000_000
"""No prompt or output is longer than this."""
LEAST_STEP = 1e-9
"""Quantiles nearer to each other than this share of the requests make a slope that is no number."""


class Poisson(Part):
    """Independent arrivals: the time to the next one is exponential."""

    kind: Literal["poisson"] = "poisson"


class GammaGaps(Part):
    """Renewal arrivals whose gaps follow a gamma law: in clumps above CV 1, regular below."""

    kind: Literal["gamma"] = "gamma"
    cv: Real = knob(
        1.0,
        "Burstiness (CV of gaps)",
        "Standard deviation of the gaps over their mean: 1 is Poisson, 0 is a clock.",
        low=0.0,
        high=50.0,
        step=0.05,
    )


class OnOff(Part):
    """Poisson arrivals during exponential ON periods, silence between them; the mean rate is kept."""

    kind: Literal["onoff"] = "onoff"
    on_s: Real = knob(
        10.0, "Mean ON period", "Mean length of a burst.", unit="s", low=1e-6, high=86400.0, step=1.0
    )
    off_s: Real = knob(
        30.0, "Mean OFF period", "Mean silence between bursts.", unit="s", low=0.0, high=86400.0, step=1.0
    )


class Diurnal(Part):
    """Poisson arrivals whose rate follows a wave: mean rate times (1 + (peak - 1) sin)."""

    kind: Literal["diurnal"] = "diurnal"
    period_s: Real = knob(
        600.0,
        "Period",
        "Length of one wave; 86,400 is a day.",
        unit="s",
        low=1e-6,
        high=8640000.0,
        step=10.0,
    )
    peak: Real = knob(1.6, "Peak over mean", "Highest rate over the mean rate.", low=1.0, high=2.0, step=0.05)
    phase: Real = knob(
        0.0,
        "Phase",
        "Where in the wave the run starts: 0 rises from the mean, 0.75 is the trough.",
        low=0.0,
        high=1.0,
    )


class Dump(Part):
    """A batch client that drops `size` requests at once, again and again; the mean rate is kept.

    Dumps start at `first_s` and repeat every size / rate_per_s seconds; inside one, requests are
    1 / within_per_s apart.
    """

    kind: Literal["dump"] = "dump"
    size: Whole = knob(
        60, "Requests per dump", "How many come together.", unit="requests", low=1, high=100_000, step=1
    )
    first_s: Real = knob(
        0.0, "First dump", "When the first dump starts.", unit="s", low=0.0, high=8640000.0, step=1.0
    )
    within_per_s: Real = knob(
        50.0,
        "Rate inside a dump",
        "How fast the requests of one dump follow each other.",
        unit="requests/s",
        low=1e-6,
        high=1e6,
        step=1.0,
    )


class Bursts(Part):
    """Editor completions: sessions ON and OFF, and inside ON micro-bursts of a few requests close together.

    Sessions last exp(on_s) and pause exp(off_s); micro-bursts are Poisson in ON and hold a geometric number
    of requests with mean `size`, exp(gap_s) apart. The mean rate is kept. Source: fitted to Azure LLM 2023
    code.
    """

    kind: Literal["bursts"] = "bursts"
    on_s: Real = knob(
        23.0, "Mean session", "Mean length of a session.", unit="s", low=1e-6, high=86400.0, step=1.0
    )
    off_s: Real = knob(
        53.0, "Mean pause", "Mean pause between sessions.", unit="s", low=0.0, high=86400.0, step=1.0
    )
    size: Real = knob(
        16.0,
        "Requests per micro-burst",
        "Mean of the geometric law.",
        unit="requests",
        low=1.0,
        high=10_000.0,
    )
    gap_s: Real = knob(
        0.12,
        "Gap inside a micro-burst",
        "Mean, exponential.",
        unit="s",
        above=0.0,
        high=3600.0,
        step=0.01,
    )


Arrivals = Annotated[Poisson | GammaGaps | OnOff | Diurnal | Dump | Bursts, Field(discriminator="kind")]


def _clip(default: int | None, title: str, help: str) -> Any:
    return knob(default, title, help, unit="tokens", low=1, high=MOST_TOKENS, step=1)


def _mean() -> Any:
    return knob(
        ...,
        "Mean length",
        "Mean before clipping.",
        unit="tokens",
        above=0.0,
        high=float(MOST_TOKENS),
        step=10.0,
    )


class Clipped(Part):
    """A law whose values are rounded to whole tokens and clipped to [min, max]."""

    min: Whole = _clip(1, "Shortest", "Anything shorter becomes this long.")
    max: Whole | None = _clip(None, "Longest", "Anything longer becomes this long; none: as it comes.")

    @model_validator(mode="after")
    def _ordered(self) -> "Clipped":
        if self.max is not None and self.max < self.min:
            raise problem(f"max = {self.max} tokens: must be at least min = {self.min}")
        return self


class ConstantLength(Part):
    """Every request has the same length."""

    kind: Literal["constant"] = "constant"
    tokens: Whole = _clip(..., "Length", "The length of every request.")  # type: ignore[arg-type]


class LognormalLength(Clipped):
    """A lognormal law given by its mean and its coefficient of variation."""

    kind: Literal["lognormal"] = "lognormal"
    mean: Real = _mean()
    cv: Real = knob(
        1.0, "Spread (CV)", "Standard deviation over mean; 0: all equal.", low=0.0, high=20.0, step=0.05
    )


class GammaLength(Clipped):
    """A gamma law given by its mean and its coefficient of variation."""

    kind: Literal["gamma"] = "gamma"
    mean: Real = _mean()
    cv: Real = knob(
        1.0, "Spread (CV)", "Standard deviation over mean; 0: all equal.", low=0.0, high=20.0, step=0.05
    )


class ExponentialLength(Clipped):
    """An exponential law."""

    kind: Literal["exponential"] = "exponential"
    mean: Real = _mean()


class UniformLength(Part):
    """Every whole number of tokens from min to max is equally likely."""

    kind: Literal["uniform"] = "uniform"
    min: Whole = _clip(..., "Shortest", "The least length.")  # type: ignore[arg-type]
    max: Whole = _clip(..., "Longest", "The greatest length.")  # type: ignore[arg-type]

    @model_validator(mode="after")
    def _ordered(self) -> "UniformLength":
        if self.max < self.min:
            raise problem(f"max = {self.max} tokens: must be at least min = {self.min}")
        return self


def _points(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) < 2:
        raise problem("must be a list of at least two pairs [share of requests, tokens]")
    pairs: list[tuple[float, float]] = []
    for pair in value:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise problem("must be a list of pairs [share of requests, tokens]")
        share, tokens = pair
        for number in pair:
            if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
                raise problem("must be a list of pairs of numbers")
        if not 0 <= tokens <= MOST_TOKENS:
            raise problem(f"holds {tokens} tokens: lengths must be from 0 to {MOST_TOKENS}")
        pairs.append((float(share), float(tokens)))
    if pairs[0][0] != 0.0 or pairs[-1][0] != 1.0:
        raise problem("must begin with share 0 and end with share 1")
    if any(b[0] - a[0] < LEAST_STEP or a[1] > b[1] for a, b in pairwise(pairs)):
        raise problem(
            f"must rise: every share at least {LEAST_STEP:g} above the one before it, no length below "
            "the one before it"
        )
    return tuple(pairs)


class QuantileLength(Clipped):
    """A measured law: straight lines between quantiles, so any shape, also several humps."""

    kind: Literal["quantiles"] = "quantiles"
    points: Annotated[tuple[tuple[float, float], ...], BeforeValidator(_points)] = knob(
        ..., "Quantiles", "Pairs [share of requests, tokens]: this share is at most that long.", expert=True
    )


Length = Annotated[
    ConstantLength | LognormalLength | GammaLength | ExponentialLength | UniformLength | QuantileLength,
    Field(discriminator="kind"),
]

__all__ = ["MOST_TOKENS", "Arrivals", "Length", "whole"]
