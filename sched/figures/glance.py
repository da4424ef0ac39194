"""A side at a moment, and what it is about in a sentence. Every sentence is made from the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sched.figures.blocks import Memory, memory
from sched.figures.measure import apart
from sched.figures.side import Side, Waiting
from sched.language import ENGLISH, Language
from sched.model import NEVER, PS_PER_S, Outcome
from sched.supply import KV, LEGITIMATE, QUANTUM, RESERVED, SEATS, TOKENS
from sched.words import duration


@dataclass(frozen=True)
class Glance:
    """What the picture of one side reads."""

    side: Side
    at_ps: int

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

    def name(self, request: int) -> str:
        """The id of a request, safe beside other text."""
        return apart(self.side.log.requests.ids[request])

    def largest_holder(self, level: int) -> int | None:
        """The stay of lower urgency that holds most."""
        stays = self.side.stays
        lower = [stay for stay in self.running if self.side.level[stays.request[stay]] > level]
        return max(lower, key=lambda stay: self.memory.held[stay], default=None)

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
            found += np.flatnonzero(lower & (start > begin) & (start < min(end, until_ps + 1))).tolist()
        return sorted(found, key=lambda stay: side.stays.start_ps[stay])


def span(ps: int) -> str:
    """A time in words, its number and unit on one line."""
    return duration(ps / PS_PER_S).replace(" ", "\u202f")


def together(sentences: Sequence[str], say: Language) -> str:
    """Sentences one after the other; Chinese puts no space between them."""
    return ("" if say.code == "zh" else " ").join(filter(None, sentences))


def status(view: Glance, say: Language = ENGLISH) -> tuple[str, str]:
    """How many urgent requests wait, how long, and whether that is good, bad or plain."""
    flat = view.side.is_flat
    urgent = view.urgent
    if not urgent:
        return (say("nobody waiting") if flat else say("no urgent waiting")), "good"
    longest = _longest(view, urgent)
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


def caption(view: Glance, request: int | None, say: Language = ENGLISH) -> str:
    """What happens to a request at this moment; without one, how things stand."""
    if request is None:
        return _quiet(view, say)
    wait = next((one for one in view.waiting if one.request == request), None)
    if wait is not None:
        return _waits(view, wait, say)
    stays = view.side.stays
    if any(stays.request[stay] == request for stay in view.running):
        return _runs(view, request, say)
    ended, arrived = (int(column[request]) for column in _ends(view.side))
    if ended != NEVER and ended <= view.at_ps:
        after = say(ENDS[int(view.side.log.outcome[request])])
        told = {"name": view.name(request), "ended": after, "ago": span(view.at_ps - ended)}
        said = say("{name} {ended} {ago} ago, {took} after it came.", took=span(ended - arrived), **told)
    else:
        comes = arrived - view.at_ps
        said = say("{name} comes in {time}.", name=view.name(request), time=span(comes)) if comes > 0 else ""
    return together([said, _quiet(view, say)], say)


ENDS = {
    int(Outcome.FINISHED): "finished",
    int(Outcome.REFUSED): "was refused",
    int(Outcome.TIMED_OUT): "timed out",
    int(Outcome.SHED): "was turned away",
    int(Outcome.UNFINISHED): "was cut off",
    max(Outcome) + 1: "went to another engine",
}


def _ends(side: Side) -> tuple[np.ndarray, np.ndarray]:
    return side.log.ended_ps, side.log.requests.arrival_ps


def _waits(view: Glance, wait: Waiting, say: Language) -> str:
    level = int(view.side.level[wait.request])
    parts = [_why(view, wait, say)]
    holder = view.largest_holder(level) if wait.code < LEGITIMATE else None
    if holder is not None:
        if wait.code & KV:
            who = view.name(int(view.side.stays.request[holder]))
            parts.append(say("{who} holds {n}.", who=who, n=f"{view.memory.held[holder]:,}"))
        past = len(view.passed(wait.request, view.at_ps))
        template = (
            "{n} less urgent request was admitted past it.",
            "{n} less urgent requests were admitted past it.",
        )
        parts.append(say.count(past, *template) if past else say("Nobody was admitted past it."))
    if wait.to_ps > view.at_ps and any(view.side.stays.start_ps == wait.to_ps):
        parts.append(say("It starts in {span}.", span=span(wait.to_ps - view.at_ps)))
    return together(parts, say)


def _why(view: Glance, wait: Waiting, say: Language) -> str:
    machine, name, needs = view.side.log.machine, view.name(wait.request), wait.needs
    told = {"name": name, "needs": f"{needs:,}", "free": f"{view.free:,}"}
    if wait.code == QUANTUM:
        ago = span(view.at_ps - wait.from_ps)
        return say("{name} came {ago} ago and waits for the iteration in progress.", name=name, ago=ago)
    if wait.code == RESERVED:
        return say("{name} would fit ({needs} blocks, {free} free), but is kept out.", **told)
    if wait.code == LEGITIMATE:
        return say(
            "{name} needs {needs} blocks, {free} are free: it would wait even alone with its equals.", **told
        )
    if wait.code & KV:
        return say("{name} needs {needs} blocks, {free} are free.", **told)
    if wait.code & TOKENS:
        budget = f"{machine.max_num_batched_tokens:,}"
        return say("{name} waits for tokens: the budget of {budget} is used up.", name=name, budget=budget)
    assert wait.code & SEATS
    level = view.side.level
    lower = sum(int(level[view.side.stays.request[stay]] > level[wait.request]) for stay in view.running)
    taken = {"name": name, "n": f"{lower:,}", "seats": f"{machine.max_num_seqs:,}"}
    return say("{name} waits for a seat: less urgent requests have {n} of {seats}.", **taken)


def _runs(view: Glance, request: int, say: Language) -> str:
    side = view.side
    late = int(
        side.stays.start_ps[side.stays.request == request].min() - side.log.requests.arrival_ps[request]
    )
    gone = side.log.preempted
    mine = (gone.beneficiary == request) & (gone.victim != request) & (gone.at_ps <= view.at_ps)
    if late:
        text = say("{name} started {span} after it arrived.", name=view.name(request), span=span(late))
    else:
        text = say("{name} started as soon as it arrived.", name=view.name(request))
    if gave := int(mine.sum()):
        one, many = "{n} request gave its blocks back for it.", "{n} requests gave their blocks back for it."
        text = together([text, say.count(gave, one, many)], say)
    return together([text, _urgent(view, say) or _others(view, int(side.level[request]), say)], say)


def _longest(view: Glance, who: Sequence[Waiting]) -> str:
    return span(max(view.at_ps - one.from_ps for one in who))


def _urgent(view: Glance, say: Language) -> str:
    """What the header counts, and what the first of them lacks."""
    if not view.urgent:
        return ""
    flat = "{n} request waits, {longest}.", "{n} requests wait, {longest} at most."
    ranked = "{n} urgent request waits, {longest}.", "{n} urgent requests wait, {longest} at most."
    templates = flat if view.side.is_flat else ranked
    waits = say.count(len(view.urgent), *templates, longest=_longest(view, view.urgent))
    return together([waits, _why(view, view.urgent[0], say)], say)


def _others(view: Glance, level: int, say: Language) -> str:
    lower = [one for one in view.waiting if view.side.level[one.request] > level]
    if not lower:
        return ""
    one = "{n} less urgent request waits, {longest}."
    many = "{n} less urgent requests wait, {longest} at most."
    return say.count(len(lower), one, many, longest=_longest(view, lower))


def _quiet(view: Glance, say: Language) -> str:
    if view.urgent:
        return _urgent(view, say)
    bad = view.side.inverted
    if view.side.is_flat:
        return say("Nobody waits.")
    later = bad.from_ps[bad.from_ps > view.at_ps]
    if len(later):
        ahead = say("Next inversion at {at} s.", at=f"{later.min() / PS_PER_S:.2f}")
    else:
        ahead = say("No inversion lies ahead.") if len(bad.from_ps) else say("This run has no inversion.")
    return together([say("No urgent request waits."), _others(view, 0, say), ahead], say)
