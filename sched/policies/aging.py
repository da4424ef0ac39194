"""Ageing: waiting earns urgency."""

from math import lcm
from typing import Any

from sched.model import PS_PER_S, Request, Setting, Standing
from sched.policies.base import MISFIT, Policy, Rank, Scene, as_written


class Aging(Policy):
    """Each second of waiting earns a request some levels of urgency, or one level per threshold.

    Helps low classes: no class starves. Hurts fresh urgent requests that old ones overtake; and it changes
    the order only, so a request that does not fit still waits.
    Source: the linear credit of Kleinrock, A delay dependent queue discipline, 1964.
    """

    key = "aging"
    title = "Ageing"
    settings = (
        Setting("per_s", 0.2, "Credit", "Levels earned by a second of waiting.",
                unit="levels per s", low=0, high=1_000_000, step=0.05),
        Setting("threshold_s", None, "Ageing threshold", "When set: a level for each such wait.",
                unit="s", low=0.001, high=8_640_000, step=0.5),
        Setting("floor", None, "Most urgent level to reach", "When set: credit ends there.",
                unit="level", low=-1_000_000, high=1_000_000, step=0.5),
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.credit = as_written(options.per_s) / PS_PER_S
        self.threshold_ps = options.threshold_s and int(as_written(options.threshold_s) * PS_PER_S)
        self.floor = None if options.floor is None else as_written(options.floor) * scene.sign
        self.moving = bool(self.threshold_ps) or self.floor is not None
        # Ranks are only compared: one common denominator keeps them exact integers.
        self.unit = lcm(self.credit.denominator, 1 if self.floor is None else self.floor.denominator)
        self.unit_per_ps = int(self.credit * self.unit)
        self.lowest = None if self.floor is None else int(self.floor * self.unit)

    def rank(self, request: Request, standing: Standing) -> Rank:
        since_ps = standing.since_ps
        level, waited_ps = request.priority * self.unit, standing.now_ps - since_ps
        if not self.moving:
            # All credits grow alike, so the order of two who wait never changes: compare at time zero.
            return (level + since_ps * self.unit_per_ps, request.arrival_ps, request.id)
        reached = level - waited_ps * self.unit_per_ps
        if self.threshold_ps:
            reached = level - waited_ps // self.threshold_ps * self.unit
        if self.lowest is not None and reached < self.lowest:
            reached = min(self.lowest, level)
        return (reached, request.arrival_ps, request.id)

    def stands_until_ps(self, request: Request, standing: Standing) -> int | None:
        now_ps, since_ps = standing.now_ps, standing.since_ps
        if self.lowest is not None and self.rank(request, standing)[0] <= self.lowest:
            return None
        if self.threshold_ps:
            return since_ps + ((now_ps - since_ps) // self.threshold_ps + 1) * self.threshold_ps
        if self.floor is None or not self.credit:
            return None
        return since_ps - int((self.floor - request.priority) / self.credit // 1)
