"""Where each block lies: all grants and returns again, cell by cell, as the stage in the browser has it.

A block takes the lowest free cell when it is granted (where there is a buffer, an urgent one the highest)
and keeps it until it is given back.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.figures.side import Side
from sched.log import Ints
from sched.model import UNLIMITED_BLOCKS

FREE = -1
MOST_CELLS = 10_000
"""Above that a cell stands for several blocks of one owner."""
LOOKS = (
    *("urgent", "regular", "batch"),
    *("urgent_granted", "regular_granted", "batch_granted"),
    *("urgent_lent", "regular_lent", "batch_lent"),
    *("free", "kept"),
)
"""What a cell shows: written; granted, not written yet; on loan from the buffer; free; free in the buffer."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """The buffer by the policy's own count, in blocks."""

    urgent: int
    lent: int
    idle: int


@dataclass(frozen=True)
class Memory:
    """The map at a moment. `owner` is a row of the side's stays or FREE, shape (cells,); `held` by stay."""

    side: Side
    iteration: int
    owner: Ints
    stamps: Ints
    held: Ints
    capacity: int
    per_cell: int
    pieces: "Pieces"

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return max(0, self.capacity - int(self.held.sum()))

    @property
    def kept_cells(self) -> int:
        """Cells of the buffer, at the end of the map."""
        return int(kept_blocks(self.side) / self.per_cell + 0.5)

    @cached_property
    def buffer(self) -> Buffer | None:
        """What urgent requests use of the buffer, what is on loan, what lies idle."""
        size = kept_blocks(self.side)
        if not size:
            return None
        is_urgent = self.side.level[self.side.stays.request] == 0
        urgent, others = int(self.held[is_urgent].sum()), int(self.held[~is_urgent].sum())
        lent = min(size, max(0, others - (self.capacity - size)))
        used = min(urgent, size - lent)
        return Buffer(used, lent, max(0, size - lent - used))

    @cached_property
    def looks(self) -> Ints:
        """Place in LOOKS of each cell, shape (cells,)."""
        side, owner = self.side, self.owner
        out = np.full(len(owner), 9, np.int64)
        free = np.flatnonzero(owner == FREE)[::-1]
        if self.buffer:
            out[free[: int(self.buffer.idle / self.per_cell + 0.5)]] = 10
        taken = np.flatnonzero(owner != FREE)
        request = side.stays.request[owner[taken]]
        role = side.role[request]
        out[taken] = role
        kept = side.log.set_aside
        if self.buffer and kept is not None and kept.lend:
            lent = int(self.buffer.lent / self.per_cell + 0.5)
            lower = taken[side.level[request] > 0]
            loan = lower[np.argsort(-self.stamps[lower], kind="stable")[:lent]]
            out[loan] = 6 + side.role[side.stays.request[owner[loan]]]
        if side.log.machine.gate == "peak":
            for stay in np.unique(owner[taken]).tolist():
                cells = np.flatnonzero(owner == stay)
                blocks = -(-self.pieces.computed(stay, self.iteration) // side.log.machine.block_size)
                written = -(-blocks // self.per_cell)
                out[cells[written:]] = 3 + side.role[side.stays.request[stay]]
        return out


class Pieces:
    """What each stay was given, in order of time: prefill chunks, and straight runs of decodes."""

    def __init__(self, side: Side) -> None:
        log, stays = side.log, side.stays
        chunks, runs = log.chunks, log.runs
        request = np.concatenate([chunks.request, runs.request])
        iteration = np.concatenate([chunks.iteration, runs.iteration])
        width = np.int64(log.iterations + 1)
        keys = stays.request * width + stays.iteration
        stay = np.searchsorted(keys, request * width + iteration, "right") - 1
        order = np.lexsort((iteration, stay))
        self.iteration = iteration[order]
        self.before = np.concatenate([chunks.before, runs.before])[order]
        ones = np.ones(len(runs.request), np.int64)
        self.tokens = np.concatenate([chunks.tokens, ones])[order]
        self.count = np.concatenate([np.ones(len(chunks.request), np.int64), runs.count])[order]
        self.first = np.searchsorted(stay[order], np.arange(len(stays.request) + 1))
        self.hit = stays.hit_tokens

    def computed(self, stay: int, iteration: int) -> int:
        """Tokens whose KV is computed, or scheduled, by the end of an iteration."""
        first, end = int(self.first[stay]), int(self.first[stay + 1])
        place = first + int(np.searchsorted(self.iteration[first:end], iteration, "right")) - 1
        if place < first:
            return int(self.hit[stay])
        tokens = int(self.tokens[place])
        done = (
            min(iteration - int(self.iteration[place]) + 1, int(self.count[place])) if tokens == 1 else tokens
        )
        return int(self.before[place]) + done

    def rows(self, stay: int) -> Iterator[tuple[int, int, int, int]]:
        """Of a stay: iteration, tokens before, tokens, and in how many iterations."""
        part = slice(int(self.first[stay]), int(self.first[stay + 1]))
        columns = (self.iteration, self.before, self.tokens, self.count)
        return zip(*(column[part].tolist() for column in columns), strict=True)


def kept_blocks(side: Side) -> int:
    """Blocks of the buffer; 0 without one."""
    kept = side.log.set_aside
    return kept.kv_blocks if kept is not None and side.log.machine.kv_blocks < 2**30 else 0


def _grants(side: Side, pieces: Pieces) -> list[tuple[int, int, int]]:
    """Every grant of blocks, by iteration and in it by admission: iteration, stay, blocks."""
    machine, stays, listed = side.log.machine, side.stays, side.log.requests
    size, found = machine.block_size, list[tuple[int, int, int]]()
    for stay in np.argsort(stays.seq, kind="stable").tolist():
        request, begin = int(stays.request[stay]), int(stays.iteration[stay])
        held = 0
        if machine.gate == "peak":
            prompt, output = int(listed.prompt_tokens[request]), int(listed.output_tokens[request])
            wanted = max(1, machine.tokens_of_life(prompt, output))
        else:
            wanted = int(stays.hit_tokens[stay])
        if blocks := -(-wanted // size):
            found.append((begin, stay, blocks))
            held = blocks
        for iteration, before, tokens, count in pieces.rows(stay):
            if tokens != 1:
                if (blocks := -(-(before + tokens) // size)) > held:
                    found.append((iteration, stay, blocks - held))
                    held = blocks
                continue
            for step in range(held * size - before, count, size):
                if step >= 0:
                    found.append((iteration + step, stay, 1))
                    held += 1
    found.sort(key=lambda one: one[0])
    return found


def _most_used(side: Side, grants: list[tuple[int, int, int]]) -> int:
    """The most blocks that were held at once."""
    held = np.zeros(side.log.iterations + 2, np.int64)
    total = np.zeros(len(side.stays.request), np.int64)
    for iteration, stay, blocks in grants:
        held[iteration] += blocks
        total[stay] += blocks
    np.subtract.at(held, side.stays.end_iteration, total)
    return int(np.cumsum(held).max(initial=0))


class _Cells:
    """The cells while grants and returns are replayed."""

    def __init__(self, cells: int, per_cell: int, stays: int) -> None:
        self.per_cell = per_cell
        self.owner, self.stamps, self.stamp = [FREE] * cells, [0] * cells, 0
        self.held, self.mine = [0] * stays, [list[int]() for _ in range(stays)]
        self.low, self.high = list(range(cells)), [-cell for cell in reversed(range(cells))]

    def take(self, stay: int, blocks: int, from_top: bool) -> None:
        self.held[stay] += blocks
        held, mine = self.held[stay], self.mine[stay]
        want = held if self.per_cell == 1 else max(1, int(held / self.per_cell + 0.5))
        heap, sign = (self.high, -1) if from_top else (self.low, 1)
        while len(mine) < want:
            while heap and self.owner[sign * heap[0]] != FREE:
                heapq.heappop(heap)
            if not heap:  # rounding of cells that stand for several blocks
                return
            cell = sign * heapq.heappop(heap)
            self.stamp += 1
            self.owner[cell], self.stamps[cell] = stay, self.stamp
            mine.append(cell)

    def give_back(self, stay: int) -> None:
        for cell in self.mine[stay]:
            self.owner[cell] = FREE
            heapq.heappush(self.low, cell)
            heapq.heappush(self.high, -cell)
        self.mine[stay], self.held[stay] = [], 0


def memory(side: Side, iteration: int, is_busy: bool) -> Memory:
    """The map as it stands in an iteration, or in the idle time after it."""
    pieces = Pieces(side)
    grants = _grants(side, pieces)
    capacity = side.log.machine.kv_blocks
    if capacity >= UNLIMITED_BLOCKS or capacity > 2**30:
        capacity = max(60, -(-11 * _most_used(side, grants) // 600) * 60)
    per_cell = max(1, -(-capacity // MOST_CELLS))
    cells = _Cells(-(-capacity // per_cell), per_cell, len(side.stays.request))
    is_urgent = ((side.level[side.stays.request] == 0) & bool(kept_blocks(side))).tolist()
    ends = np.argsort(side.stays.end_iteration, kind="stable")
    until = iteration if is_busy else iteration + 1
    returns = list(zip(side.stays.end_iteration[ends].tolist(), ends.tolist(), strict=True))
    place = 0
    for at, stay, blocks in grants:
        if at > iteration:
            break
        while place < len(returns) and returns[place][0] <= at:
            cells.give_back(returns[place][1])
            place += 1
        cells.take(stay, blocks, is_urgent[stay])
    while place < len(returns) and returns[place][0] <= until:
        cells.give_back(returns[place][1])
        place += 1
    arrays = (np.array(values, np.int64) for values in (cells.owner, cells.stamps, cells.held))
    owner, stamps, held = arrays
    return Memory(side, iteration, owner, stamps, held, capacity, per_cell, pieces)
