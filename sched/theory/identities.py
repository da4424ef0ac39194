"""The laws that hold on every single run, as differences of whole numbers that must be 0.

Each is worked out twice from different columns of the log: a law that is true by construction shows nothing.
"""

from collections.abc import Sequence

import numpy as np

from sched.alone import alone_ps
from sched.cost import iteration_cost
from sched.engine import simulate
from sched.inversion import analyse
from sched.log import Ints, Log
from sched.model import NEVER, Outcome
from sched.randomness import stream
from sched.scenario import Scenario, preset
from sched.sums import exact_sum
from sched.theory.runs import ONE_SEAT, exponential_tokens, listed, poisson_ps, scene

POLICIES_OF_IDENTITIES = ("fcfs", "priority", "preemptive")
MOST_JOBS = 5000


def differences(seed: int, jobs: int) -> dict[str, float]:
    """All of them, over three policies on a contended engine, and on one seat of at most 5,000 requests.

    `slowdown.least` and `ttft.least` are the least time in the system and to the first token over what the
    request takes on an empty engine. Every other figure is an absolute difference in picoseconds, tokens or
    token picoseconds.
    """
    contended = preset("noisy-neighbour").changed(seed=seed)
    fine = contended.changed(engine={"block_size": 1, "kv_blocks": 16 * int(contended.engine.kv_blocks or 0)})
    logs = [simulate(contended, policy) for policy in POLICIES_OF_IDENTITIES]
    found = {
        "little.difference": float(sum(map(little, logs))),
        "kv_little.difference": float(sum(kv_little(simulate(fine, one)) for one in POLICIES_OF_IDENTITIES)),
        "work.tokens": float(sum(map(tokens, logs))),
        "work.backlog": float(backlog(seed, min(jobs, MOST_JOBS))),
        "blame.difference": float(sum(map(blame, logs))),
    }
    slowest = [slowdowns(log, contended) for log in logs]
    return found | {
        "slowdown.least": min(float(whole) for whole, _ in slowest),
        "ttft.least": min(float(first) for _, first in slowest),
    }


def little(log: Log) -> int:
    """∫N dt, counted by the decisions, less the times of all requests from the first decision that saw them.

    Picoseconds. Source: Little, A proof for the queuing formula L = λW, Operations Research 9, 1961.
    """
    rows = log.stretches
    whole = _lengths(rows.count, rows.first_ps, rows.step_ps)
    present: int = sum(
        number * length for number, length in zip((rows.running + rows.waiting).tolist(), whole, strict=True)
    )
    served = log.outcome != Outcome.REFUSED
    assert (log.ended_ps[served] != NEVER).all()
    starts = log.iteration_start_ps
    seen = starts[np.searchsorted(starts, log.requests.arrival_ps[served])]
    return abs(present - exact_sum(log.ended_ps[served] - seen))


def kv_little(log: Log) -> int:
    """∫KV dt, counted by the decisions, less the sum over the requests of what each held: H = λG.

    Blocks times picoseconds, for blocks of one token: while a batch decodes, each request then takes one more
    in each iteration.
    """
    assert log.machine.block_size == 1
    rows = log.stretches
    counted: int = 0
    for used, more, count, first, step in zip(
        *(
            column.tolist()
            for column in (rows.kv_used, rows.decode_tokens, rows.count, rows.first_ps, rows.step_ps)
        ),
        strict=True,
    ):
        ones, squares = count * (count - 1) // 2, (count - 1) * count * (2 * count - 1) // 6
        counted += count * used * first + (used * step + more * first) * ones + more * step * squares
    held = analyse(log).seen.levels.held.blocks.sum(axis=0)
    lengths = log.iteration_duration_ps.tolist()
    had: int = sum(blocks * length for blocks, length in zip(held.tolist(), lengths, strict=True))
    return abs(counted - had)


def tokens(log: Log) -> int:
    """Tokens of all iterations, less p + o - 1 of each finished request and what was computed twice."""
    rows, requests = log.stretches, log.requests
    assert (log.outcome == Outcome.FINISHED).all()
    done = exact_sum((rows.prefill_tokens + rows.decode_tokens) * rows.count)
    once = exact_sum(requests.prompt_tokens + requests.output_tokens - 1)
    return abs(done - once - exact_sum(log.recomputed_tokens))


def backlog(seed: int, jobs: int) -> int:
    """Iterations that begin at another time under another policy, on one seat where nothing is lost.

    When the seat is busy decides how much work is left at every instant, so that the two are one law.
    """
    level = (stream(seed, "theory", "levels").uniforms(jobs) * 3.0).astype(np.int64)
    requests = listed(poisson_ps(seed, jobs, 0.9), exponential_tokens(seed, jobs, 1.0), level=level)
    starts: list[Ints] = []
    for policy in POLICIES_OF_IDENTITIES:
        settings = {"max_preemptions": 1_000_000} if policy == "preemptive" else {}
        starts.append(simulate(scene(policy, settings, **ONE_SEAT), policy, requests).iteration_start_ps)
    if len({len(one) for one in starts}) > 1:
        return max(map(len, starts))
    return max(int((one != starts[0]).sum()) for one in starts)


def blame(log: Log) -> int:
    """What the causes of waits add up to, less the waits; and the blame for inversion, less the inversion."""
    found = analyse(log)
    waits = found.seen.waits
    causes = exact_sum(found.wait_ps) - exact_sum(waits.to_ps - waits.from_ps)
    return abs(causes) + abs(sum(found.culprits.total) - exact_sum(found.inversion_ps))


def slowdowns(log: Log, scenario: Scenario) -> tuple[float, float]:
    """The least time in the system, and to the first token, over what it takes on an empty engine."""
    cost, requests = iteration_cost(scenario), log.requests
    least = [float("inf"), float("inf")]
    rows: Sequence[list[int]] = [
        column.tolist()
        for column in (
            requests.prompt_tokens,
            requests.output_tokens,
            log.ended_ps - requests.arrival_ps,
            log.first_token_ps - requests.arrival_ps,
        )
    ]
    for prompt, output, whole_ps, first_ps in zip(*rows, strict=True):
        alone = alone_ps(log.machine, cost, prompt, output), alone_ps(log.machine, cost, prompt, 1)
        least = [min(least[0], whole_ps / alone[0]), min(least[1], first_ps / alone[1])]
    return least[0], least[1]


def _lengths(count: Ints, first_ps: Ints, step_ps: Ints) -> list[int]:
    """Picoseconds of each stretch."""
    rows = zip(count.tolist(), first_ps.tolist(), step_ps.tolist(), strict=True)
    return [number * first + step * (number * (number - 1) // 2) for number, first, step in rows]
