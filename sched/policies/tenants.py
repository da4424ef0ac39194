"""What policies that are fair among tenants share: their queues, their counters, how long an order stands."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

from sched.model import Request, Standing
from sched.policies.base import Policy, Rank


class ByTenant(Policy):
    """A policy whose `counter` says whose turn it is; inside a tenant, first come, first served."""

    fair = blind = True

    def rank(self, request: Request, standing: Standing) -> Rank:
        return (request.arrival_ps, request.id)


def charges(prices: Iterable[Fraction], weights: Mapping[str, Fraction]) -> list[dict[str, int]]:
    """What a unit at each price costs each tenant, prices by weight, all over one common denominator.

    Counters are only compared, so the denominator can be left out: they stay exact integers.
    """
    each = [{tenant: price / weight for tenant, weight in weights.items()} for price in prices]
    unit = lcm(*(cost.denominator for table in each for cost in table.values()))
    return [{tenant: int(cost * unit) for tenant, cost in table.items()} for table in each]


def stays_smallest(counters: list[int], rises: list[int]) -> int | None:
    """Turns for which the first of these counters, the smallest now, stays so; None: for ever.

    `rises` are what each gains in a turn.
    """
    turns = (
        max(1, -(-(counter - counters[0]) // (rises[0] - rise)))
        for counter, rise in zip(counters, rises, strict=True)
        if rise < rises[0]
    )
    return min(turns, default=None)
