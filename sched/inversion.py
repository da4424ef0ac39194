"""Priority inversion of one run: why each request waited, how long, and who of lower urgency made it wait.

All times are whole picoseconds. The causes of a request's waits add up to its wait, and the blame adds up to
the inversion, exactly. With one level of urgency there is no inversion.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.blame import BYPASS, DIRECT, GROWTH, Blame, blame, exposure
from sched.causes import CauseRuns
from sched.evidence import Evidence, evidence
from sched.log import Ints, Log
from sched.occupancy import groups, latest
from sched.overtaking import bypasses, order_inversions, preemption_inversions
from sched.shares import rows_of, splits
from sched.supply import KV, LEGITIMATE, QUANTUM, RESERVED, SEATS, TOKENS, Codes

CAUSES = ("quantum", "legitimate", "reserved", "kv", "tokens", "seats")


@dataclass(frozen=True, eq=False)
class CauseSpans:
    """Maximal runs of one cause in one request's wait, in order of request and time.

    `wait` is the row of the wait in `seen.waits`.
    """

    request: Ints
    wait: Ints
    from_ps: Ints
    to_ps: Ints
    code: Codes


@dataclass(frozen=True, eq=False)
class Incidents:
    """Maximal runs of inversion in one request's wait, in order of request and time.

    `inversion_ps` is the length without what an idle reserve has to answer for.
    """

    request: Ints
    from_ps: Ints
    to_ps: Ints
    inversion_ps: Ints


@dataclass(frozen=True, eq=False)
class Culprits:
    """Picoseconds of others' waiting that each request caused, in order of request: Python ints."""

    direct: list[int]
    growth: list[int]
    bypass: list[int]

    @cached_property
    def total(self) -> list[int]:
        """Of all kinds."""
        return [sum(parts) for parts in zip(self.direct, self.growth, self.bypass, strict=True)]


@dataclass(frozen=True, eq=False)
class Inversion:
    """Columns by request, shape (n,), in picoseconds. `bypasses` are lower requests admitted while it waited.

    `wait_ps` = quantum + legitimate + reserved + kv + tokens + seats; the last three are the inversion.
    `spans` are all causes in time, `incidents` the inversions; `culprits` and `blame_of` are worked out when
    first asked for.
    """

    seen: Evidence
    spans: CauseSpans
    quantum_ps: Ints
    legitimate_ps: Ints
    reserved_ps: Ints
    kv_ps: Ints
    tokens_ps: Ints
    seats_ps: Ints
    bypasses: Ints

    @cached_property
    def inversion_ps(self) -> Ints:
        """Time that each request waited for lower ones."""
        return self.kv_ps + self.tokens_ps + self.seats_ps

    @cached_property
    def wait_ps(self) -> Ints:
        """Time that each request had come and was not in the batch."""
        return self.quantum_ps + self.legitimate_ps + self.reserved_ps + self.inversion_ps

    @cached_property
    def incidents(self) -> Incidents:
        """Every maximal run of inversion, whatever was short."""
        spans = self.spans
        of = np.flatnonzero(spans.code < LEGITIMATE)
        new = np.ones(len(of), dtype=bool)
        new[1:] = (spans.request[of][1:] != spans.request[of][:-1]) | (
            spans.from_ps[of][1:] != spans.to_ps[of][:-1]
        )
        start, end = groups(new)
        request, begin, until = spans.request[of[start]], spans.from_ps[of[start]], spans.to_ps[of[end]]
        length = until - begin
        if self.seen.there.kept is not None:
            rows = rows_of(self.seen, self._runs())
            kept = sum(cut.kept_ps() for cut in splits(self.seen, rows))
            asker, at = self.seen.waits.request[rows.wait], self.seen.time.begin_ps[rows.slot]
            np.subtract.at(length, latest(request, begin, asker, at), kept)
        return Incidents(request, begin, until, length)

    @cached_property
    def culprits(self) -> Culprits:
        """What each request made others wait, over the whole run."""
        return _culprits(self._blame)

    @cached_property
    def urgent_culprits(self) -> Culprits:
        """What each request made those of the most urgent level wait, over the whole run."""
        return _culprits(self._blame, of_urgent=True)

    @cached_property
    def _blame(self) -> Blame:
        return blame(self.seen, self._runs())

    def culprits_between(self, request: int, from_ps: int, to_ps: int) -> Culprits:
        """What each request made this one wait between two decisions, such as the ends of an incident."""
        runs = self._runs(request)
        first, end = np.searchsorted(self.seen.time.begin_ps, (from_ps, to_ps))
        first, end = np.maximum(runs.first, first), np.minimum(runs.end, end)
        some = np.flatnonzero(first < end)
        return _culprits(
            blame(self.seen, CauseRuns(runs.wait[some], first[some], end[some], runs.code[some]))
        )

    def blame_of(self, request: int) -> Blame:
        """Who made this request wait, by kind and resource."""
        return blame(self.seen, self._runs(request))

    def exposure(self, request: int) -> list[int]:
        """Blocks times picoseconds that each less urgent request held while this one waited for blocks."""
        return exposure(self.seen, self._runs(request), 0)

    @cached_property
    def order_inversions(self) -> Ints:
        """How many later ones of its class were admitted before each request: not a priority inversion."""
        return order_inversions(self.seen.log)

    @cached_property
    def preemption_inversions(self) -> Ints:
        """How often each request was preempted while one of lower urgency kept its place."""
        return preemption_inversions(self.seen)

    def _runs(self, request: int | None = None) -> CauseRuns:
        """Runs of inversion: of one request, or of all."""
        runs = self.seen.runs
        mine = runs.code < LEGITIMATE
        if request is not None:
            mine &= self.seen.waits.request[runs.wait] == request
        return runs.take(np.flatnonzero(mine))


def _culprits(found: Blame, *, of_urgent: bool = False) -> Culprits:
    return Culprits(*(found.by_kind(kind, of_urgent=of_urgent) for kind in (DIRECT, GROWTH, BYPASS)))


def analyse(log: Log, watch: Callable[[], object] | None = None) -> Inversion:
    """Why each request of a run waited. Work that only some views need is left until they ask.

    `watch` is called now and then: what it raises ends the work.
    """
    if log.replicas:
        from sched.several import joined  # it puts together what is found here

        return joined(log, watch)
    seen = evidence(log, watch)
    spans = _spans(seen)
    columns = {name: np.zeros(len(log.requests.ids), dtype=np.int64) for name in CAUSES}
    exact = seen.runs.code < LEGITIMATE
    if seen.there.kept is None:
        exact &= ~np.isin(seen.runs.code, (KV, TOKENS, SEATS))
    length = spans.to_ps - spans.from_ps
    whole = {QUANTUM: "quantum", LEGITIMATE: "legitimate", RESERVED: "reserved"}
    if seen.there.kept is None:
        whole |= {KV: "kv", TOKENS: "tokens", SEATS: "seats"}
    for code, name in whole.items():
        some = np.flatnonzero(spans.code == code)
        np.add.at(columns[name], spans.request[some], length[some])
    if exact.any():
        rows = rows_of(seen, seen.runs.take(np.flatnonzero(exact)))
        request = seen.waits.request[rows.wait]
        for name, cut in zip(("kv", "tokens", "seats"), splits(seen, rows), strict=True):
            np.add.at(columns[name], request, cut.inverted_ps())
            np.add.at(columns["reserved"], request, cut.kept_ps())
    return Inversion(
        seen, spans, **{f"{name}_ps": column for name, column in columns.items()}, bypasses=bypasses(seen)
    )


def _spans(seen: Evidence) -> CauseSpans:
    """The causes in time, with the part of each wait before its first decision."""
    time, found, runs = seen.time, seen.waits, seen.runs
    first = np.searchsorted(time.begin_ps, found.from_ps)
    lead = np.flatnonzero(time.begin_ps[first] > found.from_ps)
    # Into an idle engine a request comes at a decision: what it waits there, it waits by the policy's rule.
    lead_code = np.where(time.iteration[first[lead] - 1] >= 0, QUANTUM, RESERVED)
    wait = np.concatenate((lead, runs.wait))
    begin = np.concatenate((found.from_ps[lead], time.begin_ps[runs.first]))
    end = np.concatenate((time.begin_ps[first[lead]], time.begin_ps[runs.end]))
    code = np.concatenate((lead_code.astype(np.int8), runs.code))
    order = np.argsort(wait, kind="stable")
    wait, begin, code = wait[order], begin[order], code[order]
    end = np.minimum(end[order], found.to_ps[wait])
    new = np.ones(len(wait), dtype=bool)
    new[1:] = (wait[1:] != wait[:-1]) | (code[1:] != code[:-1])
    start, last = groups(new)
    return CauseSpans(found.request[wait[start]], wait[start], begin[start], end[last], code[start])
