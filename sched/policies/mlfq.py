"""Multi-level feedback queue."""

from typing import Any, ClassVar

from sched.model import PS_PER_S, Request, Setting, Standing
from sched.policies.base import MISFIT, SWAP, Scene, as_written
from sched.policies.levels import Levels


class Mlfq(Levels):
    """Requests enter at the top level and sink as they use time in the batch; the higher level goes first and
    preempts the lower.

    Helps short requests, though nobody knows lengths in advance. Hurts long ones, which sink and are
    preempted; and everybody where most are of one length.
    Source: Corbató et al., An experimental time-sharing system, 1962; the rules of Arpaci-Dusseau, Operating
    Systems: Three Easy Pieces, chapter 8.
    """

    key = "mlfq"
    title = "Feedback levels (MLFQ)"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("quanta", (0.5, 2.0, 10.0), "Time on each level",
                "In the batch, until a request sinks to the next level; on the last one it stays.",
                "s", 0.001, 8_640_000, 0.5),
        Setting("boost_s", 10.0, "Boost", "Whenever it has passed, all return to the top; 0: never.",
                "s", 0, 8_640_000, 1),
        Setting("promote_s", None, "Promotion", "When set: one level up for each such wait.",
                "s", 0.001, 8_640_000, 0.5),
        Setting("enter", "top", "Where requests enter", "class: those of the lowest priority at the bottom.",
                choices=("top", "class")),
        SWAP,
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.boost_ps = int(as_written(options.boost_s) * PS_PER_S)
        self.next_ps = self.boost_ps or None
        self.promote_ps = options.promote_s and int(as_written(options.promote_s) * PS_PER_S)
        self.moving = bool(self.promote_ps)
        by_class = options.enter == "class" and len(scene.peaks) > 1
        self.bottom_priority, self.blind = (max(scene.peaks) if by_class else None), not by_class

    def entry(self, request: Request) -> int:
        return self.last if request.priority == self.bottom_priority else 0

    def risen(self, level: int, waited_ps: int) -> int:
        return max(0, level - waited_ps // self.promote_ps) if self.promote_ps else level

    def stands_until_ps(self, request: Request, standing: Standing) -> int | None:
        if not self.promote_ps or not self.effective(request, standing):
            return None
        rises = (standing.now_ps - standing.since_ps) // self.promote_ps + 1
        return standing.since_ps + rises * self.promote_ps

    def tick(self, now_ps: int) -> None:
        self.next_ps = (now_ps // self.boost_ps + 1) * self.boost_ps
        self.level, self.used_ps = dict.fromkeys(self.level, 0), dict.fromkeys(self.used_ps, 0)
        self.from_ps, self.sank_ps = dict.fromkeys(self.from_ps, now_ps), {}
