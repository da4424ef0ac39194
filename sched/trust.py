"""What a result rests on, and how far it can be trusted: said beside every result, the weaknesses first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from sched.accuracy import in_full, in_short, is_made_up
from sched.inversion import Inversion
from sched.language import ENGLISH, Language
from sched.log import Log
from sched.model import Outcome
from sched.percentiles import interval_ranks, quotable
from sched.remarks import STOPPED_EARLY
from sched.scenario import Scenario
from sched.sums import seconds
from sched.version import MODEL, VERSION
from sched.warmup import mser5
from sched.words import duration, joined

P99 = 99
WEAK_NOTES = ("engine.hardware", "inversion")
"""Notes of a run that say how far it can be believed, whole sentences without numbers."""
NO_EFFECT = "so the policy had no effect"
Runs = Mapping[str, Sequence[Mapping[str, Any]]]
"""Summaries by the policy's title, one a seed."""


@dataclass(frozen=True, slots=True)
class Trust:
    """One line for beside the result; what weakens it; and what else it rests on."""

    line: str
    weaknesses: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Of one run: between which times the true p99 of a class lies (None: beyond what was seen), and how long
    the run still tells of its empty start.
    """

    low_s: float | None
    high_s: float | None
    start_s: float


def sample(log: Log, inversion: Inversion, name: str) -> Sample:
    """What one run says of its own p99 of the time to first token, and of its start."""
    listed, low_s, high_s = log.requests, None, None
    own = (listed.class_index == listed.class_names.index(name)) & (log.first_token_ps >= 0)
    times = np.sort((log.first_token_ps - listed.arrival_ps)[own])
    if 0 < len(times) < quotable(P99):
        low, high = interval_ranks(len(times), P99)
        low_s = seconds(times[low - 1]) if low else None
        high_s = seconds(times[high - 1]) if 0 < high <= len(times) else None
    waited = np.flatnonzero(log.outcome != Outcome.REFUSED)
    left_out = mser5(inversion.wait_ps[waited].tolist())
    start_s = seconds(listed.arrival_ps[waited[left_out]]) if left_out else 0.0
    return Sample(low_s, high_s, start_s)


def trust(
    scenario: Scenario,
    name: str,
    runs: Runs,
    seeds: Sequence[int],
    say: Language = ENGLISH,
    found: Sample | None = None,
) -> Trust:
    """What to know before believing figures of a class, computed from these runs over these seeds.

    Without a name the figures are of all classes together.
    """
    first = next(iter(runs.values()), ())
    classes = [name] if name else list(dict.fromkeys(key for one in first for key in one["classes"]))
    many = sum(one["classes"][key]["n"] for one in first for key in classes if key in one["classes"])
    name = ", ".join(classes)
    line = joined((_basis(scenario, name, many, seeds, say), in_short(scenario, say)), say)
    weak, facts = list[str](), list[str]()
    weak += _about_seeds(scenario, seeds, say)
    weak += _about_p99(scenario, name, many, len(seeds), say, found, next(iter(runs), ""))
    (weak if is_made_up(scenario) else facts).extend(in_full(scenario, say))
    weak += _about_notes(first, say)
    weak += _about_fates(runs, say)
    if len(seeds) > 1:
        facts.append(
            say(
                "Intervals hold the true mean in 95 of 100 such experiments. All policies got the same "
                "requests, so differences are paired seed by seed."
            )
        )
    (weak if found and found.start_s > scenario.warmup_s else facts).append(_warmup(scenario, say, found))
    facts.append(_end(scenario, runs, say))
    facts.append(say("Sched Lab {version}, revision {model} of the model.", version=VERSION, model=MODEL))
    return Trust(line, tuple(weak), tuple(facts))


def is_drawn(scenario: Scenario) -> bool:
    """Whether another seed gives other requests."""
    return bool(scenario.traffic)


def _basis(scenario: Scenario, name: str, many: int, seeds: Sequence[int], say: Language) -> str:
    """From how many requests, of which seeds."""
    known = {"name": name, "seed": seeds[0], "last": seeds[-1]}
    if scenario.trace:
        return say.count(
            many,
            "Computed from {n} {name} request, as recorded.",
            "Computed from {n} {name} requests, as recorded.",
            **known,
        )
    if not is_drawn(scenario):
        return say.count(
            many,
            "Computed from {n} {name} request, as written down.",
            "Computed from {n} {name} requests, as written down.",
            **known,
        )
    if len(seeds) == 1:
        return say.count(
            many,
            "Computed from {n} {name} request, seed {seed}. One run.",
            "Computed from {n} {name} requests, seed {seed}. One run.",
            **known,
        )
    return say("Computed from {n} {name} requests over seeds {seed} to {last}.", n=f"{many:,}", **known)


def _about_seeds(scenario: Scenario, seeds: Sequence[int], say: Language) -> list[str]:
    if not is_drawn(scenario):
        return [say("Nothing here is drawn, so no interval says how another day would be.")]
    if len(seeds) == 1:
        return [say("One run: another seed draws other requests. Compare gives intervals over several.")]
    return []


def _about_p99(
    scenario: Scenario, name: str, many: int, seeds: int, say: Language, found: Sample | None, title: str
) -> list[str]:
    """Of few requests a p99 is the worst but a few."""
    is_sample = scenario.traffic or scenario.trace
    if many >= quotable(P99) * seeds or not many or not is_sample:
        return []
    beyond = max(0, many // seeds - ceil(P99 * (many // seeds) / 100))
    known = {"many": f"{many // seeds:,}", "name": name}
    texts = [
        say("p99 of {many} {name} requests is the worst of them.", **known)
        if not beyond
        else say.count(
            beyond,
            "p99 of {many} {name} requests: only {n} request lies beyond it.",
            "p99 of {many} {name} requests: only {n} requests lie beyond it.",
            **known,
        )
    ]
    if found and found.low_s is not None:
        between = {"policy": title, "low": duration(found.low_s), "high": duration(found.high_s or 0.0)}
        texts.append(
            say(
                "Under {policy} the true one is at least {low}, and may be above all that was seen.",
                **between,
            )
            if found.high_s is None
            else say("Under {policy} the true one lies between {low} and {high}.", **between)
        )
    return [joined(texts, say)]


def _about_notes(summaries: Sequence[Mapping[str, Any]], say: Language) -> list[str]:
    """What the notes of the runs say of their worth; each once."""
    notes = {note["text"]: note["path"] for one in summaries for note in one.get("notes", ())}
    some = [text for text, path in notes.items() if path in WEAK_NOTES or text.endswith(NO_EFFECT)]
    return [_sentence(say(text), say) for text in some]


def _sentence(text: str, say: Language) -> str:
    end = "." if say.code == "en" else "。"
    return text[:1].upper() + text[1:].removesuffix(end) + end


def _about_fates(runs: Runs, say: Language) -> list[str]:
    """Who got no full answer, by policy: they are in no time, so that a policy may look better for it."""
    found = []
    for title, summaries in runs.items():
        sums = {
            kind: sum(one["requests"][kind] for one in summaries)
            for kind in ("arrived", "refused", "timed_out", "shed", "unfinished")
        }
        for kind, many in sums.items():
            known = {"title": title, "n": f"{many:,}", "all": f"{sums['arrived']:,}"}
            if not many or kind == "arrived":
                continue
            if kind == "refused":
                found.append(say("{title}: {n} of {all} requests can never run and were refused.", **known))
            elif kind == "timed_out":
                found.append(say("{title}: {n} of {all} requests gave up waiting.", **known))
            elif kind == "shed":
                found.append(say("{title}: {n} of {all} requests were turned away.", **known))
            else:
                found.append(say("{title}: {n} of {all} requests had not ended with the run.", **known))
    return found


def _warmup(scenario: Scenario, say: Language, found: Sample | None) -> str:
    known = {"warmup": duration(scenario.warmup_s)}
    text = (
        say("Requests of the first {warmup} are simulated and not counted.", **known)
        if scenario.warmup_s
        else say("Nothing is left out as warm-up: the run begins with an empty engine.")
    )
    if found and found.start_s > scenario.warmup_s:
        told = say(
            "The waits of the first {start} still tell of that empty start (MSER-5).",
            start=duration(found.start_s),
        )
        return joined((text, told), say)
    return text


def _end(scenario: Scenario, runs: Runs, say: Language) -> str:
    known = {"until": duration(scenario.duration_s)}
    notes = (note for summaries in runs.values() for one in summaries for note in one.get("notes", ()))
    if any(note["text"].startswith(STOPPED_EARLY) for note in notes):
        return say(
            "Arrivals stop at {until}; a run that could not go on stopped before every request had ended.",
            **known,
        )
    if scenario.drain_s is None:
        return say("Arrivals stop at {until}; the run goes on until every request has ended.", **known)
    known |= {"end": duration(scenario.duration_s + scenario.drain_s)}
    return say("Arrivals stop at {until}, and the run ends at {end} whatever is still there.", **known)
