"""How often a request was overtaken: by lower ones, by later ones of its class, and by those spared for it.

These are counts of events. How long each made it wait is in `inversion` and `blame`.
"""

from bisect import bisect_left, insort
from itertools import groupby

import numpy as np

from sched.ahead import ahead
from sched.evidence import Evidence
from sched.log import Ints, Log
from sched.model import Outcome


def bypasses(seen: Evidence) -> Ints:
    """Less urgent requests admitted during each request's waits, those after a preemption too; shape (n,)."""
    found, stays = seen.waits, seen.log.stays
    level, of_stay = seen.levels.of_request[found.request], seen.levels.of_request[stays.request]
    count = np.zeros(len(seen.log.requests.ids), dtype=np.int64)
    passed = _lower_before(stays.start_ps, of_stay, found.to_ps, level)
    np.add.at(count, found.request, passed - _lower_before(stays.start_ps, of_stay, found.from_ps, level))
    return count


def _lower_before(at: Ints, level: Ints, until: Ints, asked: Ints) -> Ints:
    """For each `until`: how many events of a lower level than asked came before it."""
    order = np.argsort(np.concatenate((until, at)), kind="stable")  # At the same time who asks comes first.
    is_event = order >= len(until)
    levels, together = np.concatenate((asked, level))[order], np.zeros(len(order), dtype=np.int64)
    (not_lower,) = ahead(levels, [is_event.astype(np.int64)], together, True)
    found = np.empty_like(until)
    found[order[~is_event]] = (np.cumsum(is_event) - not_lower)[~is_event]
    return found


def order_inversions(log: Log) -> Ints:
    """Later ones of its class that were first admitted before each request, shape (n,).

    It is not a priority inversion. Who never got in counts those that did while it waited; equal times of
    arrival are in no order.
    """
    listed = log.requests
    cut_off = log.horizon_ps if log.horizon_ps >= 0 else log.end_ps
    ended = np.where(log.ended_ps >= 0, log.ended_ps, cut_off)
    has_started = log.first_scheduled_ps >= 0
    until = np.where(has_started, log.first_scheduled_ps, ended)
    found = np.zeros(len(listed.ids), dtype=np.int64)
    for one in range(len(listed.class_names)):
        own = np.flatnonzero((listed.class_index == one) & (log.outcome != Outcome.REFUSED))
        if (np.diff(until[own]) >= 0).all():
            continue
        starts: list[int] = []
        for _, together in groupby(own[::-1].tolist(), key=lambda row: int(listed.arrival_ps[row])):
            group = list(together)
            for request in group:
                found[request] = bisect_left(starts, int(until[request]))
            for request in group:
                if has_started[request]:
                    insort(starts, int(until[request]))
    return found


def preemption_inversions(seen: Evidence) -> Ints:
    """How often each request was preempted while one of lower urgency kept its place, shape (n,)."""
    preempted, stays = seen.log.preempted, seen.log.stays
    level, of_stay = seen.levels.of_request[preempted.victim], seen.levels.of_request[stays.request]
    found = np.zeros(len(seen.log.requests.ids), dtype=np.int64)
    # In the batch before the decision and after it: begun before, and not yet ended with it.
    begun = _lower_before(stays.iteration, of_stay, preempted.iteration, level)
    ended = _lower_before(stays.end_iteration, of_stay, preempted.iteration + 1, level)
    np.add.at(found, preempted.victim[begun > ended], 1)
    return found
