"""Shortest job first."""

from typing import Any

from sched.model import PS_PER_S, Request, Setting, Standing
from sched.policies.base import MISFIT, PREDICTOR, Policy, Rank, Scene, as_written


class Sjf(Policy):
    """The request with the fewest tokens to come, by its predicted length, enters first; nobody is preempted.

    Helps the mean wait: the many short requests pass the few long ones. Hurts the long ones, which starve
    while shorter ones keep coming.
    Source: Phipps, Machine repair as a priority waiting-line problem, 1956; Fu et al., Efficient LLM
    scheduling by learning to rank, NeurIPS 2024.
    """

    key = "sjf"
    title = "Shortest job first"
    blind = True
    settings = (
        Setting("key", "total", "What counts as short",
                "total: prompt and output; prefill: the prompt that is not cached; output: the output.",
                choices=("total", "prefill", "output")),
        *PREDICTOR,
        Setting("aging_tokens_per_s", 0.0, "Credit", "By so many tokens a second of waiting shortens it.",
                "tokens per s", 0, 1_000_000, 1),
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        credit = as_written(options.aging_tokens_per_s) / PS_PER_S
        # Ranks are only compared: the common denominator keeps them exact integers.
        self.unit, self.unit_per_ps = credit.denominator, credit.numerator
        # What is cached, and so the size, may change from one choice to the next.
        self.reads_cache = scene.machine.enable_prefix_caching and options.key == "prefill"
        self.moving = self.reads_cache

    def size_tokens(self, request: Request, standing: Standing) -> int:
        """What is compared, before any credit."""
        if self.options.key == "prefill":
            return request.prompt_tokens - standing.cached_tokens
        predicted = self.scene.forecast(request.ordinal, 0)
        return predicted + (request.prompt_tokens if self.options.key == "total" else 0)

    def rank(self, request: Request, standing: Standing) -> Rank:
        # All credits grow alike, so the order of two who wait never changes by the clock: compare at time 0.
        size = self.size_tokens(request, standing) * self.unit + standing.since_ps * self.unit_per_ps
        return (size, request.arrival_ps, request.id)
