"""Physical isolation."""

from dataclasses import replace
from typing import Any

from sched.model import UNLIMITED_BLOCKS, Machine, Setting
from sched.policies.base import Policy, Scene, round_half_up


class Isolated(Policy):
    """The most urgent have a replica of their own with a share of the blocks, seats and tokens, the others
    the rest; each side goes by priority.

    Helps the urgent: nobody lower is ever in their way, unless they overflow into the others' replica.
    Hurts everybody by what cannot be pooled: an idle replica helps no one, a large request may fit neither.
    Source: siloed deployments, as in Niyama, arXiv 2503.22562; the pooling loss is that of two M/M/1 queues.
    """

    key = "isolated"
    title = "Isolated replicas"
    settings = (
        Setting("share", 0.5, "Share of the urgent", "Of blocks, seats and tokens; both run at full speed.",
                "of the engine", 0.01, 0.99, 0.01),
        Setting("overflow", False, "Overflow", "On: an urgent request that finds no room goes there."),
    )  # fmt: skip
    is_replicated = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.spills = options.overflow

    def home(self, priority: int) -> int:
        return 0 if priority <= self.scene.most_urgent else 1

    def machines(self) -> tuple[Machine, ...]:
        whole, share = self.scene.machine, self.options.share
        blocks = round_half_up(share, whole.kv_blocks)
        unlimited = whole.kv_blocks >= UNLIMITED_BLOCKS
        seats = min(max(1, round_half_up(share, whole.max_num_seqs)), max(1, whole.max_num_seqs - 1))
        tokens = round_half_up(share, whole.max_num_batched_tokens)
        sides = (
            (blocks, seats, tokens),
            (whole.kv_blocks - blocks, whole.max_num_seqs - seats, whole.max_num_batched_tokens - tokens),
        )
        return tuple(
            replace(
                whole,
                kv_blocks=whole.kv_blocks if unlimited else max(1, kv),
                max_num_seqs=max(1, seats),
                max_num_batched_tokens=max(1, tokens),
            )
            for kv, seats, tokens in sides
        )
