"""Earliest deadline first."""

from typing import Any, ClassVar

from sched.model import NEVER, Request, Setting, Standing
from sched.policies.base import MISFIT, PREDICTOR, Policy, Rank, Scene


class Edf(Policy):
    """The request that is due first enters first; those that were promised nothing come behind all others.

    Helps to keep promises while all of them can be kept. Hurts under overload: late requests make those
    behind them late too, unless whoever cannot make it any more is relegated.
    Source: Liu and Layland, Scheduling algorithms for multiprogramming, 1973; the relegation of Niyama, 2025.
    """

    key = "edf"
    title = "Earliest deadline"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("deadline", "ttft", "What is due", "ttft: the first token; e2e: the last.",
                choices=("ttft", "e2e")),
        Setting("relegate", False, "Relegate the late",
                "On: who would miss its deadline even alone goes behind all that can keep theirs."),
        *PREDICTOR,
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.to_last = options.deadline == "e2e"
        self.moving, self.steps, self.blind = options.relegate, True, True

    def due_ps(self, request: Request) -> int | None:
        """When its first or last token is due; None: it was promised nothing."""
        goal_ps = request.e2e_goal_ps if self.to_last else request.ttft_goal_ps
        return None if goal_ps == NEVER else request.arrival_ps + goal_ps

    def latest_ps(self, request: Request, due_ps: int, standing: Standing) -> int:
        """When it must start, with the engine to itself, to make it."""
        emitted, left = standing.emitted_tokens, 1
        if self.to_last:
            left = self.scene.forecast(request.ordinal, emitted) - emitted
        return due_ps - self.scene.alone_ps(request.prompt_tokens + emitted, left)

    def urgency_ps(self, request: Request, due_ps: int, standing: Standing) -> int:
        """What is compared among those that can still make it."""
        return due_ps

    def rank(self, request: Request, standing: Standing) -> Rank:
        due_ps, arrival_ps = self.due_ps(request), request.arrival_ps
        if due_ps is None or (self.moving and standing.now_ps > self.latest_ps(request, due_ps, standing)):
            return (1, arrival_ps, arrival_ps, request.id)
        return (0, self.urgency_ps(request, due_ps, standing), arrival_ps, request.id)

    def stands_until_ps(self, request: Request, standing: Standing) -> int | None:
        due_ps = self.due_ps(request)
        if due_ps is None:
            return None
        late_ps = self.latest_ps(request, due_ps, standing) + 1
        return late_ps if late_ps > standing.now_ps else None
