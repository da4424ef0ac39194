"""When a waiting request would fit if nobody else were let past it: a distribution, not a promise.

The finishes of those in the batch and of those before it in the queue are drawn from what their classes'
lengths say, and played forward in order: who leaves gives blocks and a seat back, who decodes takes a block
whenever its last is full, who stands in front enters first, and where memory runs out the one preempts that
the policy would. Time is the iteration in progress and then the present pace.
"""

from typing import NamedTuple

import numpy as np

from sched.believed import FAR
from sched.evidence import Evidence
from sched.forecast import Rules, crowd
from sched.forward import forward
from sched.inversion import Inversion
from sched.policies import POLICIES
from sched.randomness import stream
from sched.residual import ClassLengths, Lengths, draws

DRAWS = 60
CELLS = 6_000
"""Draws times requests of an estimate: fewer draws where many are looked at."""
PACE = 16
"""Iterations over which the present pace is taken."""
P10, P50, P90 = 10, 50, 90


class Estimate(NamedTuple):
    """Picoseconds from the start of a slot until the wait would end; None: not by what is known here.

    `cap_ps` is what it comes to when everybody is as long as the longest of its class. `iterations` are the
    same quantiles counted in iterations.
    """

    p10_ps: int | None
    p50_ps: int | None
    p90_ps: int | None
    cap_ps: int | None
    iterations: tuple[int | None, int | None, int | None]


def pace_ps(seen: Evidence, slot: int) -> int:
    """Mean length of the last iterations up to this one."""
    first = max(0, slot + 1 - PACE)
    begin = seen.time.begin_ps
    return int(begin[slot + 1] - begin[first]) // (slot + 1 - first)


def estimate(
    inversion: Inversion, wait: int, slot: int, lengths: Lengths | None = None, rules: Rules | None = None
) -> Estimate:
    """The estimate for a wait at the start of a slot; the engine must not stand idle then.

    `rules` are the log's own; where it carries none, the policy is taken to have the usual settings.
    """
    seen = inversion.seen
    believed = ClassLengths(seen.log.requests) if lengths is None else lengths
    policy: Rules = rules or seen.log.rules or POLICIES[seen.log.policy]
    there = crowd(seen, wait, slot, policy)
    count = max(8, min(DRAWS, CELLS // max(1, len(there.request))))
    share = draws(stream(0, "eta", str(wait), str(slot)), count, len(there.request))
    machine = seen.log.machine
    prompt = seen.log.requests.prompt_tokens[there.request]
    drawn = believed.totals(there.request, there.emitted, share)
    most = believed.most(there.request, there.emitted)[None, :]
    *steps, longest = forward(machine, policy, there, prompt + np.concatenate((drawn, most)))
    ordered = sorted(steps)
    ranks = [-(-part * count // 100) - 1 for part in (P10, P50, P90)]
    low, middle, high, cap = (_known(one) for one in (*(ordered[rank] for rank in ranks), longest))
    times = (_time(seen, slot, one) for one in (low, middle, high, cap))
    p10_ps, p50_ps, p90_ps, cap_ps = times
    return Estimate(p10_ps, p50_ps, p90_ps, cap_ps, (low, middle, high))


def _known(steps: int) -> int | None:
    return steps if steps < FAR else None


def _time(seen: Evidence, slot: int, steps: int | None) -> int | None:
    """So many iterations from this one on: how long it takes is known, the others go at the present pace."""
    if steps is None:
        return None
    return int(seen.time.length_ps[slot]) + (steps - 1) * pace_ps(seen, slot) if steps else 0
