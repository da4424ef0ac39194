"""A batch played forward with lengths that are only believed: when does a waiting request get in?

Nobody arrives, so nobody is let past it. Each draw of lengths goes from one finish, or end of a prompt, to
the next. As in the engine, nobody is tried where no seat or token is left.
"""

import numpy as np

from sched.believed import FAR, Believed, Common
from sched.forecast import Crowd, Rules
from sched.log import Ints
from sched.model import Machine
from sched.occupancy import Bools

EVENTS_EACH, EVENTS = 4, 50
"""So many events for each request and in all, before an estimate is given up: those who preempt one another
in turn would never end.
"""


def forward(machine: Machine, policy: Rules, there: Crowd, life: Ints) -> list[int]:
    """Iterations from the slot's start until the request enters, by draw; FAR where it was given up.

    `life` are the prompt and output tokens of everybody in the crowd, shape (draws, j).
    """
    common = Common(machine, policy, there)
    if machine.max_model_len:
        life = np.minimum(life, machine.max_model_len)
    return [Forward(Believed(common, one)).run() for one in life.tolist()]


class Forward:
    """One draw: those in the batch, those before the request in the queue, and the request."""

    def __init__(self, batch: Believed) -> None:
        self.batch, self.common = batch, batch.common
        self.next = batch.common.running
        """Who is next in the queue, where nobody passes anybody."""
        self.entered = list[int]()

    def run(self) -> int:
        """The iteration at whose decision the request enters, from 1; FAR if that is not known."""
        step = 1
        for _ in range(EVENTS_EACH * self.common.count + EVENTS):
            self.batch.go_to(step)
            if self._admits(step):
                return step
            for place in self.entered:
                self.batch.enter(place, step)
            self.entered.clear()
            step = self.batch.following()
            if step >= FAR:
                break
        return FAR

    def _admits(self, step: int) -> bool:
        """Lets in whoever stands before the request and fits; then whether the request does."""
        there, room = self.common.there, Room(self.batch, step)
        if there.may_displace and step == 1:
            room.lend([one for one in self.batch if there.is_lower[one]])
        if not self._readmit(room):
            return False
        if self.common.skips:
            self._let_in_who_fits(room)
        else:
            while self.next < self.common.count and self._let_in(self.next, room):
                self.next += 1
            if self.next < self.common.count:
                return False
        return room.fits(there.mine + there.kept, there.tokens)

    def _readmit(self, room: "Room") -> bool:
        """Those preempted who stand before the request come back first; whether they let others in."""
        batch, machine = self.batch, self.common.machine
        while batch.returning:
            who = min(batch.returning, key=self.common.yields.__getitem__)
            known = batch.known[who]
            if not room.fits(machine.blocks(known), 1):
                return self.common.skips
            room.take(machine.blocks(known), min(known, machine.max_num_batched_tokens))
            batch.returning.remove(who)
            self._enters(who)
        return True

    def _let_in(self, place: int, room: "Room") -> bool:
        """Whether one who waits fits; it then enters."""
        common = self.common
        if not room.fits(common.need[place], common.chunk[place]):
            return False
        first = min(common.known[place], common.chunk[place])
        room.take(common.promised[place] if common.by_peak else common.machine.blocks(first), first)
        self._enters(place)
        return True

    def _enters(self, place: int) -> None:
        self.batch.waits[place] = False
        self.entered.append(place)

    def _let_in_who_fits(self, room: "Room") -> None:
        """Everybody who waits, in turn. Who did not fit does not fit later in the same decision."""
        batch, there, count = self.batch, self.common.there, self.common.count
        while room.is_open and batch.front < count:
            if batch.waits[batch.front] and not self._let_in(batch.front, room):
                break
            batch.front += 1
        if not room.is_open or batch.front == count:
            return
        left = batch.front + 1 + np.flatnonzero(batch.waits[batch.front + 1 :])
        while len(left) and room.is_open:
            if self._let_in(int(left[0]), room):
                left = left[1:]
            else:
                left = left[room.are_fitting(there.need[left], there.chunk[left])]


class Room:
    """What a decision has left to give. No fewer blocks are `free`; exactly so many once it `is_exact`."""

    def __init__(self, batch: Believed, step: int) -> None:
        machine, count = batch.common.machine, len(batch)
        self.batch, self.step = batch, step
        self.is_opened = not (batch.common.is_closed and count)
        self.used, self.is_exact = batch.most_used(step), batch.common.by_peak
        self.free = machine.kv_blocks - self.used - (machine.watermark_blocks if count else 0)
        self.seats = batch.common.there.seats - count
        self.tokens = machine.max_num_batched_tokens - batch.given
        self.chunked = machine.enable_chunked_prefill

    @property
    def is_open(self) -> bool:
        """Whether there is a seat and a token for anybody."""
        return self.is_opened and self.seats > 0 and self.tokens > 0

    def lend(self, places: list[int]) -> None:
        """What these would give back if they were preempted counts as free."""
        self.free += sum(self.batch.blocks(place, self.step) for place in places)
        self.seats += len(places)

    def fits(self, need: int, tokens: int) -> bool:
        """Whether somebody who asks for so many blocks, a seat and tokens may enter."""
        enough = self.tokens > 0 if self.chunked else self.tokens >= tokens
        if not (self.is_opened and enough and self.seats > 0):
            return False
        if need > self.free:
            self._count_up()
        return need <= self.free

    def are_fitting(self, need: Ints, tokens: Ints) -> Bools:
        """The same of many."""
        self._count_up()
        found: Bools = (need <= self.free) & (self.chunked | (tokens <= self.tokens))
        return found

    def _count_up(self) -> None:
        if not self.is_exact:
            exact = self.batch.used(self.step)
            self.free, self.used, self.is_exact = self.free + self.used - exact, exact, True

    def take(self, blocks: int, tokens: int) -> None:
        """Somebody has entered."""
        self.free, self.seats, self.tokens = self.free - blocks, self.seats - 1, self.tokens - tokens
