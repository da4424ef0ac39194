"""Priority with a bounded queue."""

from typing import Any

from sched.model import NEVER, PS_PER_S, Door, Request, Setting
from sched.policies.base import MISFIT, PREDICTOR, Scene, as_written
from sched.policies.queue_wait import QueueWait


class Shed(QueueWait):
    """Priority; who finds the queue full, its tenant's minute spent, or too long a wait ahead is turned away.

    Helps those let in: their wait is bounded, so what is served is served in time. Hurts those turned away,
    and with a bad predictor some of them for nothing.
    Source: SGLang, max_queued_requests with priorities; llm-d, flow control, which sheds the lowest.
    """

    key = "shed"
    title = "Load shedding"
    settings = (
        Setting("max_queue", None, "Longest queue", "Unset: any.", "requests", 0, 1_000_000, 1),
        Setting("per_class", False, "A queue per class", "On: each class fills its own."),
        Setting("on_full", "newcomer", "Who goes from a full queue", "The newcomer, or the lowest of all.",
                choices=("newcomer", "lowest")),
        Setting("max_wait_s", None, "Longest predicted wait", "Unset: any.", "s", 0, 8_640_000, 0.5),
        Setting("by_slo", False, "Shed by goals", "On: who would miss its goal for the first token goes."),
        Setting("tokens_per_minute", None, "Tokens of a tenant", "Let in per minute; unset: any.",
                "tokens", 1, 1_000_000_000, 1000),
        *PREDICTOR,
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        longest = options.max_wait_s
        self.most_ps = None if longest is None else int(as_written(longest) * PS_PER_S)
        self.let_in: dict[tuple[str, int], int] = {}

    def turns_away(self, request: Request, size_tokens: int, door: Door) -> int | None:
        minute = (request.tenant, request.arrival_ps // (60 * PS_PER_S))
        spent, limit = self.let_in.get(minute, 0) + size_tokens + 1, self.options.tokens_per_minute
        most_ps = self.most_ps
        if self.options.by_slo:
            has_goal, first_ps = request.ttft_goal_ps != NEVER, self.scene.alone_ps(request.prompt_tokens, 1)
            most_ps = request.ttft_goal_ps - first_ps if has_goal else None
        is_late = most_ps is not None and self.wait_ps(request, door) > most_ps
        shed = request.ordinal if is_late or (limit and spent > limit) else self.overflow(request)
        self.let_in[minute] = spent if shed != request.ordinal else spent - size_tokens - 1
        return shed

    def overflow(self, request: Request) -> int | None:
        """Who must go because the queue is full."""
        most, name = self.options.max_queue, request.class_name if self.options.per_class else None
        if most is None or len(self.waiting) < most:
            return None
        queue = [other for other, _ in self.waiting.values() if name in (None, other.class_name)]
        if len(queue) < most:
            return None
        crowd = [request] if self.options.on_full == "newcomer" else [*queue, request]
        return max(crowd, key=lambda one: (one.priority, one.arrival_ps, one.ordinal)).ordinal
