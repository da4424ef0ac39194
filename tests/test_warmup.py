"""The warm-up by MSER-5: by hand on short series, and what must not change it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sched.warmup import BATCH, mser5


def batches(*means: int) -> list[int]:
    """Five equal values for each mean."""
    return [mean for mean in means for _ in range(BATCH)]


@pytest.mark.parametrize(
    ("values", "left_out"),
    [
        ([], 0),
        ([1, 2, 3, 4], 0),  # not one batch
        (batches(9), 0),
        (batches(3, 3, 3, 3), 0),  # no error whatever is left out: of equals the fewest
        (batches(9, 0, 0, 0), 5),  # no error after one; after two neither, but one is fewer
        (batches(9, 6, 3, 0, 0, 0), 15),  # after three of six no error
        # All four: 60.75 / 16 = 3.80; the last three: 54 / 9; the last two: 40.5 / 4.
        (batches(0, 0, 0, 9), 0),
        # Two at the end are without error, but half is three: 108 / 36 = 3, 97.2 / 25, 81 / 16, 54 / 9.
        (batches(9, 9, 9, 9, 0, 0), 0),
        (batches(9, 0, 0, 0) + [100] * 4, 5),  # four left over are not used
    ],
)
def test_the_truncation_on_paper(values: list[int], left_out: int) -> None:
    assert mser5(values) == left_out


series = st.lists(st.integers(-(10**15), 10**15), max_size=90)


def slow(values: list[int]) -> int:
    """The definition, in fractions."""
    means = [Fraction(sum(values[at : at + 5]), 5) for at in range(0, len(values) // 5 * 5, 5)]
    errors = []
    for left_out in range(len(means) // 2 + 1):
        rest = means[left_out:]
        if rest:
            mean = sum(rest, Fraction()) / len(rest)
            errors.append(sum((one - mean) ** 2 for one in rest) / len(rest) ** 2)
    return 5 * errors.index(min(errors)) if errors else 0


@given(series)
def test_it_is_the_definition(values: list[int]) -> None:
    assert mser5(values) == slow(values)


@given(series, st.integers(-(10**18), 10**18), st.integers(1, 1000))
def test_shift_and_unit_change_nothing(values: list[int], shift: int, unit: int) -> None:
    found = mser5(values)
    assert mser5([value + shift for value in values]) == found == mser5([unit * value for value in values])
    assert 2 * found <= len(values) and found % BATCH == 0
