"""Highest response ratio next."""

from typing import Any

from sched.model import Request, Standing
from sched.policies.base import MISFIT, PREDICTOR, Policy, Rank, Scene

_PLACES = 128
"""Two different ratios of numbers below 2**63 differ by more than 2**-126, so this many tell them apart."""


class Hrrn(Policy):
    """The request that has waited longest in proportion to its own length goes next.

    Helps short requests without starving long ones, whose ratio grows too. Hurts the urgent: it is blind to
    priority.
    Source: Brinch Hansen, Short-term scheduling in multiprogramming systems, SOSP 1971; SGLang,
    managers/schedule_policy.py (hrrn).
    """

    key = "hrrn"
    title = "Highest response ratio"
    blind = True
    settings = (*PREDICTOR, MISFIT)
    moving = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.alone: dict[int, int] = {}

    def alone_ps(self, request: Request) -> int:
        """How long the request would take on the empty engine, as predicted when it came."""
        if request.ordinal not in self.alone:
            predicted = self.scene.forecast(request.ordinal, 0)
            self.alone[request.ordinal] = max(1, self.scene.alone_ps(request.prompt_tokens, predicted))
        return self.alone[request.ordinal]

    def rank(self, request: Request, standing: Standing) -> Rank:
        waited_ps = standing.now_ps - standing.since_ps
        return (-((waited_ps << _PLACES) // self.alone_ps(request)), request.arrival_ps, request.id)

    def order_stands_until_ps(self, waiting: list[tuple[Request, Standing]]) -> int | None:
        """When somebody's ratio overtakes that of the head: it must grow faster, so be of a shorter one."""
        first, ahead = min(waiting, key=lambda pair: self.rank(*pair))
        long_ps, waited_ps = self.alone_ps(first), ahead.now_ps - ahead.since_ps
        soonest = None
        for request, standing in waiting:
            short_ps = self.alone_ps(request)
            if short_ps >= long_ps:
                continue
            lead = waited_ps * short_ps - (standing.now_ps - standing.since_ps) * long_ps
            # At equal ratios the earlier arrival is first, else a moment later.
            wins_ties = (request.arrival_ps, request.id) < (first.arrival_ps, first.id)
            after_ps = max(1, (lead - wins_ties) // (long_ps - short_ps) + 1)
            soonest = after_ps if soonest is None else min(soonest, after_ps)
        return None if soonest is None else ahead.now_ps + soonest
