"""The sentence under a side: what happens to a request at a moment, or how things stand.

What is between double stars is bold. The stage has the same sentences in `page/canvas/words.js`, since it
must not ask anybody while it plays; a test in the browser holds the two together, moment by moment.
"""

from collections.abc import Sequence

import numpy as np

from sched.figures.glance import Glance, span
from sched.figures.lacks import KV, TOKENS, why
from sched.figures.measure import displayed
from sched.figures.payload import PLACES
from sched.figures.side import Waiting
from sched.language import ENGLISH, Language
from sched.model import NEVER, PS_PER_S, Outcome
from sched.words import joined

AT_ONCE_PS = PS_PER_S // 10
"""Who starts sooner after its arrival than this starts in the buffer that is kept for it."""
JUST_PS = PS_PER_S


def caption(view: Glance, request: int | None, say: Language = ENGLISH) -> str:
    """What happens to a request at this moment; without one, how things stand."""
    if request is None:
        return _quiet(view, say)
    wait = next((one for one in view.waiting if one.request == request), None)
    if wait is not None:
        return _waits(view, wait, say)
    if any(view.side.stays.request[stay] == request for stay in view.running):
        return _runs(view, request, say)
    log = view.side.log
    ended, arrived = int(log.ended_ps[request]), int(log.requests.arrival_ps[request])
    if arrived > view.at_ps:
        comes = say("**{name} comes in {time}.**", name=view.name(request), time=span(arrived - view.at_ps))
        return joined([comes, _quiet(view, say)], say)
    if ended == NEVER or ended > view.at_ps:
        return _quiet(view, say)
    told = {"name": view.name(request), "ago": span(view.at_ps - ended), "after": span(ended - arrived)}
    return joined([say(ENDED[int(log.outcome[request])], **told), _quiet(view, say)], say)


ENDED = {
    int(Outcome.FINISHED): "**{name} finished {ago} ago,** {after} after it came.",
    int(Outcome.REFUSED): "**{name} was refused {ago} ago,** {after} after it came.",
    int(Outcome.TIMED_OUT): "**{name} timed out {ago} ago,** {after} after it came.",
    int(Outcome.SHED): "**{name} was turned away {ago} ago,** {after} after it came.",
    int(Outcome.UNFINISHED): "**{name} was cut off {ago} ago,** {after} after it came.",
    max(Outcome) + 1: "**{name} went to another engine {ago} ago,** when it came.",
}


def _waits(view: Glance, wait: Waiting, say: Language) -> str:
    cause = int(PLACES[wait.code])
    is_inversion = cause >= KV
    parts = [why(view, wait, say)]
    if is_inversion:
        parts.append(_past(view, wait, cause, say))
    stays = view.side.stays
    enters = bool(((stays.request == wait.request) & (stays.start_ps == wait.to_ps)).any())
    if enters and wait.to_ps > view.at_ps:
        fits = view.fits_in_s(wait) if is_inversion and cause != TOKENS else None
        time = span(wait.to_ps - view.at_ps)
        if fits is None:
            parts.append(say("It starts in {time}.", time=time))
        else:
            told = span(round(fits * PS_PER_S))
            parts.append(say("Fits in about {fits}; it starts in {time}.", fits=told, time=time))
    return joined(parts, say)


def _past(view: Glance, wait: Waiting, cause: int, say: Language) -> str:
    """The second sentence: who holds it, and who went past."""
    stays, level = view.side.stays, int(view.side.level[wait.request])
    holder = view.largest_holder(level) if cause == KV else None
    past = view.passed(wait.request, view.at_ps)
    just = [stay for stay in past if view.at_ps - stays.start_ps[stay] < JUST_PS][-2:]
    names = [view.name(int(stays.request[stay])) for stay in just or past[-1:]]
    told = {"who": _listed(names, 2, say), "many": f"{len(past):,}"}
    if holder is not None:
        name = view.name(int(stays.request[holder]))
        told |= {"holder": name, "held": f"{view.memory.held[holder]:,}"}
    kind = min(2, len(past)) if len(just) < 2 or len(past) < 2 else 3
    return say((PASSED if holder is None else HELD)[kind], **told)


PASSED = (
    "Nobody was admitted past it.",
    "{who} was admitted past it.",
    "{who} was admitted past it, {many} so far.",
    "{who} were just admitted past it, {many} so far.",
)
"""By how many went past: none, one, several, several just now."""
HELD = (
    "{holder} holds {held}; nobody was admitted past it.",
    "{holder} holds {held}; {who} was admitted past it.",
    "{holder} holds {held}; {who} was admitted past it, {many} so far.",
    "{holder} holds {held}; {who} were just admitted past it, {many} so far.",
)


def _runs(view: Glance, request: int, say: Language) -> str:
    side, kept = view.side, view.kept
    began = int(side.stays.start_ps[side.stays.request == request].min())
    late = began - int(side.log.requests.arrival_ps[request])
    is_buffered = kept is not None and not side.level[request] and late < AT_ONCE_PS
    started = {
        (True, True): "**{name} started {after} after it arrived,** in the buffer.",
        (True, False): "**{name} started {after} after it arrived.**",
        (False, True): "**{name} started as soon as it arrived,** in the buffer.",
        (False, False): "**{name} started as soon as it arrived.**",
    }[late > 0, is_buffered]
    parts = [say(started, name=view.name(request), after=span(late))]
    gone = side.log.preempted
    mine = (gone.beneficiary == request) & (gone.victim != request) & (gone.at_ps <= view.at_ps)
    if gave := int(mine.sum()):
        who = "borrower" if kept is not None and kept.lend else "request"
        parts.append(say.count(gave, *GAVE[who]))
    parts.append(_urgent(view, say) or _others(view, request, int(side.level[request]), say))
    return joined(parts, say)


GAVE = {
    "borrower": (
        "{n} borrower gave its blocks back for it and will run again.",
        "{n} borrowers gave their blocks back for it and will run again.",
    ),
    "request": (
        "{n} request gave its blocks back for it and will run again.",
        "{n} requests gave their blocks back for it and will run again.",
    ),
}


def _urgent(view: Glance, say: Language) -> str:
    """Beside a request that does not wait: how many urgent ones do, and what the first of them lacks."""
    if not view.urgent:
        return ""
    flat = "{n} request waits, {longest}.", "{n} requests wait, {longest} at most."
    ranked = "{n} urgent request waits, {longest}.", "{n} urgent requests wait, {longest} at most."
    longest = span(max(view.at_ps - one.from_ps for one in view.urgent))
    waits = say.count(len(view.urgent), *(flat if view.side.is_flat else ranked), longest=longest)
    return joined([waits, why(view, view.urgent[0], say)], say)


def _others(view: Glance, besides: int | None, level: int, say: Language) -> str:
    """The less urgent that wait, by class: "8 api and 1 docs requests wait, 2.8 s at most"."""
    listed, groups = view.side.log.requests, dict[int, int]()
    lower = [one for one in view.waiting if one.request != besides and view.side.level[one.request] > level]
    if not lower:
        return ""
    for one in lower:
        index = int(listed.class_index[one.request])
        groups[index] = groups.get(index, 0) + 1
    names = [displayed(one) for one in listed.class_names]
    each = [say("{n} {name}", n=f"{n:,}", name=names[index]) for index, n in groups.items()]
    told = {"who": _listed(each, 3, say), "longest": span(max(view.at_ps - one.from_ps for one in lower))}
    return say.count(len(lower), *(WAIT if besides is None else WAIT_INSTEAD), **told)


WAIT = "{who} request waits, {longest} at most.", "{who} requests wait, {longest} at most."
WAIT_INSTEAD = (
    "{who} request waits instead, {longest} at most.",
    "{who} requests wait instead, {longest} at most.",
)


def _quiet(view: Glance, say: Language) -> str:
    """How things stand where no request in focus waits or runs."""
    if urgent := _urgent(view, say):
        return urgent
    rest = "**Nobody waits.**" if view.side.is_flat else "**No urgent request waits.**"
    if not view.moment[1] and not view.waiting:
        rest = "**The engine is idle.**"
    ahead = "" if view.side.is_flat else _ahead(view, say)
    return joined([say(rest), _others(view, None, 0, say), ahead], say)


def _ahead(view: Glance, say: Language) -> str:
    """When the next stretch of time begins in which some urgent request waits in inversion."""
    bad = view.side.inverted
    order = np.argsort(bad.from_ps, kind="stable")
    begin, until = bad.from_ps[order], np.maximum.accumulate(bad.to_ps[order])
    is_new = np.ones(len(begin), bool)
    is_new[1:] = begin[1:] > until[:-1] + PS_PER_S // 10**6
    later = begin[is_new & (begin > view.at_ps)]
    if len(later):
        return say("Next inversion of an urgent request at {time}.", time=f"{later[0] / PS_PER_S:.2f}\u202fs")
    if len(begin):
        return say("No inversion of urgent requests lies ahead.")
    return say("This run has no inversion of urgent requests.")


def _listed(names: Sequence[str], most: int, say: Language) -> str:
    """The first names in a row, and how many more there are."""
    comma, shown, rest = "、" if say.code == "zh" else ", ", names[:most], len(names) - most
    if rest > 0:
        return say("{names} and {n} more", names=comma.join(shown), n=f"{rest:,}")
    if len(shown) < 2:
        return "".join(shown)
    return say("{names} and {last}", names=comma.join(shown[:-1]), last=shown[-1])
