"""Rows on the shape of a batch: chunks of a prompt, seats, and who may join."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sched.cost import iteration_cost
from sched.engine import simulate
from sched.log import Log
from sched.model import PS_PER_S
from sched.papers.measure import gaps_ps, mean_s, output_per_s, percentile_s, tokens_per_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

BUDGETS = (128, 256, 512, 1024, 2048, 4096)
LONGEST, SEATS = 8192, 128
STRICT_S, DELAY_S = 0.1, 2.0
"""Goals that a capacity must keep: for the 99th percentile of the gaps, and for the median wait."""
SEEDS = (1, 2, 3)
LOAD_PER_S, CHATS = 1.5, 300
FINE = 1.02
"""A capacity is known within this factor."""


def chat(rate_per_s: float, budget: int, count: int, *, chunked: bool = True, seed: int = 1) -> Scenario:
    """Long prompts: medians of 1,730 and 415 tokens, 90th percentiles of 5,696 and 834, before clipping."""
    traffic = {
        "name": "chat",
        "rate_per_s": rate_per_s,
        "max_requests": count,
        "prompt": {"kind": "lognormal", "mean": 2666, "cv": 1.17, "max": LONGEST},
        "output": {"kind": "lognormal", "mean": 481, "cv": 0.59, "max": 2048},
    }
    engine = {
        "hardware": "a100_sxm|llama-3.1-8b|tp1",
        "max_num_seqs": SEATS,
        "max_num_batched_tokens": budget,
        "enable_chunked_prefill": chunked,
    }
    return Scenario(seed=seed, duration_s=86_400, engine=engine, traffic=[traffic])


def wait_ps(log: Log) -> Any:
    """Time to first scheduled of each request, in ps."""
    return log.first_scheduled_ps - log.requests.arrival_ps


def _holds(rate_per_s: float, budget: int, chunked: bool, seed: int) -> bool:
    log = simulate(chat(rate_per_s, budget, 2 * CHATS, chunked=chunked, seed=seed), "fcfs")
    is_smooth = percentile_s(gaps_ps(log), 99) <= STRICT_S
    return is_smooth and float(np.median(wait_ps(log))) <= DELAY_S * PS_PER_S


def _capacity_per_s(budget: int, chunked: bool, seed: int) -> float:
    """Most requests per second with which both goals are kept."""
    low, high = 0.05, 12.8
    while high / low > FINE:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _holds(middle, budget, chunked, seed) else (low, middle)
    return low


def chunked_prefill(chunked: bool = True) -> Measured:
    """The token budget as the lever between the gap of tokens and the first token."""
    logs = [simulate(chat(LOAD_PER_S, budget, CHATS), "fcfs") for budget in BUDGETS]
    longest = [int(gaps_ps(log).max()) / PS_PER_S for log in logs]
    first = [mean_s(log.first_token_ps - log.requests.arrival_ps) for log in logs]
    cost = iteration_cost(chat(LOAD_PER_S, BUDGETS[0], 1))
    alone = [cost.mixed_ps(0, budget, 1) / PS_PER_S for budget in BUDGETS]
    over = [one / two for one, two in zip(longest, alone, strict=True)]
    whole, pieces = (
        sum(_capacity_per_s(budget, by_chunks, seed) for seed in SEEDS) / len(SEEDS)
        for budget, by_chunks in (
            (LONGEST + SEATS, False),
            (512, True) if chunked else (LONGEST + SEATS, False),
        )
    )
    return Measured(
        f"{CHATS} requests at {LOAD_PER_S} requests/s with budgets {', '.join(map(str, BUDGETS))}; "
        f"capacity: most requests/s of {2 * CHATS} requests with a 99th percentile of the gaps within "
        f"{STRICT_S} s and a median wait within {DELAY_S:g} s, mean of {len(SEEDS)} seeds; whole prompts: no "
        f"chunking, budget {LONGEST + SEATS}",
        (
            Figure("longest gap, least budget", 1e3 * longest[0], "ms", digits=1),
            Figure("longest gap, largest budget", 1e3 * longest[-1], "ms", digits=1),
            Figure("budgets at which the longest gap falls", _falls(longest), "", None, 0, 0),
            Figure("longest gap over an iteration of the budget, least", min(over), "times", None, 1, 2, 2),
            Figure("longest gap over an iteration of the budget, most", max(over), "times", None, 1, 2, 2),
            Figure("budgets at which the first token comes later", _falls(first[::-1]), "", None, 0, 0),
            Figure("capacity with whole prompts", whole, "requests/s", digits=2),
            Figure("capacity with chunks, budget 512", pieces, "requests/s", digits=2),
            Figure("gain of capacity", pieces / whole, "times", 2.6, 1.5, None, 2),
        ),
    )


def _falls(values: Sequence[float]) -> int:
    """How often a value is below the one before it."""
    return sum(after < before for before, after in pairwise(values))


SPREADS = (0.0, 0.5, 1.0, 2.0)
"""Standard deviations of the output lengths over their mean."""
QUEUED, BATCH, PROMPT, OUTPUT = 960, 32, 64, 128
MORE = 8
"""Times the seats, as where memory is given out by need and not by the longest answer there may be."""


def continuous_batching(joining: str = "fcfs") -> Measured:
    """Whether a free seat is filled at once, or when the whole batch has ended."""
    gain = []
    for spread in SPREADS:
        static = tokens_per_s(simulate(_queued(spread, BATCH), "static"))
        gain.append(tokens_per_s(simulate(_queued(spread, BATCH), joining)) / static)
    more = tokens_per_s(simulate(_queued(spread, MORE * BATCH), joining))
    figures = [
        Figure(f"continuous over static at CV {spread:g}", one, "times", digits=2)
        for spread, one in zip(SPREADS[:-1], gain[:-1], strict=True)
    ]
    return Measured(
        f"{QUEUED} waiting requests, prompts of {PROMPT} tokens, outputs lognormal with mean {OUTPUT}, "
        f"{BATCH} seats for both",
        (
            *figures,
            Figure(f"continuous over static at CV {SPREADS[-1]:g}", gain[-1], "times", 23, 3, None, 2),
            Figure("spreads at which the gain falls", _falls(gain), "", None, 0, 0),
            Figure(f"the same with {MORE * BATCH} seats", more / static, "times", 23, digits=2),
        ),
    )


def _queued(spread: float, seats: int) -> Scenario:
    traffic = {
        "name": "batch",
        "rate_per_s": 1e6,
        "max_requests": QUEUED,
        "prompt": {"kind": "constant", "tokens": PROMPT},
        "output": {"kind": "lognormal", "mean": OUTPUT, "cv": spread, "max": 4096},
    }
    # A static batch is closed after its first iteration: the budget must hold the prompts of all seats.
    engine = {
        "hardware": "a100_sxm|llama-2-7b|tp1",
        "max_num_seqs": seats,
        "max_num_batched_tokens": seats * PROMPT,
    }
    return Scenario(duration_s=3600, engine=engine, traffic=[traffic])


LOSS: Mapping[float, tuple[float, float]] = {
    0: (92.0, 87.0),
    0.25: (93.5, 89.3),
    1: (95.8, 93.1),
    4: (98.3, 97.1),
}
"""Variable over fixed time of a full iteration: throughput left with 92 and with 87 of 100 seats, in %."""
FULL, FIXED_S = 100, 0.02


def fewer_seats(policy: str = "fcfs", lost_seats: int = 0) -> Measured:
    """How much throughput a batch loses that is only partly full."""
    figures = []
    for variable, published in LOSS.items():
        best = _decoded_per_s(FULL, variable, policy)
        for seats, left in zip((92, 87), published, strict=True):
            share = 100 * _decoded_per_s(seats - lost_seats, variable, policy) / best
            says = f"{seats} seats, variable over fixed {variable:g}"
            figures.append(Figure(says, share, "%", left, left - 1, left + 1, 1))
    return Measured(
        f"a queue that never ends, outputs of 400 tokens, time of an iteration = {FIXED_S * 1e3:g} ms and a "
        f"part for each request; output tokens per second with 92 and 87 seats over those with {FULL}",
        tuple(figures),
    )


def _decoded_per_s(seats: int, variable: float, policy: str) -> float:
    """Output tokens per second of a full batch once all seats decode, and before the queue ends."""
    tokens = 400
    time = {"base_s": FIXED_S, "prefill_token_s": 0, "kv_token_s": 0, "attention_s": 0}
    engine = {
        "hardware": "affine",
        "affine": time | {"decode_seq_s": variable * FIXED_S / FULL},
        "max_num_seqs": seats,
    }
    requests = [{"id": "job-{i}", "prompt": 1, "output": tokens, "count": 5 * FULL}]
    scenario = Scenario(duration_s=1, engine=engine, requests=requests)
    log = simulate(scenario, policy)
    wave_s = tokens * FIXED_S * (1 + variable * seats / FULL)
    return output_per_s(log, wave_s / 2, 4 * wave_s)


PAPERS = (
    Paper(
        "sarathi-chunks",
        "Agrawal et al., Sarathi-Serve, OSDI 2024",
        "requests to Mistral-7B on an A100 with a goal for the tail of the gap between tokens; budgets of "
        "512 (strict) and 2,048 (relaxed) tokens",
        "capacity 2.6 times that of vLLM with whole prompts (3.7 and 5.6 times for larger models)",
        "A whole prompt in one iteration stalls everybody who decodes; a chunk stalls them for the time of "
        "the budget at most. Attention to the cache comes on top, so the gap is longer than the budget's "
        "own time. The larger models are not run.",
        chunked_prefill,
    ),
    Paper(
        "continuous-batching",
        "Anyscale, How continuous batching enables 23x throughput in LLM inference, 2023; Yu et al., Orca, "
        "OSDI 2022",
        "requests with outputs of very different length, static against continuous batching",
        "up to 23 times the throughput (Orca: 36.9 times at equal latency)",
        "A static batch lasts as long as its longest answer. The published factors also hold what is not "
        "scheduling: memory that is reserved for the longest answer, and so far smaller batches. Here both "
        "have the same seats.",
        continuous_batching,
    ),
    Paper(
        "batch-loss",
        "an article's question, whether 87 or 92 % of a batch make a difference, and a closed form: with a "
        "share f of the seats f (1 + v) / (1 + f v) of the throughput is left, v being the variable over the "
        "fixed time of a full iteration",
        "a batch with 92 or 87 of 100 seats",
        "92.0 and 87.0 % of the throughput are left at v = 0; 93.5 and 89.3 % at 0.25; 95.8 and 93.1 % at 1; "
        "98.3 and 97.1 % at 4",
        "The fixed time is paid by fewer requests, the variable time is not paid at all.",
        fewer_seats,
    ),
)
