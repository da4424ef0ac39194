"""When each request waited, in what order, and what it needed to get in: derived from the log."""

from dataclasses import dataclass

import numpy as np

from sched.log import Ints, Log
from sched.model import Outcome, RefusalCode, StayEnd
from sched.occupancy import ceil_div, latest, peak_blocks
from sched.policies import POLICIES


def goes_by_arrival(policy: str) -> bool:
    """Whether the policy's queue is read by arrival; those of the others as (priority, arrival, id)."""
    return POLICIES[policy].arrival_order or POLICIES[policy].fair


@dataclass(frozen=True, eq=False)
class Waits:
    """Stretches of time in which a request had come and was not in the batch, in order of request and time.

    `known_tokens` = prompt + emitted tokens, what has to be computed when it gets in; `is_return` after an
    eviction.
    """

    request: Ints
    from_ps: Ints
    to_ps: Ints
    known_tokens: Ints
    is_return: Ints

    def __len__(self) -> int:
        return len(self.request)


def waits(log: Log) -> Waits:
    """Every wait of every request, the ones after an eviction too. A refused request has none."""
    stays, arrival = log.stays, log.requests.arrival_ps
    order = np.argsort(stays.request * (log.iterations + 1) + stays.iteration)
    request = stays.request[order]
    is_return = np.zeros(len(order), dtype=np.int64)
    is_return[1:] = request[1:] == request[:-1]
    ended = stays.end_ps[order]
    since = np.where(is_return, np.concatenate(([0], ended[:-1])), arrival[request])

    is_last = np.ones(len(order), dtype=bool)
    is_last[:-1] = ~is_return[1:].astype(bool)
    out = is_last & np.isin(stays.end[order], (StayEnd.OUTGROWN, StayEnd.DISPLACED))
    has_stay = np.zeros(len(arrival), dtype=bool)
    has_stay[request] = True
    never = np.flatnonzero(~has_stay & (log.outcome != Outcome.REFUSED))
    known = log.requests.prompt_tokens + log.emitted_tokens
    until = np.where(log.ended_ps >= 0, log.ended_ps, log.horizon_ps if log.horizon_ps >= 0 else log.end_ps)

    rows = np.concatenate((request, request[out], never))
    begin = np.concatenate((since, ended[out], arrival[never]))
    end = np.concatenate((stays.start_ps[order], until[request[out]], until[never]))
    tokens = np.concatenate((stays.known_tokens[order], known[request[out]], known[never]))
    returns = np.concatenate((is_return, np.ones(int(out.sum()), np.int64), np.zeros(len(never), np.int64)))
    kept = np.flatnonzero(end > begin)
    kept = kept[np.lexsort((begin[kept], rows[kept]))]
    return Waits(rows[kept], begin[kept], end[kept], tokens[kept], returns[kept])


def queue_order(log: Log, found: Waits) -> Ints:
    """The waits in the order in which the policy looks at them, as row numbers.

    Exact where the order does not move. Where it does (ageing by threshold, sizes, fairness among tenants),
    it is read as (priority, arrival, id); under vtc as the arrival. Under fcfs an evicted request stands
    before all others.
    """
    arrival, ids = log.requests.arrival_ps[found.request], log.requests.ids
    tie = found.request
    if len(np.unique(log.requests.arrival_ps)) < len(ids):
        by_id = np.empty(len(ids), dtype=np.int64)
        by_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        tie = by_id[found.request]
    if not goes_by_arrival(log.policy):
        return np.lexsort((tie, arrival, log.requests.priority[found.request]))
    if log.policy != "fcfs":
        return np.lexsort((found.request, arrival))
    # Of several evicted in one iteration, the one evicted last stands first.
    evicted = zip(log.preempted.at_ps.tolist(), log.preempted.victim.tolist(), strict=True)
    number = {pair: index for index, pair in enumerate(evicted)}
    turn = np.zeros(len(found), dtype=np.int64)
    for row in np.flatnonzero(found.is_return).tolist():
        turn[row] = -1 - number[int(found.from_ps[row]), int(found.request[row])]
    return np.lexsort((found.request, arrival, turn))


def needed_blocks(log: Log, found: Waits) -> Ints:
    """Blocks that the gate demands for each wait, the watermark not counted.

    What depends on the moment (hits in the prefix cache, expected lengths) is taken from the wait's last
    recorded refusal for KV, where there is one.
    """
    machine = log.machine
    if machine.gate == "peak":
        return peak_blocks(log)[found.request]
    tokens = found.known_tokens
    if machine.max_model_len:
        tokens = np.minimum(tokens, machine.max_model_len)
    if machine.gate == "first_chunk":
        tokens = np.minimum(tokens, needed_tokens(log, found, first_chunk=True))
    need = ceil_div(tokens, machine.block_size)
    if machine.enable_prefix_caching or machine.gate in ("expected", "lookahead"):
        told = np.flatnonzero(log.refusals.code == RefusalCode.KV)
        wait = wait_at(found, log.refusals.request[told], log.refusals.at_ps[told])
        need[wait[wait >= 0]] = log.refusals.need[told[wait >= 0]] - machine.watermark_blocks
    return need


def needed_tokens(log: Log, found: Waits, *, first_chunk: bool = False) -> Ints:
    """Tokens of an iteration that a request cannot do without: one, or its whole first piece."""
    machine = log.machine
    if machine.enable_chunked_prefill and not first_chunk:
        return np.ones(len(found), dtype=np.int64)
    tokens = found.known_tokens
    if machine.long_prefill_token_threshold:
        tokens = np.minimum(tokens, machine.long_prefill_token_threshold)
    return np.minimum(tokens, machine.max_num_batched_tokens) if machine.enable_chunked_prefill else tokens


def wait_at(found: Waits, request: Ints, at_ps: Ints) -> Ints:
    """The wait in which each request was at each moment, or -1."""
    row = latest(found.request, found.from_ps, request, at_ps)
    return np.where(at_ps < np.append(found.to_ps, -1)[row], row, -1)
