"""Request-level batching."""

from typing import Any

from sched.model import PS_PER_S, Setting
from sched.policies.base import Policy, Scene, as_written


class Static(Policy):
    """A batch is formed when the engine is empty and nobody joins until its last member has ended.

    Helps nobody but the simplest engines: nothing is ever preempted by growth of newcomers. Hurts short
    requests, which wait for the longest one of the batch before theirs.
    Source: the request-level baseline of Yu et al., Orca, OSDI 2022.
    """

    key = "static"
    title = "Static batches"
    blind = True
    settings = (
        Setting(
            "batch",
            0,
            "Largest batch",
            "0: as many as the seats. Never more than the tokens of its first iteration let in.",
            unit="requests",
            low=0,
            high=65536,
            step=1,
        ),
        Setting(
            "max_wait_s",
            0.0,
            "Wait for a full batch",
            "From the oldest request's arrival.",
            "s",
            0,
            3600,
            0.05,
        ),
        Setting("stream", True, "Stream answers", "Off: every answer comes when the whole batch has ended."),
    )
    arrival_order = True
    requeue_at_front = True
    closed_batch = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.batch_limit = options.batch or None
        self.streams = options.stream
        self.batch_wait_ps = int(as_written(options.max_wait_s) * PS_PER_S)
