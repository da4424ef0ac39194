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
        limits = (whole.kv_blocks, whole.max_num_seqs, whole.max_num_batched_tokens)
        # Each side has at least one of everything, even where there is only one.
        own = [min(max(1, round_half_up(share, most)), max(1, most - 1)) for most in limits]
        rest = [max(1, most - part) for most, part in zip(limits, own, strict=True)]
        sides = (own, rest)
        if whole.kv_blocks >= UNLIMITED_BLOCKS:
            own[0] = rest[0] = whole.kv_blocks
        return tuple(
            replace(whole, kv_blocks=kv, max_num_seqs=seats, max_num_batched_tokens=tokens)
            for kv, seats, tokens in sides
        )
