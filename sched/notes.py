"""What a request is told while it waits past its patience: what it lacks, who holds it, how long yet."""

from typing import Any

import numpy as np

from sched.eta import estimate, pace_ps
from sched.evidence import Evidence
from sched.forecast import Rules, crowd
from sched.inversion import Inversion
from sched.language import ENGLISH, Language
from sched.model import PS_PER_S
from sched.moments import asked_and_free, cause_name, holders
from sched.residual import ClassLengths
from sched.sums import seconds
from sched.supply import LEGITIMATE

ROWS = 8
"""At most so many notes a wait: at the threshold, and whenever the time waited has doubled."""
BLOCKERS = 3
SPOKEN_OF = (0, 2, 1)
"""Of several resources that are short the first of these is spoken of: blocks, seats, tokens."""
NOT_SUBMITTED = "not submitted yet"
NOTHING: dict[str, Any] = {
    **dict.fromkeys(("waited_s", "cause", "kv_asked", "kv_free", "kv_deficit", "tokens_deficit")),
    **dict.fromkeys(
        ("seats_deficit", "eta_p10_s", "eta_p50_s", "eta_p90_s", "eta_cap_s", "eta_is", "actual_s")
    ),
    "blockers": [],
    "bypassed_by": 0,
}


def annotation(
    inversion: Inversion,
    request: int,
    after_ps: int,
    rules: Rules,
    at_ps: int | None = None,
    say: Language = ENGLISH,
) -> list[dict[str, Any]]:
    """One note a row, in order of time. The first says that it has not come yet, if it came after 0.

    Times are seconds from 0; `eta_*` and `actual_s` are seconds from the note. `actual_s` is what came true.
    With `at_ps` only the notes of the wait that this moment lies in.
    """
    seen, rows = inversion.seen, list[dict[str, Any]]()
    arrival_ps = int(seen.log.requests.arrival_ps[request])
    if arrival_ps and at_ps is None:
        early = {"at_s": 0.0, "state": NOT_SUBMITTED}
        rows.append(early | NOTHING | {"actual_s": seconds(arrival_ps)})
    for wait in np.flatnonzero(seen.waits.request == request).tolist():
        since, until = int(seen.waits.from_ps[wait]), int(seen.waits.to_ps[wait])
        if at_ps is not None and not since <= at_ps < until:
            continue
        waited = after_ps
        for _ in range(ROWS):
            slot = int(np.searchsorted(seen.time.begin_ps, since + waited))
            if slot >= len(seen.time.iteration) or seen.time.begin_ps[slot] >= until:
                break
            rows.append(_note(inversion, wait, slot, rules, say))
            waited = 2 * (int(seen.time.begin_ps[slot]) - since) or PS_PER_S // 10
    return rows


def _note(inversion: Inversion, wait: int, slot: int, rules: Rules, say: Language) -> dict[str, Any]:
    seen = inversion.seen
    at = int(seen.time.begin_ps[slot])
    need, free, entitled = (
        part[:, 0].tolist() for part in asked_and_free(seen, np.array([wait]), np.array([slot]))
    )
    run = np.flatnonzero((seen.runs.wait == wait) & (seen.runs.first <= slot) & (seen.runs.end > slot))
    code = int(seen.runs.code[run[0]]) if len(run) else LEGITIMATE
    short = next((k for k in SPOKEN_OF if code < LEGITIMATE and code & 1 << k), 0)
    return {
        "at_s": seconds(at),
        "state": "preempted" if seen.waits.is_return[wait] else "queued",
        "waited_s": seconds(at - int(seen.waits.from_ps[wait])),
        "cause": cause_name(code),
        "kv_asked": need[0],
        "kv_free": free[0],
        "kv_deficit": max(0, need[0] - entitled[0]),
        "tokens_deficit": max(0, need[1] - entitled[1]),
        "seats_deficit": max(0, need[2] - entitled[2]),
        "blockers": _blockers(seen, wait, slot, short, rules),
        **_told(inversion, wait, slot, rules, say),
        "actual_s": seconds(int(seen.waits.to_ps[wait]) - at),
        "bypassed_by": len(seen.passed(wait, at)),
    }


def _blockers(seen: Evidence, wait: int, slot: int, resource: int, rules: Rules) -> list[dict[str, Any]]:
    """The lower ones who hold most of what is short, with when each is expected to end."""
    who = holders(seen, wait, slot, resource)[:BLOCKERS]
    if not who:
        return []
    there, listed = crowd(seen, wait, slot, rules), seen.log.requests
    half = np.full((1, len(there.request)), 0.5)
    life = (
        listed.prompt_tokens[there.request]
        + ClassLengths(listed).totals(there.request, there.emitted, half)[0]
    )
    prefill = -(-np.maximum(there.known - there.done, 0) // there.chunk)
    left = np.maximum(prefill + np.maximum(life - 1 - np.maximum(there.done, there.known), 0), 1)
    steps = dict(zip(there.request.tolist(), left.tolist(), strict=True))
    pace = pace_ps(seen, slot)
    return [
        {
            "id": listed.ids[one],
            "class": listed.class_names[int(listed.class_index[one])],
            "holds": units,
            "ends_in_s": seconds(steps[one] * pace),
        }
        for one, units in who
    ]


def _told(inversion: Inversion, wait: int, slot: int, rules: Rules, say: Language) -> dict[str, Any]:
    """The estimate in seconds, and what it takes for granted."""
    names = ("eta_p10_s", "eta_p50_s", "eta_p90_s", "eta_cap_s")
    if inversion.seen.time.iteration[slot] < 0:
        return dict.fromkeys(names) | {
            "eta_is": say("none: the engine stands idle, so a rule of the policy keeps it out")
        }
    found = estimate(inversion, wait, slot, rules=rules)
    times = [None if one is None else seconds(one) for one in found[:4]]
    return dict(zip(names, times, strict=True)) | {"eta_is": assumption(rules, say)}


def assumption(rules: Rules, say: Language = ENGLISH) -> str:
    """What every estimate under a policy takes for granted, in words."""
    if rules.misfit == "skip" and rules.skip_limit is None:
        return say(
            "an estimate: at the present pace, with lengths like those of its class, and nobody else let "
            "past it; nothing bounds how many are"
        )
    return say(
        "an estimate: at the present pace, with lengths like those of its class, and nobody who comes later "
        "put before it"
    )
