"""What urgent requests could have been told while they waited: in about how long they would fit.

An estimate takes about a millisecond, so they are made after the stage is drawn, and reach it by themselves.
"""

import zlib
from collections.abc import Iterable

import numpy as np
import streamlit as st

from sched.eta import estimate
from sched.external import link
from sched.forecast import before_in_queue
from sched.model import PS_PER_S
from sched.page.component import hidden
from sched.page.results import Result, alone
from sched.residual import ClassLengths
from sched.view import Shown

MOST_WAITS, TIMES = 8, 3
"""Of so many waits, the longest, at so many moments of each."""
MOST_PLAYED = 30_000
"""So many requests are played forward for a run in all: behind a long queue fewer estimates are made."""
SHORT_PS = PS_PER_S // 4

Told = tuple[tuple[str, float, float], ...]
"""Request, moment, and from then on the median of when it would fit, in seconds; in order of time."""


def stamp(payloads: Iterable[bytes]) -> int:
    """By which the stage knows that estimates are of the runs that it shows."""
    found = 0
    for one in payloads:
        found = zlib.crc32(one, found)
    return found


@st.cache_resource(max_entries=64, show_spinner=False)
def _told(form: str, key: str, _run: Result) -> Told:
    log, inversion = _run.log, _run.inversion
    if log.replicas or not len(log.requests.ids):
        return ()
    seen, priority = inversion.seen, log.requests.priority
    waits, lengths, begin = seen.waits, ClassLengths(log.requests), seen.time.begin_ps
    long = waits.to_ps - waits.from_ps
    late = np.flatnonzero((priority[waits.request] == priority.min()) & (long >= SHORT_PS))
    found, played = [], 0
    for wait in late[np.argsort(-long[late], kind="stable")[:MOST_WAITS]].tolist():
        first, end = np.searchsorted(begin, [waits.from_ps[wait], waits.to_ps[wait]]).tolist()
        for slot in sorted({first + (end - first) * part // TIMES for part in range(TIMES)}):
            if slot >= end or seen.time.iteration[slot] < 0:
                continue
            ahead = len(before_in_queue(seen, wait, slot))
            if played + ahead > MOST_PLAYED:
                continue
            played += ahead
            middle = estimate(inversion, wait, slot, lengths).p50_ps
            if middle is not None:
                name = log.requests.ids[int(waits.request[wait])]
                found.append((name, int(begin[slot]) / PS_PER_S, middle / PS_PER_S))
    return tuple(sorted(found, key=lambda one: one[1]))


def estimated(now: Shown, key: str, run: Result) -> Told:
    """The estimates of a policy's run; none of one on several engines."""
    return _told(link(alone(now.scenario, key)), key, run)


def estimates(now: Shown, runs: dict[str, Result]) -> None:
    """Tell the stage."""
    keys = [now.a, now.b] if now.a != now.b else [now.a]
    notes = [estimated(now, key, runs[key]) for key in keys]
    hidden("estimates", {"stamp": stamp(runs[key].payload for key in keys), "notes": notes})
