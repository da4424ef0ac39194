"""What is said beside the figures of a run: why one is missing, and what to know before believing them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sched.limits import about_the_queue
from sched.log import Log
from sched.model import UNLIMITED_BLOCKS, Outcome
from sched.occupancy import Bools
from sched.scenario import Scenario
from sched.words import count

Notes = list[dict[str, str]]
WHY_MISSING = {
    "makespan_s": "nothing finished",
    "output_tokens_per_s": "nothing finished",
    "requests_per_s": "nothing finished",
    "prefill_tokens_per_s": "nothing finished",
    "decode_tokens_per_s": "nothing finished",
    "kv_utilisation": "nothing finished",
    "batch_occupancy": "nothing finished",
    "token_occupancy": "nothing finished",
    "stranded_kv": "nothing finished",
    "fragmentation": "nobody held a block",
    "recomputed_share": "nothing was computed",
    "preemptions_per_request": "nothing arrived",
    "jain": "no tenant got a token",
    "share": "there is no limit on KV blocks",
    "service_difference": "no two tenants had requests waiting at the same time",
    "five_residences_s": "nothing finished",
    "ttft_s": "no request of this class got a token",
    "tpot_s": "no finished request of this class has a second token",
    "e2e_s": "no request of this class finished",
    "wait_s": "no request of this class was accepted",
    "queueing_s": "no request of this class was admitted",
    "itl_s": "no request of this class got a second token",
    "itl_max_s": "no request of this class got a second token",
    "normalised_latency_s": "no request of this class finished",
    "slowdown": "no request of this class finished",
    "qoe": "no request of this class finished",
    "longest_wait_s": "no request of this class was accepted",
    "longest_without_service_s": "no request of this class was accepted",
    "longest_of_goal": "no time to the first token was promised to this class",
    "past_goal": "no time to the first token was promised to this class",
    "past_goal_at_once": "no time to the first token was promised to this class",
    "slo_attainment": "nothing was promised to this class",
    "goodput_per_s": "nothing was promised to this class",
    "goodput_tokens_per_s": "nothing was promised to this class",
    "inversion_share": "no request of this class waited",
}
"""Why a figure is None, by its name. What is counted for a class that has no request is said of the class."""
OF_BLOCKS = ("kv_utilisation", "stranded_kv")
NOT_FIGURES = ("notes", "inversion", "tenants", "requests")
STOPPED_EARLY = "the run stopped early"
"""So begins the note of a run that ended before its requests, and not at a horizon."""


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
    unlimited = log.machine.kv_blocks >= UNLIMITED_BLOCKS
    figures = {name: value for name, value in found.items() if name not in NOT_FIGURES}
    for path in _missing(figures):
        reason = WHY_MISSING[path[-1]]
        if path[0] == "classes" and not found["classes"][path[1]]["n"]:
            reason = "no request of this class is counted"
        elif path[0] in OF_BLOCKS and unlimited:
            reason = "there is no limit on KV blocks"
        notes.append({"path": ".".join(path), "text": reason})


def _missing(found: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where something is None: a figure, or a measure in all its parts."""
    for key, value in found.items():
        parts = value.values() if isinstance(value, Mapping) and key in WHY_MISSING else (value,)
        if all(part is None for part in parts):
            yield *path, key
        elif isinstance(value, Mapping):
            yield from _missing(value, (*path, key))


def note_what_is_odd(log: Log, counted: Bools, notes: Notes) -> None:
    """What a reader should know before believing the figures."""
    odd: dict[str, str] = {}
    if log.stop_reason:
        odd["requests"] = f"{STOPPED_EARLY}: {log.stop_reason}"
    is_blind = log.rules is not None and log.rules.blind
    if len(np.unique(log.requests.priority)) > 1 and is_blind:
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
    if log.replicas:
        many = len(log.replicas)
        odd["replicas"] = (
            f"{many} engines with a clock of their own; what is counted by iteration is told of each"
        )
        for name, what in (
            ("max_num_seqs", "seat"),
            ("kv_blocks", "block"),
            ("max_num_batched_tokens", "token"),
        ):
            if getattr(log.machine, name) == 1:
                odd[f"engine.{name}"] = f"one {what} cannot be split: each engine has one of its own"
    if log.requests.parents is not None and (cut := {one for one in log.requests.parents if one}):
        text = f"{len(cut):,} cut into pieces, each counted here; whole_requests has the times of the whole"
        odd["whole_requests"] = text
    told = (*odd.items(), *(() if log.replicas else about_the_queue(log).items()))
    notes += [{"path": path, "text": text} for path, text in told]


def why_refused(log: Log, request: int) -> str:
    """Why a request was refused on arrival, in words; "" for one that was not."""
    return log.why_refused.get(request, "")
