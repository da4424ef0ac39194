"""Closed forms for memory: what streams of requests hold, and what a full cache costs."""

from math import ceil, inf, sqrt
from typing import cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def kv_occupancy(
    rate_per_s: float, prompt_tokens: float, output_tokens: float, tpot_s: float
) -> tuple[float, float]:
    """Mean and variance of the cached tokens that a Poisson stream of equal requests holds.

        mean = λ·τ·(p·o + o²/2)     variance = λ·τ·((p + o)³ - p³)/3

    Exact where nobody waits: a request then holds p tokens at first and one more every `tpot_s` (τ) until it
    has all of its o. Returns tokens and tokens². Raises ValueError for a negative or unknown number.
    Source: Campbell's theorem for shot noise, as in Rice, Mathematical analysis of random noise, 1944.
    """
    return kv_occupancy_of(rate_per_s, np.array([prompt_tokens]), np.array([output_tokens]), tpot_s)


def kv_occupancy_of(
    rate_per_s: float, prompt_tokens: NDArray[np.generic], output_tokens: NDArray[np.generic], tpot_s: float
) -> tuple[float, float]:
    """The same for a stream whose lengths are drawn from these: one entry a request, shape (n,), n > 0."""
    prompt = cast(Floats, np.asarray(prompt_tokens, np.float64))
    output = cast(Floats, np.asarray(output_tokens, np.float64))
    if prompt.ndim != 1 or prompt.shape != output.shape or not len(prompt):
        raise ValueError(
            f"prompts of shape {prompt.shape}, outputs of {output.shape}: give one of each a request"
        )
    least = min(float(prompt.min()), float(output.min()), rate_per_s, tpot_s)
    if not (least >= 0.0 and np.isfinite([prompt.max(), output.max(), rate_per_s, tpot_s]).all()):
        raise ValueError("rate, lengths and time per token must be numbers of at least 0")
    held = prompt * output + output**2 / 2.0
    # ((p + o)³ - p³) / 3 without the difference of two large cubes.
    squares = output * (prompt**2 + prompt * output + output**2 / 3.0)
    stream = rate_per_s * tpot_s
    return stream * float(held.mean()), stream * float(squares.mean())


def kv_seconds(prompt_tokens: int, output_tokens: int, tpot_s: float, block_size: int = 1) -> float:
    """Cached tokens times seconds of a request that is never preempted, whole blocks counted: an exact sum.

    Its i-th iteration, i = 1 ... o, holds p + i - 1 tokens, which take up whole blocks.
    """
    if min(prompt_tokens, output_tokens, block_size) < 1 or not 0.0 < tpot_s < inf:
        raise ValueError("lengths, block size and time per token must be above 0")

    def blocks_up_to(tokens: int) -> int:
        """Sum of ceil(t / b) for t = 1 ... tokens."""
        full, rest = divmod(tokens, block_size)
        return block_size * full * (full + 1) // 2 + rest * (full + 1)

    blocks = blocks_up_to(prompt_tokens + output_tokens - 1) - blocks_up_to(prompt_tokens - 1)
    return block_size * blocks * tpot_s


def kv_capacity_per_s(kv_tokens: float, kv_seconds_each: float, seat_share: float = 0.0) -> float:
    """Most requests per second that a cache sustains: K / E∫KV dt, or 1 / (share of the engine each takes).

    The smaller of the two; `seat_share` is in seconds of the whole engine, 0 where it sets no bound. A bound
    that no policy passes, because the cache is never more than full. Source: Little, A proof for the queuing
    formula L = λW, Operations Research 9, 1961, in its form H = λG.
    """
    if not (0.0 < kv_tokens < inf and 0.0 < kv_seconds_each < inf and 0.0 <= seat_share < inf):
        raise ValueError("cache and token seconds must be above 0, the share of the engine at least 0")
    return min(kv_tokens / kv_seconds_each, 1.0 / seat_share if seat_share else inf)


def head_of_line_rate_per_s(small: float, mean_s: float, step_s: float = 0.0) -> float:
    """Most requests per second through two KV units first come first served: μ / (1 - q²/2).

    A share q = `small` needs one unit, the others both; all take exponential times of the same mean 1/μ, and
    nothing behind a request that does not fit is admitted. From one large request to the next: it alone takes
    1/μ, then G small ones with P(G = g) = q^g·(1 - q), of which the last drain before the next large one
    starts: [q + q²/(2·(1 - q))]/μ on average; and 1/(1 - q) requests are served.

    With `step_s` all ends fall on its multiples, the last step having the chance r = step·μ, and two may end
    in one: the small ones then take [q² + a·q·(1 - q)/r] / (a - 2·r·(1 - r)·q - r²·q²) steps on average,
    where a = 1 - (1 - r)² is the chance that one of two ends.
    """
    _check(small, mean_s)
    if not 0.0 <= step_s < mean_s:
        raise ValueError(f"step = {step_s:g} s: must be at least 0 and below the mean of {mean_s:g} s")
    if step_s == 0.0 or small == 1.0:
        return 1.0 / (mean_s * (1.0 - small * small / 2.0))
    stop = step_s / mean_s
    either = stop * (2.0 - stop)
    drained = small**2 + either * small * (1.0 - small) / stop
    steps = drained / (either - 2.0 * stop * (1.0 - stop) * small - (stop * small) ** 2)
    return 1.0 / ((1.0 - small) * (mean_s + steps * step_s))


def fluid_rate_per_s(small: float, mean_s: float) -> float:
    """Most requests per second through the same two units if none ever lay idle: 2·μ / (2 - q)."""
    _check(small, mean_s)
    return 2.0 / (mean_s * (2.0 - small))


def batch_loss(fill: float, variable_over_fixed: float) -> float:
    """Throughput of a batch that is filled to this share, as a share of that of the full one.

        f·(1 + φ) / (1 + f·φ)

    φ is the variable over the fixed time of a full iteration: f·M requests take t0·(1 + f·φ) an iteration.
    """
    if not (0.0 < fill <= 1.0 and 0.0 <= variable_over_fixed < inf):
        raise ValueError("the filled share must be above 0 and at most 1, and the ratio at least 0")
    return fill * (1.0 + variable_over_fixed) / (1.0 + fill * variable_over_fixed)


def repeated_boost_s(
    calls_per_s: float, level: float = 100.0, boost_per_s: float = 10.0, threshold_s: float = 5.0
) -> float:
    """When a boost that every call subtracts again has taken a level to 0; meant was threshold + level/boost.

    At each call, 1/r apart and one of them at the threshold, what is subtracted is boost·(wait - threshold):
    after n calls boost·n·(n + 1)/(2·r) in all, so n is the first with n·(n + 1) >= 2·r·level/boost, and the
    time is threshold + n/r.
    """
    if not min(calls_per_s, level, boost_per_s) > 0.0 or not threshold_s >= 0.0:
        raise ValueError("calls, level and boost must be above 0, and the threshold at least 0")
    needed = 2.0 * calls_per_s * level / boost_per_s
    calls = max(1, ceil((sqrt(1.0 + 4.0 * needed) - 1.0) / 2.0))
    # The root may fall on either side of a whole number by rounding.
    calls = next(n for n in (calls - 1, calls, calls + 1) if n > 0 and n * (n + 1) >= needed * (1.0 - 1e-12))
    return threshold_s + calls / calls_per_s


def _check(small: float, mean_s: float) -> None:
    if not (0.0 <= small <= 1.0 and 0.0 < mean_s < inf):
        raise ValueError("the share of small requests must be from 0 to 1, and the mean time above 0")
