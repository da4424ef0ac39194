"""Priority inheritance, to see that it does nothing here."""

from typing import Any

from sched.model import Request, Standing
from sched.policies.base import Policy, Rank, Scene


class Inheritance(Policy):
    """Backfill, with every holder lifted to the level of the most urgent request that is blocked for KV.

    Helps nobody: holders already run in every iteration, so lifting them speeds nothing up, and newcomers
    still enter. Hurts only in that a lifted holder is no longer the first to yield when a running request
    cannot grow.
    Source: Sha, Rajkumar and Lehoczky, IEEE Trans. Computers 39(9), 1990, carried over to KV blocks.
    """

    key = "inheritance"
    title = "Inheritance"
    misfit = "skip"
    lifts_holders = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.lifted_to: int | None = None

    def lift(self, priority: int | None) -> None:
        self.lifted_to = priority

    def yields(self, request: Request, standing: Standing) -> Rank:
        level = request.priority if self.lifted_to is None else min(request.priority, self.lifted_to)
        return (level, request.arrival_ps)
