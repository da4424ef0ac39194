"""When each request waited, in what order, and what it needed to get in: derived from the log."""

from dataclasses import dataclass

import numpy as np

from sched.log import Ints, Log
from sched.model import Outcome, RefusalCode, Request, Standing, StayEnd
from sched.occupancy import ceil_div, latest, peak_blocks
from sched.policies import POLICIES
from sched.policies.base import Policy, overrides
from sched.workload import RequestList


def goes_by_arrival(policy: str) -> bool:
    """Whether the policy's queue is read by arrival; those of the others by rank."""
    return POLICIES[policy].arrival_order or POLICIES[policy].fair


@dataclass(frozen=True, eq=False)
class Waits:
    """Stretches of time in which a request had come and was not in the batch, in order of request and time.

    `known_tokens` = prompt + emitted tokens, of which `kept_tokens` wait on the host (seen where it came back
    from there); the others have to be computed when it gets in. `is_return` after a preemption.
    """

    request: Ints
    from_ps: Ints
    to_ps: Ints
    known_tokens: Ints
    is_return: Ints
    kept_tokens: Ints

    def __len__(self) -> int:
        return len(self.request)


def waits(log: Log) -> Waits:
    """Every wait of every request, the ones after a preemption too. A refused request has none."""
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
    # Who comes back from the host with all but its last token has nothing left to prefill.
    is_swapped = (
        is_return.astype(bool) & (stays.hit_tokens[order] > 0) & (not log.machine.enable_prefix_caching)
    )
    kept = np.where(is_swapped, stays.hit_tokens[order], 0)
    had = stays.known_tokens[order] + (kept >= stays.known_tokens[order])
    tokens = np.concatenate((had, known[request[out]], known[never]))
    host = np.concatenate((kept, np.zeros(int(out.sum()) + len(never), np.int64)))
    returns = np.concatenate((is_return, np.ones(int(out.sum()), np.int64), np.zeros(len(never), np.int64)))
    some = np.flatnonzero(end > begin)
    some = some[np.lexsort((begin[some], rows[some]))]
    return Waits(rows[some], begin[some], end[some], tokens[some], returns[some], host[some])


def queue_order(log: Log, found: Waits) -> Ints:
    """The waits in the order in which the policy looks at them, as row numbers.

    Exact where the order does not move: by arrival, by (priority, arrival, id), or by a rank of the policy's
    own. A moving order (by the clock, by what others did) is read as
    (priority, arrival, id), and fairness among tenants as the arrival. Whoever reads it must not take those
    in front for more urgent: the levels say that. Under a policy that requeues at the front a preempted
    request stands before all others.
    """
    arrival, ids = log.requests.arrival_ps[found.request], log.requests.ids
    tie = found.request
    if len(np.unique(log.requests.arrival_ps)) < len(ids):
        by_id = np.empty(len(ids), dtype=np.int64)
        by_id[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        tie = by_id[found.request]
    if not goes_by_arrival(log.policy):
        if log.rules is not None and has_static_rank(log.rules):
            return order_by_rank(log, found, log.rules)
        return np.lexsort((tie, arrival, log.requests.priority[found.request]))
    if not POLICIES[log.policy].requeue_at_front:
        return np.lexsort((found.request, arrival))
    # Of several preempted in one iteration, the one preempted last stands first.
    preempted = zip(log.preempted.at_ps.tolist(), log.preempted.victim.tolist(), strict=True)
    number = {pair: index for index, pair in enumerate(preempted)}
    turn = np.zeros(len(found), dtype=np.int64)
    for row in np.flatnonzero(found.is_return).tolist():
        turn[row] = -1 - number[int(found.from_ps[row]), int(found.request[row])]
    return np.lexsort((found.request, arrival, turn))


def has_static_rank(rules: Policy) -> bool:
    """Whether the policy has a rank of its own that stays what it was when the wait began."""
    moves = rules.arrival_order or rules.fair or rules.moving or rules.reads_cache or rules.counts_holdings
    return (
        not moves
        and overrides(rules, "rank")
        and not overrides(rules, "tick", "turned", "served", "computed")
    )


def order_by_rank(log: Log, found: Waits, rules: Policy) -> Ints:
    """The waits by a rank that does not change while they last, as row numbers."""
    listed, ranks = log.requests, []
    columns = (found.request, found.from_ps, found.known_tokens, found.is_return)
    preemptions = [0] * len(listed.ids)
    for request, since, known, is_return in zip(*(part.tolist() for part in columns), strict=True):
        preemptions[request] += is_return
        standing = Standing(
            now_ps=since,
            since_ps=since,
            emitted_tokens=known - int(listed.prompt_tokens[request]),
            preemptions=preemptions[request],
        )
        ranks.append(rules.rank(as_seen(listed, request), standing))
    return np.array(sorted(range(len(ranks)), key=ranks.__getitem__), dtype=np.int64)


def as_seen(listed: RequestList, request: int) -> Request:
    """A request as a policy sees it."""
    return Request(
        ordinal=request,
        id=listed.ids[request],
        class_name=listed.class_names[int(listed.class_index[request])],
        tenant=listed.tenant_names[int(listed.tenant_index[request])],
        priority=int(listed.priority[request]),
        arrival_ps=int(listed.arrival_ps[request]),
        prompt_tokens=int(listed.prompt_tokens[request]),
        ttft_goal_ps=int(listed.ttft_goal_ps[request]),
        e2e_goal_ps=int(listed.e2e_goal_ps[request]),
        parent=listed.parents[request] if listed.parents else "",
    )


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
        tokens = np.minimum(tokens, found.kept_tokens + needed_tokens(log, found, first_chunk=True))
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
    tokens = found.known_tokens - found.kept_tokens
    if machine.long_prefill_token_threshold:
        tokens = np.minimum(tokens, machine.long_prefill_token_threshold)
    return np.minimum(tokens, machine.max_num_batched_tokens) if machine.enable_chunked_prefill else tokens


def wait_at(found: Waits, request: Ints, at_ps: Ints) -> Ints:
    """The wait in which each request was at each moment, or -1."""
    row = latest(found.request, found.from_ps, request, at_ps)
    return np.where(at_ps < np.append(found.to_ps, -1)[row], row, -1)
