"""What a run did with the machine: useful and repeated work, and memory that lay idle while requests waited.

Means over time run from 0 to the last finish, as those of the memory and of the seats do.
"""

from typing import Any

import numpy as np

from sched.cost import hardware
from sched.engine import settings_of
from sched.inversion import Inversion
from sched.log import Ints, Log
from sched.model import PS_PER_S, UNLIMITED_BLOCKS
from sched.occupancy import used_blocks
from sched.scenario import Scenario
from sched.sums import exact_dot


def work(log: Log, until_ps: int) -> dict[str, float | None]:
    """Prompt tokens and decodes computed per second, what was computed again after preemptions left out.

    The token that comes with a recomputed prompt counts as a prompt token.
    """
    if until_ps <= 0:
        return {"prefill_tokens_per_s": None, "decode_tokens_per_s": None}
    prefill, decode = _computed(log)
    prefill -= int(log.recomputed_tokens.sum())
    return {
        "prefill_tokens_per_s": prefill * PS_PER_S / until_ps,
        "decode_tokens_per_s": decode * PS_PER_S / until_ps,
    }


def _computed(log: Log) -> tuple[int, int]:
    """Prompt tokens and decodes of the whole run, with what was computed again."""
    lines = log.stretches
    return exact_dot(lines.prefill_tokens, lines.count), exact_dot(lines.decode_tokens, lines.count)


def repeated(log: Log) -> dict[str, float | None]:
    """Tokens computed again as a share of the useful ones, and preemptions per request."""
    again, useful = int(log.recomputed_tokens.sum()), sum(_computed(log))
    useful -= again
    requests = len(log.outcome)
    return {
        "recomputed_share": again / useful if useful else None,
        "preemptions_per_request": int(log.preemptions.sum()) / requests if requests else None,
    }


def moved(log: Log, scenario: Scenario) -> dict[str, float]:
    """Tokens whose KV preemptions moved to the host and back, both ways counted; in GB too where a preset
    says how large they are.
    """
    swaps = getattr(settings_of(scenario, log.policy), "mode", "") == "swap"
    if not swaps or log.machine.enable_prefix_caching:
        return {"swapped_tokens": 0}
    # Without a prefix cache, which nobody swaps beside, a stay begins with what came back from the host.
    tokens = int(log.preempted.lost_tokens.sum()) + int(log.stays.hit_tokens.sum())
    sizes = {row["name"]: row["kv_bytes_per_token"] for row in hardware()}
    size = sizes.get(scenario.engine.hardware)
    return {"swapped_tokens": tokens} | ({} if size is None else {"swapped_gb": tokens * size / 1e9})


def token_occupancy(log: Log, inversion: Inversion, until_ps: int) -> float | None:
    """Mean share over time of the token budget that an iteration uses."""
    if until_ps <= 0:
        return None
    length = np.clip(until_ps - log.iteration_start_ps, 0, log.iteration_duration_ps)
    tokens = inversion.seen.levels.held.tokens.sum(axis=0)
    return exact_dot(tokens, length) / (log.machine.max_num_batched_tokens * until_ps)


def fragmentation(log: Log, inversion: Inversion) -> float | None:
    """Share of the held blocks' room that holds no token: less than a block a request. Over the whole run."""
    blocks = inversion.seen.levels.held.blocks.sum(axis=0)
    held = exact_dot(blocks, log.iteration_duration_ps)
    if not held:
        return None
    tokens = exact_dot(tokens_held(log, inversion), log.iteration_duration_ps)
    return 1 - tokens / (held * log.machine.block_size)


def tokens_held(log: Log, inversion: Inversion) -> Ints:
    """Tokens whose KV the batch holds in each iteration, those it computes counted, shape (iterations,)."""
    held, places = inversion.seen.held, log.iterations + 1
    change = np.zeros(places, dtype=np.int64)
    change[:-1] = inversion.seen.levels.held.tokens.sum(axis=0)
    first = np.flatnonzero(held.is_first)
    np.add.at(change, held.iteration[first], held.before[first])
    last = np.append(first[1:], len(held))[: len(first)] - 1
    np.subtract.at(change, held.end[last], (held.before + held.step * held.count)[last])
    found: Ints = np.cumsum(change)[:-1]
    return found


def stranded(log: Log, inversion: Inversion, until_ps: int) -> dict[str, Any]:
    """Mean share over time of the KV blocks that nobody used while requests waited, and why they lay idle.

    `promised`: to running requests that will grow into them, under a gate that reserves the peak; `reserved`:
    set aside, while those who may not take them wait; `head_of_line`: there for the taking, but what waits
    first does not fit, or the watermark, seats, tokens or a rule keep everybody out. They add up to `share`.
    """
    names = ("share", "promised", "reserved", "head_of_line")
    if until_ps <= 0 or log.machine.kv_blocks >= UNLIMITED_BLOCKS:
        return dict.fromkeys(names)
    seen, whole = inversion.seen, log.machine.kv_blocks
    time, held = seen.time, seen.levels.held
    length = np.clip(until_ps - time.begin_ps[:-1], 0, time.length_ps)
    length = np.where(_waiting(inversion, 0) > 0, length, 0)
    used = time.spread(used_blocks(log, held.blocks.sum(axis=0)))
    free = np.maximum(whole - used, 0)
    promised = np.zeros_like(free)
    if log.machine.gate == "peak":
        promised = np.minimum(free, np.maximum(time.spread(held.claimed.sum(axis=0)) - used, 0))
    reserved = np.zeros_like(free)
    if seen.there.kept is not None and seen.there.kept[0].any():
        lower = int(seen.levels.bands.first[seen.there.kept[0].any(axis=1).argmax()])
        reserved = np.minimum(seen.there.kept[0][-1], free - promised)
        reserved = np.where(_waiting(inversion, lower) > 0, reserved, 0)
    parts = [exact_dot(part, length) for part in (promised, reserved, free - promised - reserved)]
    return dict(zip(names, (part / (whole * until_ps) for part in (sum(parts), *parts)), strict=True))


def _waiting(inversion: Inversion, level: int) -> Ints:
    """How many of this level of urgency and below wait throughout each slot of the timeline."""
    seen = inversion.seen
    mine = np.flatnonzero(seen.levels.of_request[seen.waits.request] >= level)
    edges = seen.time.begin_ps
    first = np.bincount(np.searchsorted(edges, seen.waits.from_ps[mine]), minlength=len(edges))
    end = np.bincount(np.searchsorted(edges, seen.waits.to_ps[mine]), minlength=len(edges))
    found: Ints = np.cumsum(first - end)[: len(edges) - 1]
    return found
