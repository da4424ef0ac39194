"""The feedback queue of an article, as it was written."""

from typing import Any

from sched.model import Request, Standing
from sched.policies.base import MISFIT, Policy, Rank, Scene


class ArticleMlfq(Policy):
    """The feedback queue of an article, as written: batch requests start on the bottom level, all others on
    the top, and nothing ever moves between levels, because no code calls what would.

    Helps whoever is not of the least urgent class. Hurts that class, which is not served while anybody else
    waits, however long it has waited: its ageing acts within a level only.
    Source: the literal reading of that article's code; `mlfq` with `promote_s` is the repaired rule.
    """

    key = "article_mlfq"
    title = "Article's MLFQ (as written)"
    settings = (MISFIT,)

    _BOTTOM = 2

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.bottom_priority = max(scene.peaks) if len(scene.peaks) > 1 else None

    def rank(self, request: Request, standing: Standing) -> Rank:
        level = self._BOTTOM if request.priority == self.bottom_priority else 0
        return (level, request.arrival_ps, request.id)
