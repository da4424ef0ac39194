"""Virtual token counter: fairness among tenants."""

from collections.abc import Mapping
from math import lcm
from typing import Any

from sched.model import Request, Setting, Standing
from sched.policies.base import MISFIT, Policy, Rank, Scene, as_written


class Vtc(Policy):
    """The tenant that has received the fewest weighted tokens goes next, with its oldest request.

    Helps light tenants beside a heavy one. Hurts who has had much, and the urgent: it is blind to priority.
    Source: Sheng et al., Fairness in serving large language models (VTC), OSDI 2024, and its artifact.
    """

    key = "vtc"
    title = "Fair tokens (VTC)"
    settings = (
        Setting("prompt_weight", 1.0, "Prompt token weight", "Charged at admission.", "", 0, 1000, 0.5),
        Setting("output_weight", 2.0, "Output token weight", "Charged as it is emitted.", "", 0, 1000, 0.5),
        MISFIT,
    )  # fmt: skip
    fair = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        shares = {tenant: 1 / weight for tenant, weight in scene.weights.items()}
        prompt, output = as_written(options.prompt_weight), as_written(options.output_weight)
        # Counters are only compared: one common denominator keeps them exact integers.
        unit = prompt.denominator * output.denominator * lcm(*(one.denominator for one in shares.values()))
        self.prompt_charge = {tenant: int(prompt * share * unit) for tenant, share in shares.items()}
        self.output_charge = {tenant: int(output * share * unit) for tenant, share in shares.items()}
        self.counters = dict.fromkeys(shares, 0)
        self.last_served = ""

    def rank(self, request: Request, standing: Standing) -> Rank:
        return (request.arrival_ps, request.id)

    def counter(self, tenant: str, head: Request) -> Rank:
        return (self.counters[tenant],)

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        others = waiting_tenants or [self.last_served or tenant]
        self.counters[tenant] = max(self.counters[tenant], min(self.counters[other] for other in others))

    def admitted(self, request: Request, standing: Standing) -> None:
        self.last_served = request.tenant
        if not standing.preemptions:
            self.counters[request.tenant] += self.prompt_charge[request.tenant] * request.prompt_tokens

    def served(self, tenant: str, tokens: int) -> None:
        self.counters[tenant] += self.output_charge[tenant] * tokens

    def stands_for(self, tenants: list[str], decoding: Mapping[str, int]) -> int | None:
        rises = [self.output_charge[tenant] * decoding.get(tenant, 0) for tenant in tenants]
        leads = [self.counters[tenant] - self.counters[tenants[0]] for tenant in tenants]
        pairs = zip(leads, rises, strict=True)
        return min(
            (max(1, -(-lead // (rises[0] - rise))) for lead, rise in pairs if rise < rises[0]), default=None
        )
