"""The further figures of a run that `run --json` gives beside those of `sched.metrics`.

They take longer than the rest, so who does not show them does not compute them.
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from sched.alone import alone_ps
from sched.cost import iteration_cost
from sched.engine import settings_of
from sched.fairness import MOST_TENANTS, jain, service_difference
from sched.inversion import Inversion
from sched.log import Ints, Log
from sched.model import PS_PER_S, Outcome
from sched.occupancy import Bools
from sched.percentiles import bounded, of_ratios, of_times, quotable
from sched.reading import quality_of_experience
from sched.remarks import Notes
from sched.scenario import Scenario
from sched.service import Gaps, Tokens, gaps, late_at_once, to_first_token_ps, tokens_out, unserved_ps
from sched.sizing import is_a_buffer, suggest
from sched.sizing_words import compared
from sched.sums import seconds
from sched.warmup import RESIDENCES, mser5
from sched.waste import fragmentation, moved, repeated, stranded, token_occupancy, work

WORST = 99


def add_details(
    found: dict[str, Any],
    log: Log,
    scenario: Scenario,
    inversion: Inversion,
    counted: Bools,
    until_ps: int,
    notes: Notes,
) -> None:
    """Put them beside the figures of a summary; `until_ps` is the last finish, or not positive."""
    out = tokens_out(log, inversion.seen.held)
    found["throughput"] |= work(log, until_ps)
    found["token_occupancy"] = token_occupancy(log, inversion, until_ps)
    found["fragmentation"] = fragmentation(log, inversion)
    found["stranded_kv"] = stranded(log, inversion, until_ps)
    found["preemption_waste"] = repeated(log) | moved(log, scenario)
    found |= in_window(log, scenario, counted, out)
    found["service_difference"] = _difference(log, scenario, inversion, out, notes)
    _classes(found["classes"], log, scenario, inversion, counted, out, notes)
    found |= _warmup(found, log, scenario, inversion, notes)
    found |= _rescue(log, scenario, notes)


def in_window(log: Log, scenario: Scenario, counted: Bools, out: Tokens) -> dict[str, Any]:
    """Throughput and fairness while requests still come: after that everybody gets what is left to get."""
    window = [round(at * PS_PER_S) for at in (scenario.warmup_s, scenario.duration_s)]
    first, end = np.searchsorted(out.end_ps, window, "right").tolist()
    tokens = out.by_request(len(log.outcome), first, end)
    finished = log.ended_ps[log.outcome == Outcome.FINISHED]
    length = scenario.duration_s - scenario.warmup_s
    everybody = np.ones_like(counted)
    return {
        "window": {
            "from_s": scenario.warmup_s,
            "to_s": scenario.duration_s,
            "output_tokens_per_s": int(tokens.sum()) / length,
            "requests_per_s": int(((finished > window[0]) & (finished <= window[1])).sum()) / length,
            "jain": jain(log, tokens, everybody),
        }
    }


def _difference(
    log: Log, scenario: Scenario, inversion: Inversion, out: Tokens, notes: Notes
) -> dict[str, Any] | None:
    """How far two tenants got apart, with the weights of `vtc`."""
    vtc = settings_of(scenario, "vtc")
    found = service_difference(log, inversion, out, vtc.prompt_weight, vtc.output_weight)
    if found is None:
        return None
    if len(log.requests.tenant_names) > MOST_TENANTS:
        text = f"among the {MOST_TENANTS} of {len(log.requests.tenant_names):,} tenants with the most service"
        notes.append({"path": "service_difference", "text": text})
    return {"tokens": found.tokens, "bound": found.bound, "tenants": list(found.tenants)}


def _classes(
    classes: dict[str, Any],
    log: Log,
    scenario: Scenario,
    inversion: Inversion,
    counted: Bools,
    out: Tokens,
    notes: Notes,
) -> None:
    listed, finished = log.requests, log.outcome == Outcome.FINISHED
    between = gaps(out)
    longest, unserved = between.longest_ps(len(finished)), unserved_ps(log, inversion.seen.held)
    stretched, quality = slowdowns(log, scenario), quality_of_experience(log, out)
    for index, name in enumerate(listed.class_names):
        own = np.flatnonzero(counted & (listed.class_index == index))
        started, done = own[log.first_scheduled_ps[own] >= 0], own[finished[own]]
        e2e_s = (log.ended_ps[done] - listed.arrival_ps[done]) / PS_PER_S
        classes[name] |= {
            "queueing_s": of_times(log.first_scheduled_ps[started] - listed.arrival_ps[started]),
            "itl_s": _pooled(between, own, len(finished)),
            "itl_max_s": of_times(longest[own][longest[own] >= 0]),
            "normalised_latency_s": of_ratios(e2e_s / log.emitted_tokens[done]),
            "slowdown": of_ratios(stretched[done]),
            "qoe": of_ratios(quality[done]),
            "starvation": _starvation(log, inversion, unserved, own),
        }
        if (stretched[done] < 1).any():
            few = int((stretched[done] < 1).sum())
            text = (
                f"{few} of {len(done)} were faster than alone, where their chunks would have been less even"
            )
            notes.append({"path": f"classes.{name}.slowdown", "text": text})
        if 0 < len(own) < quotable(WORST):
            notes.append({"path": f"classes.{name}", "text": _about_percentiles(len(own))})


def _pooled(between: Gaps, own: Ints, requests: int) -> dict[str, Any]:
    mine = np.zeros(requests, dtype=bool)
    mine[own] = True
    return between.pooled(mine)


def _about_percentiles(count: int) -> str:
    """Why an interval stands beside a percentile."""
    text = (
        f"{count:,} requests are too few to quote p99 alone, that takes {quotable(WORST):,}: see p99_interval"
    )
    if count < bounded(WORST):
        text += f"; its upper end takes {bounded(WORST)}"
    return text


def slowdowns(log: Log, scenario: Scenario) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Time in the system over that of the same request alone on an empty engine, shape (n,); 0 if unfinished.

    Alone it finds in the prefix cache what it found in the run by its first token.
    """
    listed, stays, cost = log.requests, log.stays, iteration_cost(scenario)
    hits = np.zeros(len(log.outcome), dtype=np.int64)
    if log.machine.enable_prefix_caching:
        early = np.flatnonzero(stays.start_ps < log.first_token_ps[stays.request])
        np.maximum.at(hits, stays.request[early], stays.hit_tokens[early])
    found = np.zeros(len(hits))
    done = np.flatnonzero(log.outcome == Outcome.FINISHED)
    columns = (listed.prompt_tokens, log.emitted_tokens, hits, log.ended_ps - listed.arrival_ps)
    for request, prompt, output, hit, e2e in zip(
        done.tolist(), *(column[done].tolist() for column in columns), strict=True
    ):
        found[request] = e2e / alone_ps(log.machine, cost, prompt, output, hit)
    return found


def _starvation(log: Log, inversion: Inversion, unserved: Ints, own: Ints) -> dict[str, Any]:
    """How long the worst off went without service; who still waited at the end counts as far as it got."""
    own = own[log.outcome[own] != Outcome.REFUSED]
    goal, first = log.requests.ttft_goal_ps[own], to_first_token_ps(log)[own]
    promised = goal >= 0
    late = int((promised & (first > goal)).sum())
    return {
        "longest_wait_s": seconds(inversion.wait_ps[own].max()) if len(own) else None,
        "longest_without_service_s": seconds(unserved[own].max()) if len(own) else None,
        "longest_of_goal": float((first[promised] / goal[promised]).max()) if promised.any() else None,
        "past_goal": late if promised.any() else None,
        "past_goal_at_once": late_at_once(log, own) if promised.any() else None,
        "unfinished": int((log.outcome[own] == Outcome.UNFINISHED).sum()),
    }


def _warmup(
    found: dict[str, Any], log: Log, scenario: Scenario, inversion: Inversion, notes: Notes
) -> dict[str, Any]:
    """What a warm-up should be: by MSER-5 over the waits in order of arrival, and by the longest stay."""
    waited = np.flatnonzero(log.outcome != Outcome.REFUSED)
    left_out = mser5(inversion.wait_ps[waited].tolist())
    suggested = seconds(log.requests.arrival_ps[waited[left_out]]) if left_out else 0.0
    means = [one["e2e_s"]["mean"] for one in found["classes"].values() if one["e2e_s"]["mean"] is not None]
    residences = RESIDENCES * max(means) if means else None
    if suggested > scenario.warmup_s:
        text = f"the first {left_out} waits still tell of the empty start: MSER-5 suggests {suggested:.3g} s"
        if residences is not None:
            text += f", and {RESIDENCES} stays of the class that stays longest are {residences:.3g} s"
        notes.append({"path": "suggested_warmup_s", "text": text})
    return {"suggested_warmup_s": suggested, "five_residences_s": residences}


def _rescue(log: Log, scenario: Scenario, notes: Notes) -> dict[str, Any]:
    """Of a policy that keeps KV blocks for the urgent: how many it should be, with the arithmetic."""
    if log.set_aside is None or not is_a_buffer(log, scenario):
        return {}
    told = suggest(scenario, log.requests)
    if log.set_aside.kv_blocks < told.blocks:
        text = compared(told, log.set_aside.kv_blocks, log.machine)
        notes.append({"path": f"{log.policy}.kv", "text": text})
    return {"suggested_rescue": asdict(told) | {"lines": list(told.lines)}}
