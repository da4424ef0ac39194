"""Ageing: waiting earns urgency."""

from math import lcm
from typing import Any

from sched.model import NEVER, PS_PER_S, Request, Setting, Standing
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
                "levels per s", 0, 1_000_000, 0.05),
        Setting("threshold_s", None, "Ageing threshold", "When set: a level for each such wait.",
                "s", 0.001, 8_640_000, 0.5),
        Setting("floor", None, "Most urgent level to reach", "When set: credit ends there.",
                "level", -1_000_000, 1_000_000, 0.5),
        Setting("margin_s", None, "Margin of the first token",
                "When set: with less to spare it is of the most urgent level.",
                "s", 0, 8_640_000, 0.1),
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        credit = as_written(options.per_s) / PS_PER_S
        least = None if options.floor is None else as_written(options.floor) * scene.sign
        self.threshold_ps = options.threshold_s and int(as_written(options.threshold_s) * PS_PER_S)
        self.margin_ps = None if options.margin_s is None else int(as_written(options.margin_s) * PS_PER_S)
        self.moving = not (self.threshold_ps is None and self.margin_ps is None and least is None)
        self.steps = bool(self.threshold_ps)
        # Ranks are only compared: one common denominator keeps them exact integers.
        self.unit = lcm(credit.denominator, 1 if least is None else least.denominator)
        self.unit_per_ps = int(credit * self.unit)
        self.lowest = None if least is None else int(least * self.unit)
        self.urgent = scene.most_urgent * self.unit

    def rank(self, request: Request, standing: Standing) -> Rank:
        since_ps, base = standing.since_ps, request.priority * self.unit
        if not self.moving:
            # All credits grow alike, so the order of two who wait never changes: compare at time zero.
            return (base + since_ps * self.unit_per_ps, request.arrival_ps, request.id)
        waited_ps = standing.now_ps - since_ps
        reached = base - waited_ps * self.unit_per_ps
        if self.threshold_ps:
            reached = base - waited_ps // self.threshold_ps * self.unit
        if self.lowest is not None and reached < self.lowest:
            reached = min(self.lowest, base)
        calm_ps = self.calm_until_ps(request, standing)
        if calm_ps is not None and calm_ps < standing.now_ps:
            reached = min(reached, self.urgent)
        return (reached, request.arrival_ps, request.id)

    def calm_until_ps(self, request: Request, standing: Standing) -> int | None:
        """Until when the margin is left to spare before its first token is due, if it ran alone."""
        if self.margin_ps is None or request.ttft_goal_ps == NEVER:
            return None
        alone_ps = self.scene.alone_ps(request.prompt_tokens + standing.emitted_tokens, 1)
        return request.arrival_ps + request.ttft_goal_ps - alone_ps - self.margin_ps

    def stands_until_ps(self, request: Request, standing: Standing) -> int | None:
        now_ps, since_ps = standing.now_ps, standing.since_ps
        calm_ps = self.calm_until_ps(request, standing)
        times = [] if calm_ps is None else [calm_ps + 1]
        if self.threshold_ps:
            times.append(now_ps + self.threshold_ps - (now_ps - since_ps) % self.threshold_ps)
        elif self.unit_per_ps:
            # Where others stand still it first draws level, and a moment later passes.
            for level in (self.lowest, None if self.margin_ps is None else self.urgent):
                if level is not None:
                    above = request.priority * self.unit - level
                    times.append(since_ps - (-above) // self.unit_per_ps)
                    times.append(since_ps + above // self.unit_per_ps + 1)
        return min((time for time in times if time > now_ps), default=None)
