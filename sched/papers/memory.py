"""Rows on KV memory at admission: what is kept free, and what must fit before a request enters."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sched.engine import simulate
from sched.log import Log
from sched.model import PS_PER_S
from sched.papers.measure import gaps_ps, mean_s, output_per_s, percentile_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

MARKS: Mapping[float, tuple[float, int]] = {
    0: (11_582, 1065),
    0.02: (12_134, 400),
    0.05: (12_167, 187),
    0.1: (11_835, 168),
    0.15: (11_635, 168),
}
"""Published output tokens per second and preemptions by watermark."""
PROMPTS, AT_ONCE, KV_TOKENS, BLOCK = 450, 128, 299_584, 16
PUBLISHED_GAIN = {mark: 100 * (speed / MARKS[0][0] - 1) for mark, (speed, _) in MARKS.items() if mark}
PUBLISHED_FALL = 100 * (1 - MARKS[0.15][0] / MARKS[0.05][0])
SEEDS = (1, 2, 3)


def _saturated(mark: float, seed: int) -> Scenario:
    """Clients that always have one request each: a queue, and as many seats as clients.

    In either case requests enter in the same order whenever one ends, because whoever was preempted stands
    before whoever is new.
    """
    traffic = {
        "name": "client",
        "rate_per_s": 1e6,
        "max_requests": PROMPTS,
        "prompt": {"kind": "uniform", "min": 800, "max": 1200},
        "output": {"kind": "uniform", "min": 4000, "max": 6000},
    }
    engine = {
        "hardware": "h100_sxm|qwen2.5-7b|tp1",
        "kv_blocks": KV_TOKENS // BLOCK,
        "block_size": BLOCK,
        "max_num_seqs": AT_ONCE,
        "max_num_batched_tokens": 8192,
        "watermark": mark,
    }
    return Scenario(seed=seed, duration_s=86_400, engine=engine, traffic=[traffic])


def _first_token_ps(log: Log) -> Any:
    """First token after the client sent it: at the start, or when the request before it ended, in ps."""
    sent = np.concatenate((np.zeros(AT_ONCE, np.int64), np.sort(log.ended_ps)[:-AT_ONCE]))
    return log.first_token_ps - sent


def _per_s(log: Log) -> float:
    return int(log.emitted_tokens.sum()) * PS_PER_S / log.end_ps


def _tails(logs: list[Log]) -> tuple[float, float]:
    """Means over the runs of the 99th percentiles of the first token and of the gaps, in s."""
    first = [percentile_s(_first_token_ps(log), 99) for log in logs]
    between = [percentile_s(gaps_ps(log), 99) for log in logs]
    return sum(first) / len(logs), sum(between) / len(logs)


def watermark(policy: str = "fcfs", factor: float = 1.0) -> Measured:
    """A share of the blocks that a new request must leave free. `factor` scales the shares."""
    logs = {mark: [simulate(_saturated(mark * factor, seed), policy) for seed in SEEDS] for mark in MARKS}
    speed = {mark: sum(map(_per_s, runs)) / len(runs) for mark, runs in logs.items()}
    lost = {mark: sum(int(log.preemptions.sum()) for log in runs) / len(runs) for mark, runs in logs.items()}
    top = max(speed, key=lambda mark: speed[mark])
    gain = {mark: 100 * (one / speed[0] - 1) for mark, one in speed.items()}
    fall = 100 * (1 - speed[max(MARKS)] / speed[top])
    (first, between), (first_kept, between_kept) = _tails(logs[0]), _tails(logs[0.1])
    return Measured(
        f"{PROMPTS} requests, {AT_ONCE} at once (a queue and as many seats: the same admissions as a closed "
        f"loop), prompts of 800 to 1,200 and outputs of 4,000 to 6,000 tokens, KV for {KV_TOKENS:,} tokens, "
        f"means of {len(SEEDS)} seeds; an H100, which is slower than the published GB200",
        (
            *(
                Figure(f"throughput at {100 * mark:g} % over none", gain[mark], "%", published, digits=1)
                for mark, published in PUBLISHED_GAIN.items()
            ),
            *(
                Figure(f"preemptions at {100 * mark:g} %", lost[mark], "", published)
                for mark, (_, published) in MARKS.items()
            ),
            Figure("watermark with the highest throughput", 100 * top, "%", 5, 2, 8),
            Figure("gain at the best", gain[top], "%", PUBLISHED_GAIN[0.05], 2.1, 8.1, 1),
            Figure("loss from the best to the largest", fall, "%", PUBLISHED_FALL, 1.4, 7.4, 1),
            Figure(
                "preemptions at none over those at 5 %", lost[0] / lost[0.05], "times", 1065 / 187, 4, None, 1
            ),
            Figure(
                "first token's 99th percentile at 10 % over none",
                first_kept / first,
                "times",
                31.02 / 25.51,
                1,
                2,
                2,
            ),
            Figure(
                "gaps' 99th percentile at none over 10 %",
                between / between_kept,
                "times",
                40.62 / 17.57,
                1.5,
                None,
                1,
            ),
        ),
    )


HOLDERS, LONG, ARRIVES_S = 4, 100_000, 120.0


def _long_prompts(gate: str) -> Scenario:
    alike = {"prompt": LONG, "class": "long"}
    requests = [
        {**alike, "id": "holder-{i}", "output": 8000, "count": HOLDERS},
        {**alike, "id": "fifth", "output": 200, "arrival_s": ARRIVES_S},
    ]
    engine = {
        "hardware": "h100_sxm|qwen3-32b|tp2",
        "kv_blocks": HOLDERS * LONG * 10 // (9 * BLOCK),
        "block_size": BLOCK,
        "max_num_batched_tokens": 8192,
        "gate": gate,
    }
    return Scenario(duration_s=ARRIVES_S, engine=engine, requests=requests)


def whole_prompt(gate: str = "full_prompt") -> Measured:
    """Whether a prompt that cannot fit is begun all the same."""
    loose, strict = (simulate(_long_prompts(one), "fcfs") for one in ("first_chunk", gate))
    before = output_per_s(loose, ARRIVES_S - 20, ARRIVES_S)
    after = output_per_s(loose, ARRIVES_S, ARRIVES_S + 60)
    repaired = output_per_s(strict, ARRIVES_S, ARRIVES_S + 60)
    return Measured(
        f"{HOLDERS} prompts of {LONG:,} tokens in 90 % of the blocks, a fifth after {ARRIVES_S:g} s; output "
        "tokens per second in the minute after it and the 20 s before; budget 8192, a 32B model on two H100",
        (
            Figure("before", before, "tokens/s", 100, digits=1),
            Figure("after, when the first chunk must fit", after, "tokens/s", 1.5, digits=1),
            Figure("after, when the whole prompt must fit", repaired, "tokens/s", digits=1),
            Figure("collapse", before / after, "times", 100 / 1.5, 10, None, 1),
            Figure("left with the gate", 100 * repaired / before, "%", None, 95),
            Figure("preemptions of the fifth in vain", int(loose.preemptions[-1])),
        ),
    )


MODELS = {
    "all heads": ("a100_sxm|llama-2-7b|tp1", 5.0),
    "grouped heads": ("a100_sxm|llama-3.1-8b|tp1", 5.5),
}
"""A 7B model with keys and values for every head, an 8B one with grouped heads; requests per second of each,
with which both are about as busy.
"""
PREEMPTING_S, ROOM, LINK_GB_PER_S = 200, 1200, 25


def _preempting(hardware: str, rate_per_s: float, mode: str, seed: int) -> Scenario:
    traffic = [
        {
            "name": name,
            "priority": level,
            "rate_per_s": share * rate_per_s,
            "prompt": {"kind": "lognormal", "mean": 500, "cv": 1, "max": 3000},
            "output": {"kind": "lognormal", "mean": mean, "cv": 1, "max": 2000},
        }
        for level, (name, share, mean) in enumerate((("urgent", 0.4, 200), ("other", 0.6, 300)))
    ]
    engine = {"hardware": hardware, "kv_blocks": ROOM, "swap_gb_per_s": LINK_GB_PER_S}
    policies = {"preemptive": {"mode": mode}}
    return Scenario(seed=seed, duration_s=PREEMPTING_S, engine=engine, traffic=traffic, policies=policies)


def preempted(models: Mapping[str, tuple[str, float]] = MODELS) -> Measured:
    """Preempted KV computed anew, or copied to the host and back."""
    figures, over = [], []
    for name, (hardware, rate_per_s) in models.items():
        anew, copied = (
            sum(
                mean_s(log.ended_ps - log.requests.arrival_ps) / len(SEEDS)
                for seed in SEEDS
                for log in (simulate(_preempting(hardware, rate_per_s, mode, seed), "preemptive"),)
            )
            for mode in ("recompute", "swap")
        )
        figures.append(Figure(f"mean time with copies, {name}", copied, "s", digits=2))
        over.append(anew / copied)
    return Measured(
        f"{PREEMPTING_S} s, 40 % of the requests urgent and preempting others, {ROOM:,} KV blocks, "
        f"{LINK_GB_PER_S} GB/s to the host; a 7B model with all heads and an 8B one with grouped heads; "
        f"means of {len(SEEDS)} seeds",
        (
            *figures,
            Figure("recompute over swap, all heads", over[0], "times", None, None, 1.2, 2),
            Figure("recompute over swap, grouped heads", over[1], "times", None, 1.2, None, 2),
        ),
    )


PAPERS = (
    Paper(
        "recompute-or-swap",
        "Kwon et al., vLLM, SOSP 2023",
        "preempted KV recomputed, or copied to the host and back, by block size, on a model with keys and "
        "values for all heads",
        "recomputing is never more than 20 % above the latency of swapping",
        "Recomputing costs by the model, swapping by the bytes of a token, of which grouped heads have a "
        "quarter: there the finding turns round. That small blocks slow a copy down is not modelled.",
        preempted,
    ),
    Paper(
        "watermark",
        "vLLM, pull request 44594 (KV cache watermark), 2026",
        "128 clients in a closed loop, prompts of about 1,000 and outputs of about 5,000 tokens, KV for two "
        "thirds of their mean demand",
        "at a watermark of 0, 2, 5, 10 and 15 %: 11,582, 12,134, 12,167, 11,835 and 11,635 tokens/s; 1065, "
        "400, 187, 168 and 168 preemptions; 99th percentile of the gaps 40.6 to 17.6 ms, of the first token "
        "25.5 to 31.0 s",
        "Less memory at admission means fewer preemptions whose work is lost, until the memory kept free "
        "costs more seats than the preemptions did.",
        watermark,
    ),
    Paper(
        "whole-prompt-gate",
        "vLLM, pull request 37307 (reserve the full prompt), 2026",
        "4 prompts of 100,000 tokens hold 90 % of the KV memory, a fifth arrives",
        "generation falls from about 100 to 1.5 tokens/s per GPU unless the whole prompt must fit",
        "The fifth is prefilled until memory is full, is preempted, and starts again: every iteration of the "
        "others carries a chunk of it. How deep the fall is depends on the model and on the budget.",
        whole_prompt,
    ),
)
