"""A batch whose lengths are only believed, from event to event: who is in it, and how much each holds.

What all hold together is counted up only where it could come to more than there is.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

import numpy as np

from sched.forecast import Crowd, Rules
from sched.log import Ints
from sched.model import Machine
from sched.occupancy import Bools

FAR = 2**40
"""Later than any iteration."""


class Common:
    """What all draws of a crowd's lengths have in common, as plain numbers by place in the crowd."""

    def __init__(self, machine: Machine, policy: Rules, there: Crowd) -> None:
        self.machine, self.there = machine, there
        self.is_closed, self.skips = policy.closed_batch, policy.misfit == "skip"
        self.by_peak = machine.gate == "peak"
        self.count, self.running = len(there.request), there.running
        self.known, self.done, self.chunk = _numbers(there.known), _numbers(there.done), _numbers(there.chunk)
        self.need, self.yields = _numbers(there.need), _numbers(there.yields)
        self.promised, self.comes_first = _numbers(there.promised), there.comes_first.tolist()
        # Iterations with a part of the known tokens, then one a token but the last, whose KV is not computed.
        self.prefill = _numbers(-(-np.maximum(there.known - there.done, 0) // there.chunk))


def _numbers(column: Ints) -> list[int]:
    found: list[int] = column.tolist()
    return found


class Believed:
    """The batch of one draw. Who is in it is `reading` its known tokens, or `decoding`.

    The latter by place in the crowd: the tokens held in an iteration, less the iteration's number. `life` are
    prompt and output tokens by place.
    """

    def __init__(self, common: Common, life: list[int]) -> None:
        self.common, self.life = common, life
        self.known, self.done, self.prefill = common.known.copy(), common.done.copy(), common.prefill.copy()
        self.start, self.ends = [FAR] * common.count, [FAR] * common.count
        there = range(common.running)
        self.start[: common.running] = [0] * common.running
        self.ends[: common.running] = [self._left(place) for place in there]
        self.reading = {place: None for place in there if self.prefill[place]}
        self.decoding = {place: self._held(place) + 1 for place in there if not self.prefill[place]}
        self.given = sum([common.chunk[place] for place in self.reading]) + len(self.decoding)
        """Tokens given in an iteration."""
        self.most_tokens = sum([self.known[place] for place in self.reading]) + sum(self.decoding.values())
        """Most tokens held, less one for each that decodes and iteration."""
        self.promised = sum(common.promised[: common.running])
        self.events = [(self.ends[place], place) for place in there]
        """Iterations at which somebody ends or has done with its known tokens, as a heap; some are void."""
        self.events += [(self.prefill[place], place) for place in self.reading]
        heapify(self.events)
        self.returning = set[int]()
        self.waits: Bools = np.arange(common.count) >= common.running
        self.front = common.running
        """Nobody waits before this place in the queue."""

    def __len__(self) -> int:
        return len(self.reading) + len(self.decoding)

    def __iter__(self) -> Iterator[int]:
        return iter((*self.reading, *self.decoding))

    def enter(self, place: int, step: int) -> None:
        """One enters the batch."""
        self._leave(place)
        prefill, left = self.prefill[place], self._left(place)
        self.start[place], self.ends[place] = step, step + left
        self.promised += self.common.promised[place]
        heappush(self.events, (step + left, place))
        if prefill:
            heappush(self.events, (step + prefill, place))
            self.reading[place] = None
            self.given += self.common.chunk[place]
            self.most_tokens += self.known[place]
        else:
            self._decode(place)

    def _held(self, place: int) -> int:
        """Tokens held when the known ones have been computed."""
        return max(self.done[place], self.known[place])

    def _left(self, place: int) -> int:
        """Iterations in the batch, of one that enters."""
        return max(self.prefill[place] + max(self.life[place] - 1 - self._held(place), 0), 1)

    def _decode(self, place: int) -> None:
        """One has done with its known tokens."""
        self.decoding[place] = self._held(place) + 1 - self.start[place] - self.prefill[place]
        self.given += 1
        self.most_tokens += self.decoding[place]

    def _has_read(self, place: int) -> None:
        del self.reading[place]
        self.given -= self.common.chunk[place]
        self.most_tokens -= self.known[place]

    def _leave(self, place: int) -> None:
        """One leaves the batch, if it is there."""
        if place in self.reading:
            self._has_read(place)
        elif place in self.decoding:
            self.given -= 1
            self.most_tokens -= self.decoding.pop(place)
        else:
            return
        self.promised -= self.common.promised[place]

    def go_to(self, step: int) -> None:
        """Up to a decision: who is done leaves, and so do the victims of those who outgrow the memory."""
        self._relieve(step - 1)
        while self.events and self.events[0][0] <= step:
            at, place = heappop(self.events)
            if not self._is_due(at, place):
                continue
            if self.ends[place] == at:
                self._leave(place)
            else:
                self._has_read(place)
                self._decode(place)
        self._relieve(step)

    def _is_due(self, at: int, place: int) -> bool:
        """Whether an event still stands: it is void when the request was preempted in between."""
        if place in self.reading:
            return at in (self.ends[place], self.start[place] + self.prefill[place])
        return place in self.decoding and self.ends[place] == at

    def following(self) -> int:
        """The next decision at which somebody has left or has done with its known tokens."""
        while self.events and not self._is_due(*self.events[0]):
            heappop(self.events)
        return self.events[0][0] if self.events else FAR

    def most_used(self, step: int) -> int:
        """No fewer than the blocks that are held once a decision has given everybody its tokens."""
        if self.common.by_peak:
            return self.promised
        size, decoding = self.common.machine.block_size, len(self.decoding)
        return (self.most_tokens + decoding * step + len(self) * (size - 1)) // size

    def used(self, step: int) -> int:
        """Exactly these blocks."""
        if self.common.by_peak:
            return self.promised
        size = self.common.machine.block_size
        up = step + size - 1
        decoding = sum([(base + up) // size for base in self.decoding.values()])
        return decoding + sum([self.blocks(place, step) for place in self.reading])

    def blocks(self, place: int, step: int) -> int:
        """What one in the batch holds, or was promised, once a decision has given it its tokens."""
        if self.common.by_peak:
            return self.common.promised[place]
        if place in self.decoding:
            return self.common.machine.blocks(self.decoding[place] + step)
        begun = self.done[place] + (step - self.start[place] + 1) * self.common.chunk[place]
        return self.common.machine.blocks(min(self.known[place], begun))

    def _relieve(self, step: int) -> None:
        """Where those in the batch have outgrown the memory, the policy's victims leave it."""
        machine = self.common.machine
        if self.common.by_peak or self.most_used(step) <= machine.kv_blocks:
            return
        used = self.used(step)
        while used > machine.kv_blocks:
            victim = max(self, key=self.common.yields.__getitem__)
            used -= self.blocks(victim, step)
            self._leave(victim)
            emitted = max(step - self.start[victim] - self.prefill[victim], 0)
            self.known[victim] = max(self.known[victim], self.done[victim] + 1) + emitted
            self.done[victim] = 0
            self.prefill[victim] = -(-self.known[victim] // machine.max_num_batched_tokens)
            self.start[victim], self.ends[victim] = FAR, 0
            if victim >= self.common.running:
                self.waits[victim], self.front = True, min(self.front, victim)
            if self.common.comes_first[victim]:
                self.returning.add(victim)
