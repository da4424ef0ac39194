"""Deficit round robin over tenants."""

from fractions import Fraction
from typing import Any

from sched.model import Request, Standing
from sched.policies.base import MISFIT, PREDICTOR, Scene
from sched.policies.tenants import ByTenant


class Drr(ByTenant):
    """Tenants are visited in a ring; each visit adds a quantum, and who can pay its head's cost is served.

    Helps a tenant with few requests beside one with many. Hurts long requests, which save up over several
    rounds, and the urgent: it is blind to priority.
    Source: Shreedhar and Varghese, Efficient fair queueing using deficit round robin, SIGCOMM 1995.
    """

    key = "drr"
    title = "Deficit round robin"
    settings = (*PREDICTOR, MISFIT)

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        count = sum(len(peaks) for peaks in scene.peaks.values())
        answers = sum(scene.forecast(ordinal, 0) for ordinal in range(count))
        mean = scene.mean_prompt_tokens + Fraction(2 * answers, max(1, count))
        self.quantum = {tenant: weight * mean for tenant, weight in scene.weights.items()}
        self.ring = {tenant: place for place, tenant in enumerate(scene.weights)}
        self.visited = dict.fromkeys(scene.weights, -1)
        self.deficit = dict.fromkeys(scene.weights, Fraction(0))
        self.absent = set(scene.weights)
        self.cost: dict[int, int] = {}
        self.turn = (0, -1)

    def counter(self, tenant: str, head: Request) -> tuple[int, int]:
        short = self.cost[head.ordinal] - self.deficit[tenant]
        return (self.visited[tenant] + max(0, -(-short // self.quantum[tenant])), self.ring[tenant])

    def queued(self, request: Request, standing: Standing) -> None:
        tenant, ordinal = request.tenant, request.ordinal
        # Who returns after a preemption has paid.
        price = request.prompt_tokens + 2 * self.scene.forecast(ordinal, 0)
        self.cost[ordinal] = 0 if standing.preemptions else price
        if tenant in self.absent:
            # What it had left is forfeit. It is visited next when the ring comes round to its place.
            self.absent.discard(tenant)
            round_now, place_now = self.turn
            self.visited[tenant] = round_now - (self.ring[tenant] > place_now)
            self.deficit[tenant] = Fraction(0)

    def drained(self, tenant: str) -> None:
        self.absent.add(tenant)

    def admitted(self, request: Request, standing: Standing) -> None:
        tenant = request.tenant
        self.turn = round_now, _ = self.counter(tenant, request)
        rounds = round_now - self.visited[tenant]
        self.deficit[tenant] += rounds * self.quantum[tenant] - self.cost.pop(request.ordinal)
        self.visited[tenant] = round_now
