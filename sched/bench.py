"""How fast the simulator is: one scenario that everybody can measure, at 80 % of what its engine can take.

An H100 with an 8B model, Poisson arrivals, prompts and outputs lognormal with means of 520 and 192 tokens
(before they are clipped at 2,048 and 1,024), classes of 60, 36 and 4 % of the requests.
"""

import sys
from time import process_time
from typing import Any

from sched.engine import simulate
from sched.scenario import Scenario
from sched.workload import requests

WARM_UP = 10_000
"""Requests that are run before the clock starts, at most."""

SATURATION_PER_S = 40.82
"""Requests per second that this engine finishes at most, as a test measures it again.

The same whatever the machine, because it is simulated time and not ours.
"""
LOAD = 0.8
BLOCKS, TIGHT_BLOCKS = 20_000, 6_000
SHARES = {"chat": (0, 60), "api": (1, 36), "docs": (2, 4)}
"""Priority and per cent of the requests by class."""
FEWEST, MOST = 100, 1_000_000


def scenario(count: int, *, tight: bool = False, rate_per_s: float = LOAD * SATURATION_PER_S) -> Scenario:
    """The scenario with so many requests."""
    numbers = {name: count * percent // 100 for name, (_, percent) in SHARES.items()}
    numbers["chat"] += count - sum(numbers.values())
    return Scenario(
        title="Speed",
        seed=18,  # of 0 to 39 the one whose three classes end nearest to one another at 20,000 requests
        # Each class ends at its own number of requests, long before this.
        duration_s=1000.0 + 2.0 * count / rate_per_s,
        engine={
            **{"hardware": "h100_sxm|llama-3.1-8b|tp1", "kv_blocks": TIGHT_BLOCKS if tight else BLOCKS},
            **{"max_num_seqs": 256, "max_num_batched_tokens": 2048},
        },
        traffic=[
            {
                **{"name": name, "priority": priority, "tenant": name, "max_requests": numbers[name]},
                "rate_per_s": rate_per_s * percent / 100,
                "prompt": {"kind": "lognormal", "mean": 520.0, "max": 2048},
                "output": {"kind": "lognormal", "mean": 192.0, "max": 1024},
            }
            for name, (priority, percent) in SHARES.items()
        ],
        policies={"priority": {}},
    )


def bench(count: int, policy: str, *, tight: bool = False) -> dict[str, Any]:
    """The speed of one run after a warm-up, without making the requests; `peak_mb` is the whole process."""
    mix = scenario(count, tight=tight)
    listed = requests(mix)
    # The first run of a process also pays for fresh memory and for an interpreter that has seen nothing yet.
    simulate(scenario(min(count, WARM_UP), tight=tight), policy)
    start_s = process_time()
    log = simulate(mix, policy, listed)
    cpu_s = max(process_time() - start_s, 1e-9)
    return {
        "requests": len(listed),
        "policy": policy,
        "requests_per_cpu_s": len(listed) / cpu_s,
        "iterations_per_cpu_s": log.iterations / cpu_s,
        "cpu_s": cpu_s,
        "peak_mb": _peak_mb(),
        "jumps": log.jumps,
        "iterations": log.iterations,
    }


def _peak_mb() -> float | None:
    """The most memory that this process had, in MB; None where the system does not say."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return None
    most = getrusage(RUSAGE_SELF).ru_maxrss
    return most / (10**6 if sys.platform == "darwin" else 1024)
