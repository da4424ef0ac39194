"""How an interval of inversion is shared out among those who hold what is missing, to the last picosecond."""

from dataclasses import dataclass
from functools import cached_property
from math import gcd, prod
from typing import Any

import numpy as np

from sched.causes import CauseRuns
from sched.evidence import Evidence
from sched.log import Ints
from sched.occupancy import expand
from sched.supply import KV, SEATS, TOKENS, Codes

RESOURCES = (KV, TOKENS, SEATS)


@dataclass(frozen=True, eq=False)
class Rows:
    """Intervals of inversion, one for each waiting request and slot, in order of slot."""

    wait: Ints
    slot: Ints
    level: Ints
    length_ps: Ints
    code: Codes

    def __len__(self) -> int:
        return len(self.wait)

    def take(self, some: Ints | slice) -> "Rows":
        """Some of the rows."""
        return Rows(*(getattr(self, name)[some] for name in Rows.__dataclass_fields__))


def rows_of(seen: Evidence, runs: CauseRuns) -> Rows:
    """The single intervals of these runs, in order of slot."""
    owner, slot = expand(runs.first, runs.end - runs.first)
    order = np.argsort(slot, kind="stable")
    owner, slot = owner[order], slot[order]
    wait = runs.wait[owner]
    until = np.minimum(seen.time.begin_ps[slot + 1], seen.waits.to_ps[wait])
    length = until - seen.time.begin_ps[slot]
    return Rows(wait, slot, seen.level(wait), length, runs.code[owner])


@dataclass(frozen=True, eq=False)
class Split:
    """How each row's length is cut for one resource: what comes before it, and its part, of `total` weights.

    The part is shared by `lower` units in the hands of lower requests and `kept` idle units of a reserve.
    """

    length_ps: Ints
    before: Ints
    weight: Ints
    total: Ints
    lower: Ints
    kept: Ints

    @cached_property
    def is_alone(self) -> bool:
        """Whether no other resource binds in any of the rows."""
        return bool((self.weight == self.total).all())

    def boundary(self, row: Ints | slice, units: Ints) -> Ints:
        """Where the share of the first `units` units ends, in picoseconds from the row's start, rounded down.

        Cutting at such boundaries makes all shares add up to the length, and each is within 1 ps of its exact
        value.
        """
        whole: Any = np.maximum(self.lower + self.kept, 1)[row]
        if self.is_alone:
            return floor_share(self.length_ps[row], units, whole)
        before, weight, total = self.before[row], self.weight[row], self.total[row]
        if int(total.max(initial=1)) * int(whole.max(initial=1)) >= 2**60:
            whole = whole.astype(object)
        return floor_share(self.length_ps[row], before * whole + weight * units, total * whole)

    def inverted_ps(self) -> Ints:
        """The part of each row that less urgent requests have to answer for."""
        return self.boundary(slice(None), self.lower) - self.boundary(slice(None), np.zeros_like(self.lower))

    def kept_ps(self) -> Ints:
        """The part of each row that an idle reserve has to answer for."""
        return self.boundary(slice(None), self.lower + self.kept) - self.boundary(slice(None), self.lower)


def floor_share(length: Ints, part: Any, whole: Any) -> Ints:
    """floor(length * part / whole), exact although the product may not fit 64 bits. 0 <= part <= whole.

    Arrays of 64 bits for `whole` below 2^60, else arrays of Python integers.
    """
    if whole.dtype == object:
        exact: Ints = (length.astype(object) * part // whole).astype(np.int64)
        return exact
    guess: Ints = (length * (part / whole)).astype(np.int64)
    # The guess is off by little, so the remainder is small, and right although both products wrap around.
    guess += (length * part - guess * whole) // whole
    return guess


def splits(seen: Evidence, rows: Rows) -> tuple[Split, Split, Split]:
    """The cut of each row by resource. Several that bind weigh as what is missing of each, by capacity."""
    zero = np.zeros(len(rows), dtype=np.int64)
    at = seen.levels.bands.of_level[rows.level] * len(seen.time.iteration) + rows.slot
    kept = [zero] * 3 if seen.there.kept is None else [part.ravel()[at] for part in seen.there.kept]
    lower = seen.lower_at(rows.level, rows.slot)
    weight: list[Any] = [((rows.code & bit) > 0).astype(np.int64) for bit in RESOURCES]
    for code in (KV + TOKENS, KV + SEATS, TOKENS + SEATS, KV + TOKENS + SEATS):
        several = np.flatnonzero(rows.code == code)
        if len(several):
            _weigh(seen, rows.take(several), code, [part[several] for part in kept], weight, several)
    total, then = weight[0] + weight[1] + weight[2], weight[0] + weight[1]
    first, second, third = (
        Split(rows.length_ps, before, weight[k], total, lower[k], kept[k])
        for k, before in enumerate((zero, weight[0], then))
    )
    return first, second, third


def _weigh(seen: Evidence, rows: Rows, code: int, kept: list[Ints], weight: list[Any], several: Ints) -> None:
    """Fill in the weights of rows in which the same several resources bind, as whole numbers."""
    machine = seen.log.machine
    capacity = (machine.kv_blocks, machine.max_num_batched_tokens, machine.max_num_seqs)
    bind = [k for k in range(3) if code & RESOURCES[k]]
    factor = {k: prod(capacity[other] for other in bind if other != k) for k in bind}
    divisor = gcd(*factor.values())
    for k in bind:
        short = seen.need[k][rows.wait] - seen.there.free[k][rows.slot] + kept[k]
        by = factor[k] // divisor
        if int(short.max()) * by >= 2**60:
            weight[k] = weight[k].astype(object)
            short = short.astype(object)
        weight[k][several] = short * by
