"""Preemptive priority."""

from typing import Any

from sched.model import Request, Setting, Standing
from sched.policies.base import MODE, Policy, Rank, Scene


class Preemptive(Policy):
    """A waiting request preempts lower ones, lowest and newest first, when that makes it fit; they recompute
    later.

    Helps the urgent: they wait for at most an iteration. Hurts the preempted, whose work is lost, and with it
    throughput.
    Source: SGLang, managers/schedule_policy.py (priority gap, all or nothing); vLLM pull request 5958.
    """

    key = "preemptive"
    title = "Preemptive"
    settings = (
        Setting("gap", 0, "Priority gap", "Only holders lower by more than this are preempted.",
                unit="levels", low=0, high=1_000_000, step=1),
        Setting("max_preemptions", 3, "Preemptions until immune", "After so many a request is left alone.",
                unit="preemptions", low=0, high=1_000_000, step=1),
        MODE,
    )  # fmt: skip
    running_by_rank = True
    displaces_for_waiters = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.gap: int = options.gap

    def reaches(self, waiter: Request, holder: Request) -> bool:
        return holder.priority - waiter.priority > self.gap

    def displaces(self, waiter: Request, waiting: Standing, holder: Request, held: Standing) -> Rank | None:
        if held.preemptions >= self.options.max_preemptions or not self.reaches(waiter, holder):
            return None
        return (holder.priority, held.admission)
