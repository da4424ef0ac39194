"""Requests as their clients sent them, when a policy has cut some into pieces."""

from dataclasses import dataclass

import numpy as np

from sched.log import Ints, Log, frozen
from sched.model import NEVER, Outcome


@dataclass(frozen=True, slots=True)
class WholeRequests:
    """One entry for each request of the scenario, shape (m,), in order of arrival; times in picoseconds.

    The first token is the first of any piece, the end that of the last piece, NEVER where one did not come.
    `outcome` is FINISHED if every piece finished, else that of the first piece that did not.
    """

    ids: tuple[str, ...]
    pieces: Ints
    arrival_ps: Ints
    first_token_ps: Ints
    ended_ps: Ints
    outcome: Ints


def whole_requests(log: Log) -> WholeRequests:
    """What became of each request of the scenario; one that was not cut is its own only piece."""
    listed = log.requests
    of_whole: dict[str, list[int]] = {}
    for row, name in enumerate(listed.ids):
        parent = listed.parents[row] if listed.parents else ""
        of_whole.setdefault(parent or name, []).append(row)
    first, ended, outcome = [], [], []
    for rows in of_whole.values():
        came = [time for time in log.first_token_ps[rows].tolist() if time != NEVER]
        ends = log.ended_ps[rows].tolist()
        first.append(min(came, default=NEVER))
        ended.append(NEVER if NEVER in ends else max(ends))
        unlike = [one for one in log.outcome[rows].tolist() if one != Outcome.FINISHED]
        outcome.append(unlike[0] if unlike else int(Outcome.FINISHED))
    starts = [rows[0] for rows in of_whole.values()]
    return WholeRequests(
        ids=tuple(of_whole),
        pieces=_column([len(rows) for rows in of_whole.values()]),
        arrival_ps=frozen(listed.arrival_ps[starts]),
        first_token_ps=_column(first),
        ended_ps=_column(ended),
        outcome=_column(outcome),
    )


def _column(values: list[int]) -> Ints:
    return frozen(np.array(values, dtype=np.int64))
