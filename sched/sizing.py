"""How large a rescue buffer should be: from how much the urgent hold, and how fast they grow.

A decoding request takes g = 1 / (block size · TPOT) blocks a second. Over many requests that come at random
the tokens they hold are shot noise, whose mean and spread are known; the buffer is to hold them but for a
small share of the time. Those that come in bursts hold more at once, which is added up at their very
arrivals. It is never less than the largest request that it was made for. Beside it stands the simpler rule of
a fixed number of requests that grow until the others have made room.
"""

from dataclasses import replace
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from sched.cost import iteration_cost
from sched.cost import machine as machine_of
from sched.engine import settings_of
from sched.language import ENGLISH, Language
from sched.log import Ints, Log
from sched.model import PS_PER_S, UNLIMITED_BLOCKS, Machine
from sched.occupancy import ceil_div
from sched.policies.base import round_half_up
from sched.scenario import Scenario
from sched.sizing_words import Suggestion, lines
from sched.steady import Pace, pace
from sched.theory import kv_occupancy_of
from sched.workload import RequestList, requests


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
    scenario: Scenario,
    request_list: RequestList | None = None,
    quantile: float = 0.99,
    say: Language = ENGLISH,
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
    output, peak = _at_its_end(listed, machine)
    can_run = (output > 0) & (listed.prompt_tokens > 0) & (peak <= machine.kv_blocks)
    urgent = can_run & (listed.priority <= _level(scenario, listed))
    if not urgent.any():
        nothing = say("No urgent request can run, so there is nothing to keep blocks for.")
        return Suggestion(0, 0.0, "nobody urgent", quantile, (nothing,))
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
    blocks, is_limited = min(sizes[rule], machine.kv_blocks), machine.kv_blocks < UNLIMITED_BLOCKS
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
    return replace(found, lines=lines(found, machine, scenario.duration_s, int(urgent.sum()), say))


def _at_its_end(listed: RequestList, machine: Machine) -> tuple[Ints, Ints]:
    """Each request's output, cut at the context limit, and the blocks it holds at its end."""
    output = listed.output_tokens
    if machine.max_model_len:
        output = np.minimum(output, machine.max_model_len - listed.prompt_tokens)
    return output, ceil_div(listed.prompt_tokens + output - 1, machine.block_size)


def _level(scenario: Scenario, listed: RequestList) -> int:
    """The priority, turned, up to which a request is urgent."""
    told: int | None = settings_of(scenario, "rescue").for_priority
    if told is not None:
        return scenario.level(told)
    return int(listed.priority.min()) if len(listed) else 0


def _refused(machine: Machine, share: float | None, peak: Ints) -> int:
    """How many of the less urgent requests need more than what such a buffer leaves."""
    kept = round_half_up(share, machine.kv_blocks) if share is not None else 0
    return int((peak > machine.kv_blocks - kept).sum())


def is_a_buffer(log: Log, scenario: Scenario) -> bool:
    """Whether a run's policy keeps a share of the KV blocks that is set once and for all."""
    is_fixed = log.set_aside is not None and not log.asides
    return is_fixed and hasattr(settings_of(scenario, log.policy), "kv")
