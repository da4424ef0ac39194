"""Dominant resource fairness as the article's code has it."""

from fractions import Fraction
from typing import Any

from sched.model import Request, Standing
from sched.policies.base import MISFIT, PREDICTOR, Rank, Scene
from sched.policies.tenants import ByTenant


class ArticleDrf(ByTenant):
    """The article's code, as written: each tenant in turn, the smaller share of all use so far first.

    Helps newcomers: nothing used is ever given back, so they count as poor for ever. Hurts whoever came
    first; and as shares of the sum add up to one, scarcity is invisible and the order can be the wrong one.
    Source: the article's scheduler, literally; compare Ghodsi et al., NSDI 2011, which divides by capacity.
    """

    key = "article_drf"
    title = "DRF of the article (as written)"
    settings = (*PREDICTOR, MISFIT)

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.turns = dict.fromkeys(scene.weights, 0)
        self.compute = dict.fromkeys(scene.weights, 0)
        self.memory = dict.fromkeys(scene.weights, 0)

    def counter(self, tenant: str, head: Request) -> Rank:
        weight = self.scene.weights[tenant]
        both = (self.compute, self.memory)
        shares = (Fraction(used[tenant], max(1, sum(used.values()))) for used in both)
        return (self.turns[tenant], max(shares) / weight)

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        others = [self.turns[other] for other in waiting_tenants]
        self.turns[tenant] = max(self.turns[tenant], min(others, default=0))

    def admitted(self, request: Request, standing: Standing) -> None:
        tenant, prompt = request.tenant, request.prompt_tokens
        self.turns[tenant] += 1
        if not standing.preemptions:
            output = self.scene.forecast(request.ordinal, 0)
            # The article's estimate, in tenths of a millisecond: 0.1 ms a prompt token, 10 ms an answer's.
            self.compute[tenant] += prompt + 100 * output
            self.memory[tenant] += prompt + output
