"""How many of the first requests still tell of the empty engine that a run begins with."""

from collections.abc import Sequence

BATCH = 5
RESIDENCES = 5
"""A warm-up is to last at least so many stays of the class that stays longest."""


def mser5(values: Sequence[int]) -> int:
    """How many of the first values to leave out: whole batches of five, never more than half of them.

    The values are cut into batches of five (what is left over at the end is not used); of every number of
    batches to leave out, up to half, the one is taken after which the squared error of the mean,
    sum (z - mean)² / n², is smallest. Of equals the fewest are left out. Whole numbers are compared exactly,
    so that adding one number to all of them changes nothing.
    Source: White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69,
    1997; batches of five as in White, Cobb and Spratt, Winter Simulation Conference, 2000.
    """
    sums = [sum(values[at : at + BATCH]) for at in range(0, len(values) - BATCH + 1, BATCH)]
    count, total, squares = 0, 0, 0
    found, least, least_cubed = 0, 0, 0
    for left_out in range(len(sums) - 1, -1, -1):
        one = sums[left_out]
        count, total, squares = count + 1, total + one, squares + one * one
        if left_out > len(sums) // 2:
            continue
        # n times the sum of squares about the mean is whole; over n³ it is the squared error.
        error, cubed = count * squares - total * total, count**3
        if not least_cubed or error * least_cubed <= least * cubed:
            found, least, least_cubed = left_out, error, cubed
    return found * BATCH
