"""Dominant resource fairness among tenants."""

from fractions import Fraction
from typing import Any

from sched.model import Request, Setting, Standing, StayEnd
from sched.policies.base import Rank, Scene, as_written
from sched.policies.tenants import ByTenant
from sched.policies.usage import HALF_LIFE, PASS, Usage


class Drf(Usage, ByTenant):
    """The tenant whose largest share of KV blocks, seats, recent tokens or cores is smallest goes next.

    Helps the tenant that holds little of everything. Hurts who holds much of one thing, and the urgent: it is
    blind to priority.
    Source: Ghodsi et al., Dominant resource fairness, NSDI 2011; each share is of the capacity.
    """

    key = "drf"
    title = "Dominant resource fairness"
    blind = True
    settings = (
        HALF_LIFE,
        Setting("cpu_cores", 0.0, "CPU cores", "0: cores are no resource.", "cores", 0, 65_536, 1.0),
        Setting("cpu", None, "Cores of a request", "By class; 1 where it is not said.", "cores", 0, 65_536,
                1.0, table=True),
        PASS,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.cores = as_written(options.cpu_cores)
        self.asked = {name: as_written(float(cores)) for name, cores in options.cpu.items()}
        self.busy = dict.fromkeys(scene.weights, Fraction(0))

    def counter(self, tenant: str, head: Request) -> Rank:
        cores = self.busy[tenant] / self.cores / self.scene.weights[tenant] if self.cores else 0
        return (max(self.share(tenant), cores),)

    def asks(self, request: Request) -> Fraction:
        """Cores of a request while it is in the batch."""
        return self.asked.get(request.class_name, Fraction(1)) if self.cores else Fraction(0)

    def refuses(self, request: Request, size_tokens: int) -> str:
        cores = self.asks(request)
        return f"it asks for {float(cores):g} of {float(self.cores):g} cores" if cores > self.cores else ""

    def holds_back(self, request: Request, size_tokens: int) -> bool:
        return bool(self.cores) and sum(self.busy.values()) + self.asks(request) > self.cores

    def admitted(self, request: Request, standing: Standing) -> None:
        if self.cores:
            self.busy[request.tenant] += self.asks(request)

    def left(self, request: Request, standing: Standing, end: StayEnd) -> None:
        if self.cores:
            self.busy[request.tenant] -= self.asks(request)
