"""Who decides when a waiting request gets in: those in the batch, and those who stand before it."""

from dataclasses import dataclass

import numpy as np

from sched.evidence import Evidence
from sched.log import Ints
from sched.moments import asked_and_free
from sched.occupancy import Bools, peak_blocks
from sched.policies.base import Policy

Rules = Policy | type[Policy]
"""A policy with its settings, or its class for the usual ones."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who is in the batch in a slot, then who stands before the request in the queue, shape (j,).

    `known` are the tokens to compute before the next one comes, `done` those computed before the slot,
    `chunk` those given an iteration until then, `need` the blocks that the gate asks for. `yields` is the
    order in which they would be preempted, largest first; then it `comes_first` if it stands before the
    request. That one asks for `mine` blocks, `tokens` in its first iteration and one of `seats`; `kept`
    blocks are closed to it. Under a gate that reserves the peak each holds what it was `promised`. The
    request `may_displace` lower ones at the next decision if only a preemption barred it at this.
    """

    request: Ints
    known: Ints
    done: Ints
    chunk: Ints
    emitted: Ints
    need: Ints
    yields: Ints
    comes_first: Bools
    is_lower: Bools
    running: int
    mine: int
    tokens: int
    kept: int
    seats: int
    promised: Ints
    may_displace: bool


def crowd(seen: Evidence, wait: int, slot: int, policy: Rules) -> Crowd:
    """Everybody who decides when a wait ends, as they stand in a slot in which the engine runs."""
    log, listed, iteration = seen.log, seen.log.requests, int(seen.time.iteration[slot])
    assert iteration >= 0
    machine = log.machine
    now = seen.held.take((seen.held.iteration <= iteration) & (seen.held.end > iteration))
    done = now.before + np.minimum(iteration - now.iteration, now.count) * now.step
    known = log.stays.known_tokens[now.stay]
    emitted = known - listed.prompt_tokens[now.request] + np.maximum(done - known + 1, 0)
    front = before_in_queue(seen, wait, slot)
    waiting, tokens = seen.waits.request[front], seen.waits.known_tokens[front]
    most = machine.long_prefill_token_threshold or machine.max_num_batched_tokens
    piece = np.minimum(tokens, min(most, machine.max_num_batched_tokens))
    piece = np.maximum(piece if machine.enable_chunked_prefill else tokens, 1)
    request = np.concatenate((now.request, waiting))
    admission = np.concatenate(
        (log.stays.seq[now.stay], int(log.stays.seq.max(initial=0)) + 1 + np.arange(len(front)))
    )
    order = (admission,) if policy.arrival_order else (listed.arrival_ps[request], listed.priority[request])
    yields = np.empty(len(request), dtype=np.int64)
    yields[np.lexsort(order)] = np.arange(len(request))
    row, at = np.array([wait]), np.array([slot])
    _, free, entitled = (part[0].tolist()[0] for part in asked_and_free(seen, row, at))
    priority, mine = listed.priority, int(seen.waits.request[wait])
    first = (priority[request] < priority[mine]) | (
        (priority[request] == priority[mine]) & (listed.arrival_ps[request] < listed.arrival_ps[mine])
    )
    # A batch that is closed has a limit that the class alone does not tell: the fullest one comes near it.
    most_seats = int(log.stretches.running.max()) if policy.closed_batch else machine.max_num_seqs
    outgrown = (log.preempted.iteration == iteration).any()
    return Crowd(
        request=request,
        known=np.concatenate((known, tokens)),
        done=np.concatenate((done, np.zeros_like(tokens))),
        chunk=np.concatenate((np.maximum(now.step, 1), piece)),
        emitted=np.concatenate((emitted, tokens - listed.prompt_tokens[waiting])),
        need=np.concatenate((np.zeros_like(done), seen.need[0][front])),
        yields=yields,
        comes_first=np.ones(len(request), dtype=bool) if policy.requeue_at_front else first,
        is_lower=priority[request] > priority[mine],
        running=len(now),
        mine=int(seen.need[0][wait]),
        tokens=int(seen.need[1][wait]),
        kept=free - entitled,
        seats=min(policy.batch_limit or most_seats, machine.max_num_seqs),
        promised=peak_blocks(log)[request],
        may_displace=policy.displaces_for_waiters and not policy.only_loans and bool(outgrown),
    )


def before_in_queue(seen: Evidence, wait: int, slot: int) -> Ints:
    """Rows of the waits that the policy looks at before this one at the start of a slot, first first."""
    at, found = seen.time.begin_ps[slot], seen.waits
    there = (found.from_ps <= at) & (found.to_ps > at) & (seen.place < seen.place[wait])
    rows = np.flatnonzero(there)
    first: Ints = rows[np.argsort(seen.place[rows])]
    return first
