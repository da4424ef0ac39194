"""Of a run on several engines, the one that is drawn, as a run of its own over all requests."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from sched.inversion import CauseSpans
from sched.log import Chunks, Ints, Log, Runs, Stays
from sched.model import NEVER, Outcome

ELSEWHERE = max(Outcome) + 1
"""The outcome of a request that another engine served; it follows those of `model.Outcome`."""
Table = TypeVar("Table", Stays, Chunks, Runs, CauseSpans)


def drawn(log: Log) -> int:
    """Which of several engines is drawn: the first that has requests."""
    return next((place for place, part in enumerate(log.replicas) if len(part.requests)), 0)


def one_engine(log: Log, place: int) -> Log:
    """One of several engines as a log of all requests, so that both sides of the stage count them alike.

    Those of the others ended here when they came, with the outcome ELSEWHERE.
    """
    part, rows, listed = log.replicas[place], log.rows[place], log.requests
    is_here = np.zeros(len(listed), dtype=bool)
    is_here[rows] = True
    gone = part.preempted
    return replace(
        part,
        requests=listed,
        outcome=np.where(is_here, log.outcome, ELSEWHERE),
        ended_ps=np.where(is_here, log.ended_ps, listed.arrival_ps),
        first_token_ps=np.where(is_here, log.first_token_ps, NEVER),
        stays=spread(part.stays, rows),
        chunks=spread(part.chunks, rows),
        runs=spread(part.runs, rows),
        preempted=replace(gone, victim=rows[gone.victim], beneficiary=rows[gone.beneficiary]),
    )


def spread(table: Table, rows: Ints) -> Table:
    """A table with its requests by their place in the whole list."""
    return replace(table, request=rows[table.request])
