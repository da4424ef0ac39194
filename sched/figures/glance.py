"""A side of the picture at a moment: who runs, who waits, what is free and kept, who went past."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.figures.blocks import Memory, kept_blocks, memory
from sched.figures.measure import displayed
from sched.figures.side import Side, Waiting
from sched.language import ENGLISH, Language
from sched.model import PS_PER_S, SetAside
from sched.supply import LEGITIMATE
from sched.words import NARROW, duration


@dataclass(frozen=True)
class Glance:
    """What the picture of one side reads."""

    side: Side
    at_ps: int
    notes: Sequence[tuple[str, float, float]] = ()
    """Estimates of when waits end: request, moment, from then on, in seconds; in order of time."""

    @cached_property
    def moment(self) -> tuple[int, bool]:
        """The iteration, and whether it is in progress."""
        return self.side.moment(self.at_ps)

    @cached_property
    def memory(self) -> Memory:
        """Where the blocks lie."""
        return memory(self.side, *self.moment)

    @cached_property
    def running(self) -> list[int]:
        """Stays in the batch."""
        return self.side.running(*self.moment)

    @cached_property
    def waiting(self) -> list[Waiting]:
        """Who waits, the most urgent and oldest first."""
        return self.side.waiting(self.at_ps)

    @cached_property
    def urgent(self) -> list[Waiting]:
        """Those of them whom nobody is more urgent than."""
        return [one for one in self.waiting if not self.side.level[one.request]]

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return self.memory.free

    @property
    def kept(self) -> SetAside | None:
        """What the policy sets aside, where blocks are in it."""
        return self.side.log.set_aside if kept_blocks(self.side) else None

    def name(self, request: int) -> str:
        """The id of a request, fit to stand in a sentence."""
        return displayed(self.side.log.requests.ids[request])

    def needs(self, wait: Waiting) -> int:
        """Blocks that the gate asks for, with what has to stay free beside those who run."""
        return wait.needs + (self.side.log.machine.watermark_blocks if self.running else 0)

    def closed_to(self, request: int) -> int:
        """Blocks of an idle buffer that a request may not take though they are free."""
        kept = self.kept
        if kept is None or self.side.log.requests.priority[request] <= kept.for_priority:
            return 0
        is_urgent = self.side.level[self.side.stays.request] == 0
        idle = max(0, kept.kv_blocks - int(self.memory.held[is_urgent].sum()))
        return idle - int(kept.lend_share * idle + 0.5) if kept.lend else idle

    def tokens(self, stay: int) -> int:
        """Tokens that a stay computes in this iteration."""
        at = self.moment[0]
        return next(
            (
                tokens
                for iteration, _, tokens, count in self.memory.pieces.rows(stay)
                if iteration <= at < iteration + count
            ),
            0,
        )

    def fits_in_s(self, wait: Waiting) -> float | None:
        """When a wait was expected to end, by the estimate made last: seconds from now; None without one."""
        name, now_s = self.side.log.requests.ids[wait.request], self.at_ps / PS_PER_S
        mine = [one for one in self.notes if one[0] == name and wait.from_ps / PS_PER_S - 1e-6 <= one[1]]
        made = [one for one in mine if one[1] <= now_s + 1e-9]
        left = made[-1][1] + made[-1][2] - now_s if made else 0.0
        return left if left > 0 else None

    def largest_holder(self, level: int) -> int | None:
        """The stay of lower urgency that holds most."""
        stays = self.side.stays
        lower = [stay for stay in self.running if self.side.level[stays.request[stay]] > level]
        return max(lower, key=lambda stay: (self.memory.held[stay], -stays.request[stay]), default=None)

    @cached_property
    def culprit(self) -> int | None:
        """The less urgent stay that holds most while the most urgent of those who wait waits in inversion."""
        if not self.waiting:
            return None
        head = self.waiting[0]
        if self.side.level[head.request] or head.code >= LEGITIMATE:
            return None
        return self.largest_holder(0)

    def passed(self, request: int, until_ps: int) -> list[int]:
        """Stays of lower ones that were admitted while a request waited."""
        side, found = self.side, list[int]()
        rows = np.flatnonzero(side.spans.request == request)
        waits = {(int(side.first_wait_ps[row]), int(side.last_wait_ps[row])) for row in rows}
        lower = side.level[side.stays.request] > side.level[request]
        for begin, end in sorted(waits):
            start = side.stays.start_ps
            found += np.flatnonzero(lower & (start >= begin) & (start < min(end, until_ps + 1))).tolist()
        return sorted(found, key=lambda stay: side.stays.start_ps[stay])


def span(ps: int) -> str:
    """A time in words, its number and unit on one line."""
    return duration(ps / PS_PER_S, NARROW)


def status(view: Glance, say: Language = ENGLISH) -> tuple[str, str]:
    """How many urgent requests wait, how long, and whether that is good, bad or plain."""
    flat = view.side.is_flat
    urgent = view.urgent
    if not urgent:
        return (say("nobody waiting") if flat else say("no urgent waiting")), "good"
    longest = span(max(view.at_ps - one.from_ps for one in urgent))
    is_bad = any(one.code < LEGITIMATE for one in urgent)
    template = "{n} waiting, {longest}" if flat else "{n} urgent waiting, {longest}"
    return say(template, n=f"{len(urgent):,}", longest=longest), "bad" if is_bad else "plain"


def subject(views: Sequence[Glance], focus: str | None) -> list[int | None]:
    """The request that each caption is about: the one in focus, else the urgent one that waits first."""
    ids = [view.side.log.requests.ids for view in views]
    name = focus
    if name is None:
        heads = [view for view in views if view.waiting and not view.side.level[view.waiting[0].request]]
        name = heads[0].side.log.requests.ids[heads[0].waiting[0].request] if heads else None
    return [own.index(name) if name is not None and name in own else None for own in ids]
