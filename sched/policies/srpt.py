"""Shortest remaining processing time."""

from typing import Any

from sched.model import Request, Setting, Standing
from sched.policies.base import MISFIT, MODE, PREDICTOR, Policy, Rank, Scene, as_written


class Srpt(Policy):
    """The request with the fewest tokens left goes first, and one that waits preempts those with more left.

    Helps the mean latency, most where lengths differ much. Hurts long requests, which are preempted again and
    again, and what they had computed is lost; with wrong predictions the short pay too.
    Source: Schrage, A proof of the optimality of the shortest remaining processing time discipline, 1968; the
    limited preemption of Shahout et al., TRAIL, ICLR 2025.
    """

    key = "srpt"
    title = "Shortest remaining first"
    blind = True
    settings = (
        *PREDICTOR,
        Setting("hysteresis_tokens", 0, "Smallest gain", "Preempt only who has more left by over this.",
                "tokens", 0, 1_000_000, 1),
        Setting("preempt_until", 1.0, "Immune from", "Share of the predicted output; TRAIL takes 0.8.",
                "of output", 0, 1, 0.05),
        MODE,
        MISFIT,
    )  # fmt: skip
    running_by_rank = True
    displaces_for_waiters = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.until = as_written(options.preempt_until)

    def remaining_tokens(self, request: Request, standing: Standing) -> int:
        """Tokens still to compute, by the prediction as it stands after those emitted."""
        predicted = self.scene.forecast(request.ordinal, standing.emitted_tokens)
        return request.prompt_tokens + predicted - 1 - standing.computed_tokens

    def rank(self, request: Request, standing: Standing) -> Rank:
        return (self.remaining_tokens(request, standing), request.arrival_ps, request.id)

    def yields(self, request: Request, standing: Standing) -> Rank:
        return (self.remaining_tokens(request, standing), request.arrival_ps)

    def displaces(self, waiter: Request, waiting: Standing, holder: Request, held: Standing) -> Rank | None:
        left = self.remaining_tokens(holder, held)
        if left - self.remaining_tokens(waiter, waiting) <= self.options.hysteresis_tokens:
            return None
        predicted = self.scene.forecast(holder.ordinal, held.emitted_tokens)
        if held.emitted_tokens * self.until.denominator >= self.until.numerator * predicted:
            return None
        return (left, held.admission)

    def turns_tokens(self, request: Request, emitted_tokens: int) -> int | None:
        # Until a prediction is outlived, and doubled, what is left only falls.
        return self.scene.forecast(request.ordinal, emitted_tokens)
