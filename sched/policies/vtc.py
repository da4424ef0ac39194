"""Virtual token counter: fairness among tenants."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sched.model import Request, Setting, Standing
from sched.policies.base import MISFIT, PREDICTOR, Rank, Scene, as_written
from sched.policies.tenants import ByTenant, charges, stays_smallest


class Vtc(ByTenant):
    """The tenant that has received the fewest weighted tokens goes next, with its oldest request.

    Helps light tenants beside a heavy one. Hurts who has had much, and the urgent: it is blind to priority.
    Source: Sheng et al., Fairness in serving large language models (VTC), OSDI 2024, and its artifact.
    """

    key = "vtc"
    title = "Fair tokens (VTC)"
    settings = (
        Setting("prompt_weight", 1.0, "Prompt token weight", "Charged at admission.", "", 0, 1000, 0.5),
        Setting("output_weight", 2.0, "Output token weight", "Charged as it is emitted.", "", 0, 1000, 0.5),
        replace(PREDICTOR[0], default="off", choices=("off", *PREDICTOR[0].choices),
                help="The predicted answer is charged at admission, and put right at the end."),
        *PREDICTOR[1:], MISFIT)  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        prices = [as_written(options.prompt_weight), as_written(options.output_weight)]
        self.prompt_charge, output = charges(prices, scene.weights)
        both = dict.fromkeys(output, 0), output
        self.ahead_charge, self.token_charge = both if options.predictor == "off" else both[::-1]
        self.counters, self.last_served = dict.fromkeys(scene.weights, 0), ""
        self.foreseen = dict[int, int]()

    def counter(self, tenant: str, head: Request) -> Rank:
        return (self.counters[tenant],)

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        others = waiting_tenants or [self.last_served or tenant]
        self.counters[tenant] = max(self.counters[tenant], min(self.counters[other] for other in others))

    def admitted(self, request: Request, standing: Standing) -> None:
        tenant = self.last_served = request.tenant
        if not standing.preemptions:
            foreseen = self.foreseen[request.ordinal] = self.scene.forecast(request.ordinal, 0)
            self.counters[tenant] += self.prompt_charge[tenant] * request.prompt_tokens
            self.counters[tenant] += self.ahead_charge[tenant] * foreseen

    def ended(self, request: Request, emitted_tokens: int) -> None:
        wrong = emitted_tokens - self.foreseen.pop(request.ordinal, emitted_tokens)
        self.counters[request.tenant] += self.ahead_charge[request.tenant] * wrong

    def served(self, tenant: str, tokens: int) -> None:
        self.counters[tenant] += self.token_charge[tenant] * tokens

    def stands_for(self, tenants: list[str], decoding: Mapping[str, int]) -> int | None:
        rises = [self.token_charge[tenant] * decoding.get(tenant, 0) for tenant in tenants]
        return stays_smallest([self.counters[tenant] for tenant in tenants], rises)
