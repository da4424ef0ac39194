"""The virtual token counter of each tenant, derived from the log of a run under any policy."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sched.engine import settings_of
from sched.inversion import Inversion
from sched.log import Ints, Log
from sched.model import NEVER, Outcome
from sched.occupancy import Bools
from sched.policies.base import as_written
from sched.policies.tenants import charges
from sched.scenario import Scenario
from sched.trajectories import Floats, Trajectory, first_stays, moments_of, most_asking, names_of, outputs_of

MOST_COUNTED = 64
"""Of more tenants than this no counters are derived: each of them could lift any other."""
ABORT, JOIN, QUEUE, LEAVE, ADMIT = range(5)
"""What happens at one decision, in this order: clients that had given up, arrivals, preemptions, arrivals
whose client had given up already, admissions.
"""


def counters(log: Log, scenario: Scenario, inversion: Inversion) -> Trajectory | None:
    """VTC's counter of each tenant at each decision and at the end, in tokens by the tenant's weight.

    By the rule of `vtc` with answers as they come: prompt tokens are charged at the first admission, output
    tokens as they come, and a tenant that comes back to an empty queue of its own is lifted to the smallest
    of those who wait, or else to the tenant that was let in last. Under `vtc` without predictions it is the
    policy's own counter; under any other policy what it would be for what that one served.
    None of several engines, and of more than MOST_COUNTED tenants.
    Source: Sheng et al., Fairness in serving large language models, OSDI 2024.
    """
    listed = log.requests
    if log.replicas or len(listed.weights) > MOST_COUNTED:
        return None
    vtc, by_name = settings_of(scenario, "vtc"), dict(zip(listed.tenant_names, listed.weights, strict=True))
    prices = [Fraction(1), as_written(vtc.prompt_weight), as_written(vtc.output_weight)]
    each, prompt, output = (list(table.values()) for table in charges(prices, by_name))
    outputs = outputs_of(log, inversion, np.arange(len(each)))
    base = _bases(log, prompt, output, outputs)
    some, unit = most_asking(log), float(each[0] * listed.weights[0]) if each else 1.0
    values = [base[one] / unit + outputs[one] * (output[one] / unit) for one in some.tolist()]
    shape = (len(some), log.iterations + 1)
    return Trajectory(names_of(log, some), moments_of(log), np.array(values, dtype=float).reshape(shape))


def _bases(log: Log, prompt: list[int], output: list[int], outputs: Ints) -> list[Floats]:
    """Each counter without the output tokens, at each decision and at the end: prompts and lifts."""
    listed, tenants = log.requests, len(prompt)
    base, waiting, last_served = [0] * tenants, [0] * tenants, NEVER
    rises = [np.zeros(log.iterations + 1) for _ in range(tenants)]
    charged = np.zeros(len(log.stays.request), dtype=bool)
    charged[first_stays(log)] = True
    for iteration, kind, row in _events(log):
        request = int(log.stays.request[row]) if kind == ADMIT else row
        tenant = int(listed.tenant_index[request])
        before = base[tenant]
        if kind == JOIN and not waiting[tenant]:
            others = [one for one in range(tenants) if waiting[one]]
            others = others or [last_served if last_served >= 0 else tenant]
            least = min(base[one] + output[one] * int(outputs[one, iteration]) for one in others)
            mine = output[tenant] * int(outputs[tenant, iteration])
            base[tenant] = max(base[tenant] + mine, least) - mine
        elif kind == ADMIT:
            last_served = tenant
            if charged[row]:
                base[tenant] += prompt[tenant] * int(listed.prompt_tokens[request])
        waiting[tenant] += 1 if kind in (JOIN, QUEUE) else -1
        rises[tenant][iteration] += base[tenant] - before
    return [np.cumsum(one) for one in rises]


def _events(log: Log) -> Iterator[tuple[int, int, int]]:
    """Who comes to the queue and leaves it, in the order of the engine: iteration ahead, kind, row.

    The row is that of the request; of an admission, that of the stay.
    """
    arrival, outcome, count = log.requests.arrival_ps, log.outcome, log.iterations
    end_ps = log.iteration_start_ps + log.iteration_duration_ps
    came = np.flatnonzero((outcome != Outcome.REFUSED) & ~_turned_away(log))
    if log.horizon_ps >= 0:
        came = came[arrival[came] < log.horizon_ps]
    # An arrival during an iteration is taken in when that has ended; into an idle engine it comes at once.
    ahead = np.searchsorted(end_ps, arrival[came], "left")
    inside = (ahead < count) & (
        np.append(log.iteration_start_ps, 0)[np.minimum(ahead, count)] < arrival[came]
    )
    taken = np.full(len(outcome), NEVER, dtype=np.int64)
    at = np.where(inside, np.append(end_ps, 0)[np.minimum(ahead, count)], arrival[came])
    taken[came] = at
    stays, gone = log.stays, log.preempted
    waited_ps = np.full(len(outcome), NEVER, dtype=np.int64)
    np.maximum.at(waited_ps, stays.request, stays.end_ps)
    left = came[
        np.isin(outcome[came], (Outcome.TIMED_OUT, Outcome.SHED)) & (log.ended_ps[came] != waited_ps[came])
    ]
    rows: list[tuple[int, int, int, int]] = []
    rows += zip(at.tolist(), [JOIN] * len(came), came.tolist(), came.tolist(), strict=True)
    rows += zip(
        gone.at_ps.tolist(),
        [QUEUE] * len(gone.at_ps),
        range(len(gone.at_ps)),
        gone.victim.tolist(),
        strict=True,
    )
    rows += [
        (ended, LEAVE if taken[one] >= ended else ABORT, one, one)
        for one, ended in zip(left.tolist(), log.ended_ps[left].tolist(), strict=True)
    ]
    rows += zip(
        stays.start_ps.tolist(),
        [ADMIT] * len(stays.seq),
        stays.seq.tolist(),
        range(len(stays.seq)),
        strict=True,
    )
    rows.sort()
    moments = np.searchsorted(log.iteration_start_ps, [row[0] for row in rows]).tolist()
    return ((moment, kind, row) for moment, (_, kind, _, row) in zip(moments, rows, strict=True))


def _turned_away(log: Log) -> Bools:
    """Those shed on arrival, who never were in the queue."""
    return np.asarray((log.outcome == Outcome.SHED) & (log.ended_ps == log.requests.arrival_ps))
