"""What is said beside the figures of a run: why one is missing, and what to know before believing them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sched.limits import about_the_queue
from sched.log import Log
from sched.model import UNLIMITED_BLOCKS, Outcome
from sched.occupancy import Bools
from sched.scenario import Scenario
from sched.stops import why_never
from sched.waits import goes_by_arrival
from sched.words import count

Notes = list[dict[str, str]]
WHY_MISSING = {
    "makespan_s": "nothing finished",
    "throughput.output_tokens_per_s": "nothing finished",
    "throughput.requests_per_s": "nothing finished",
    "kv_utilisation": "nothing finished",
    "batch_occupancy": "nothing finished",
    "jain": "no tenant got a token",
    "ttft_s": "no request of this class got a token",
    "tpot_s": "no finished request of this class has a second token",
    "e2e_s": "no request of this class finished",
    "wait_s": "no request of this class was accepted",
    "slo_attainment": "nothing was promised to this class",
    "goodput_per_s": "nothing was promised to this class",
    "inversion_share": "no request of this class waited",
}


def note_what_was_read(scenario: Scenario, notes: Notes) -> None:
    """What a recorded trace did not give to the run, and what was taken for granted in it."""
    if scenario.trace is None:
        return
    from sched.traces import of_scenario  # reads Parquet: only a replay waits for it, and it has been read

    report = of_scenario(scenario.trace, scenario.urgency).report
    texts = list(report["assumed"])
    if report["dropped"]:
        first, number = report["dropped"][0], len(report["dropped"])
        texts.insert(0, f"left out of it: {count(number, 'line')}; line {first['line']}: {first['reason']}")
    notes += [{"path": "trace", "text": text} for text in texts]


def note_what_is_missing(log: Log, found: Mapping[str, Any], notes: Notes) -> None:
    """A note for every value that is None."""
    flat = {name: found[name] for name in ("makespan_s", "kv_utilisation", "batch_occupancy", "jain")}
    flat |= {f"throughput.{name}": value for name, value in found["throughput"].items()}
    missing = {path: WHY_MISSING[path] for path, value in flat.items() if value is None}
    if "kv_utilisation" in missing and log.machine.kv_blocks >= UNLIMITED_BLOCKS:
        missing["kv_utilisation"] = "there is no limit on KV blocks"
    for name, figures in found["classes"].items():
        for key, value in figures.items():
            if (value["max"] if isinstance(value, dict) else value) is None:
                reason = WHY_MISSING[key] if figures["n"] else "no request of this class is counted"
                missing[f"classes.{name}.{key}"] = reason
    notes += [{"path": path, "text": reason} for path, reason in missing.items()]


def note_what_is_odd(log: Log, counted: Bools, notes: Notes) -> None:
    """What a reader should know before believing the figures."""
    odd: dict[str, str] = {}
    if log.stop_reason:
        odd["requests"] = f"the run stopped early: {log.stop_reason}"
    if len(np.unique(log.requests.priority)) > 1 and goes_by_arrival(log.policy):
        odd[f"policies.{log.policy}"] = f"{log.policy} does not look at priority"
    if not counted.all():
        left_out = int((~counted).sum())
        odd["warmup_s"] = f"{left_out} requests of the warm-up are not in classes and tenants"
    if log.machine.enable_prefix_caching and log.requests.segments is not None:
        odd["inversion"] = "blocks that are shared count in full for each of their holders"
    refused = np.flatnonzero(log.outcome == Outcome.REFUSED).tolist()
    if refused:
        first, who = log.requests.ids[refused[0]], f"{len(refused):,} of {len(log.outcome):,} requests"
        odd["requests.refused"] = f"{who} can never run; of {first}: {why_refused(log, refused[0])}"
    told = (*odd.items(), *about_the_queue(log).items())
    notes += [{"path": path, "text": text} for path, text in told]


def why_refused(log: Log, request: int) -> str:
    """The two numbers that kept a refused request out; "" for one that could run."""
    listed, machine, aside = log.requests, log.machine, log.set_aside
    prompt = int(listed.prompt_tokens[request])
    limit = prompt + int(listed.output_tokens[request])
    limit = min(limit, machine.max_model_len) if machine.max_model_len else limit
    urgent = aside is not None and bool(listed.priority[request] <= aside.for_priority)
    return why_never(machine, aside, urgent, prompt, limit)
