"""When each request was served: its tokens as they came, the gaps between them, and the time without any.

A token comes at the end of the iteration that computed the one before it. Under a policy that gives an answer
out only as a whole, its tokens still count when they were made.
"""

from dataclasses import dataclass

import numpy as np

from sched.log import Ints, Log
from sched.model import Outcome
from sched.occupancy import Bools, Pieces
from sched.percentiles import Figures, of_pooled_times


@dataclass(frozen=True, eq=False)
class Tokens:
    """Output tokens in order of request and time: one in each of `count` iterations from `iteration` on.

    `end_ps` is the end of every iteration of the run, shape (iterations,).
    """

    request: Ints
    iteration: Ints
    count: Ints
    end_ps: Ints

    def by_request(self, requests: int, first: int, end: int) -> Ints:
        """How many tokens of each request came in the iterations [first, end)."""
        inside = np.minimum(self.iteration + self.count, end) - np.maximum(self.iteration, first)
        found = np.zeros(requests, dtype=np.int64)
        np.add.at(found, self.request, np.maximum(inside, 0))
        return found


def tokens_out(log: Log, held: Pieces) -> Tokens:
    """Every output token of a run. The last one of somebody who gave up meanwhile is not there."""
    end_ps = log.iteration_start_ps + log.iteration_duration_ps
    # A prefill chunk gives a token if it is the last of its stay; a decode always does.
    some = np.flatnonzero(held.before + held.step >= log.stays.known_tokens[held.stay])
    request, count = held.request[some], held.count[some].copy()
    made = np.zeros(len(log.outcome), dtype=np.int64)
    np.add.at(made, request, count)
    ignored = np.flatnonzero(made > log.emitted_tokens)
    count[np.searchsorted(request, ignored, "right") - 1] -= 1
    assert ((made - log.emitted_tokens)[ignored] == 1).all() and (made >= log.emitted_tokens).all()
    kept = np.flatnonzero(count)
    return Tokens(request[kept], held.iteration[some][kept], count[kept], end_ps)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps between consecutive tokens of a request.

    `steps_ps[i]` is from the end of iteration i - 1 to the end of iteration i: the gap of whoever got a token
    in both. In each of the iterations [first[k], end[k]) the request `steady[k]` had such a gap. The others,
    over iterations without a token or outside the batch, are `odd_ps` of the requests `odd`.
    """

    steps_ps: Ints
    steady: Ints
    first: Ints
    end: Ints
    odd: Ints
    odd_ps: Ints

    def pooled(self, mine: Bools) -> Figures:
        """The five figures of all gaps of some requests together, `mine` of shape (n,)."""
        rows = mine[self.steady]
        places = len(self.steps_ps) + 1
        change = np.bincount(self.first[rows], minlength=places)
        change = change - np.bincount(self.end[rows], minlength=places)
        times = np.cumsum(change)[:-1]
        some, odd = np.flatnonzero(times), mine[self.odd]
        values = np.concatenate((self.steps_ps[some], self.odd_ps[odd]))
        return of_pooled_times(values, np.concatenate((times[some], np.ones(int(odd.sum()), np.int64))))

    def longest_ps(self, requests: int) -> Ints:
        """The longest gap of each request, -1 of one that has none."""
        found = np.full(requests, -1, dtype=np.int64)
        if len(self.first):
            ends = np.stack((self.first, self.end), axis=1).ravel()
            most = np.maximum.reduceat(np.append(self.steps_ps, 0), ends)[::2]
            np.maximum.at(found, self.steady, most)
        np.maximum.at(found, self.odd, self.odd_ps)
        return found


def gaps(out: Tokens) -> Gaps:
    """The gaps between the tokens of a run."""
    several = np.flatnonzero(out.count > 1)
    last = out.iteration + out.count - 1
    later = np.flatnonzero(out.request[1:] == out.request[:-1]) + 1
    odd_ps = out.end_ps[out.iteration[later]] - out.end_ps[last[later - 1]]
    return Gaps(
        np.diff(out.end_ps, prepend=out.end_ps[:1]),
        out.request[several], out.iteration[several] + 1, last[several] + 1,
        out.request[later], odd_ps,
    )  # fmt: skip


def until_ps(log: Log) -> Ints:
    """When each request ended; of one that never did, when the run was over. Shape (n,)."""
    over = log.horizon_ps if log.horizon_ps >= 0 else log.end_ps
    # One that comes after the horizon has not waited at all.
    return np.where(log.ended_ps >= 0, log.ended_ps, np.maximum(over, log.requests.arrival_ps))


def unserved_ps(log: Log, held: Pieces) -> Ints:
    """The longest time of each request without any of its tokens being computed, shape (n,).

    From its arrival on, in the queue or in the batch; of one that did not finish, up to its end or that of
    the run.
    """
    found = np.zeros(len(log.outcome), dtype=np.int64)
    served = log.requests.arrival_ps.copy()
    if len(held):
        begin = log.iteration_start_ps[held.iteration]
        last = held.iteration + held.count - 1
        end = log.iteration_start_ps[last] + log.iteration_duration_ps[last]
        since = np.concatenate(([0], end[:-1]))
        new = np.ones(len(held), dtype=bool)
        new[1:] = held.request[1:] != held.request[:-1]
        since[new] = log.requests.arrival_ps[held.request[new]]
        np.maximum.at(found, held.request, begin - since)
        np.maximum.at(served, held.request, end)
    left = (log.outcome != Outcome.FINISHED) & (log.outcome != Outcome.REFUSED)
    return np.maximum(found, np.where(left, until_ps(log) - served, 0))


def to_first_token_ps(log: Log) -> Ints:
    """Arrival to first token; of one that has none, how long it went without it. Shape (n,)."""
    first = np.where(log.first_token_ps >= 0, log.first_token_ps, until_ps(log))
    return first - log.requests.arrival_ps


def late_at_once(log: Log, mine: Ints) -> int:
    """Most of these requests at one moment that had no token and whose goal for it had passed."""
    goal = log.requests.ttft_goal_ps[mine]
    late = mine[(goal >= 0) & (to_first_token_ps(log)[mine] > goal) & (log.outcome[mine] != Outcome.REFUSED)]
    arrival = log.requests.arrival_ps[late]
    begin, end = arrival + log.requests.ttft_goal_ps[late], arrival + to_first_token_ps(log)[late]
    # Who gets its token at the moment when another's goal passes is no longer one of them.
    moment = np.concatenate((end, begin))
    change = np.concatenate((np.full(len(late), -1), np.ones(len(late), np.int64)))
    return int(np.cumsum(change[np.argsort(moment, kind="stable")]).max(initial=0))
