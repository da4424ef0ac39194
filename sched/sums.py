"""Sums of whole picoseconds that are exact whatever their size, and the figures made of them in seconds."""

import numpy as np

from sched.blame import Exact
from sched.log import Ints
from sched.model import PS_PER_S

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99}


def seconds(ps: int) -> float:
    """Picoseconds as seconds, correctly rounded."""
    return int(ps) / PS_PER_S


def exact_sum(values: Exact) -> int:
    """Sum of non-negative whole numbers that may exceed 64 bits."""
    if values.dtype == object:
        return int(values.sum())
    return (int((values >> 31).sum()) << 31) + int((values & (2**31 - 1)).sum())


def exact_dot(units: Ints, lengths: Ints) -> int:
    """Sum of products of non-negative whole numbers; what would exceed 64 bits is taken in two parts."""
    if not len(units):
        return 0
    if int(units.max()) * int(lengths.max()) * len(units) < 2**63:
        return int((units * lengths).sum())
    half = int(lengths.max()).bit_length() // 2
    if not half:
        return sum(map(int.__mul__, units.tolist(), lengths.tolist()))
    return (exact_dot(units, lengths >> half) << half) + exact_dot(units, lengths & (2**half - 1))


def five(values: Ints) -> dict[str, float | None]:
    """Mean, nearest-rank percentiles and maximum of picoseconds, in seconds; all None of nothing."""
    count = len(values)
    if not count:
        return dict.fromkeys(("mean", *PERCENTILES, "max"))
    ordered = np.sort(values)
    ranks = {name: seconds(ordered[-(-percent * count // 100) - 1]) for name, percent in PERCENTILES.items()}
    return {"mean": exact_sum(ordered) / (count * PS_PER_S), **ranks, "max": seconds(ordered[-1])}
