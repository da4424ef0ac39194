"""Feedback levels with dominant resource fairness inside each."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, ClassVar

from sched.model import Request, Setting, Standing
from sched.policies.base import Rank, Scene
from sched.policies.mlfq import Mlfq
from sched.policies.usage import HALF_LIFE, PASS, Usage

_OWN: dict[str, Any] = {"boost_s": 0.0, "promote_s": 5.0, "enter": "class"}


class MlfqDrf(Usage, Mlfq):
    """Feedback levels; on each the tenant with the smallest dominant share goes first, lower levels fill up.

    Helps interactive requests and, among them, the tenant that holds little; waiting keeps batch work alive.
    Hurts long requests, which sink, and who holds much of one thing.
    Source: the article's closing advice, real time first, batch fills, fairness as the floor; mlfq and drf.
    """

    key = "mlfq_drf"
    title = "Feedback levels with DRF"
    settings: ClassVar[tuple[Setting, ...]] = (
        *(replace(one, default=_OWN.get(one.name, one.default)) for one in Mlfq.settings[:-1]),
        Setting("preempt", False, "Preempt lower levels", "For a waiting request of a higher level."),
        HALF_LIFE,
        PASS,
    )

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.running_by_rank = self.displaces_for_waiters = options.preempt
        self.moving = self.by_line = True
        self.seen: dict[int, int] = {}  # the level of each when it was last ranked, for `line`

    def rank(self, request: Request, standing: Standing) -> Rank:
        # Shares say who comes in; in the batch it is as in mlfq.
        share = 0 if request.ordinal in self.from_ps else self.share(request.tenant)
        return (self.effective(request, standing), share, request.arrival_ps, request.id)

    def lined(self, request: Request, standing: Standing) -> Hashable:
        self.seen[request.ordinal] = self.effective(request, standing)
        return self.line(request)

    def displaces(self, waiter: Request, waiting: Standing, holder: Request, held: Standing) -> Rank | None:
        # Inside a level shares decide, not arrivals: there nobody takes a seat from anybody.
        is_lower = self.level[holder.ordinal] > self.effective(waiter, waiting)
        return super().displaces(waiter, waiting, holder, held) if is_lower else None

    def line(self, request: Request) -> Hashable:
        return (self.seen.get(request.ordinal), request.tenant)
