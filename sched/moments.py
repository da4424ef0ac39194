"""Moments of waiting: what a request asked for, what was free, and which less urgent requests held it."""

from dataclasses import dataclass

import numpy as np

from sched.blame import cells
from sched.evidence import Evidence
from sched.inversion import Inversion
from sched.log import Ints
from sched.occupancy import expand, groups
from sched.shares import RESOURCES, Rows
from sched.supply import KV, LEGITIMATE, QUANTUM, RESERVED, SEATS, TOKENS, Codes

CAUSE_NAMES = {QUANTUM: "quantum", LEGITIMATE: "legitimate", RESERVED: "reserved"}
RESOURCE_NAMES = ("kv", "tokens", "seats")
RESOURCE_WORDS = ("KV memory", "tokens", "seats")
"""What people call them."""
NOUNS = ("block", "token", "seat")
"""In what each is counted."""


def cause_name(code: int) -> str:
    """A cause in a word; resources that are short together are joined: kv+seats."""
    short = [
        name for name, bit in zip(RESOURCE_NAMES, RESOURCES, strict=True) if code < LEGITIMATE and code & bit
    ]
    return CAUSE_NAMES.get(code) or "+".join(short)


@dataclass(frozen=True, eq=False)
class Moments:
    """Runs of a wait in which cause, need and supply stay the same, in order of request and time.

    `resource` is the one spoken of (an index of RESOURCE_NAMES): the first that is short, else blocks.
    `needs` is what the gate asks for, `free` what nobody holds, `entitled` what of that the request may take.
    """

    request: Ints
    wait: Ints
    slot: Ints
    from_ps: Ints
    to_ps: Ints
    code: Codes
    resource: Ints
    needs: Ints
    free: Ints
    entitled: Ints


def asked_and_free(seen: Evidence, wait: Ints, slot: Ints) -> tuple[Ints, Ints, Ints]:
    """Need, free and entitled of waits in slots, shape (3, len(wait)): rows are blocks, tokens, seats."""
    band = seen.levels.bands.of_level[seen.level(wait)]
    need = np.stack([part[wait] for part in seen.need])
    free = np.stack([part[slot] for part in seen.there.free])
    kept = seen.there.kept
    entitled = free if kept is None else free - np.stack([part[band, slot] for part in kept])
    # The gate asks for the watermark on top of the need, so that it is shown there and not as taken.
    runs = free[2] < seen.log.machine.max_num_seqs
    water = np.zeros_like(free)
    water[0] = np.where(runs, seen.log.machine.watermark_blocks, 0)
    return need + water, np.maximum(free + water, 0), np.maximum(entitled + water, 0)


def moments(inversion: Inversion, request: int | None = None, *, whole: bool = False) -> Moments:
    """The waits of one request, or of all, cut where what it was told changes.

    With `whole`, one row a cause: the figures are those of its first slot.
    """
    seen, spans = inversion.seen, inversion.spans
    some = np.arange(len(spans.request)) if request is None else np.flatnonzero(spans.request == request)
    first = np.searchsorted(seen.time.begin_ps, spans.from_ps[some], "right") - 1
    end = np.searchsorted(seen.time.begin_ps, spans.to_ps[some])
    owner, slot = expand(first, np.ones_like(first) if whole else end - first)
    span = some[owner]
    wait = spans.wait[span]
    need, free, entitled = asked_and_free(seen, wait, slot)
    code = spans.code[span]
    short = np.where(code < LEGITIMATE, _first_bit(code), _first_short(need, entitled))
    each = np.arange(len(span))
    shown = np.stack((span, short, need[short, each], free[short, each], entitled[short, each]))
    new = np.ones(len(span), dtype=bool)
    new[1:] = (shown[:, 1:] != shown[:, :-1]).any(axis=0)
    start, last = groups(new)
    begin = np.maximum(seen.time.begin_ps[slot[start]], spans.from_ps[span[start]])
    until = spans.to_ps[span[start]] if whole else seen.time.begin_ps[slot[last] + 1]
    until = np.minimum(until, spans.to_ps[span[start]])
    _, resource, needs, is_free, may_take = shown[:, start]
    return Moments(
        spans.request[span[start]], wait[start], slot[start], begin, until, code[start], resource, needs,
        is_free, may_take
    )  # fmt: skip


def _first_bit(code: Codes) -> Ints:
    return np.where(code & KV, 0, np.where(code & TOKENS, 1, 2))


def _first_short(need: Ints, free: Ints) -> Ints:
    short = need > free
    return np.where(short[0], 0, np.where(short[2], 2, np.where(short[1], 1, 0)))


def holders(seen: Evidence, wait: int, slot: int, resource: int) -> list[tuple[int, int]]:
    """Less urgent requests in the batch in a slot with what they hold, the most first: (request, units)."""
    one = np.array([wait])
    row = Rows(
        one, np.array([slot]), seen.level(one), np.array([1]), np.array([RESOURCES[resource]], np.int8)
    )
    found: list[tuple[int, int]] = []
    if seen.time.iteration[slot] < 0:
        return found
    for part in cells(seen, row):
        request = part.held.request[part.piece].tolist()
        if resource == 0:
            units = part.held.claimed(part.piece, part.iteration, seen.log.machine)
        else:
            units = (
                part.held.tokens(part.piece, part.iteration) if resource == 1 else np.ones_like(part.piece)
            )
        found += [(who, many) for who, many in zip(request, units.tolist(), strict=True) if many]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


__all__ = ["SEATS", "Moments", "asked_and_free", "cause_name", "holders", "moments"]
