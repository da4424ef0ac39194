"""Deficit longest prefix match: the cache's order among tenants that are not ahead."""

from collections.abc import Iterable, Mapping
from math import lcm
from typing import Any

from sched.model import Request, Setting, Standing
from sched.policies.base import MISFIT, Policy, Rank, Scene


class Dlpm(Policy):
    """The request with the most cached tokens goes next, among tenants that have not spent their quantum.

    Helps requests that share a long prefix, and so throughput, but lets no tenant live on it. Hurts who
    shares nothing, for at most a quantum, and the urgent: it is blind to priority.
    Source: Cao et al., Locality-aware fair scheduling in LLM serving (DLPM), 2025.
    """

    key = "dlpm"
    title = "Longest prefix, fair (DLPM)"
    blind = True
    settings = (
        Setting("quantum", 2000, "Quantum", "Tokens that a tenant gains when none has any left; times its"
                " weight. Large: locality; small: fairness.", "tokens", 1, 1_000_000_000, 100),
        MISFIT,
    )  # fmt: skip
    moving = reads_cache = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        # Deficits are only compared with zero: one common denominator of the weights keeps them integers.
        self.token = lcm(*(weight.denominator for weight in scene.weights.values()))
        quantum = options.quantum * self.token
        self.by_line = not scene.machine.enable_prefix_caching
        self.gain = {tenant: int(quantum * weight) for tenant, weight in scene.weights.items()}
        self.deficit = dict.fromkeys(scene.weights, 0)

    def rank(self, request: Request, standing: Standing) -> Rank:
        has_spent = self.deficit[request.tenant] <= 0
        return (has_spent, -standing.cached_tokens, request.arrival_ps, request.id)

    def choosing(self, tenants: Iterable[str]) -> None:
        waiting = list(tenants)
        if all(self.deficit[tenant] <= 0 for tenant in waiting):
            # As many rounds of gains as it takes until the first of them has some left.
            rounds = min((-self.deficit[one] // self.gain[one] + 1 for one in waiting), default=0)
            for tenant in waiting:
                self.deficit[tenant] += rounds * self.gain[tenant]

    def stands_for(self, tenants: list[str], decoding: Mapping[str, int]) -> int | None:
        # Until the first of those that have some left has spent it.
        rates = {one: self.token * decoding.get(one, 0) for one in tenants if self.deficit[one] > 0}
        return min((-(-self.deficit[one] // rate) for one, rate in rates.items() if rate), default=None)

    def admitted(self, request: Request, standing: Standing) -> None:
        known = request.prompt_tokens + standing.emitted_tokens
        self.deficit[request.tenant] -= (known - standing.cached_tokens) * self.token

    def served(self, tenant: str, tokens: int) -> None:
        self.deficit[tenant] -= tokens * self.token
