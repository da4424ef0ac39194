"""What those at hand leave free as they end: the load that a newly come request finds, and nobody else.

At hand are those in the batch after the first decision that it meets, and those who then stand before it in
the queue. How they grow and when they end is as it was in the run.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.evidence import Evidence
from sched.forecast import before_in_queue
from sched.log import Ints
from sched.model import StayEnd
from sched.occupancy import Bools, Sums, held_by_group


@dataclass(frozen=True, eq=False)
class Drain:
    """One request and the load it found. `wait` is its first wait, -1 if it got in at once; `first` the
    iteration of the first decision after its arrival.
    """

    seen: Evidence
    request: int
    wait: int
    first: int

    @cached_property
    def party(self) -> Bools:
        """Who is at hand, shape (n,)."""
        stays = self.seen.log.stays
        found = np.zeros(len(self.seen.log.requests.ids), dtype=bool)
        found[stays.request[(stays.iteration <= self.first) & (stays.end_iteration > self.first)]] = True
        found[self.request] = False
        if self.wait >= 0:
            slot = int(self.seen.time.slot[self.first])
            found[self.seen.waits.request[before_in_queue(self.seen, self.wait, slot)]] = True
        return found

    @cached_property
    def need(self) -> tuple[int, int, int]:
        """Blocks, tokens and seats that the request asks for, without the watermark."""
        blocks, tokens, seats = (int(part[self.wait]) for part in self.seen.need)
        return blocks, tokens, seats

    def held(self, of: Bools) -> Sums:
        """What the stays of these requests hold by iteration, from the first on; shape (1, iterations)."""
        pieces = self.seen.held.take(of[self.seen.held.request])
        one = np.zeros(len(of), dtype=np.int64)
        whole = held_by_group(self.seen.log, pieces, one, 1)
        parts = (whole.blocks, whole.claimed, whole.tokens, whole.seats)
        blocks, claimed, tokens, seats = (part[:, self.first :] for part in parts)
        return Sums(blocks, claimed, tokens, seats)

    @cached_property
    def admits(self) -> Bools:
        """Iterations from the first on in which anybody may enter: nobody was preempted for growth in it."""
        log = self.seen.log
        found = np.ones(log.iterations, dtype=bool)
        found[np.minimum(log.stays.end_iteration[log.stays.end == StayEnd.OUTGROWN], log.iterations - 1)] = (
            False
        )
        return found[self.first :]

    @cached_property
    def is_first(self) -> Bools:
        """Iterations from the first on in which nobody at hand waits before the request."""
        seen, found = self.seen, self.seen.waits
        start = seen.log.iteration_start_ps[self.first :]
        rows = np.flatnonzero(self.party[found.request] & (seen.place < seen.place[self.wait]))
        change = np.zeros(len(start) + 1, dtype=np.int64)
        np.add.at(change, np.searchsorted(start, found.from_ps[rows]), 1)
        np.subtract.at(change, np.searchsorted(start, found.to_ps[rows]), 1)
        free: Bools = np.cumsum(change)[:-1] == 0
        return free

    def fits(self, held: Sums) -> Bools:
        """Iterations from the first on in which the request would fit beside these holdings."""
        machine, need = self.seen.log.machine, self.need
        seats = held.seats[0]
        water = np.where(seats > 0, machine.watermark_blocks, 0)
        found: Bools = held.claimed[0] + water + need[0] <= machine.kv_blocks
        found &= held.tokens[0] + need[1] <= machine.max_num_batched_tokens
        found &= seats < machine.max_num_seqs
        found &= self.admits
        return found

    @cached_property
    def steps(self) -> int | None:
        """Iterations until it is first in the queue and fits beside those at hand; None: not in the run."""
        if self.wait < 0:
            return 0
        return earliest(self.fits(self.held(self.party)) & self.is_first)

    def leavers(self, steps: int) -> list[int]:
        """Who at hand left the batch just before an iteration."""
        stays = self.seen.log.stays
        rows = np.flatnonzero((stays.end_iteration == self.first + steps) & self.party[stays.request])
        found: list[int] = stays.request[rows].tolist()
        return found

    def behind(self) -> Ints:
        """Stays of those who are not at hand, no more urgent, and so can only be let past it."""
        stays, level = self.seen.log.stays, self.seen.levels.of_request
        others = ~self.party[stays.request] & (level[stays.request] >= level[self.request])
        others &= stays.request != self.request
        found: Ints = np.flatnonzero(others)
        return found


def earliest(holds: Bools) -> int | None:
    """The first place where something holds."""
    places = np.flatnonzero(holds)
    return int(places[0]) if len(places) else None


def drain(seen: Evidence, request: int) -> Drain | None:
    """The load that a request found; None if no decision came after its arrival."""
    at = int(seen.log.requests.arrival_ps[request])
    first = int(np.searchsorted(seen.log.iteration_start_ps, at))
    if first >= seen.log.iterations:
        return None
    rows = np.flatnonzero((seen.waits.request == request) & (seen.waits.is_return == 0))
    start = int(seen.log.iteration_start_ps[first])
    wait = int(rows[0]) if len(rows) and seen.waits.to_ps[rows[0]] > start else -1
    return Drain(seen, request, wait, first)
