"""Virtual token counter: fairness among tenants."""

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from sched.model import Request, Setting
from sched.policies.base import MISFIT, Policy, Rank, Scene


class Vtc(Policy):
    """The tenant that has received the fewest weighted tokens goes next, with its oldest request.

    Helps light tenants beside a heavy one. Hurts who has had much, and the urgent: it is blind to priority.
    Source: Sheng et al., Fairness in serving large language models (VTC), OSDI 2024, and its artifact.
    """

    key = "vtc"
    title = "Fair tokens (VTC)"
    settings = (
        Setting("prompt_weight", 1.0, "Weight of a prompt token", "Charged at admission.", low=0, high=1000, step=0.5),
        Setting("output_weight", 2.0, "Weight of an output token", "Charged as it is emitted.", low=0, high=1000,
                step=0.5),
        MISFIT,
    )  # fmt: skip
    fair = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.misfit = options.misfit
        shares = {tenant: 1 / Fraction(weight) for tenant, weight in scene.weights.items()}
        prompt, output = Fraction(repr(options.prompt_weight)), Fraction(repr(options.output_weight))
        # Counters are compared, never shown as they are: one common denominator keeps them exact integers.
        unit = lcm(prompt.denominator, output.denominator) * lcm(
            *(share.denominator for share in shares.values()), 1
        )
        self.prompt_charge = {tenant: int(prompt * share * unit) for tenant, share in shares.items()}
        self.output_charge = {tenant: int(output * share * unit) for tenant, share in shares.items()}
        self.counters = dict.fromkeys(shares, 0)
        self.last_served = ""

    def rank(self, request: Request, since_ps: int, now_ps: int) -> Rank:
        return (request.arrival_ps, request.id)

    def counter(self, tenant: str) -> Rank:
        return (self.counters[tenant],)

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        others = waiting_tenants or ([self.last_served] if self.last_served else [tenant])
        self.counters[tenant] = max(self.counters[tenant], min(self.counters[other] for other in others))

    def admitted(self, request: Request, returning: bool) -> None:
        self.last_served = request.tenant
        if not returning:
            self.counters[request.tenant] += self.prompt_charge[request.tenant] * request.prompt_tokens

    def served(self, tenant: str, tokens: int) -> None:
        self.counters[tenant] += self.output_charge[tenant] * tokens

    def stands_for(self, tenants: list[str], decoding: Mapping[str, int]) -> int | None:
        first, *others = tenants
        rise = self.output_charge[first] * decoding.get(first, 0)
        soonest = None
        for other in others:
            closing = rise - self.output_charge[other] * decoding.get(other, 0)
            if closing > 0:
                turns = -(-(self.counters[other] - self.counters[first]) // closing)
                soonest = max(turns, 1) if soonest is None else min(soonest, max(turns, 1))
        return soonest
