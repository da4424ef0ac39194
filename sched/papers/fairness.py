"""Rows on fairness among clients: the virtual token counter beside first come, first served."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sched.engine import simulate
from sched.fairness import service_difference
from sched.inversion import analyse
from sched.log import Log
from sched.model import PS_PER_S
from sched.papers.measure import ends_ps, service, tokens_per_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario
from sched.service import tokens_out

MEMORY_TOKENS, BLOCK = 10_000, 16
ENGINE: Mapping[str, Any] = {
    "hardware": "affine",
    "affine": {
        "base_s": 0.0345,
        "prefill_token_s": 1.7e-4,
        "decode_seq_s": 0,
        "kv_token_s": 8.7e-7,
        "attention_s": 0,
    },
    "kv_blocks": MEMORY_TOKENS // BLOCK,
    "block_size": BLOCK,
    "gate": "peak",
}
"""Fitted so that tokens of one request come 44 ms apart, as recorded in the artifact's runs."""
LENGTH_S, LOOK_S = 600, 570
HEAD_STARTS_S = (0, 2, 4, 6, 8, 10)
SEEDS = (1, 2, 3, 4, 5, 6)
SOURCE = "Sheng et al., Fairness in serving large language models (VTC), OSDI 2024, and its artifact"
RECORDED = "re-computed from the artifact's data"


def clients(rates: Sequence[float], head_start_s: float, weights: Sequence[float] = ()) -> Scenario:
    """Clients of 256 + 256 tokens at even rates; what they send in the first seconds is there at once."""
    requests: list[dict[str, Any]] = []
    for number, rate in enumerate(rates):
        early, name = round(head_start_s * rate), f"client{number}"
        alike = {"class": name, "tenant": name, "prompt": 256, "output": 256}
        if early:
            requests.append({**alike, "id": f"{name}-early-{{i}}", "count": early})
        rest = {"id": f"{name}-{{i}}", "count": round(rate * LENGTH_S) - early, "every_s": 1 / rate}
        requests.append({**alike, **rest})
    tenants = {f"client{number}": {"weight": weight} for number, weight in enumerate(weights)}
    return Scenario(duration_s=LENGTH_S, engine=ENGINE, requests=requests, tenants=tenants)


def gaps(log: Log) -> Any:
    """Widest difference of service between two clients at the end of each iteration until LOOK_S."""
    end_ps = ends_ps(log)
    had = service(log, end_ps[end_ps <= LOOK_S * PS_PER_S])
    return had.max(axis=0) - had.min(axis=0)


def _bent(log: Log) -> float:
    """Share of the variance of a growing gap that no straight line explains."""
    end_ps = ends_ps(log)
    gap = gaps(log).astype(np.float64)
    fit = np.polyfit(end_ps[: len(gap)] / PS_PER_S, gap, 1)
    left = gap - np.polyval(fit, end_ps[: len(gap)] / PS_PER_S)
    return float(left.var() / gap.var())


def _of_bound(log: Log) -> float:
    """Widest difference of two clients while both had requests waiting, as a share of what is proven."""
    found = analyse(log)
    widest = service_difference(log, found, tokens_out(log, found.seen.held), 1, 2)
    return widest.tokens / widest.bound if widest else 0.0


def two_clients(fair: str = "vtc") -> Measured:
    """Two clients that both ask for more than their half."""
    rates = (1.5, 3.0)
    plain = simulate(clients(rates, HEAD_STARTS_S[-1]), "fcfs")
    logs = [simulate(clients(rates, head), fair) for head in HEAD_STARTS_S]
    straight, widest = int(gaps(plain)[-1]), max(int(gaps(log).max()) for log in logs)
    return Measured(
        f"both clients for {LENGTH_S} s, {len(plain.requests):,} requests, memory for {MEMORY_TOKENS:,} "
        f"tokens of prompt and output; {len(logs)} starts with 0 to {HEAD_STARTS_S[-1]} s of requests "
        "waiting, the widest gap of them",
        (
            Figure(f"FCFS gap after {LOOK_S} s", straight, "tokens", 235_995, 0.85 * 235_995, 1.15 * 235_995),
            Figure("of it off a straight line", 100 * _bent(plain), "%", None, None, 1, 2),
            Figure("VTC's widest gap", widest, "tokens", 7_806, 5_000, 10_000),
            Figure(
                "of the proven bound 2U, while both wait", 100 * _of_bound(logs[-1]), "%", None, None, 100, 1
            ),
            Figure("VTC throughput", tokens_per_s(logs[-1]), "tokens/s", 876),
            Figure("FCFS throughput", tokens_per_s(plain), "tokens/s", 893),
        ),
    )


def eight_clients(fair: str = "vtc") -> Measured:
    """Eight clients in two speeds, all asking for more than their eighth."""
    rates = (0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.6, 0.6)
    plain, even = (simulate(clients(rates, HEAD_STARTS_S[-1]), policy) for policy in ("fcfs", fair))
    straight, widest = int(gaps(plain)[-1]), int(gaps(even).max())
    return Measured(
        f"the same machine, {len(plain.requests):,} requests in {LENGTH_S} s, {HEAD_STARTS_S[-1]} s of them "
        "waiting at the start",
        (
            Figure(f"FCFS gap after {LOOK_S} s", straight, "tokens", 35_096),
            Figure("VTC's widest gap", widest, "tokens", 2_794),
            Figure("FCFS over VTC", straight / widest, "times", 35_096 / 2_794, 8, None, 1),
        ),
    )


def short_and_long(fair: str = "vtc") -> Measured:
    """One client with many short requests, one with few long ones."""
    found: dict[str, list[int]] = {"fcfs": [], fair: []}
    speed: dict[str, float] = dict.fromkeys(found, 0.0)
    for seed in SEEDS:
        for policy, wide in found.items():
            log = simulate(_short_and_long(seed), policy)
            wide.append(int(gaps(log).max()))
            speed[policy] += tokens_per_s(log) / len(SEEDS)
    plain, even = (sum(wide) / len(wide) for wide in (found["fcfs"], found[fair]))
    return Measured(
        f"{LENGTH_S} s of both, {len(SEEDS)} seeds, mean of the widest gaps; throughput until the last has "
        "ended, as in the artifact",
        (
            Figure("FCFS's widest gap", plain, "tokens", 202_316),
            Figure("VTC's widest gap", even, "tokens", 20_300),
            Figure("FCFS over VTC", plain / even, "times", 202_316 / 20_300, 6, None, 1),
            Figure("change of throughput", 100 * (speed[fair] / speed["fcfs"] - 1), "%", -2, -5, 5, 1),
        ),
    )


def _short_and_long(seed: int) -> Scenario:
    traffic = [
        {
            "name": name,
            "rate_per_s": rate,
            "prompt": {"kind": "constant", "tokens": tokens},
            "output": {"kind": "constant", "tokens": tokens},
        }
        for name, rate, tokens in (("short", 8.0, 64), ("long", 1.5, 256))
    ]
    return Scenario(seed=seed, duration_s=LENGTH_S, engine=ENGINE, traffic=traffic)


def weighted(fair: str = "vtc") -> Measured:
    """Four clients who ask for the same and are entitled to different shares."""
    weights = (1, 2, 3, 4)
    log = simulate(clients((1.0,) * len(weights), 0, weights), fair)
    # The queues are filled by then, and none has run dry until the arrivals end.
    had = service(log, np.array([LENGTH_S // 10, LENGTH_S]) * PS_PER_S)
    got = (had[:, 1] - had[:, 0]).tolist()
    published = (1.0, 2.0, 3.0, 4.01)
    return Measured(
        f"{len(weights)} clients at 1 request/s each for {LENGTH_S} s: equal rates, where the artifact used "
        "rates in the ratio of the weights, with which FCFS passes too; service after the first tenth",
        tuple(
            Figure(f"weight {weight}", one / got[0], "times the first", seen, 0.95 * weight, 1.05 * weight, 2)
            for weight, one, seen in zip(weights, got, published, strict=True)
        ),
    )


GUESSES: Mapping[str, dict[str, Any]] = {
    "not guessed": {},
    "guessed within 50 %": {"predictor": "lognormal", "error": 0.3},
    "known": {"predictor": "oracle"},
}
"""An error that is even within 50 % has a standard deviation of 29 %."""


def predicted(guesses: Mapping[str, dict[str, Any]] = GUESSES, fair: str = "vtc") -> Measured:
    """The predicted answer is charged at admission, and put right at the end."""
    widest = {}
    for name, settings in guesses.items():
        starts = [clients((1.5, 3.0), head) for head in HEAD_STARTS_S]
        runs = [simulate(one.changed(policies={"vtc": settings}), fair) for one in starts]
        widest[name] = max(int(gaps(log).max()) for log in runs)
    published = (7_806, 6_527, 5_259)
    return Measured(
        f"the two clients again, the widest gap of {len(HEAD_STARTS_S)} starts",
        tuple(
            Figure(f"widest gap, answer {name}", one, "tokens", seen, 0.75 * seen, 1.25 * seen)
            for (name, one), seen in zip(widest.items(), published, strict=True)
        ),
    )


PAPERS = (
    Paper(
        "vtc-two-clients",
        f"{SOURCE}, figure 3, {RECORDED}",
        "2 clients at 1.5 and 3.0 requests/s, prompts and outputs of 256 tokens, memory for 10,000 tokens, "
        "both overloaded",
        "gap of service after 570 s: FCFS 235,995; VTC at most 7,806 (876 and 893 tokens/s)",
        "FCFS serves by arrivals, so the gap grows with time; VTC holds it below a constant. How wide it "
        "gets depends on who comes first, so several starts are taken.",
        two_clients,
    ),
    Paper(
        "vtc-eight-clients",
        f"{SOURCE}, {RECORDED}",
        "8 clients, 3 at 0.4 and 5 at 0.6 requests/s, else as before",
        "gap of service: FCFS 35,096 after 570 s; VTC at most 2,794",
        "The rates are closer together than with two clients, so the gap of FCFS grows more slowly.",
        eight_clients,
    ),
    Paper(
        "vtc-short-and-long",
        f"{SOURCE}, {RECORDED}",
        "prompts and outputs of 64 tokens at 8 requests/s beside 256 at 1.5 requests/s, Poisson",
        "widest gap: FCFS 202,316; VTC 20,300; throughput 2 % lower",
        "The long client asks for little more than its half, so chance decides how often its queue is empty; "
        "the mean of several seeds is taken.",
        short_and_long,
    ),
    Paper(
        "vtc-weights",
        f"{SOURCE}, {RECORDED}",
        "4 clients with weights 1, 2, 3 and 4",
        "service 1.00 : 2.00 : 3.00 : 4.01",
        "Every client has a queue all the time, so service follows the weights and not the arrivals.",
        weighted,
    ),
    Paper(
        "vtc-predicted",
        f"{SOURCE}, {RECORDED}",
        "2 clients as before, the length of the answer unknown, guessed within 50 %, or known",
        "widest gap: 7,806, 6,527 and 5,259",
        "A charge that comes at once keeps a client from entering several requests on one low counter.",
        predicted,
    ),
)
