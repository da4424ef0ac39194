"""What a handful of seeds says of a mean: Student's t over independent runs, and over paired differences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

CONFIDENCE = 0.95

Value = float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds and the interval that holds the true mean with 95 %; n runs had a value.

    From one run there is no interval; from none there is no mean either.
    """

    mean: Value
    low: Value
    high: Value
    n: int


@dataclass(frozen=True, slots=True)
class Difference(Estimate):
    """A mean difference over the same seeds; `p` is the chance of one as large if there were none.

    `is_clear` is what remains of that beside the other policies compared, by Holm's rule at 5 %.
    """

    p: Value = None
    is_clear: bool = False


def t_quantile(freedom: int, probability: float = (1 + CONFIDENCE) / 2) -> float:
    """Quantile of Student's t, by the degrees of freedom."""
    from scipy.special import stdtrit  # a command that needs no interval does not wait for it

    return float(stdtrit(freedom, probability))


def mean_of(values: Iterable[Value]) -> Value:
    """The mean of those that there are."""
    known = [one for one in values if one is not None]
    return fsum(known) / len(known) if known else None


def estimate(values: Sequence[Value], least: Value = None, most: Value = None) -> Estimate:
    """The mean of independent runs with its interval, no further than what the figure can be."""
    known = [float(one) for one in values if one is not None]
    mean, error = _mean_and_error(known)
    if mean is None or error is None:
        return Estimate(mean, None, None, len(known))
    half = t_quantile(len(known) - 1) * error if error else 0.0
    low, high = mean - half, mean + half
    low = low if least is None else min(max(low, least), mean)
    high = high if most is None else max(min(high, most), mean)
    return Estimate(mean, low, high, len(known))


def _mean_and_error(known: Sequence[float]) -> tuple[Value, Value]:
    """The mean and its standard error; None where there are too few. Equal values have no error at all."""
    if not known:
        return None, None
    if min(known) == max(known):
        return known[0], 0.0 if len(known) > 1 else None
    mean = fsum(known) / len(known)
    spread = fsum((one - mean) ** 2 for one in known) / (len(known) - 1)
    return mean, sqrt(spread / len(known))


def difference(values: Sequence[Value], base: Sequence[Value]) -> Difference:
    """How much more on the same seeds, paired; seeds on which either has no value are left out."""
    paired = [
        float(mine) - float(other)
        for mine, other in zip(values, base, strict=True)
        if mine is not None and other is not None
    ]
    mean, error = _mean_and_error(paired)
    found = estimate(paired)
    if mean is None or error is None:
        return Difference(found.mean, None, None, found.n)
    if not error:
        return Difference(mean, mean, mean, found.n, p=0.0 if mean else 1.0)
    from scipy.special import stdtr

    p = 2 * float(stdtr(len(paired) - 1, -abs(mean) / error))
    return Difference(mean, found.low, found.high, found.n, p=p)


def holm(found: Sequence[Difference]) -> list[Difference]:
    """The same differences, each with whether it is clear beside the others.

    Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    order = sorted((one.p, place) for place, one in enumerate(found) if one.p is not None)
    clear: set[int] = set()
    for rank, (p, place) in enumerate(order):
        if p > (1 - CONFIDENCE) / (len(order) - rank):
            break
        clear.add(place)
    return [
        Difference(one.mean, one.low, one.high, one.n, one.p, place in clear)
        for place, one in enumerate(found)
    ]
