"""Backfill with a bound."""

from typing import Any

from sched.model import Setting
from sched.policies.base import Policy, Scene


class SkipLimit(Policy):
    """At most so many admissions may pass a blocked request; then everybody behind it waits until it is in.

    Helps occupancy like backfill while the limit lasts. Hurts the urgent at most by that many passers: 0 is
    head of line, a very large limit is backfill.
    Source: the bounded skip of EASY backfilling, Lifka, JSSPP 1995, without its length predictions.
    """

    key = "skip_limit"
    title = "Skip limit"
    settings = (
        Setting("limit", 4, "Passes allowed", "Admissions that may pass a blocked request.",
                "admissions", 0, 1_000_000, 1),
    )  # fmt: skip
    misfit = "skip"

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.skip_limit = options.limit
