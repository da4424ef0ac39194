"""What queueing theory says that a simulation must come to: closed forms, each with its source."""

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
