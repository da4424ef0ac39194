"""KV blocks: the closed form of what straight decoders hold, and the pool of named blocks that prefix caching
needs.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable

Content = tuple[tuple[Hashable, int], ...]
"""A token sequence as runs: (name, n) is the first n tokens of the named segment."""


class Decoders:
    """Requests that decode one token in every iteration, as sums: nothing is touched while they do.

    A member with offset d has i + d computed tokens before iteration i. With the histogram of offsets modulo
    the block size, the blocks that all of them hold in iteration i is a closed form, whatever their number.
    """

    __slots__ = ("block_size", "count", "offsets", "phase", "quotients")

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.count = 0
        self.offsets = 0
        self.quotients = 0
        self.phase = [0] * block_size

    def add(self, offset: int) -> None:
        """A request starts to decode straight."""
        quotient, residue = divmod(offset, self.block_size)
        self.count += 1
        self.offsets += offset
        self.quotients += quotient + 1
        self.phase[residue] += 1

    def remove(self, offset: int) -> None:
        """It ends, or is stopped."""
        quotient, residue = divmod(offset, self.block_size)
        self.count -= 1
        self.offsets -= offset
        self.quotients -= quotient + 1
        self.phase[residue] -= 1

    def held(self, iteration: int) -> int:
        """Blocks they hold in this iteration, the block for its token included."""
        turns, place = divmod(iteration, self.block_size)
        blocks = self.count * turns + self.quotients
        return blocks + sum(self.phase[self.block_size - place :]) if place else blocks

    def context(self, iteration: int) -> int:
        """Tokens in cache before this iteration, summed."""
        return self.count * iteration + self.offsets

    def fits_until(self, iteration: int, last: int, blocks: int) -> int:
        """Last iteration in [iteration, last] in which they hold at most this many blocks (known for the
        first).
        """
        if self.held(last) <= blocks:
            return last
        return last_true(lambda number: self.held(number) <= blocks, iteration, last)


def last_true(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Last number in [low, high] up to which a condition holds that, once false, stays false; `low` is taken
    as true.
    """
    if holds(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


class PrefixPool:
    """Blocks with names, reference counts and content hashes: vLLM's pool with prefix caching.

    A block that is full is known by the chain of contents up to it. Freed blocks keep their content at the
    tail of the free queue until they are handed out again.
    Source: vLLM 0.33, v1/core/block_pool.py and kv_cache_manager.py.
    """

    def __init__(self, blocks: int, block_size: int) -> None:
        self.block_size = block_size
        # The free queue in three parts: handed back unnamed, never used, cached. What was never used is
        # only counted, so that a pool without a limit takes no memory.
        self.returned: OrderedDict[int, None] = OrderedDict()
        self.first_unused, self.unused = 1, blocks
        self.cached: OrderedDict[int, None] = OrderedDict()
        self.references: defaultdict[int, int] = defaultdict(int)
        self.chain_of: dict[int, int] = {}
        self.blocks_of: dict[int, dict[int, None]] = {}
        self.names: dict[tuple[int, Content], int] = {}
        self.own_names = 0

    def free(self) -> int:
        """Blocks that nobody holds, cached ones among them."""
        return len(self.returned) + self.unused + len(self.cached)

    def extend_chain(self, chain: list[int], content: Content, blocks: int, shared: int) -> None:
        """Name the first `blocks` full blocks of a content; `chain` holds those named so far.

        Only the first `shared` tokens can be anybody else's too: a block beyond them gets a name of its own.
        """
        for index in range(len(chain), blocks):
            if index * self.block_size >= shared:
                self.own_names -= 1
                chain.append(self.own_names)
                continue
            piece = _cut(content, index * self.block_size, (index + 1) * self.block_size)
            key = (chain[-1] if chain else 0, piece)
            chain.append(self.names.setdefault(key, len(self.names) + 1))

    def lookup(self, chain: list[int], most: int) -> list[int]:
        """Blocks whose content is the start of this chain, at most so many; changes nothing."""
        hits = []
        for name in chain[:most]:
            blocks = self.blocks_of.get(name)
            if not blocks:
                break
            hits.append(next(iter(blocks)))
        return hits

    def idle(self, hits: Iterable[int]) -> int:
        """How many of these nobody holds: taking them shrinks the free queue."""
        return sum(1 for block in hits if not self.references[block])

    def share(self, hits: Iterable[int]) -> None:
        """Take references on cached blocks."""
        for block in hits:
            if not self.references[block]:
                del self.cached[block]
            self.references[block] += 1

    def take(self, count: int) -> list[int]:
        """Hand out blocks from the head of the free queue; what they cached is forgotten."""
        taken = []
        for _ in range(count):
            if self.returned:
                block, _ = self.returned.popitem(last=False)
            elif self.unused:
                block = self.first_unused
                self.first_unused, self.unused = block + 1, self.unused - 1
            else:
                block, _ = self.cached.popitem(last=False)
                del self.blocks_of[self.chain_of.pop(block)][block]
            self.references[block] = 1
            taken.append(block)
        return taken

    def commit(self, held: list[int], chain: list[int], first: int, full: int) -> None:
        """Blocks [first, full) of a request have their content scheduled: now others may share them."""
        for index in range(first, full):
            block = held[index]
            if block not in self.chain_of:
                self.chain_of[block] = chain[index]
                self.blocks_of.setdefault(chain[index], {})[block] = None

    def release(self, held: list[int]) -> None:
        """Give blocks back, last to first: unnamed ones to the head of the free queue, cached ones to its
        tail.
        """
        unnamed = []
        for block in reversed(held):
            self.references[block] -= 1
            if self.references[block]:
                continue
            if block in self.chain_of:
                self.cached[block] = None
            else:
                unnamed.append(block)
        for block in reversed(unnamed):
            self.returned[block] = None
            self.returned.move_to_end(block, last=False)


def _cut(content: Content, start: int, stop: int) -> Content:
    """Tokens [start, stop) of a content, as (name, first, n) runs flattened into names with offsets."""
    piece: list[tuple[Hashable, int]] = []
    position = 0
    for name, length in content:
        low, high = max(start, position), min(stop, position + length)
        if low < high:
            piece.append(((name, low - position), high - low))
        position += length
        if position >= stop:
            break
    return tuple(piece)
