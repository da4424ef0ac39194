"""How long prompts and outputs are: whole tokens drawn from a scenario's length law, one number a request."""

from math import sqrt
from typing import Any

import numpy as np

from sched.laws import (
    MOST_TOKENS,
    ConstantLength,
    ExponentialLength,
    GammaLength,
    Length,
    LognormalLength,
    QuantileLength,
    UniformLength,
)
from sched.randomness import NEGLIGIBLE_CV, Floats, Stream, exponential, natural_log

Ints = np.ndarray[Any, np.dtype[np.int64]]


def lengths(law: Length, source: Stream, count: int) -> Ints:
    """Lengths of `count` requests in tokens; request i takes the i-th numbers of the stream."""
    if isinstance(law, ConstantLength):
        return np.full(count, law.tokens, dtype=np.int64)
    if isinstance(law, UniformLength):
        spread = law.max - law.min + 1
        return np.minimum(np.floor(source.uniforms(count) * spread).astype(np.int64), spread - 1) + law.min
    drawn = np.minimum(np.maximum(_drawn(law, source, count), float(law.min)), float(law.max or MOST_TOKENS))
    return np.rint(drawn).astype(np.int64)


def _drawn(
    law: LognormalLength | GammaLength | ExponentialLength | QuantileLength, source: Stream, count: int
) -> Floats:
    """The law before clipping and rounding."""
    if isinstance(law, QuantileLength):
        return _interpolated(source.uniforms(count), *np.array(law.points).T)
    if isinstance(law, ExponentialLength):
        return source.exponentials(count) * law.mean
    if law.cv == 0.0:
        return np.full(count, law.mean)
    if isinstance(law, GammaLength):
        if law.cv < NEGLIGIBLE_CV:
            return np.full(count, law.mean)
        shape = 1.0 / (law.cv * law.cv)
        return source.gammas(count, shape) * (law.mean / shape)
    variance = float(natural_log(np.array([1.0 + law.cv * law.cv]))[0])
    centre = float(natural_log(np.array([law.mean]))[0]) - 0.5 * variance
    return exponential(source.normals(count) * sqrt(variance) + centre)


def _interpolated(at: Floats, shares: Floats, tokens: Floats) -> Floats:
    """Straight lines between quantiles. Not `np.interp`, whose compiler may fuse the product and the sum."""
    right = np.searchsorted(shares, at, side="left").clip(1, len(shares) - 1)
    left = right - 1
    slopes = (tokens[1:] - tokens[:-1]) / (shares[1:] - shares[:-1])
    result: Floats = tokens[left] + (at - shares[left]) * slopes[left]
    return result
