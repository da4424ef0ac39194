"""When a waiting request gets in, the slow way: everybody is tried at every event, all draws at once.

What all hold is counted up at every event too.
"""

import numpy as np

from sched.believed import FAR
from sched.forecast import Crowd, Rules
from sched.forward import EVENTS, EVENTS_EACH
from sched.log import Ints
from sched.model import Machine
from sched.occupancy import Bools, ceil_div


class SlowForward:
    """One crowd with drawn output lengths, `life` = prompt + output tokens of shape (draws, j)."""

    def __init__(self, machine: Machine, policy: Rules, there: Crowd, life: Ints) -> None:
        self.machine, self.there = machine, there
        self.closed, self.skips = policy.closed_batch, policy.misfit == "skip"
        if machine.max_model_len:
            life = np.minimum(life, machine.max_model_len)
        # Iterations with a part of the known tokens, then one a token but the last, whose KV is not computed.
        self.life, self.by_peak = life, machine.gate == "peak"
        self.known = np.broadcast_to(there.known, life.shape).copy()
        self.done = np.broadcast_to(there.done, life.shape).copy()
        self.prefill = -(-np.maximum(self.known - self.done, 0) // there.chunk)
        decoding = np.maximum(life - 1 - np.maximum(self.done, self.known), 0)
        self.left = np.maximum(self.prefill + decoding, 1)
        self.enter = np.full(life.shape, FAR)
        self.enter[:, : there.running] = 0
        self.ends = np.where(self.enter == 0, self.left, FAR)
        self.returning = np.zeros(life.shape, dtype=bool)
        self.next = np.full(len(life), there.running)
        """Who is next in the queue, where nobody passes anybody."""
        self.live = np.arange(there.running)
        """Who may be in the batch of any draw."""

    def run(self) -> Ints:
        """Iterations from the slot's start until the request enters, by draw; -1 where it was given up."""
        found = np.full(len(self.life), -1, dtype=np.int64)
        step = np.ones(len(self.life), dtype=np.int64)
        for _ in range(EVENTS_EACH * self.life.shape[1] + EVENTS):
            if not self.by_peak:
                self._relieve(step - 1)
                self._relieve(step)
            found = np.where((found < 0) & self._admits(step), step, found)
            step = np.where(found < 0, self._following(step), FAR)
            if (step >= FAR).all():
                break
            self.live = self.live[(self.ends[:, self.live] > step[:, None] - 1).any(axis=0)]
        return found

    def _alive(self, step: Ints) -> Bools:
        """Which of the live ones are in the batch after the finishes before this decision."""
        at = step[:, None]
        found: Bools = (self.enter[:, self.live] <= at) & (self.ends[:, self.live] > at)
        return found

    def _blocks(self, step: Ints) -> Ints:
        """What each live one holds, or was promised, once this decision has given it its tokens."""
        live = self.live
        if self.by_peak:
            return np.broadcast_to(self.there.promised[live], (len(step), len(live)))
        turn = step[:, None] - self.enter[:, live] + 1
        known, done, prefill = self.known[:, live], self.done[:, live], self.prefill[:, live]
        begun = np.minimum(known, done + turn * self.there.chunk[live])
        tokens = np.where(turn <= prefill, begun, np.maximum(known, done) + turn - prefill)
        return ceil_div(tokens, self.machine.block_size)

    def _given(self, step: Ints) -> Ints:
        """Tokens that this decision gives to each live one."""
        turn = step[:, None] - self.enter[:, self.live] + 1
        given: Ints = np.where(turn <= self.prefill[:, self.live], self.there.chunk[self.live], 1)
        return given

    def _relieve(self, step: Ints) -> None:
        """Where those in the batch have outgrown the memory, the policy's victims leave it."""
        while True:
            alive, blocks = self._alive(step), self._blocks(step)
            over = np.flatnonzero((blocks * alive).sum(axis=1) > self.machine.kv_blocks)
            if not len(over):
                return
            victim = self.live[np.where(alive[over], self.there.yields[self.live], -1).argmax(axis=1)]
            emitted = np.maximum(step[over] - self.enter[over, victim] - self.prefill[over, victim], 0)
            known = np.maximum(self.known[over, victim], self.done[over, victim] + 1) + emitted
            self.known[over, victim], self.done[over, victim] = known, 0
            self.prefill[over, victim] = -(-known // self.machine.max_num_batched_tokens)
            decoding = np.maximum(self.life[over, victim] - 1 - known, 0)
            self.left[over, victim] = self.prefill[over, victim] + decoding
            self.enter[over, victim], self.ends[over, victim] = FAR, 0
            self.returning[over, victim] = self.there.comes_first[victim]

    def _admits(self, step: Ints) -> Bools:
        """Lets in whoever stands before the request and fits; then whether the request does, by draw."""
        there, machine = self.there, self.machine
        alive, blocks, given = self._alive(step), self._blocks(step), self._given(step)
        room = Room(machine, there, alive, blocks, given, self.closed)
        room.opened &= step < FAR
        if there.may_displace:
            room.lend(alive & there.is_lower[self.live] & (step == 1)[:, None], blocks)
        blocked = self._readmit(step, room)
        for place in self._pending(step):
            waits = (self.enter[:, place] == FAR) & ~blocked
            if not self.skips:
                waits &= self.next == place
            need = np.full(len(step), there.need[place])
            first = int(min(there.known[place], there.chunk[place]))
            taken = int(there.promised[place]) if self.by_peak else machine.blocks(first)
            fits = waits & room.fits(need, int(there.chunk[place]))
            room.take(fits, taken, first)
            self._enter(fits, place, step)
            self.next += fits
            if not self.skips and not ((self.next > place) & room.opened).any():
                break
        found: Bools = room.fits(np.full(len(step), there.mine + there.kept), there.tokens)
        return found if self.skips else found & ~blocked & np.asarray(self.next == len(there.request))

    def _readmit(self, step: Ints, room: "Room") -> Bools:
        """Those preempted who stand before the request come back first; whom they hold up, by draw."""
        blocked = np.zeros(len(step), dtype=bool)
        while self.returning.any():
            who = np.where(self.returning, self.there.yields, FAR).argmin(axis=1)
            rows = np.arange(len(step))
            known = self.known[rows, who]
            need = ceil_div(known, self.machine.block_size)
            first = np.minimum(known, self.machine.max_num_batched_tokens)
            fits = self.returning[rows, who] & room.fits(need, 1)
            blocked |= self.returning[rows, who] & ~fits
            if not fits.any():
                break
            room.take(fits, need, first)
            self.returning[rows[fits], who[fits]] = False
            for place in np.unique(who[fits]).tolist():
                self._enter(fits & (who == place), place, step)
            blocked &= self.returning.any(axis=1)
        return blocked & (not self.skips)

    def _enter(self, rows: Bools, place: int, step: Ints) -> None:
        """One enters the batch in these draws."""
        if rows.any():
            self.enter[rows, place] = step[rows]
            self.ends[rows, place] = step[rows] + self.left[rows, place]
            if place not in self.live:
                self.live = np.append(self.live, place)

    def _pending(self, step: Ints) -> range:
        """Who may still stand before the request."""
        open_ = self.next[step < FAR]
        start = self.there.running if self.skips or not len(open_) else int(open_.min())
        return range(start, len(self.there.request))

    def _following(self, step: Ints) -> Ints:
        """The next decision at which somebody has left or has done with its prompt."""
        at, live = step[:, None], self.live
        ends, prefilled = self.ends[:, live], self.enter[:, live] + self.prefill[:, live]
        has_begun = self.enter[:, live] < FAR
        when = [
            np.where(has_begun & (one > at), one, FAR).min(axis=1, initial=FAR) for one in (ends, prefilled)
        ]
        found: Ints = np.minimum(*when)
        return found


class Room:
    """What a decision has left to give, by draw."""

    def __init__(
        self, machine: Machine, there: Crowd, alive: Bools, blocks: Ints, given: Ints, closed: bool
    ) -> None:
        count = alive.sum(axis=1)
        self.opened = count == 0 if closed else np.ones(len(count), dtype=bool)
        self.free = machine.kv_blocks - (blocks * alive).sum(axis=1)
        self.free -= np.where(count > 0, machine.watermark_blocks, 0)
        self.seats = there.seats - count
        self.tokens = machine.max_num_batched_tokens - (given * alive).sum(axis=1)
        self.chunked = machine.enable_chunked_prefill

    def lend(self, rows: Bools, blocks: Ints) -> None:
        """What these would give back if they were preempted counts as free."""
        self.free, self.seats = self.free + (blocks * rows).sum(axis=1), self.seats + rows.sum(axis=1)

    def fits(self, need: Ints, tokens: int) -> Bools:
        """Whether somebody who asks for so many blocks, a seat and tokens may enter."""
        enough = self.tokens > 0 if self.chunked else self.tokens >= tokens
        found: Bools = self.opened & enough & (self.seats > 0) & (need <= self.free)
        return found

    def take(self, rows: Bools, blocks: Ints | int, tokens: Ints | int) -> None:
        """Somebody has entered in these draws."""
        self.free, self.seats = self.free - rows * blocks, self.seats - rows
        self.tokens = self.tokens - rows * tokens
