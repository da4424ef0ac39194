"""Rows on shared prefixes: the order that the cache likes, and who pays for it."""

import numpy as np

from sched.engine import simulate
from sched.log import Log
from sched.model import PS_PER_S
from sched.papers.measure import service, tokens_per_s
from sched.papers.row import Figure, Measured, Paper
from sched.scenario import Scenario

TENANTS, DOCUMENTS, EACH_PER_S = 4, 12, 4.0
PREFIX, BLOCKS, LENGTH_S, FULL_S = 3000, 2500, 40, 5
QUANTA = (500, 10_000, 10_000_000)
KEPT = QUANTA[1]
"""The quantum that is judged."""


def _documents(quantum: int) -> Scenario:
    """Questions about documents: a prompt is the tenant's preamble, one of its documents, and a question."""
    traffic = [
        {
            "name": f"tenant{tenant}-document{document}",
            "tenant": f"tenant{tenant}",
            "rate_per_s": EACH_PER_S / DOCUMENTS,
            "prompt": {"kind": "uniform", "min": PREFIX + 50, "max": PREFIX + 200},
            "output": {"kind": "lognormal", "mean": 60, "cv": 0.5, "max": 300},
            "prefix": [[f"tenant{tenant}", 500], [f"tenant{tenant}-document{document}", PREFIX - 500]],
        }
        for tenant in range(TENANTS)
        for document in range(DOCUMENTS)
    ]
    engine = {
        "hardware": "a100_sxm|llama-3.1-8b|tp1",
        "enable_prefix_caching": True,
        "kv_blocks": BLOCKS,
        "max_num_seqs": 64,
    }
    policies = {"vtc": {}, "dlpm": {"quantum": quantum}}
    return Scenario(duration_s=LENGTH_S, engine=engine, traffic=traffic, policies=policies)


def _jain(log: Log) -> float:
    """Jain's index of the service while every tenant has a queue."""
    had = service(log, np.array([FULL_S, LENGTH_S]) * PS_PER_S)
    got = (had[:, 1] - had[:, 0]).tolist()
    return float(sum(got) ** 2 / (len(got) * sum(one * one for one in got)))


def locality(policy: str = "dlpm", quantum: int = KEPT) -> Measured:
    """Longest cached prefix first, among tenants that have not spent their quantum."""
    fair = tokens_per_s(simulate(_documents(quantum), "vtc"))
    logs = {one: simulate(_documents(one), policy) for one in dict.fromkeys((*QUANTA, quantum))}
    gain = {one: tokens_per_s(log) / fair for one, log in logs.items()}
    return Measured(
        f"{TENANTS} tenants at {EACH_PER_S:g} requests/s each about {DOCUMENTS} documents of {PREFIX:,} "
        f"tokens, {BLOCKS:,} KV blocks, {LENGTH_S} s; quanta from {QUANTA[0]} to {QUANTA[-1]:,} tokens; "
        "fairness: Jain's index of the service while all have a queue",
        (
            *(
                Figure(f"tokens per second over VTC at {one:,}", gain[one], "times", digits=2)
                for one in QUANTA
            ),
            *(Figure(f"fairness at {one:,}", _jain(logs[one]), "", None, None, None, 3) for one in QUANTA),
            Figure("gain over VTC", gain[quantum], "times", 2.87, 1.3, None, 2),
            Figure("fairness at that quantum", _jain(logs[quantum]), "", None, 0.9, None, 3),
            Figure(
                "fairness lost from the least quantum to the largest",
                _jain(logs[QUANTA[0]]) - _jain(logs[QUANTA[-1]]),
                "",
                None,
                0.05,
                None,
                3,
            ),
        ),
    )


PAPERS = (
    Paper(
        "locality-and-fairness",
        "Cao et al., Locality-aware fair scheduling in LLM serving (DLPM), arXiv 2501.14312",
        "clients whose prompts share long prefixes",
        "up to 2.87 times the throughput of VTC, and fair",
        "VTC takes turns among tenants, and each turn needs another document in the cache; with a quantum a "
        "tenant has several turns about the same one. A quantum that never ends is locality without "
        "fairness.",
        locality,
    ),
)
