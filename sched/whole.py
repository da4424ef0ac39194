"""Requests as their clients sent them, when a policy has cut some into pieces."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sched.log import Ints, Log, frozen
from sched.model import NEVER, Outcome
from sched.sums import five


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


def told(log: Log) -> dict[str, Any]:
    """Of each class with a request that was cut: how many there are, times to first and last token, seconds.

    A piece's own times stand with its class; these are those of the requests as their clients sent them.
    """
    found, listed = whole_requests(log), log.requests
    classes = [listed.class_names[listed.class_index[row]] for row in _first_rows(log)]
    figures: dict[str, Any] = {}
    for name in dict.fromkeys(
        one for one, pieces in zip(classes, found.pieces.tolist(), strict=True) if pieces > 1
    ):
        own = np.array([place for place, one in enumerate(classes) if one == name])
        first, done = own[found.first_token_ps[own] >= 0], own[found.outcome[own] == Outcome.FINISHED]
        figures[name] = {
            "n": len(own),
            "cut": int((found.pieces[own] > 1).sum()),
            "ttft_s": five(found.first_token_ps[first] - found.arrival_ps[first]),
            "e2e_s": five(found.ended_ps[done] - found.arrival_ps[done]),
        }
    return figures


def _first_rows(log: Log) -> list[int]:
    """The row of the first piece of each whole request, in their order."""
    seen: dict[str, int] = {}
    for row, name in enumerate(log.requests.ids):
        parent = log.requests.parents[row] if log.requests.parents else ""
        seen.setdefault(parent or name, row)
    return list(seen.values())


def _column(values: list[int]) -> Ints:
    return frozen(np.array(values, dtype=np.int64))
