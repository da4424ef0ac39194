"""How large a rescue buffer should be: from how much the urgent hold, and how fast they grow.

A decoding request takes g = 1 / (block size · TPOT) blocks a second. Over many requests that come at random
the tokens they hold are shot noise, whose mean and spread are known; the buffer is to hold them but for a
small share of the time. Those that come in bursts hold more at once, which is added up at their very
arrivals. It is never less than the largest request that it was made for. Beside it stands the simpler rule of
a fixed number of requests that grow until the others have made room.
"""

from dataclasses import dataclass, replace
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from sched.cost import iteration_cost
from sched.cost import machine as machine_of
from sched.engine import settings_of
from sched.log import Ints, Log
from sched.model import PS_PER_S, UNLIMITED_BLOCKS, Machine
from sched.occupancy import Bools, ceil_div
from sched.policies.base import round_half_up
from sched.scenario import Scenario
from sched.steady import Pace, pace
from sched.theory import kv_occupancy_of
from sched.words import count, duration, percent
from sched.workload import RequestList, requests


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A rescue buffer of `blocks`, a `share` of the pool in whole per cent (None: there is no limit).

    `rule` says what decides: "shot noise", "arrivals", "largest request", or "nobody urgent". The rest is the
    arithmetic; `lines` says it in sentences.
    """

    blocks: int
    share: float | None
    rule: str
    quantile: float
    lines: tuple[str, ...]
    rate_per_s: float = 0.0
    prompt_tokens: float = 0.0
    """Mean of the urgent; so is `output_tokens`."""
    output_tokens: float = 0.0
    tpot_s: float = 0.0
    decodes: int = 0
    growth_blocks_per_s: float = 0.0
    mean_tokens: float = 0.0
    """Held by the urgent together, with a standard deviation of `deviation_tokens`."""
    deviation_tokens: float = 0.0
    shot_noise_blocks: int = 0
    arrivals_blocks: int = 0
    largest_blocks: int = 0
    at_once: int = 0
    drain_s: float = 0.0
    """Until the others have given back what `at_once` urgent prompts need."""
    drain_blocks: int = 0
    refused_if_strict: int = 0
    """Lower requests that could never run if the buffer were never lent."""


def shot_noise_blocks(mean_tokens: float, deviation_tokens: float, quantile: float, block_size: int) -> int:
    """Blocks that hold what they hold in this share of the time: (mean + z · deviation) / block size."""
    return ceil((mean_tokens + NormalDist().inv_cdf(quantile) * deviation_tokens) / block_size)


def drain_blocks(at_once: int, prompt_tokens: float, block_size: int, tpot_s: float, drain_s: float) -> int:
    """Blocks of so many requests that grow until the others have made room: n (p / b + g · drain)."""
    return ceil(at_once * (prompt_tokens / block_size + drain_s / (block_size * tpot_s)))


def held_tokens(
    prompt: Ints, output: Ints, rate_per_s: float, at: Pace, *, by_peak: bool
) -> tuple[float, float]:
    """Mean and standard deviation of the tokens that requests of these lengths hold together.

    A prompt is held in full from its first piece on; under a gate that reserves the peak, all of it is.
    """
    more_s = (ceil_div(prompt, at.piece_tokens) - 1) * at.tpot_s
    if by_peak:
        peak, stay_s = (prompt + output - 1).astype(np.float64), more_s + output * at.tpot_s
        mean, variance = float((peak * stay_s).mean()), float((peak**2 * stay_s).mean())
        return rate_per_s * mean, sqrt(rate_per_s * variance)
    mean, variance = kv_occupancy_of(rate_per_s, prompt, output, at.tpot_s)
    mean += rate_per_s * float((prompt * more_s).mean())
    variance += rate_per_s * float((prompt.astype(np.float64) ** 2 * more_s).mean())
    return mean, sqrt(variance)


def held_at_most(
    arrival_ps: Ints, prompt: Ints, output: Ints, at: Pace, quantile: float, *, by_peak: bool
) -> float:
    """Tokens that these requests hold at most in so much of the time, if nobody waits; from 0 to the last
    end.
    """
    begin = arrival_ps / PS_PER_S
    grows = begin + (ceil_div(prompt, at.piece_tokens) - 1) * at.tpot_s
    end = grows + output * at.tpot_s
    none = np.zeros(len(prompt))
    slope, size = none + 1.0 / at.tpot_s, (prompt + output).astype(np.float64)
    jump = prompt.astype(np.float64)
    if by_peak:
        slope, size = none, size - 1.0
        jump = size
    moment = np.concatenate((begin, grows, end))
    order = np.argsort(moment, kind="stable")
    length = np.diff(moment[order], prepend=0.0)
    rise = np.cumsum(np.concatenate((none, slope, -slope))[order])
    before = np.concatenate(([0.0], rise[:-1])) * length
    steps = np.concatenate((jump, none, -size))[order]
    # What is held at the end of each stretch of time, where it is most.
    held = np.cumsum(before) + np.concatenate(([0.0], np.cumsum(steps)[:-1]))
    by_size = np.argsort(held, kind="stable")
    upto = np.cumsum(length[by_size])
    return float(held[by_size][np.searchsorted(upto, quantile * upto[-1])])


def suggest(
    scenario: Scenario, request_list: RequestList | None = None, quantile: float = 0.99
) -> Suggestion:
    """The rescue buffer for the urgent requests of a scenario, or of this list of its requests.

    It is to suffice in `quantile` of the time (0.5 or more), nobody waiting. Who is urgent is as `rescue` is
    told, else the most urgent level. Raises ValueError for another quantile.
    Source: Campbell's theorem for shot noise; what is held is taken to be normally distributed.
    """
    if not 0.5 <= quantile < 1:
        raise ValueError(f"quantile = {quantile}: must be at least 0.5 and less than 1")
    listed = requests(scenario) if request_list is None else request_list
    machine, cost = machine_of(scenario), iteration_cost(scenario)
    output = listed.output_tokens
    if machine.max_model_len:
        output = np.minimum(output, machine.max_model_len - listed.prompt_tokens)
    peak = ceil_div(listed.prompt_tokens + output - 1, machine.block_size)
    can_run = (output > 0) & (listed.prompt_tokens > 0) & (peak <= machine.kv_blocks)
    urgent = can_run & (listed.priority <= _level(scenario, listed))
    if not urgent.any():
        lines = ("No urgent request can run, so there is nothing to keep blocks for.",)
        return Suggestion(0, 0.0, "nobody urgent", quantile, lines)
    span_s = scenario.duration_s
    at = pace(listed.prompt_tokens[can_run], output[can_run], float(can_run.sum()) / span_s, machine, cost)
    prompt, out, rate = listed.prompt_tokens[urgent], output[urgent], float(urgent.sum()) / span_s
    mean, deviation = held_tokens(prompt, out, rate, at, by_peak=machine.gate == "peak")
    most = held_at_most(listed.arrival_ps[urgent], prompt, out, at, quantile, by_peak=machine.gate == "peak")
    sizes = {
        "largest request": int(peak[urgent].max()),
        "shot noise": shot_noise_blocks(mean, deviation, quantile, machine.block_size),
        "arrivals": ceil(round(most / machine.block_size, 6)),
    }
    rule = max(sizes, key=sizes.__getitem__)
    stay_s = float(((ceil_div(prompt, at.piece_tokens) - 1 + out) * at.tpot_s).mean())
    at_once = max(1, ceil(round(rate * stay_s, 9)))
    wide = float(np.sort(prompt)[ceil(quantile * len(prompt)) - 1])
    released = float(peak[can_run & ~urgent].sum()) / span_s
    drain_s = min(stay_s, at_once * wide / machine.block_size / released) if released else stay_s
    blocks = min(sizes[rule], machine.kv_blocks)
    is_limited = machine.kv_blocks < UNLIMITED_BLOCKS
    share = min(1.0, ceil(100 * blocks / machine.kv_blocks) / 100) if is_limited else None
    found = Suggestion(
        blocks, share, rule, quantile, (),
        rate_per_s=rate,
        prompt_tokens=float(prompt.mean()),
        output_tokens=float(out.mean()),
        tpot_s=at.tpot_s,
        decodes=at.decodes,
        growth_blocks_per_s=1 / (machine.block_size * at.tpot_s),
        mean_tokens=mean,
        deviation_tokens=deviation,
        shot_noise_blocks=sizes["shot noise"],
        arrivals_blocks=sizes["arrivals"],
        largest_blocks=sizes["largest request"],
        at_once=at_once,
        drain_s=drain_s,
        drain_blocks=drain_blocks(at_once, wide, machine.block_size, at.tpot_s, drain_s),
        refused_if_strict=_refused(machine, share, peak[can_run & ~urgent]),
    )  # fmt: skip
    return _said(found, machine, scenario, urgent)


def _level(scenario: Scenario, listed: RequestList) -> int:
    """The priority, turned, up to which a request is urgent."""
    told: int | None = settings_of(scenario, "rescue").for_priority
    if told is not None:
        return -told if scenario.urgency == "high_first" else told
    return int(listed.priority.min()) if len(listed) else 0


def _refused(machine: Machine, share: float | None, peak: Ints) -> int:
    """How many of the lower requests need more than what such a buffer leaves."""
    kept = round_half_up(share, machine.kv_blocks) if share is not None else 0
    return int((peak > machine.kv_blocks - kept).sum())


def _said(found: Suggestion, machine: Machine, scenario: Scenario, urgent: Bools) -> Suggestion:
    """The suggestion with its arithmetic in sentences."""
    size, z = machine.block_size, NormalDist().inv_cdf(found.quantile)
    per_s = f"{found.growth_blocks_per_s:.3g} blocks/s"
    grows = f"a request that decodes grows by 1 / ({size} · {found.tpot_s:.3g} s) = {per_s}"
    if machine.gate == "peak":
        grows = "the gate grants each request its peak, so that it does not grow"
    spread = f"{found.mean_tokens:,.0f} + {z:.3f} · {found.deviation_tokens:,.0f}"
    lines = [
        f"{count(int(urgent.sum()), 'urgent request')} in {scenario.duration_s:g} s, "
        f"{found.rate_per_s:.3g}/s, with {found.prompt_tokens:,.0f} prompt and {found.output_tokens:,.0f} "
        "output tokens on average.",
        f"At the expected batch of {count(found.decodes, 'decode')} the iteration-time model gives "
        f"{duration(found.tpot_s)} a token; {grows}.",
        f"Together they hold {found.mean_tokens:,.0f} tokens, with a standard deviation of "
        f"{found.deviation_tokens:,.0f} (shot noise). For {100 * found.quantile:g} % of the time: "
        f"({spread}) / {size} = {count(found.shot_noise_blocks, 'block')}.",
        f"At these very arrivals {count(found.arrivals_blocks, 'block')} suffice as often, if nobody waits.",
        f"The largest of them needs {count(found.largest_blocks, 'block')}.",
        f"The simpler rule, {found.at_once} at once that grow for {duration(found.drain_s)} until others "
        f"have made room, comes to {count(found.drain_blocks, 'block')}.",
        f"Suggested: {_blocks(found, machine)}, by the {found.rule}.",
    ]
    if max(found.shot_noise_blocks, found.arrivals_blocks) > machine.kv_blocks:
        lines.append("There are not as many as it takes: at times the urgent wait for each other.")
    if found.refused_if_strict:
        lower = count(found.refused_if_strict, "lower request")
        lines.append(f"That is to be lent: if it were strict, {lower} could never run.")
    return replace(found, lines=tuple(lines))


def _blocks(found: Suggestion, machine: Machine) -> str:
    share = "" if found.share is None else f" ({percent(found.share)} of {machine.kv_blocks:,})"
    return f"{count(found.blocks, 'block')}{share}"


def compared(found: Suggestion, kept_blocks: int, machine: Machine) -> str:
    """A buffer of so many blocks beside the one that is suggested, in a sentence without its full stop."""
    if not found.blocks:
        return f"{count(kept_blocks, 'block')} kept; no urgent request can run, so none is needed"
    suggested = f"{_blocks(found, machine)} suggested, by the {found.rule}"
    often = f"the urgent find room in {100 * found.quantile:g} % of the time"
    return f"{count(kept_blocks, 'block')} kept; {suggested}, so that {often}"


def is_a_buffer(log: Log, scenario: Scenario) -> bool:
    """Whether a run's policy keeps a share of the KV blocks that is set once and for all."""
    is_fixed = log.set_aside is not None and not log.asides
    return is_fixed and hasattr(settings_of(scenario, log.policy), "kv")
