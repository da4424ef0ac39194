"""How long a request would wait where nothing bounds it: a guide line from how much lower ones usually hold.

Lower requests' blocks are taken as shot noise: each holds some for a while, and they come independently. Then
mean and variance are rates times integrals, the sum is nearly normal, and a request that needs N of K blocks
finds them at a decision with probability P, else after about tau (1 - P) / P, tau being how long a lower one
stays. An approximation: the real occupancy is cut off at K.
"""

from math import erf, sqrt
from typing import NamedTuple

import numpy as np

from sched.evidence import Evidence
from sched.model import PS_PER_S


class Guide(NamedTuple):
    """Blocks that lower requests hold (mean, standard deviation), the chance to fit beside them, and times in
    seconds; `expected_s` is None where the chance is none.
    """

    mean: float
    deviation: float
    chance: float
    expected_s: float | None


def guide(seen: Evidence, request: int, need_blocks: int) -> Guide | None:
    """The guide line for a request that needs so many blocks; None where no lower one was in the batch."""
    log, level = seen.log, seen.levels.of_request
    held = seen.held.take(level[seen.held.request] > level[request])
    if not len(held) or not log.end_ps:
        return None
    edges = np.append(log.iteration_start_ps, log.end_ps)
    length = (edges[np.minimum(held.end, log.iterations)] - edges[held.iteration]) / PS_PER_S
    row = np.arange(len(held))
    first = held.claimed(row, held.iteration, log.machine)
    last = held.claimed(row, held.end - 1, log.machine)
    # Blocks grow evenly within a piece.
    whole = log.end_ps / PS_PER_S
    mean = float((length * (first + last)).sum()) / 2 / whole
    variance = float((length * (first * first + first * last + last * last)).sum()) / 3 / whole
    stays = log.stays
    of_lower = level[stays.request] > level[request]
    residence = float((stays.end_ps - stays.start_ps)[of_lower].mean()) / PS_PER_S
    room = log.machine.kv_blocks - need_blocks
    chance = 0.5 * (1 + erf((room - mean) / sqrt(2 * variance))) if variance else float(mean <= room)
    expected = residence * (1 - chance) / chance if chance > 0 else None
    return Guide(mean, sqrt(variance), chance, expected)
