"""Rows on memory for the urgent: kept free for them, or lent to others and taken back."""

from sched.engine import simulate
from sched.log import Log
from sched.model import Outcome
from sched.papers.measure import mean_s, percentile_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

ONLINE_S, WAITING, PROMPT, OUTPUT = 200, 500, 6000, 400
BLOCKS, LENT = 6000, 0.3
SEEDS = (1, 2, 3, 4)


def _online_and_offline(seed: int, offline: bool) -> Scenario:
    traffic = {
        "name": "online",
        "priority": 0,
        "rate_per_s": 8.0,
        "arrivals": {"kind": "onoff", "on_s": 10, "off_s": 20},
        "prompt": {"kind": "lognormal", "mean": 800, "cv": 1, "max": 4000},
        "output": {"kind": "lognormal", "mean": 150, "cv": 0.8, "max": 1000},
    }
    job = {
        "id": "job-{i}",
        "class": "offline",
        "priority": 2,
        "prompt": 6000,
        "output": 400,
        "count": WAITING,
    }
    return Scenario(
        seed=seed,
        duration_s=ONLINE_S,
        drain_s=0,
        engine={"kv_blocks": BLOCKS},
        traffic=[traffic],
        requests=[job] if offline else [],
        policies={"priority": {}, "rescue": {"kv": LENT, "lend": True}},
    )


def _tail_s(log: Log) -> float:
    """99th percentile of the time to first token of the urgent that had one."""
    own = (log.requests.priority == 0) & (log.first_token_ps >= 0)
    return percentile_s((log.first_token_ps - log.requests.arrival_ps)[own], 99)


def _speed(log: Log) -> float:
    """Tokens of the prompts that were completed, and of outputs, per second."""
    prompts = int(log.requests.prompt_tokens[log.first_token_ps >= 0].sum())
    return (prompts + int(log.emitted_tokens.sum())) / ONLINE_S


def offline_beside_online(lending: str = "rescue") -> Measured:
    """Offline work in the memory that online requests leave idle, taken back when they come."""
    only, waits, lent = [], [], []
    for seed in SEEDS:
        only.append(simulate(_online_and_offline(seed, False), "priority"))
        waits.append(simulate(_online_and_offline(seed, True), "priority"))
        lent.append(simulate(_online_and_offline(seed, True), lending))
    speed = sum(map(_speed, lent)) / sum(map(_speed, only))
    tail = sum(map(_tail_s, waits)) / sum(map(_tail_s, lent))
    return Measured(
        f"{ONLINE_S} s of online requests in bursts, {WAITING} offline jobs of {PROMPT:,} + {OUTPUT} tokens "
        f"waiting, {BLOCKS:,} KV blocks, {100 * LENT:g} % of them kept for online and lent; means of "
        f"{len(SEEDS)} seeds",
        (
            Figure("tokens per second over online alone", speed, "times", 2.2, 1.5, None, 2),
            Figure("online tail without taking back over with", tail, "times", 2.9, 1.5, None, 2),
            Figure(
                "preemptions of jobs", sum(int(log.preemptions.sum()) for log in lent) / len(SEEDS), "a run"
            ),
        ),
    )


HEADROOM = 0.1
RATES = {"high": 0.7, "normal": 6.3}
"""Requests per second."""


def _mixed(seed: int) -> Scenario:
    traffic = [
        {
            "name": name,
            "priority": level,
            "rate_per_s": rate,
            "arrivals": {"kind": "gamma", "cv": 2.0},
            "prompt": {"kind": "lognormal", "mean": 500, "cv": 1.2, "max": 6000},
            "output": {"kind": "lognormal", "mean": 250, "cv": 1.2, "max": 6000},
        }
        for level, (name, rate) in enumerate(RATES.items())
    ]
    return Scenario(
        seed=seed,
        duration_s=ONLINE_S,
        engine={"hardware": "a100_sxm|llama-2-7b|tp1", "kv_blocks": 3000},
        traffic=traffic,
        policies={"fcfs": {}, "rescue": {"kv": HEADROOM, "lend": False}},
    )


def _by_level(logs: list[Log], level: int) -> tuple[float, float]:
    """Mean time to the end, and mean of the runs' 99th percentiles of the first token, in s."""
    ends, tails = 0.0, 0.0
    for log in logs:
        own = (log.requests.priority == level) & (log.outcome == Outcome.FINISHED)
        ends += mean_s((log.ended_ps - log.requests.arrival_ps)[own]) / len(logs)
        tails += percentile_s((log.first_token_ps - log.requests.arrival_ps)[own], 99) / len(logs)
    return ends, tails


def headroom(policy: str = "rescue") -> Measured:
    """Memory that is kept free where the urgent run."""
    plain, kept = ([simulate(_mixed(seed), one) for seed in SEEDS] for one in ("fcfs", policy))
    (high, tail), (normal, _) = _by_level(plain, 0), _by_level(plain, 1)
    (high_kept, tail_kept), (normal_kept, _) = _by_level(kept, 0), _by_level(kept, 1)
    return Measured(
        f"one engine for {ONLINE_S} s, {RATES['high']} urgent and {RATES['normal']} other requests/s in "
        f"clumps, {100 * HEADROOM:g} % of the KV memory kept for the urgent; against FCFS; means of "
        f"{len(SEEDS)} seeds",
        (
            Figure("urgent end sooner", high / high_kept, "times", 1.5, 1.2, None, 2),
            Figure("their 99th percentile of the first token", tail / tail_kept, "times less", digits=1),
            Figure("others end later", 100 * (normal_kept / normal - 1), "%", None, None, 5, 1),
        ),
    )


PAPERS = (
    Paper(
        "lend-and-take-back",
        "Qiao et al., ConServe, arXiv 2410.01228; Echo, arXiv 2504.03651",
        "online requests with a goal beside offline jobs that fill what is left",
        "2.2 times the throughput and a 2.9 times lower online tail than other systems (ConServe); 3.3 times "
        "the offline throughput (Echo)",
        "Offline work fills what the bursts leave, and loans are taken back at the next iteration. ConServe "
        "stops inside an iteration, which is not modelled, and is compared with other systems; here it is "
        "online alone, and priority without loans. So only the direction is judged.",
        offline_beside_online,
    ),
    Paper(
        "headroom",
        "Sun et al., Llumnix, OSDI 2024",
        "several instances, requests of high and normal priority, headroom where the high ones run",
        "requests of high priority up to 1.5 times faster",
        "One engine keeps the headroom; moving requests between instances is not modelled.",
        headroom,
    ),
)
