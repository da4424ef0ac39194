"""Several engines as one: what each of them says of its own requests, put together by request."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sched.blame import Blame
from sched.inversion import CAUSES, CauseSpans, Culprits, Incidents, Inversion, analyse
from sched.log import Ints, Log


@dataclass(frozen=True, eq=False)
class JoinedInversion(Inversion):
    """The columns of all replicas by request; each replica's own analysis stands in `parts`.

    `seen` is that of the first replica: what is counted by iteration must be asked of the parts.
    """

    parts: tuple[Inversion, ...]
    rows: tuple[Ints, ...]

    @cached_property
    def incidents(self) -> Incidents:
        """Those of all replicas, in order of request and time."""
        found = [one.incidents for one in self.parts]
        request = np.concatenate([own[one.request] for own, one in zip(self.rows, found, strict=True)])
        begin = np.concatenate([one.from_ps for one in found])
        order = np.lexsort((begin, request))
        until = np.concatenate([one.to_ps for one in found])[order]
        length = np.concatenate([one.inversion_ps for one in found])[order]
        return Incidents(request[order], begin[order], until, length)

    @cached_property
    def culprits(self) -> Culprits:
        """What each request made others of its replica wait."""
        return self._spread([one.culprits for one in self.parts])

    @cached_property
    def urgent_culprits(self) -> Culprits:
        """What each request made the most urgent of its replica wait, if those are the most urgent of all."""
        levels = [one.seen.log.requests.priority.tolist() for one in self.parts]
        most, nobody = min((min(one) for one in levels if one), default=0), Culprits([], [], [])
        return self._spread(
            [
                part.urgent_culprits if one and min(one) == most else nobody
                for part, one in zip(self.parts, levels, strict=True)
            ]
        )

    def culprits_between(self, request: int, from_ps: int, to_ps: int) -> Culprits:
        """What each request made this one wait between two decisions of its replica."""
        part, place = self.place_of(request)
        nobody = Culprits([], [], [])
        found = self.parts[part].culprits_between(place, from_ps, to_ps)
        return self._spread([found if number == part else nobody for number in range(len(self.parts))])

    def blame_of(self, request: int) -> Blame:
        """Who made this request wait; culprits by their place in its replica's list."""
        part, place = self.place_of(request)
        return self.parts[part].blame_of(place)

    def exposure(self, request: int) -> list[int]:
        """Blocks times picoseconds that each lower request of its replica held while this one waited."""
        part, place = self.place_of(request)
        return self.parts[part].exposure(place)

    @cached_property
    def order_inversions(self) -> Ints:
        """How many later ones of its class were admitted before each request by its replica."""
        return self._column([one.order_inversions for one in self.parts])

    @cached_property
    def preemption_inversions(self) -> Ints:
        """How often each request was preempted while a lower one of its replica kept its place."""
        return self._column([one.preemption_inversions for one in self.parts])

    def place_of(self, request: int) -> tuple[int, int]:
        """The replica of a request, and its place there."""
        for part, own in enumerate(self.rows):
            place = int(np.searchsorted(own, request))
            if place < len(own) and own[place] == request:
                return part, place
        raise AssertionError(request)

    def _column(self, values: list[Ints]) -> Ints:
        column = np.zeros(sum(map(len, self.rows)), dtype=np.int64)
        for own, part in zip(self.rows, values, strict=True):
            column[own] = part
        return column

    def _spread(self, found: list[Culprits]) -> Culprits:
        """Lists by place in a replica's list as lists by place in the whole one."""
        count = sum(map(len, self.rows))
        kinds = []
        for kind in ("direct", "growth", "bypass"):
            whole = [0] * count
            for own, one in zip(self.rows, found, strict=True):
                for place, part in zip(own.tolist(), getattr(one, kind), strict=False):
                    whole[place] = part
            kinds.append(whole)
        return Culprits(*kinds)


def joined(log: Log, watch: Callable[[], object] | None = None) -> JoinedInversion:
    """Why each request of a run on several engines waited. `watch` is called now and then."""
    parts, count = tuple(analyse(one, watch) for one in log.replicas), len(log.requests)
    columns: dict[str, Any] = {}
    for name in (*(f"{cause}_ps" for cause in CAUSES), "bypasses"):
        column = np.zeros(count, dtype=np.int64)
        for own, part in zip(log.rows, parts, strict=True):
            column[own] = getattr(part, name)
        columns[name] = column
    spans = [part.spans for part in parts]
    request = np.concatenate([own[one.request] for own, one in zip(log.rows, spans, strict=True)])
    begin = np.concatenate([one.from_ps for one in spans])
    order = np.lexsort((begin, request))
    spans_of_all = CauseSpans(
        request[order],
        *(
            np.concatenate([getattr(one, name) for one in spans])[order]
            for name in ("wait", "from_ps", "to_ps", "code")
        ),
    )
    return JoinedInversion(parts[0].seen, spans_of_all, **columns, parts=parts, rows=log.rows)
