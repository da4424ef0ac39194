"""The ceiling: room for the more urgent stays free."""

from typing import Any

from sched.model import Request, Setting
from sched.policies.base import MISFIT, Policy, Scene, as_written


class Ceiling(Policy):
    """A request may enter only if, after that, the largest request of any more urgent class would still fit.

    Helps the urgent: they find their blocks free, unless lower ones have grown into them. Hurts the others,
    by memory that lies idle whether or not an urgent request comes.
    Source: Baker, Stack-based scheduling of realtime processes, 1991, on a pool of like units.
    """

    key = "ceiling"
    title = "Ceiling"
    settings = (
        Setting("quantile", 1.0, "Room for", "This quantile of the peaks of more urgent requests; 1: all.",
                "of requests", 0, 1, 0.01),
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        quantile, above = as_written(options.quantile), list[int]()
        self.ceilings: dict[int, int] = {}
        for priority in sorted(scene.peaks):
            # The nearest rank: the smallest peak that at least this share does not exceed.
            place = max(0, -int(-quantile * len(above) // 1) - 1)
            self.ceilings[priority] = above[place] if above else 0
            above = sorted([*above, *scene.peaks[priority]])

    def keeps_free(self, request: Request) -> int:
        return self.ceilings.get(request.priority, 0)

    def refuses(self, request: Request, size_tokens: int) -> str:
        machine, kept = self.scene.machine, self.keeps_free(request)
        need = machine.blocks(size_tokens)
        if not kept or need <= machine.kv_blocks - kept:
            return ""
        kept_back = f"{kept:,} of them kept for the more urgent"
        return f"it comes to need {need:,} KV blocks of {machine.kv_blocks:,}, {kept_back}"
