"""What the figures of service are taken from, the slow and obvious way: token by token."""

from collections import defaultdict

from sched.log import Log
from sched.model import Outcome


def given_by_request(log: Log) -> dict[int, list[tuple[int, int, int]]]:
    """(iteration, tokens, computed before) of everything each request was given, in order."""
    given: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    chunks, runs = log.chunks, log.runs
    for request, iteration, tokens, before in zip(
        *(column.tolist() for column in (chunks.request, chunks.iteration, chunks.tokens, chunks.before)),
        strict=True,
    ):
        given[request].append((iteration, tokens, before))
    for request, iteration, before, count in zip(
        *(column.tolist() for column in (runs.request, runs.iteration, runs.before, runs.count)),
        strict=True,
    ):
        given[request] += [(iteration + step, 1, before + step) for step in range(count)]
    return {request: sorted(rows) for request, rows in given.items()}


def ends(log: Log) -> list[int]:
    """The end of every iteration."""
    starts, lengths = log.iteration_start_ps.tolist(), log.iteration_duration_ps.tolist()
    return [start + length for start, length in zip(starts, lengths, strict=True)]


def token_iterations(log: Log) -> list[list[int]]:
    """The iterations that gave each request a token: those that computed all it knew."""
    found: list[list[int]] = [[] for _ in log.requests.ids]
    for request, rows in given_by_request(log).items():
        known = int(log.requests.prompt_tokens[request])
        for iteration, tokens, before in rows:
            if before + tokens == known:
                found[request].append(iteration)
                known += 1
        if log.outcome[request] == Outcome.TIMED_OUT:
            # Who gives up during an iteration does not get its token.
            del found[request][int(log.emitted_tokens[request]) :]
    return found


def unserved(log: Log, request: int) -> int:
    """Longest time without any token computed, from the arrival on."""
    if log.outcome[request] == Outcome.REFUSED:
        return 0
    starts, until = log.iteration_start_ps.tolist(), ends(log)
    since = int(log.requests.arrival_ps[request])
    longest = 0
    for iteration, _, _ in given_by_request(log).get(request, []):
        longest = max(longest, starts[iteration] - since)
        since = until[iteration]
    if log.outcome[request] != Outcome.FINISHED:
        end = int(log.ended_ps[request])
        if end < 0:
            end = log.horizon_ps if log.horizon_ps >= 0 else log.end_ps
        longest = max(longest, end - since)
    return longest
