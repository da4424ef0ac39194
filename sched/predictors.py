"""What a scheduler may believe about lengths: predictions of output tokens with a chosen error.

A prediction belongs to its request: it is drawn from a stream of its own in the order of the request list,
so no policy can shift it. Sources: Fu et al., Learning to rank (LTR), NeurIPS 2024; Shahout et al., TRAIL,
ICLR 2025.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from sched.lengths import Ints
from sched.randomness import Floats, exponential, normal_quantile, sine_of_turn, stream
from sched.workload import RequestList

KINDS = ("oracle", "lognormal", "bucket", "rank", "refreshed")
_BUCKETS = 10

Forecast = Callable[[int, int], int]
"""Of a request's ordinal and its emitted tokens: the output tokens predicted in all, more than emitted."""


def predictions(listed: RequestList, kind: str, error: float, tau: float, seed: int) -> Ints:
    """Predicted output tokens of each request before its first token, shape (n,), at least 1.

    oracle: the truth. lognormal: the truth times exp(error * Z). bucket: the middle of its decile among all.
    rank: lengths of the list in an order that agrees with the true one up to Kendall's `tau`. refreshed:
    begins as lognormal; see `forecast`.
    """
    true = listed.output_tokens.astype(np.float64)
    if kind == "oracle" or not len(true):
        return listed.output_tokens
    if kind == "bucket":
        drawn = _bucket_middles(true)
    elif kind == "rank":
        drawn = _ranked(true, tau, seed)
    else:
        drawn = true * exponential(stream(seed, "predictor").normals(len(true)) * error)
    return np.maximum(np.rint(np.minimum(drawn, 2.0**40)), 1.0).astype(np.int64)


def _bucket_middles(true: Floats) -> Floats:
    """The median of the tenth of the list into which each length falls."""
    order = np.argsort(true, kind="stable")
    found = np.empty_like(true)
    for part in np.array_split(order, _BUCKETS):
        if len(part):
            found[part] = true[part[len(part) // 2]]
    return found


def _ranked(true: Floats, tau: float, seed: int) -> Floats:
    """The list's lengths dealt out by a score whose order agrees with the true one up to Kendall's tau.

    For normal scores tau = 2/pi arcsin(correlation); normal scores of the true ranks get as much noise.
    """
    count = len(true)
    correlation = float(sine_of_turn(np.array([max(0.0, min(1.0, tau)) / 4.0]))[0])
    order = np.argsort(true, kind="stable")
    score = np.empty(count)
    score[order] = normal_quantile((np.arange(count) + 0.5) / count)
    noise = stream(seed, "predictor").normals(count)
    seen = score * correlation + noise * sqrt(max(0.0, 1.0 - correlation * correlation))
    found = np.empty(count)
    found[np.argsort(seen, kind="stable")] = true[order]
    return found


def forecast(listed: RequestList, kind: str, error: float, tau: float, seed: int) -> Forecast:
    """The belief about a request after so many tokens; one that outlives its prediction has it doubled.

    refreshed: the remaining part is predicted anew at each token with the error it began with, in proportion
    to what is left, so the error shrinks as tokens come (TRAIL's embedding-based predictor).
    """
    first: list[int] = predictions(listed, kind, error, tau, seed).tolist()
    if kind == "oracle":
        return lambda ordinal, emitted: max(first[ordinal], emitted + 1)
    if kind == "refreshed":
        true: list[int] = listed.output_tokens.tolist()

        def refreshed(ordinal: int, emitted: int) -> int:
            left = max(1, true[ordinal] - emitted)
            return emitted + max(1, left * first[ordinal] // true[ordinal])

        return refreshed

    def doubled(ordinal: int, emitted: int) -> int:
        total = first[ordinal]
        while total <= emitted:
            total += total
        return total

    return doubled
