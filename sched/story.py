"""The story of one request: sentences made of one run's figures."""

from collections.abc import Mapping
from typing import Any

from sched.blame import KINDS
from sched.language import ENGLISH, Language
from sched.moments import RESOURCE_NAMES, RESOURCE_WORDS
from sched.words import DEEDS, SHARE_WORTH_NAMING, SOME, count, duration, percent

OTHERS = {
    "quantum_s": "{span} until the iteration in progress had ended",
    "legitimate_s": "{span} behind its own level and above",
    "reserved_s": "{span} held back by the policy although it would have fitted",
}


def story(told: Mapping[str, Any], say: Language = ENGLISH) -> list[str]:
    """Sentences about one request, made of what `explain` found."""
    request, causes = told["request"], told["causes"]
    name, wait, came = request["id"], told["wait_s"], f"{request['arrival_s']:.2f} s"
    if request["outcome"] == "refused":
        return [say("{name} was refused on arrival: {why}.", name=name, why=request["refusal"])]
    if request["outcome"] == "shed":
        if not wait:
            return [say("{name} was turned away by the policy on arrival; it got no token.", name=name)]
        return [
            say(
                "{name} was turned away by the policy after it had waited {span}; it got no token.",
                name=name,
                span=duration(wait),
            )
        ]
    if not wait:
        return [
            say("{name} was admitted the moment it came, at {came}.", name=name, came=came),
            *_slowed(told["execution"], say),
        ]
    lines = [
        say("{name} came at {came} and waited {span} in all.", name=name, came=came, span=duration(wait))
    ]
    if request["preemptions"]:
        times = count(request["preemptions"], "time", say)
        lines.append(say("It was preempted {times} and had to come back.", times=times))
    inverted = causes["kv_s"] + causes["tokens_s"] + causes["seats_s"]
    lines += _parts(causes, inverted, say)
    if told["blame"]:
        lines.append(_blamed(told["blame"], inverted, say))
    if request["passed_by"]:
        lower = count(request["passed_by"], "less urgent request", say)
        lines.append(say("{requests} went past it while it waited.", requests=lower))
    replay = told["counterfactual"]
    return [
        *lines,
        *_slowed(told["execution"], say),
        told["bound"]["text"],
        say(
            "Played again without overtaking it would have waited {span}; without any less "
            "urgent request, {least}.",
            span=duration(replay["no_bypass_wait_s"]),
            least=duration(replay["no_lower_wait_s"]),
        ),
    ]


def _parts(causes: Mapping[str, float], inverted: float, say: Language) -> list[str]:
    """What the wait was made of: the inversion in it, and the rest."""
    if inverted:
        lacked = [
            say(word)
            for name, word in zip(RESOURCE_NAMES, RESOURCE_WORDS, strict=True)
            if causes[f"{name}_s"] >= SHARE_WORTH_NAMING * inverted
        ]
        what = lacked[0] if lacked else ""
        for one in lacked[1:]:
            what = say("{one} and {other}", one=what, other=one)
        lines = [
            say(
                "{span} of it is inversion: less urgent requests held the {what} it lacked.",
                span=duration(inverted),
                what=what,
            )
        ]
    else:
        lines = [say("None of it is inversion.")]
    others = [say(words, span=duration(causes[key])) for key, words in OTHERS.items() if causes[key]]
    if others:
        parts = others[0]
        for one in others[1:]:
            parts = say("{first}; {next}", first=parts, next=one)
        lines.append(say("The rest: {parts}.", parts=parts))
    return lines


def _slowed(inside: Mapping[str, float], say: Language) -> list[str]:
    """What less urgent requests added to its iterations once it was in, if anything."""
    added = inside["inversion_s"]
    if added <= 0:
        return []
    return [
        say(
            "Once in, less urgent requests made its iterations {span} longer, {share} of its time.",
            span=duration(added),
            share=percent(added / inside["running_s"]),
        )
    ]


def _blamed(blame: list[Mapping[str, Any]], inverted: float, say: Language) -> str:
    by_id: dict[str, dict[str, float]] = {}
    for row in blame:
        kinds = by_id.setdefault(row["id"], {})
        kinds[row["kind"]] = kinds.get(row["kind"], 0.0) + row["s"]
    who, kinds = max(by_id.items(), key=lambda pair: sum(pair[1].values()))
    did = say(DEEDS[f"{max(kinds, key=kinds.__getitem__)}_s"])
    share = sum(kinds.values()) / inverted
    if share < SHARE_WORTH_NAMING:
        total = {kind: sum(found.get(kind, 0.0) for found in by_id.values()) for kind in KINDS}
        return say(
            "{requests} share the blame; most of it is of those that {did}.",
            requests=count(len(by_id), "less urgent request", say),
            did=say(SOME[f"{max(total, key=total.__getitem__)}_s"]),
        )
    if len(by_id) == 1:
        return say("{who} alone answers for it: it {did}.", who=who, did=did)
    return say(
        "{who} answers for {share} of it: it {did}; {others} share the rest.",
        who=who,
        share=percent(share),
        did=did,
        others=count(len(by_id) - 1, "other", say),
    )
