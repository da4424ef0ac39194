"""Why a request waits, in a sentence: what it lacks at a moment, or what keeps it out."""

from collections.abc import Callable

from sched.figures.glance import Glance, span
from sched.figures.payload import CAUSES, PLACES
from sched.figures.side import Waiting
from sched.language import Language
from sched.model import PS_PER_S
from sched.words import joined

QUANTUM, LEGITIMATE, RESERVED, KV, TOKENS, SEATS = range(len(CAUSES))
"""The causes by their number in what the browser is sent."""


def why(view: Glance, wait: Waiting, say: Language) -> str:
    """The first sentence: what the request lacks."""
    cause, since = int(PLACES[wait.code]), view.at_ps - wait.from_ps
    if cause == QUANTUM and 2 * since < PS_PER_S:
        told = {"name": view.name(wait.request), "ago": span(since)}
        return say("**{name} came {ago} ago** and waits for the iteration in progress.", **told)
    if cause == LEGITIMATE:
        flat = view.side.is_flat
        turn = "" if flat else say("It would wait even without any less urgent request.")
        return joined([_its_turn(view, wait, say), turn], say)
    by_cause: dict[int, Callable[[Glance, Waiting, Language], str]] = {
        TOKENS: _lacks_tokens,
        SEATS: _lacks_seat,
        RESERVED: _held_back,
    }
    return by_cause.get(cause, _lacks_blocks)(view, wait, say)


def _blocks(number: int, say: Language) -> str:
    return say.count(number, "{n} block", "{n} blocks")


def _lacks_blocks(view: Glance, wait: Waiting, say: Language) -> str:
    told = {"name": view.name(wait.request), "needs": _blocks(view.needs(wait), say)}
    if kept := min(view.free, view.closed_to(wait.request)):
        one = "**{name} needs {needs}, {n} is free, {kept} of it kept for others.**"
        many = "**{name} needs {needs}, {n} are free, {kept} of them kept for others.**"
        return say.count(view.free, one, many, kept=f"{kept:,}", **told)
    one, many = "**{name} needs {needs}, {n} is free.**", "**{name} needs {needs}, {n} are free.**"
    return say.count(view.free, one, many, **told)


def _lacks_tokens(view: Glance, wait: Waiting, say: Language) -> str:
    stays, level = view.side.stays, view.side.level
    lower = [stay for stay in view.running if level[stays.request[stay]] > level[wait.request]]
    work = [(stay, view.tokens(stay)) for stay in lower]
    users = sorted((one for one in work if one[1] > 1), key=lambda one: -one[1])
    budget = f"{view.side.log.machine.max_num_batched_tokens:,}"
    told = {"name": view.name(wait.request), "budget": budget}
    if not users:
        return say("**{name} waits for tokens:** the budget of {budget} is used up.", **told)
    told |= {"one": view.name(int(stays.request[users[0][0]])), "n": f"{users[0][1]:,}"}
    if len(users) == 1:
        return say("**{name} waits for tokens:** {one} takes {n} of the {budget} of this iteration.", **told)
    told |= {"two": view.name(int(stays.request[users[1][0]])), "m": f"{users[1][1]:,}"}
    template = "**{name} waits for tokens:** {one} takes {n} and {two} {m} of the {budget} of this iteration."
    return say(template, **told)


def _lacks_seat(view: Glance, wait: Waiting, say: Language) -> str:
    level, seats = view.side.level, view.side.log.machine.max_num_seqs
    name = view.name(wait.request)
    if seats == 1:
        return say("**{name} waits for a seat:** the only one is taken by a less urgent request.", name=name)
    lower = sum(int(level[view.side.stays.request[stay]] > level[wait.request]) for stay in view.running)
    return say.count(
        lower,
        "**{name} waits for a seat:** {n} of {seats} is taken by a less urgent request.",
        "**{name} waits for a seat:** {n} of {seats} are taken by less urgent requests.",
        name=name,
        seats=f"{seats:,}",
    )


def _its_turn(view: Glance, wait: Waiting, say: Language) -> str:
    """It would wait even if every less urgent request vanished."""
    name, seats = view.name(wait.request), view.side.log.machine.max_num_seqs
    if len(view.running) >= seats:
        if seats == 1:
            return say("**{name} waits for a seat:** the only one is taken.", name=name)
        return say("**{name} waits for a seat:** all {seats} are taken.", name=name, seats=f"{seats:,}")
    if view.needs(wait) > view.free:
        return _lacks_blocks(view, wait, say)
    return say("**{name} waits for its turn.**", name=name)


def _held_back(view: Glance, wait: Waiting, say: Language) -> str:
    """It would fit, yet the policy keeps it out: something is set aside, or somebody stands before it."""
    needed, free = view.needs(wait), view.free
    if free - view.closed_to(wait.request) < needed <= free:
        return _lacks_blocks(view, wait, say)
    arrival = view.side.log.requests.arrival_ps[wait.request]
    before = [
        (view.needs(one), one)
        for one in view.waiting
        if one.request != wait.request and one.from_ps <= arrival and view.needs(one) > free
    ]
    told = {"name": view.name(wait.request), "needs": _blocks(needed, say), "free": f"{free:,}"}
    if not before:
        return say("**{name} would fit ({needs}, {free} free),** but the policy holds it back.", **told)
    more, other = max(before, key=lambda one: one[0])
    return say(
        "**{name} would fit ({needs}, {free} free), but waits its turn:** {other} stands before it and needs "
        "{more}.",
        other=view.name(other.request),
        more=f"{more:,}",
        **told,
    )
