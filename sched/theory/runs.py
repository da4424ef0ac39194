"""The textbook's queues as requests for the engine, and the means of what came of them.

One token takes `STEP_S`, prompts are one token long and the iteration that computes it emits the first
token, so a request of k tokens is served for exactly k steps. Nothing is short unless the trial says so. The
first requests of a run meet an emptier engine than the later ones and are left out of the means.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sched.laws import MOST_TOKENS
from sched.log import Ints, Log
from sched.model import NEVER, PS_PER_S, Outcome
from sched.randomness import Floats, stream
from sched.scenario import Scenario
from sched.theory.laws import Points
from sched.theory.parameters import STEP_S
from sched.workload import RequestList

Bools = NDArray[np.bool_]

WARM_SHARE = 0.1
"""Share of the requests, the first ones, that are not counted."""

ONE_SEAT: dict[str, Any] = {"max_num_seqs": 1}
MANY_SEATS: dict[str, Any] = {"max_num_seqs": 65536}


def scene(policy: str, settings: dict[str, Any] | None = None, **engine: Any) -> Scenario:
    """An engine of equal iterations and unlimited memory under one policy."""
    machine = {"hardware": "constant", "iteration_s": STEP_S, "kv_blocks": "unlimited"}
    machine |= {"max_num_batched_tokens": MOST_TOKENS, "block_size": 1}
    return Scenario.model_validate(
        {"engine": machine | engine, "policies": {policy: settings or {}}, "duration_s": 8e6}
    )


def poisson_ps(seed: int, count: int, rate_per_s: float, name: str = "") -> Ints:
    """Arrivals of a Poisson stream in picoseconds, shape (count,)."""
    gaps = stream(seed, "theory", "gaps", name).exponentials(count) / rate_per_s
    return instants(gaps)


def instants(gaps_s: Floats) -> Ints:
    """The times that these gaps lead to, in picoseconds."""
    return np.rint(np.cumsum(gaps_s) * float(PS_PER_S)).astype(np.int64)


def exponential_tokens(
    seed: int, count: int, mean_s: float, name: str = "", *, step_s: float = STEP_S
) -> Ints:
    """Answers whose service is the exponential law in steps, shape (count,)."""
    return stream(seed, "theory", "sizes", name).geometrics(count, mean_s / step_s).astype(np.int64)


def law_tokens(seed: int, count: int, law: Points, *, step_s: float = STEP_S) -> Ints:
    """Answers whose service takes one of a few times, each a whole number of steps."""
    drawn = stream(seed, "theory", "sizes").uniforms(count)
    place = np.searchsorted(np.cumsum(law.chances)[:-1], drawn, side="right")
    tokens = np.rint(law.times_s / step_s).astype(np.int64)
    return np.asarray(tokens[place], np.int64)


def listed(arrival_ps: Ints, output: Ints, prompt: Ints | int = 1, level: Ints | int = 0) -> RequestList:
    """A request list of these columns. `level` is the priority, and the class is named after it."""
    count = len(arrival_ps)
    levels = np.broadcast_to(np.asarray(level, np.int64), count).copy()
    never = np.full(count, NEVER, np.int64)
    return RequestList(
        ids=tuple(f"{number:07}" for number in range(count)),  # in order also where ties go by id
        arrival_ps=arrival_ps,
        prompt_tokens=np.broadcast_to(np.asarray(prompt, np.int64), count).copy(),
        output_tokens=output,
        priority=levels,
        class_index=levels,
        tenant_index=np.zeros(count, np.int64),
        ttft_goal_ps=never,
        tpot_goal_ps=never,
        timeout_ps=never,
        class_names=tuple(f"class {number}" for number in range(int(levels.max(initial=0)) + 1)),
        tenant_names=("one",),
        weights=(Fraction(1),),
    )


def counted(log: Log) -> Bools:
    """Which requests count: all but the first ones. All must have finished."""
    assert (log.outcome == Outcome.FINISHED).all(), np.bincount(log.outcome)
    return np.arange(len(log.outcome)) >= WARM_SHARE * len(log.outcome)


def wait_s(log: Log, chosen: Bools | bool = True) -> float:
    """Mean time from arrival to the first seat, of those chosen."""
    of = counted(log) & chosen
    return float((log.first_scheduled_ps - log.requests.arrival_ps)[of].mean()) / PS_PER_S


def time_s(log: Log, chosen: Bools | bool = True) -> float:
    """Mean time from arrival to the end, of those chosen."""
    of = counted(log) & chosen
    return float((log.ended_ps - log.requests.arrival_ps)[of].mean()) / PS_PER_S
