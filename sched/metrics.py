"""What a run comes to in numbers: the `run --json` object of one policy.

A value that does not exist is None and has a note, never NaN. Percentiles are nearest-rank on the full
sample. Requests that arrive during the warm-up are simulated and left out of classes and tenants.
"""

from typing import Any

import numpy as np

from sched.details import add_details
from sched.fairness import jain
from sched.inversion import Culprits, Inversion
from sched.log import Ints, Log
from sched.model import PS_PER_S, UNLIMITED_BLOCKS, Outcome
from sched.occupancy import Bools, used_blocks
from sched.percentiles import of_times
from sched.remarks import Notes, note_what_is_missing, note_what_is_odd, note_what_was_read
from sched.scenario import Scenario
from sched.several import JoinedInversion
from sched.sums import exact_dot, exact_sum, five, seconds
from sched.whole import told

TOP_CULPRITS = 10
TOP_URGENT = 3
OUTCOMES = {
    "finished": Outcome.FINISHED,
    "refused": Outcome.REFUSED,
    "timed_out": Outcome.TIMED_OUT,
    "shed": Outcome.SHED,
    "unfinished": Outcome.UNFINISHED,
}


def summary(
    log: Log,
    scenario: Scenario,
    inversion: Inversion,
    *,
    with_blame: bool = True,
    in_full: bool = False,
) -> dict[str, Any]:
    """Every figure of one run, in seconds and plain Python.

    Beside what `run --json` promises, `inversion.urgent_class` is the class of the most urgent requests that
    came, and `inversion.urgent` is the blame for the waits of the most urgent level alone. Without blame
    there is neither that nor direct_s, growth_s, bypass_s and top_culprits: who shows none saves the work.
    Only in full there are the figures of `sched.details`, and intervals beside the percentiles.
    """
    notes: Notes = [{"path": path, "text": text} for path, text in scenario.notes()]
    note_what_was_read(scenario, notes)
    counted = np.asarray(log.requests.arrival_ps >= round(scenario.warmup_s * PS_PER_S))
    window_s = scenario.duration_s - scenario.warmup_s
    makespan_ps = int(log.ended_ps[log.outcome == Outcome.FINISHED].max(initial=-1))
    classes = _classes(log, inversion, counted, window_s, notes, in_full=in_full and not log.replicas)
    found: dict[str, Any] = {
        "requests": _outcomes(log),
        "makespan_s": seconds(makespan_ps) if makespan_ps >= 0 else None,
        "throughput": _throughput(log, makespan_ps),
        "preemptions": int(log.preemptions.sum()),
        "recomputed_tokens": int(log.recomputed_tokens.sum()),
        "kv_utilisation": _utilisation(log, inversion, makespan_ps),
        "batch_occupancy": _occupancy(log, inversion, makespan_ps),
        "jain": jain(log, log.emitted_tokens, counted),
        "classes": classes,
        "tenants": _tenants(log, inversion, counted),
        "inversion": _inversion(log, inversion, with_blame),
        "notes": notes,
    }
    if isinstance(inversion, JoinedInversion):
        found["replicas"] = [
            summary(one, scenario, part, with_blame=with_blame, in_full=in_full)
            for one, part in zip(log.replicas, inversion.parts, strict=True)
        ]
    elif in_full:
        add_details(found, log, scenario, inversion, counted, makespan_ps, notes)
    if log.requests.parents:
        found["whole_requests"] = told(log)
    note_what_is_missing(log, found, notes)
    note_what_is_odd(log, counted, notes)
    return found


def _outcomes(log: Log) -> dict[str, int]:
    counts = np.bincount(log.outcome, minlength=len(OUTCOMES)).tolist()
    return {"arrived": len(log.requests.ids), **{name: counts[outcome] for name, outcome in OUTCOMES.items()}}


def _throughput(log: Log, makespan_ps: int) -> dict[str, float | None]:
    if makespan_ps <= 0:
        return {"output_tokens_per_s": None, "requests_per_s": None}
    finished = int((log.outcome == Outcome.FINISHED).sum())
    return {
        "output_tokens_per_s": int(log.emitted_tokens.sum()) * PS_PER_S / makespan_ps,
        "requests_per_s": finished * PS_PER_S / makespan_ps,
    }


def _used(log: Log, units: Ints, until_ps: int) -> int:
    """Units in use times picoseconds, from 0 to `until_ps`."""
    length = np.clip(until_ps - log.iteration_start_ps, 0, log.iteration_duration_ps)
    return exact_dot(units, length)


def _engines(log: Log, inversion: Inversion) -> list[tuple[Log, Inversion]]:
    """Each engine with what is known of its requests: one, or all replicas."""
    if isinstance(inversion, JoinedInversion):
        return list(zip(log.replicas, inversion.parts, strict=True))
    return [(log, inversion)]


def _occupancy(log: Log, inversion: Inversion, until_ps: int) -> float | None:
    """Mean share of the seats in use over time."""
    if until_ps <= 0:
        return None
    engines = _engines(log, inversion)
    used = sum(_used(one, part.seen.levels.held.seats.sum(axis=0), until_ps) for one, part in engines)
    return used / (sum(one.machine.max_num_seqs for one, _ in engines) * until_ps)


def _utilisation(log: Log, inversion: Inversion, until_ps: int) -> float | None:
    """Mean share of the KV blocks in use over time; None where they have no limit."""
    if log.machine.kv_blocks >= UNLIMITED_BLOCKS or until_ps <= 0:
        return None
    engines = _engines(log, inversion)
    held = [used_blocks(one, part.seen.levels.held.blocks.sum(axis=0)) for one, part in engines]
    used = sum(_used(one, blocks, until_ps) for (one, _), blocks in zip(engines, held, strict=True))
    return used / (sum(one.machine.kv_blocks for one, _ in engines) * until_ps)


def _meets_goals(log: Log) -> tuple[Bools, Bools]:
    """Of each request: whether anything was promised, and whether it finished within all that was."""
    listed, finished = log.requests, log.outcome == Outcome.FINISHED
    goals = (listed.ttft_goal_ps, listed.tpot_goal_ps, listed.e2e_goal_ps)
    promised = np.logical_or.reduce([goal >= 0 for goal in goals])
    gaps = np.maximum(log.emitted_tokens - 1, 0)
    times = (
        log.first_token_ps - listed.arrival_ps,
        -(-(log.ended_ps - log.first_token_ps) // np.maximum(gaps, 1)),
        log.ended_ps - listed.arrival_ps,
    )
    late = np.zeros(len(finished), dtype=bool)
    for goal, time in zip(goals, times, strict=True):
        late |= (goal >= 0) & (time > goal)
    return promised, finished & ~late


def _classes(
    log: Log, inversion: Inversion, counted: Bools, window_s: float, notes: Notes, *, in_full: bool
) -> dict[str, Any]:
    listed, figures = log.requests, of_times if in_full else five
    promised, kept = _meets_goals(log)
    has_token, finished = log.first_token_ps >= 0, log.outcome == Outcome.FINISHED
    found = {}
    for index, name in enumerate(listed.class_names):
        own = np.flatnonzero(counted & (listed.class_index == index))
        first, done = own[has_token[own]], own[finished[own]]
        several = done[log.emitted_tokens[done] > 1]
        tail, steps = (log.ended_ps - log.first_token_ps)[several], log.emitted_tokens[several] - 1
        waited = own[log.outcome[own] != Outcome.REFUSED]
        wait, inverted = exact_sum(inversion.wait_ps[own]), exact_sum(inversion.inversion_ps[own])
        asked = own[promised[own]]
        good = int(kept[asked].sum())
        found[name] = {
            "n": len(own),
            "ttft_s": figures(log.first_token_ps[first] - listed.arrival_ps[first]),
            "tpot_s": figures(tail // steps),
            "e2e_s": figures(log.ended_ps[done] - listed.arrival_ps[done]),
            "wait_s": figures(inversion.wait_ps[waited]),
            "slo_attainment": good / len(asked) if len(asked) else None,
            "goodput_per_s": good / window_s if len(asked) else None,
            "inversion_s": seconds(inverted),
            "inversion_share": inverted / wait if wait else None,
            "bypasses": int(inversion.bypasses[own].sum()),
        }
        if in_full:
            tokens = int(log.emitted_tokens[asked[kept[asked]]].sum())
            found[name]["goodput_tokens_per_s"] = tokens / window_s if len(asked) else None
        left = len(own) - len(first)
        if left and len(first):
            text = f"{left} of {len(own)} {name} requests got no token and are in no TTFT"
            notes.append({"path": f"classes.{name}.ttft_s", "text": text})
    return found


def _tenants(log: Log, inversion: Inversion, counted: Bools) -> dict[str, Any]:
    found = {}
    for index, name in enumerate(log.requests.tenant_names):
        own = np.flatnonzero(counted & (log.requests.tenant_index == index))
        found[name] = {
            "n": len(own),
            "output_tokens": int(log.emitted_tokens[own].sum()),
            "wait_s": seconds(exact_sum(inversion.wait_ps[own])),
            "inversion_s": seconds(exact_sum(inversion.inversion_ps[own])),
        }
    return found


def _inversion(log: Log, inversion: Inversion, with_blame: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "total_s": seconds(exact_sum(inversion.inversion_ps)),
        "incidents": len(inversion.incidents.request),
    }
    if (name := _urgent_class(log)) is not None:
        found["urgent_class"] = name
    if not with_blame:
        return found
    found |= _blamed(log, inversion.culprits, TOP_CULPRITS)
    urgent = inversion.urgent_culprits
    found["urgent"] = {
        "total_s": seconds(sum(urgent.total)),
        "culprits": sum(1 for part in urgent.total if part),
        **_blamed(log, urgent, TOP_URGENT),
    }
    return found


def _urgent_class(log: Log) -> str | None:
    """Of several classes at the most urgent level the more urgent one on average, then the largest."""
    listed = log.requests
    found = []
    for index, name in enumerate(listed.class_names):
        levels = listed.priority[listed.class_index == index]
        if len(levels):
            found.append((int(levels.min()), int(levels.sum()) / len(levels), -len(levels), index, name))
    return min(found)[-1] if found else None


def _blamed(log: Log, culprits: Culprits, top: int) -> dict[str, Any]:
    """Blame by kind, and those who have the most of it."""
    listed, total = log.requests, culprits.total
    kinds = {"direct_s": culprits.direct, "growth_s": culprits.growth, "bypass_s": culprits.bypass}
    first = sorted(range(len(total)), key=lambda one: (-total[one], one))[:top]
    rows = [
        {
            "id": listed.ids[one],
            "class": listed.class_names[int(listed.class_index[one])],
            "tenant": listed.tenant_names[int(listed.tenant_index[one])],
            "inversion_s": seconds(total[one]),
            **{name: seconds(parts[one]) for name, parts in kinds.items()},
        }
        for one in first
        if total[one]
    ]
    return {**{name: seconds(sum(parts)) for name, parts in kinds.items()}, "top_culprits": rows}
