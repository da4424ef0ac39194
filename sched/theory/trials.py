"""Every trial by name: one seed and a number of requests in, figures out.

What they must come to stands in `sched.theory`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sched.engine import simulate
from sched.log import Log
from sched.model import PS_PER_S, Outcome
from sched.policies import POLICIES
from sched.randomness import Floats, stream
from sched.theory import parameters as at
from sched.theory.identities import POLICIES_OF_IDENTITIES, differences
from sched.theory.kv import kv_capacity_per_s, kv_seconds
from sched.theory.laws import Points, constant
from sched.theory.runs import (
    MANY_SEATS,
    ONE_SEAT,
    Bools,
    exponential_tokens,
    instants,
    law_tokens,
    listed,
    poisson_ps,
    scene,
    time_s,
    wait_s,
)
from sched.workload import RequestList

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Trial:
    """`run(seed, requests)` gives the figures, under these policies.

    `quick` is how many seeds of it `make test` takes: fewer where the law is exact or a bound. `make theory`
    takes ten of all.
    """

    run: Callable[[int, int], Figures]
    policies: tuple[str, ...] = ("fcfs",)
    quick: int = 10

    def missing(self) -> str:
        """Which of its policies this version does not have, or ""."""
        return ", ".join(name for name in self.policies if name not in POLICIES)


def exponential_list(
    seed: int, jobs: int, load: float = at.LOAD, mean_s: float = 1.0, name: str = ""
) -> RequestList:
    """Poisson arrivals and exponential service at this load of one seat."""
    return listed(poisson_ps(seed, jobs, load / mean_s, name), exponential_tokens(seed, jobs, mean_s, name))


def _one_seat(seed: int, jobs: int) -> Figures:
    wait = wait_s(simulate(scene("fcfs", **ONE_SEAT), "fcfs", exponential_list(seed, jobs)))
    return {"mm1.wait": wait, "kingman.poisson": wait}


def _of_law(seed: int, jobs: int, key: str, law: Points) -> Figures:
    requests = listed(poisson_ps(seed, jobs, at.LOAD), law_tokens(seed, jobs, law))
    return {key: wait_s(simulate(scene("fcfs", **ONE_SEAT), "fcfs", requests))}


def class_list(seed: int, jobs: int) -> tuple[RequestList, Bools]:
    """The requests of two classes in one stream, and which are urgent."""
    rate = sum(at.CLASS_RATES)
    urgent = stream(seed, "theory", "classes").uniforms(jobs) < at.CLASS_RATES[0] / rate
    arrival, output = poisson_ps(seed, jobs, rate), exponential_tokens(seed, jobs, 1.0)
    return listed(arrival, output, level=np.where(urgent, 0, 1)), urgent


def _two_classes(seed: int, jobs: int, policy: str) -> Figures:
    requests, urgent = class_list(seed, jobs)
    log = simulate(scene(policy, **ONE_SEAT), policy, requests)
    waits = wait_s(log, urgent), wait_s(log, ~urgent)
    found = {
        f"conserved.{policy}": sum(rate * wait for rate, wait in zip(at.CLASS_RATES, waits, strict=True))
    }
    return found | ({"priority.urgent": waits[0], "priority.other": waits[1]} if policy == "priority" else {})


def _preemptive(seed: int, jobs: int) -> Figures:
    requests, urgent = class_list(seed, jobs)
    settings = {"max_preemptions": 1_000_000}
    log = simulate(scene("preemptive", settings, **ONE_SEAT), "preemptive", requests)
    return {"preemptive.urgent": time_s(log, urgent), "preemptive.other": time_s(log, ~urgent)}


def _srpt(seed: int, jobs: int, load: float) -> Figures:
    # Of a request that is swapped out only the rest counts as remaining; one that recomputes is long again.
    settings = {"predictor": "oracle", "hysteresis_tokens": 0, "mode": "swap"}
    log = simulate(scene("srpt", settings, **ONE_SEAT), "srpt", exponential_list(seed, jobs, load))
    return {f"srpt.{load:g}": time_s(log)}


def _sjf(seed: int, jobs: int) -> Figures:
    log = simulate(scene("sjf", {"predictor": "oracle"}, **ONE_SEAT), "sjf", exponential_list(seed, jobs))
    return {"sjf.wait": wait_s(log)}


def _by_size(log: Log, key: str) -> Figures:
    """Times of the small, the large, and the mean that their true shares give."""
    small = log.requests.output_tokens < int(log.requests.output_tokens.max())
    times = time_s(log, small), time_s(log, ~small)
    mean = float(at.TWO_SIZES.chances @ np.array(times))
    return {f"{key}.small": times[0], f"{key}.big": times[1], f"{key}.mean": mean}


def _sharing(seed: int, jobs: int) -> Figures:
    """An iteration takes a step for each request in it, so that each has its share of every step."""
    line = {"base_s": 1e-12, "prefill_token_s": at.STEP_S, "decode_seq_s": at.STEP_S}
    engine = {"hardware": "affine", "affine": line | {"kv_token_s": 0.0, "attention_s": 0.0}} | MANY_SEATS
    requests = listed(poisson_ps(seed, jobs, at.LOAD), law_tokens(seed, jobs, at.TWO_SIZES))
    return _by_size(simulate(scene("fcfs", **engine), "fcfs", requests), "sharing")


def _feedback(seed: int, jobs: int) -> Figures:
    settings = {"quanta": list(at.QUANTA_S), "boost_s": 0.0}
    requests = listed(poisson_ps(seed, jobs, at.LOAD), law_tokens(seed, jobs, at.TWO_SIZES))
    return _by_size(simulate(scene("mlfq", settings, **ONE_SEAT), "mlfq", requests), "feedback")


def _head_of_line(seed: int, jobs: int, small: float) -> Figures:
    """All wait from the beginning; a block is a KV unit, and only the large prompts are longer than one."""
    size = 4096
    one = stream(seed, "theory", "classes").uniforms(jobs) < small
    output = exponential_tokens(seed, jobs, 1.0, step_s=at.COARSE_S)
    requests = listed(np.zeros(jobs, np.int64), output, prompt=np.where(one, 1, size + 1))
    engine = {"iteration_s": at.COARSE_S, "block_size": size, "kv_blocks": 2} | MANY_SEATS
    log = simulate(scene("fcfs", **engine), "fcfs", requests)
    assert (log.outcome == Outcome.FINISHED).all()
    return {f"head_of_line.{small:g}": jobs * PS_PER_S / int(log.ended_ps.max())}


def _seats(seed: int, jobs: int, seats: int, load: float) -> Figures:
    log = simulate(scene("fcfs", max_num_seqs=seats), "fcfs", exponential_list(seed, jobs, seats * load))
    return {f"seats.{seats}x{load:g}": wait_s(log)}


def _pooling(seed: int, jobs: int) -> Figures:
    """Two halves with half the requests each and half the speed, over one whole."""
    jobs //= 2
    halves = [exponential_list(seed, jobs // 2, mean_s=2.0, name=name) for name in ("left", "right")]
    times = [
        time_s(simulate(scene("fcfs", **ONE_SEAT), "fcfs", requests))
        for requests in (*halves, exponential_list(seed, jobs))
    ]
    return {"pooling.ratio": (times[0] + times[1]) / (2.0 * times[2])}


def _bursty(seed: int, jobs: int) -> Figures:
    gaps: Floats = stream(seed, "theory", "bursts").gammas(jobs, at.BURSTY_SHAPE) / (
        at.BURSTY_SHAPE * at.LOAD
    )
    requests = listed(instants(gaps), exponential_tokens(seed, jobs, 1.0))
    return {"kingman.bursty": wait_s(simulate(scene("fcfs", **ONE_SEAT), "fcfs", requests))}


def _lost(seed: int, jobs: int) -> Figures:
    settings = {"max_queue": at.PLACES - 1}
    log = simulate(scene("shed", settings, **ONE_SEAT), "shed", exponential_list(seed, jobs, at.LOST_LOAD))
    late = np.arange(jobs) >= jobs // 10
    return {"lost.share": float((log.outcome == Outcome.SHED)[late].mean())}


def _occupancy(seed: int, jobs: int) -> Figures:
    """Mean and deviation of the tokens in the cache over time, without its filling and draining."""
    arrival = poisson_ps(seed, jobs, at.STREAM_RATE_PER_S)
    output = np.full(jobs, at.STREAM_OUTPUT, np.int64)
    requests = listed(arrival, output, prompt=at.STREAM_PROMPT)
    log = simulate(scene("fcfs", iteration_s=at.STREAM_TPOT_S, **MANY_SEATS), "fcfs", requests)
    rows = log.stretches
    first, end = np.searchsorted(rows.start_ps, (arrival[jobs // 10], arrival[-1]))
    count, used, more = (
        column[first:end].astype(np.float64) for column in (rows.count, rows.kv_used, rows.running)
    )
    # Iteration j of a stretch holds used + j · running tokens; between stretches the engine is empty.
    ones, squares = count * (count - 1.0) / 2.0, (count - 1.0) * count * (2.0 * count - 1.0) / 6.0
    span = (rows.start_ps[end] - rows.start_ps[first]) / (at.STREAM_TPOT_S * PS_PER_S)
    mean = float((count * used + more * ones).sum()) / span
    square = float((count * used**2 + 2.0 * used * more * ones + more**2 * squares).sum()) / span
    return {"occupancy.mean": mean, "occupancy.deviation": float(np.sqrt(square - mean**2))}


def _full_cache(seed: int, jobs: int) -> Figures:
    """Throughput of requests that all wait from the beginning, as a share of what the cache can sustain."""
    prompt, output = (
        stream(seed, "theory", what).geometrics(jobs, mean).astype(np.int64)
        for what, mean in (("prompts", 500.0), ("outputs", 200.0))
    )
    engine = {
        "iteration_s": at.STREAM_TPOT_S,
        "block_size": at.CACHE_BLOCK_SIZE,
        "kv_blocks": at.CACHE_BLOCKS,
    } | MANY_SEATS
    log = simulate(scene("fcfs", **engine), "fcfs", listed(np.zeros(jobs, np.int64), output, prompt=prompt))
    assert (log.outcome == Outcome.FINISHED).all()
    size, tpot_s = at.CACHE_BLOCK_SIZE, at.STREAM_TPOT_S
    lengths = zip(prompt.tolist(), output.tolist(), strict=True)
    held = sum(kv_seconds(one, other, tpot_s, size) for one, other in lengths)
    bound_per_s = kv_capacity_per_s(at.CACHE_BLOCKS * size, held / jobs)
    return {"capacity.share": jobs * PS_PER_S / int(log.ended_ps.max()) / bound_per_s}


TRIALS: dict[str, Trial] = {
    "one seat": Trial(_one_seat),
    "equal sizes": Trial(partial(_of_law, key="md1.wait", law=constant(1.0))),
    "two sizes": Trial(partial(_of_law, key="mg1.wait", law=at.TWO_SIZES)),
    "two classes": Trial(partial(_two_classes, policy="priority"), ("priority",)),
    "two classes, first come": Trial(partial(_two_classes, policy="fcfs")),
    "preemptive": Trial(_preemptive, ("preemptive",)),
    "shortest first": Trial(_sjf, ("sjf",)),
    "feedback levels": Trial(_feedback, ("mlfq",)),
    "processor sharing": Trial(_sharing),
    "pooling": Trial(_pooling),
    "bursty arrivals": Trial(_bursty),
    "few places": Trial(_lost, ("shed",)),
    "shot noise": Trial(_occupancy),
    "full cache": Trial(_full_cache, quick=3),
    "identities": Trial(differences, POLICIES_OF_IDENTITIES, quick=2),
    **{f"least remaining at {load:g}": Trial(partial(_srpt, load=load), ("srpt",)) for load in at.SRPT_LOADS},
    **{f"head of line at {share:g}": Trial(partial(_head_of_line, small=share)) for share in at.SMALL_SHARES},
    **{
        f"{seats} seats at {load:g}": Trial(partial(_seats, seats=seats, load=load))
        for seats, load in at.SEATS
    },
}
