"""Rows on the length of a request: known, guessed, or found out while it runs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sched.engine import simulate
from sched.log import Ints, Log
from sched.model import PS_PER_S
from sched.papers.measure import mean_s, percentile_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

PROMPT, OUTPUT = 160, 338
"""Mean tokens, as of ShareGPT."""
SEEDS = (1, 2)


def chats(
    rate_per_s: float, count: int, seed: int, policies: dict[str, Any], engine: dict[str, Any], spread: float
) -> Scenario:
    """Conversations whose outputs have this standard deviation over their mean."""
    traffic = {
        "name": "chat",
        "rate_per_s": rate_per_s,
        "max_requests": count,
        "prompt": {"kind": "lognormal", "mean": PROMPT, "cv": 1.2 if spread else 0, "max": 2048},
        "output": {"kind": "lognormal", "mean": OUTPUT, "cv": spread, "max": 4096},
    }
    return Scenario(seed=seed, duration_s=86_400, engine=engine, traffic=[traffic], policies=policies)


def runs(
    load: float, count: int, policy: str, settings: dict[str, Any], engine: dict[str, Any], spread: float
) -> list[Log]:
    """One run a seed at this share of what the engine finishes of a long queue."""
    queue = simulate(chats(1e6, count, SEEDS[0], {"fcfs": {}}, engine, spread), "fcfs")
    rate_per_s = load * count * PS_PER_S / queue.end_ps
    policies = {policy: settings}
    return [simulate(chats(rate_per_s, count, seed, policies, engine, spread), policy) for seed in SEEDS]


def took_ps(log: Log) -> Ints:
    """Arrival to last token of each request, in ps."""
    return log.ended_ps - log.requests.arrival_ps


def mean_over(logs: Sequence[Log]) -> float:
    """Mean of the runs' mean times to the end, in s."""
    return sum(mean_s(took_ps(log)) for log in logs) / len(logs)


def per_token(logs: Sequence[Log]) -> float:
    """Mean over the requests of the time to the end by output token, in s, and over the runs."""
    return sum(float((took_ps(log) / log.requests.output_tokens).mean()) for log in logs) / (
        PS_PER_S * len(logs)
    )


def toy(policy: str = "sjf") -> Measured:
    """Three requests at one seat, longest first."""
    requests = [{"id": f"r{length}", "prompt": 1, "output": length} for length in (10, 2, 1)]
    engine = {"hardware": "constant", "iteration_s": 1.0, "max_num_seqs": 1}
    scenario = Scenario(engine=engine, requests=requests)
    plain, short = (per_token([simulate(scenario, one)]) for one in ("fcfs", policy))
    return Measured(
        "the same three requests, one seat, a token a second",
        (
            Figure("FCFS", plain, "s per token", 6.67, 6.66, 6.67, 2),
            Figure("shortest first", short, "s per token", 1.27, 1.26, 1.27, 2),
            Figure("gain", plain / short, "times", 5.3, 5.2, 5.3, 1),
        ),
    )


CHAT = {"hardware": "a100_sxm|llama-3.1-8b|tp1", "max_num_seqs": 64}
CHATS, RANKED, TAU = 1500, 2500, 0.6
LOADS = (1.2, 1.5)


def ranked(predictor: str = "rank", tau: float = TAU) -> Measured:
    """Shortest first by a predictor that only ranks, and is often wrong."""
    guess = {"key": "output", "predictor": predictor, "tau": tau}
    figures = []
    for load, published in zip(LOADS, (2.8, 6.9), strict=True):
        plain, known, ranks = (
            per_token(runs(load, RANKED, policy, settings, CHAT, 1.3))
            for policy, settings in (("fcfs", {}), ("sjf", {"key": "output"}), ("sjf", guess))
        )
        figures += [
            Figure(f"FCFS over ranked at load {load}", plain / ranks, "times", published, 2, None, 1),
            Figure(
                f"of what known lengths gain, at load {load}",
                100 * (plain - ranks) / (plain - known),
                "%",
                None,
                60,
            ),
        ]
    return Measured(
        f"{RANKED} conversations, {CHAT['max_num_seqs']} seats, loads of {LOADS[0]} and {LOADS[1]}, "
        f"Kendall's tau {tau} with the true order; mean time by output token, {len(SEEDS)} seeds",
        tuple(figures),
    )


FAST = {"hardware": "a100_sxm|llama-2-7b|tp1", "max_num_seqs": 4, "swap_gb_per_s": 1000}
"""Copies to the host cost next to nothing: they are made ahead of time there, which is not modelled here."""
FAST_LOAD, SPREADS = 0.9, (3.0, 1.0, 0.0)


def feedback(policy: str = "skip_join_mlfq") -> Measured:
    """Levels that a request falls through as it runs."""
    levels = {"mode": "swap", "quanta": (0.5, 1, 2, 4, 8, 16, 32), "starve_s": 86_400}
    settings = levels if policy == "skip_join_mlfq" else {}
    gain, tail = [], 0.0
    for spread in SPREADS:
        plain = runs(FAST_LOAD, CHATS, "fcfs", {}, FAST, spread)
        fast = runs(FAST_LOAD, CHATS, policy, settings, FAST, spread)
        gain.append(mean_over(plain) / mean_over(fast))
        tail = tail or sum(
            percentile_s(took_ps(one), 95) / percentile_s(took_ps(two), 95)
            for one, two in zip(plain, fast, strict=True)
        ) / len(plain)
    rises = sum(after > before for before, after in pairwise(gain))
    return Measured(
        f"{CHATS} conversations at load {FAST_LOAD}, {FAST['max_num_seqs']} seats, levels from 0.5 to 32 s, "
        f"copies to the host without cost; {len(SEEDS)} seeds",
        (
            Figure(f"mean time, FCFS over levels, at CV {SPREADS[0]:g}", gain[0], "times", 5.1, 2, None, 2),
            Figure(f"95th percentile at CV {SPREADS[0]:g}", tail, "times", 6.4, digits=2),
            Figure(f"mean time at CV {SPREADS[1]:g}", gain[1], "times", digits=2),
            Figure(f"mean time at CV {SPREADS[2]:g}", gain[2], "times", None, None, 1, 2),
            Figure("spreads at which less spread gains more", rises, "", None, 0, 0),
        ),
    )


TRAIL = {"hardware": "a100_sxm|llama-3.1-8b|tp1", "max_num_seqs": 256, "kv_blocks": 1500}
TRAIL_LOAD, ERROR = 1.1, 0.3
SEATS = {"hardware": TRAIL["hardware"], "max_num_seqs": 16}
SEATS_LOAD, EARLY = 0.9, 0.2


def _refreshed(until: float, load: float, engine: dict[str, Any]) -> list[Log]:
    guess = {"predictor": "refreshed", "error": ERROR, "preempt_until": until}
    return runs(load, CHATS, "srpt", guess, engine, 1.3)


def _first_s(logs: Sequence[Log]) -> float:
    return sum(mean_s(log.first_token_ps - log.requests.arrival_ps) for log in logs) / len(logs)


def remaining(until: float = 0.8, policy: str = "srpt") -> Measured:
    """Fewest tokens left first, by a guess that gets better with every token."""
    plain = runs(TRAIL_LOAD, CHATS, "fcfs", {}, TRAIL, 1.3)
    short = (
        _refreshed(until, TRAIL_LOAD, TRAIL)
        if policy == "srpt"
        else runs(TRAIL_LOAD, CHATS, policy, {}, TRAIL, 1.3)
    )
    return Measured(
        f"{CHATS} conversations at load {TRAIL_LOAD}, {TRAIL['kv_blocks']:,} KV blocks, a guess that is off "
        f"by {100 * ERROR:g} % at first; what is recomputed is paid for; {len(SEEDS)} seeds",
        (
            Figure(
                "mean time, FCFS over it", mean_over(plain) / mean_over(short), "times", 2.01, 1.5, None, 2
            ),
            Figure(
                "mean time to first token", _first_s(plain) / _first_s(short), "times", 24.07, 1.76, None, 1
            ),
        ),
    )


def limited(until: float = 0.8) -> Measured:
    """Whether it helps to leave alone who is almost done."""
    never, limit, early = (_refreshed(one, SEATS_LOAD, SEATS) for one in (1.0, until, EARLY))
    lost = [sum(int(log.recomputed_tokens.sum()) for log in logs) for logs in (never, limit)]
    return Measured(
        f"{CHATS} conversations at load {SEATS_LOAD}, {SEATS['max_num_seqs']} seats, the same guess; immune "
        f"from {100 * until:g} % of the predicted output on, or never; {len(SEEDS)} seeds",
        (
            Figure("mean time without the limit", mean_over(never), "s", digits=2),
            Figure(
                "gain of the limit", 100 * (mean_over(never) / mean_over(limit) - 1), "%", None, 1, None, 1
            ),
            Figure("recomputed tokens it saves", 100 * (1 - lost[1] / lost[0]), "%", digits=1),
            Figure(
                f"gain of a limit at {100 * EARLY:g} %",
                100 * (mean_over(never) / mean_over(early) - 1),
                "%",
                digits=1,
            ),
        ),
    )


PAPERS = (
    Paper(
        "shortest-first-toy",
        "Fu et al., Efficient LLM scheduling by learning to rank, NeurIPS 2024, and its blog",
        "three requests of 10, 2 and 1 s at one seat, the longest first in the queue",
        "6.67 s per token first come, first served; 1.27 s shortest first",
        "Exact: the finishing times are 10, 12, 13 and 1, 3, 13 s.",
        toy,
    ),
    Paper(
        "learning-to-rank",
        "Fu et al., Efficient LLM scheduling by learning to rank, NeurIPS 2024, and its blog",
        "conversations above what the engine can serve, a small model that ranks by length",
        "2.8 times lower latency by token (chat); 6.9 times at high load (blog)",
        "In a queue only the order counts, and a wrong order of two similar lengths costs little. Above "
        "what can be served the queue grows while requests come, so the factor depends on how long that "
        "lasts; the share of what known lengths gain does not.",
        ranked,
    ),
    Paper(
        "fastserve",
        "Wu et al., FastServe, arXiv 2305.05920 (first version)",
        "skewed lengths at high load, against Orca",
        "5.1 times lower mean and 6.4 times lower tail time",
        "Short requests pass long ones that have run for a while. The published factor also rests on their "
        "load, which is not stated by utilisation, and on their lengths. With equal lengths levels are worse "
        "than a queue: all are interrupted, and all end late.",
        feedback,
    ),
    Paper(
        "trail-latency",
        "Shahout et al., TRAIL, ICLR 2025",
        "Alpaca requests, a predictor inside the model that is asked at every token",
        "1.66 to 2.01 times lower mean time, 1.76 to 24.07 times lower mean time to first token than vLLM",
        "Short requests enter at once, where the queue made them wait for blocks.",
        remaining,
    ),
    Paper(
        "trail-limit",
        "Shahout et al., TRAIL, ICLR 2025",
        "the same, where whoever is close to its end is not preempted any more",
        "preempting early only, and not close to the end, makes better use of memory (no figure of its own)",
        "Preempted is who has most left, and that is seldom somebody close to the end: a limit there binds "
        "in few preemptions. An early limit does what is claimed.",
        limited,
        expected=False,
    ),
)
