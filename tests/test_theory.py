"""The simulator comes to what queueing theory says."""

import numpy as np
import pytest

from sched.theory import kv_occupancy, kv_occupancy_of


def test_the_cache_of_a_stream_of_equal_requests_is_shot_noise() -> None:
    # 0.03 · (500·200 + 200²/2) = 3,600 token seconds a request, and (700³ - 500³)/3 = 72.67 million by 0.03.
    mean, variance = kv_occupancy(0.5, 500, 200, 0.03)
    assert mean == pytest.approx(1800.0, rel=1e-12)
    assert variance == pytest.approx(0.5 * 0.03 * (700**3 - 500**3) / 3, rel=1e-12)
    assert round(variance**0.5) == 1044


def test_streams_of_different_lengths_add_up() -> None:
    # A stream of two lengths is two streams of half the rate, and independent streams add mean and variance.
    both = kv_occupancy_of(3.0, np.array([100, 700]), np.array([50, 9]), 0.02)
    parts = np.add(kv_occupancy(1.5, 100, 50, 0.02), kv_occupancy(1.5, 700, 9, 0.02))
    assert both == pytest.approx(tuple(parts), rel=1e-12)


@pytest.mark.parametrize("numbers", [(-1.0, 5, 5, 0.1), (1.0, 5, -5, 0.1), (1.0, float("nan"), 5, 0.1)])
def test_occupancy_refuses_what_is_no_quantity(numbers: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        kv_occupancy(*numbers)
