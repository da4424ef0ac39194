"""Hard weighted shares."""

from fractions import Fraction
from typing import Any

from sched.model import Pool, Request, Setting
from sched.policies.base import Policy, Rank, Scene
from sched.policies.usage import PASS


class Quota(Policy):
    """Each tenant has its weighted share of blocks, seats and tokens and no more; or lends what it leaves.

    Helps a tenant beside a noisy neighbour, which it never notices. Hurts occupancy, strict: an unused share
    lies idle and a request larger than its tenant's share is refused.
    Source: the hard quotas of multi-tenant gateways; borrowing as in Kubernetes API priority and fairness.
    """

    key = "quota"
    title = "Quota"
    settings = (
        Setting("mode", "strict", "Unused shares", "strict: they stay idle; borrow: others may use them, and"
                " the owner has them back as the loans end.", choices=("strict", "borrow")),
        PASS,
    )  # fmt: skip
    fair = counts_holdings = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        machine, total = scene.machine, sum(scene.weights.values())
        self.caps = {
            tenant: Pool(
                int(weight / total * machine.kv_blocks),
                max(1, int(weight / total * machine.max_num_seqs)),
                int(weight / total * machine.max_num_batched_tokens),
            )
            for tenant, weight in scene.weights.items()
        }
        self.pools = self.caps if options.mode == "strict" else None

    def counter(self, tenant: str, head: Request) -> Rank:
        cap, held = self.caps[tenant], self.holding(tenant)
        blocks = Fraction(held.kv_blocks, cap.kv_blocks) if cap.kv_blocks else Fraction(1)
        return (max(blocks, Fraction(held.seats, cap.seats)),)

    def stops_at(self, request: Request, need_blocks: int) -> bool:
        # Under borrow, nobody is let in past one who asks for no more than its own.
        cap, held = self.caps[request.tenant], self.holding(request.tenant)
        within = held.kv_blocks + need_blocks <= cap.kv_blocks and held.seats < cap.seats
        return within and self.pools is None

    def refuses(self, request: Request, size_tokens: int) -> str:
        cap, peak = self.caps[request.tenant], self.scene.machine.blocks(size_tokens)
        if self.pools is None:
            return ""
        if peak > cap.kv_blocks:
            return f"it comes to need {peak:,} KV blocks of its tenant's {cap.kv_blocks:,}"
        return "" if cap.tokens else "its tenant's share of an iteration is no token"
