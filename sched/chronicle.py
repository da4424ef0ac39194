"""One request's life in order: it came, waited, got in, was prefilled, grew, was preempted, ended."""

from typing import Any

import numpy as np

from sched.inversion import Inversion
from sched.language import ENGLISH, Language
from sched.log import Ints
from sched.model import NEVER, Outcome, StayEnd
from sched.moments import cause_name
from sched.sums import seconds
from sched.words import count, duration, listed

CULPRITS = 3
"""So many of those to blame are named."""
ENDS = {
    Outcome.FINISHED: "finished, with {tokens} emitted",
    Outcome.REFUSED: "was refused, with {tokens} emitted",
    Outcome.TIMED_OUT: "gave up, with {tokens} emitted",
    Outcome.SHED: "was turned away, with {tokens} emitted",
    Outcome.UNFINISHED: "was not finished when the run ended, with {tokens} emitted",
}


def events(inversion: Inversion, request: int, say: Language = ENGLISH) -> list[dict[str, Any]]:
    """What happened to a request, first first: `event` in a word, `text` in a sentence, times in seconds.

    The events follow on one another: where one ends the next begins, from the arrival to the end.
    """
    log = inversion.seen.log
    listed, stays, found = log.requests, log.stays, inversion.seen.waits
    arrival = int(listed.arrival_ps[request])
    prompt, output = int(listed.prompt_tokens[request]), int(listed.output_tokens[request])
    came = say(
        "came with {tokens}, to emit {output}",
        tokens=count(prompt, "prompt token", say),
        output=f"{output:,}",
    )
    rows, at = [_event(arrival, arrival, "arrival", came)], arrival
    for wait in np.flatnonzero(found.request == request).tolist():
        rows.append(_waited(inversion, wait, say))
        at = max(at, int(found.to_ps[wait]))
    for stay in np.flatnonzero(stays.request == request).tolist():
        rows += _stayed(inversion, stay, say)
        at = max(at, int(stays.end_ps[stay]))
    outcome, ended = Outcome(int(log.outcome[request])), int(log.ended_ps[request])
    at = at if ended == NEVER else ended
    emitted = count(int(log.emitted_tokens[request]), "token", say)
    rows.append(_event(at, at, "end", say(ENDS[outcome], tokens=emitted)))
    order = {"arrival": 0, "preemption": 1, "wait": 2, "admission": 3, "prefill": 4, "decode": 5, "end": 6}
    rows.sort(key=lambda row: (row["from_s"], order[row["event"]]))
    return rows


def _event(from_ps: int, to_ps: int, event: str, text: str) -> dict[str, Any]:
    return {"from_s": seconds(from_ps), "to_s": seconds(to_ps), "event": event, "text": text}


def _waited(inversion: Inversion, wait: int, say: Language) -> dict[str, Any]:
    """A wait: by what, and who of lower urgency is most to blame."""
    seen, spans = inversion.seen, inversion.spans
    since, until = int(seen.waits.from_ps[wait]), int(seen.waits.to_ps[wait])
    by_cause: dict[str, int] = {}
    for row in np.flatnonzero(spans.wait == wait).tolist():
        name = cause_name(int(spans.code[row]))
        by_cause[name] = by_cause.get(name, 0) + int(spans.to_ps[row] - spans.from_ps[row])
    parts = [
        say("{cause} {span}", cause="+".join(map(say, name.split("+"))), span=duration(seconds(ps)))
        for name, ps in by_cause.items()
    ]
    text = say("waited {span}: {parts}", span=duration(seconds(until - since)), parts=listed(parts, say))
    begin = int(seen.time.begin_ps[np.searchsorted(seen.time.begin_ps, since)])
    blamed = inversion.culprits_between(int(seen.waits.request[wait]), begin, until).total
    first = sorted((one for one in range(len(blamed)) if blamed[one]), key=lambda one: -blamed[one])
    if first:
        ids = seen.log.requests.ids
        who = [f"{ids[one]} {duration(seconds(blamed[one]))}" for one in first[:CULPRITS]]
        told = listed(who, say)
        if len(first) > CULPRITS:
            others = count(len(first) - CULPRITS, "other", say)
            told = say("{one} and {other}", one=told, other=others)
        text = say("{waited}; lower ones held what it lacked: {who}", waited=text, who=told)
    return _event(since, until, "wait", text)


def _beside(many: int, lower: int, say: Language) -> str:
    """How many others were in the batch already, and how many of them are less urgent."""
    if not many:
        return say("got in alone")
    told = {"others": count(many, "other", say), "lower": f"{lower:,}"}
    if many == 1:
        return say("got in beside 1 other, which is lower" if lower else "got in beside 1 other, not lower")
    return say("got in beside {others}, {lower} of them lower", **told)


def _stayed(inversion: Inversion, stay: int, say: Language) -> list[dict[str, Any]]:
    """A stay in the batch: entry, prefill, decoding with its growth, and a preemption at its end."""
    seen = inversion.seen
    log, stays = seen.log, seen.log.stays
    start, end = int(stays.start_ps[stay]), int(stays.end_ps[stay])
    first, hit, known = (int(part[stay]) for part in (stays.iteration, stays.hit_tokens, stays.known_tokens))
    beside = seen.levels.held.seats[:, first]
    level = int(seen.levels.of_request[stays.request[stay]])
    slot = seen.time.slot[first]
    lower = int(seen.lower_at(np.array([level]), np.array([slot]))[2][0])
    text = _beside(int(beside.sum()) - 1, lower, say)
    if hit:
        template = (
            "{text}; {tokens} came from the prefix cache"
            if log.machine.enable_prefix_caching
            else "{text}; {tokens} came from the host"
        )
        text = say(template, text=text, tokens=count(hit, "token", say))
    rows = [_event(start, start, "admission", text)]
    held = np.flatnonzero(seen.held.stay == stay)
    is_prefill = seen.held.before[held] < known
    edges, at = np.append(log.iteration_start_ps, log.end_ps), start
    for pieces, name in ((held[is_prefill], "prefill"), (held[~is_prefill], "decode")):
        if len(pieces):
            last = int(seen.held.iteration[pieces[-1]] + seen.held.count[pieces[-1]])
            # A stay's last event lasts to its end, tokens or not.
            until = end if pieces[-1] == held[-1] else int(edges[last])
            rows.append(_event(at, until, name, _worked(inversion, pieces, name, say)))
            at = until
    if stays.end[stay] in (StayEnd.OUTGROWN, StayEnd.DISPLACED):
        rows.append(_preempted(inversion, stay, say))
    return rows


def _worked(inversion: Inversion, pieces: Ints, name: str, say: Language) -> str:
    """What was computed in some pieces of a stay, and how its blocks grew."""
    held, machine = inversion.seen.held, inversion.seen.log.machine
    tokens = int((held.step[pieces] * held.count[pieces]).sum())
    last = pieces[-1]
    to = int(held.before[last] + held.step[last] * held.count[last])
    before, after = machine.blocks(int(held.before[pieces[0]])), machine.blocks(to)
    many = count(tokens, "token", say)
    if name == "decode":
        what = say("decoded {tokens}", tokens=many)
    else:
        what = say("prefilled {tokens} in {pieces}", tokens=many, pieces=count(len(pieces), "piece", say))
    if after <= before:
        return what
    return say(
        "{what}; its blocks grew from {before} to {after}",
        what=what,
        before=f"{before:,}",
        after=f"{after:,}",
    )


def _preempted(inversion: Inversion, stay: int, say: Language) -> dict[str, Any]:
    """A preemption: for whom, what was lost, and who of lower urgency was spared."""
    seen = inversion.seen
    log, stays, preempted = seen.log, seen.log.stays, seen.log.preempted
    victim, at = int(stays.request[stay]), int(stays.end_ps[stay])
    row = int(np.flatnonzero((preempted.victim == victim) & (preempted.at_ps == at))[0])
    other = int(preempted.beneficiary[row])
    who = say("its own growth") if other == victim else log.requests.ids[other]
    lost = count(int(preempted.lost_tokens[row]), "computed token", say)
    text = say("preempted for {who} with {tokens}", who=who, tokens=lost)
    iteration = int(preempted.iteration[row])
    spared = (stays.iteration < iteration) & (stays.end_iteration > iteration)
    spared &= seen.levels.of_request[stays.request] > seen.levels.of_request[victim]
    if spared.any():
        lower = count(int(spared.sum()), "less urgent request", say)
        text = say("{text}, while {requests} stayed", text=text, requests=lower)
    return _event(at, at, "preemption", text)
