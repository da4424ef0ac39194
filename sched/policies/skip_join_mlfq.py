"""Multi-level feedback queue, entered where the prompt fits."""

from dataclasses import replace
from typing import Any

from sched.model import PS_PER_S, Request, Setting, Standing
from sched.policies.base import MISFIT, SWAP, Scene, as_written
from sched.policies.levels import Levels
from sched.policies.mlfq import Mlfq


class SkipJoinMlfq(Levels):
    """Feedback levels, but a request enters at the highest level whose time its prompt would not overrun.

    Helps short requests, and spares long prompts the preemptions on levels that they would only pass through.
    Hurts long ones, until they have waited so long that they are lifted to the top.
    Source: Wu et al., FastServe, NSDI 2026.
    """

    key = "skip_join_mlfq"
    title = "Skip-join levels"
    blind = True
    settings = (
        replace(Mlfq.settings[0], default=(0.5, 1.0, 2.0, 4.0)),
        Setting("starve_s", 5.0, "Longest wait", "Who has waited so long is lifted to the top level.",
                "s", 0.001, 8_640_000, 0.5),
        SWAP,
        MISFIT,
    )  # fmt: skip
    moving = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.starve_ps = int(as_written(options.starve_s) * PS_PER_S)

    def entry(self, request: Request) -> int:
        prefill_ps = self.scene.alone_ps(request.prompt_tokens, 1)
        wide = (level for level, quantum_ps in enumerate(self.quanta_ps) if quantum_ps >= prefill_ps)
        return next(wide, self.last)

    def risen(self, level: int, waited_ps: int) -> int:
        return 0 if waited_ps >= self.starve_ps else level

    def stands_until_ps(self, request: Request, standing: Standing) -> int | None:
        return standing.since_ps + self.starve_ps if self.effective(request, standing) else None
