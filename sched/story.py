"""Sentences made of one run's figures: the caption under a moment, and the story of one request."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sched.blame import KINDS
from sched.eta import estimate
from sched.inversion import Inversion
from sched.log import Log
from sched.moments import asked_and_free, holders
from sched.sums import seconds
from sched.supply import LEGITIMATE
from sched.words import DEEDS, SHARE_WORTH_NAMING, SOME, count, duration, percent

UNITS = ("block", "token", "seat")
WORDS = {"kv_s": "KV memory", "seats_s": "seats", "tokens_s": "tokens"}
OTHERS = {
    "quantum_s": "until the iteration in progress had ended",
    "legitimate_s": "behind its own level and above",
    "reserved_s": "held back by the policy although it would have fitted",
}


def caption(log: Log, inversion: Inversion, at_ps: int, request: int | None = None) -> str:
    """What the most urgent waiting request lacks at a moment, who holds it, who went past it, when it fits.

    Of several, one whose wait is inversion and who has waited longest; or the request asked for.
    """
    seen = inversion.seen
    found = seen.waits
    there = (found.from_ps <= at_ps) & (at_ps < found.to_ps)
    if request is not None:
        there &= found.request == request
    waiting = np.flatnonzero(there)
    if not len(waiting):
        return "Nobody is waiting." if request is None else f"{log.requests.ids[request]} is not waiting."
    slot = max(0, int(np.searchsorted(seen.time.begin_ps, at_ps, "right")) - 1)
    running = np.flatnonzero((seen.runs.first <= slot) & (slot < seen.runs.end))
    code = dict(zip(seen.runs.wait[running].tolist(), seen.runs.code[running].tolist(), strict=True))
    level = seen.level(waiting).tolist()

    def importance(pair: tuple[int, int]) -> tuple[bool, int, int]:
        wait, of_level = pair
        return (code.get(wait, LEGITIMATE) >= LEGITIMATE, of_level, int(found.from_ps[wait]))

    wait = min(zip(waiting.tolist(), level, strict=True), key=importance)[0]
    name = log.requests.ids[int(found.request[wait])]
    if found.from_ps[wait] > seen.time.begin_ps[slot]:
        return f"{name} has just come; the iteration in progress ends first."
    return _caption(log, inversion, wait, slot, code.get(wait, LEGITIMATE))


def _caption(log: Log, inversion: Inversion, wait: int, slot: int, code: int) -> str:
    seen = inversion.seen
    name, ids = log.requests.ids[int(seen.waits.request[wait])], log.requests.ids
    needs, free, entitled = (
        part[:, 0].tolist() for part in asked_and_free(seen, np.array([wait]), np.array([slot]))
    )
    short = next((k for k in (0, 2, 1) if code < LEGITIMATE and code & 1 << k), None)
    if short is None:
        short = next((k for k in (0, 2, 1) if needs[k] > entitled[k]), 0)
    noun = UNITS[short]
    is_are = "is" if free[short] == 1 else "are"
    first = f"{name} needs {count(needs[short], noun)}, {free[short]:,} {is_are} free"
    if entitled[short] < free[short]:
        first += f", {free[short] - entitled[short]:,} of them kept for others"
    if code >= LEGITIMATE:
        why = (
            "what is of its level or above takes the rest"
            if code == LEGITIMATE
            else "the policy holds it back"
        )
        return f"{first}; {why}."
    parts = []
    held = holders(seen, wait, slot, short)
    if held:
        who, units = held[0]
        lower = count(len(held), "lower request")
        parts.append(f"{ids[who]} holds {units:,}" if short < 2 else f"{lower} in the batch")
    passed = seen.passed(wait, int(seen.time.begin_ps[slot]))
    if passed:
        so_far = f", {len(passed)} so far" if len(passed) > 1 else ""
        parts.append(f"{ids[passed[-1]]} was admitted past it{so_far}")
    told = f"{first}; {'; '.join(parts)}." if parts else f"{first}."
    eta = estimate(inversion, wait, slot).p50_ps if seen.time.iteration[slot] >= 0 else None
    return told + (f" Fits in about {duration(seconds(eta))} if nobody else is let past it." if eta else "")


def story(told: Mapping[str, Any]) -> list[str]:
    """Sentences about one request, made of what `explain` found."""
    request, causes = told["request"], told["causes"]
    name, wait = request["id"], told["wait_s"]
    if request["outcome"] == "refused":
        return [f"{name} was refused on arrival: {request['refusal']}."]
    if request["outcome"] == "shed":
        when = f"after it had waited {duration(wait)}" if wait else "on arrival"
        return [f"{name} was turned away by the policy {when}; it got no token."]
    if not wait:
        return [
            f"{name} was admitted the moment it came, at {request['arrival_s']:.2f} s.",
            *_slowed(told["execution"]),
        ]
    lines = [f"{name} came at {request['arrival_s']:.2f} s and waited {duration(wait)} in all."]
    if request["preemptions"]:
        lines.append(f"It was evicted {count(request['preemptions'], 'time')} and had to come back.")
    inverted = causes["kv_s"] + causes["tokens_s"] + causes["seats_s"]
    if inverted:
        lacked = [word for key, word in WORDS.items() if causes[key] >= SHARE_WORTH_NAMING * inverted]
        what = " and ".join(lacked)
        lines.append(f"{duration(inverted)} of it is inversion: lower requests held the {what} it lacked.")
    else:
        lines.append("None of it is inversion.")
    others = [f"{duration(causes[key])} {words}" for key, words in OTHERS.items() if causes[key]]
    if others:
        lines.append("The rest: " + "; ".join(others) + ".")
    if told["blame"]:
        lines.append(_blamed(told["blame"], inverted))
    if request["passed_by"]:
        lines.append(f"{count(request['passed_by'], 'lower request')} went past it while it waited.")
    lines += [*_slowed(told["execution"]), told["bound"]["text"]]
    replay = told["counterfactual"]
    lines.append(
        f"Played again without overtaking it would have waited {duration(replay['no_bypass_wait_s'])}; "
        f"without any lower request, {duration(replay['no_lower_wait_s'])}."
    )
    return lines


def _slowed(inside: Mapping[str, float]) -> list[str]:
    """What lower requests added to its iterations once it was in, if anything."""
    added = inside["inversion_s"]
    if added <= 0:
        return []
    share = percent(added / inside["running_s"])
    return [f"Once in, lower requests made its iterations {duration(added)} longer, {share} of its time."]


def _blamed(blame: list[Mapping[str, Any]], inverted: float) -> str:
    by_id: dict[str, dict[str, float]] = {}
    for row in blame:
        kinds = by_id.setdefault(row["id"], {})
        kinds[row["kind"]] = kinds.get(row["kind"], 0.0) + row["s"]
    who, kinds = max(by_id.items(), key=lambda pair: sum(pair[1].values()))
    did = DEEDS[f"{max(kinds, key=kinds.__getitem__)}_s"]
    share = sum(kinds.values()) / inverted
    if share < SHARE_WORTH_NAMING:
        total = {kind: sum(found.get(kind, 0.0) for found in by_id.values()) for kind in KINDS}
        most = SOME[f"{max(total, key=total.__getitem__)}_s"]
        return f"{count(len(by_id), 'lower request')} share the blame; most of it is of those that {most}."
    if len(by_id) == 1:
        return f"{who} alone answers for it: it {did}."
    others = count(len(by_id) - 1, "other")
    return f"{who} answers for {percent(share)} of it: it {did}; {others} share the rest."
