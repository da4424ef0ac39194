"""A rescue buffer that finds its own size."""

from dataclasses import replace
from typing import Any

from sched.model import PS_PER_S, Request, Setting
from sched.policies.base import Scene, as_written, kept
from sched.policies.rescue import Rescue
from sched.policies.reserve import Feedback, UrgentBook


class AutoRescue(UrgentBook, Rescue):
    """The rescue buffer, larger while urgent requests wait too long or many come, smaller while it idles.

    Helps the urgent when nobody knows how much to keep. Hurts the others after each burst, until it decays;
    and it sees a change only after a period, late for short requests.
    Source: additive increase as in Chiu and Jain, 1989; sized ahead by shot noise, Campbell's theorem.
    """

    key = "auto_rescue"
    title = "Self-sizing rescue buffer"
    settings = (
        Setting("target_wait_s", 0.2, "Wait aimed at", "For 95 of 100 urgent requests.",
                "s", 0.001, 86_400, 0.1),
        Setting("period_s", 2.0, "Period", "Between two looks.", "s", 0.1, 3600, 0.5),
        Setting("up", 0.05, "Gain", "Added at twice the wait aimed at.", "of KV", 0, 1, 0.01),
        Setting("low", 0.02, "Smallest buffer", "At most the largest.", "of KV", 0, 1, 0.01),
        Setting("high", 0.4, "Largest buffer", "Strict: what needs more of the rest is refused.",
                "of KV", 0, 1, 0.05),
        Setting("safety", 2.326, "Safety", "Standard deviations above the mean of what the urgent hold.",
                "", 0, 10, 0.1),
        replace(Rescue.settings[0], help="Share of the KV blocks to begin with."),
        *Rescue.settings[1:],
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.period_ps = int(as_written(options.period_s) * PS_PER_S)
        target_ps = int(as_written(options.target_wait_s) * PS_PER_S)
        self.feedback = Feedback(options, scene.machine.kv_blocks, target_ps, self.period_ps)
        self.safety, self.next_ps = as_written(options.safety), self.period_ps
        self.set_aside = replace(self.aside, kv_blocks=self.feedback.blocks())

    def tick(self, now_ps: int) -> None:
        self.next_ps = (now_ps // self.period_ps + 1) * self.period_ps
        is_idle = 2 * self.prompts_in_blocks() < self.aside.kv_blocks
        self.feedback.step(self.waits_of_period(now_ps), is_idle)
        ahead = self.scene.machine.blocks(self.demand.tokens(now_ps, self.safety))
        self.set_aside = replace(self.aside, kv_blocks=self.feedback.blocks(ahead))

    def refuses(self, request: Request, size_tokens: int) -> str:
        machine, closed = self.scene.machine, kept(self.aside, self.feedback.most_blocks)
        peak = machine.blocks(size_tokens)
        if request.priority <= self.aside.for_priority or peak <= machine.kv_blocks - closed:
            return ""
        return (
            f"it comes to need {peak:,} KV blocks of {machine.kv_blocks:,}; {closed:,} may be kept for others"
        )
