"""What tenants hold and have used of everything scarce: their dominant shares."""

from fractions import Fraction
from math import sqrt
from typing import Any

from sched.model import PS_PER_S, Setting
from sched.policies.base import Policy, Scene, as_written

PASS = Setting(
    "misfit",
    "pass",
    "When a request does not fit",
    "pass: its tenant is passed over; stop: nobody behind it is admitted; skip: whoever fits is.",
    choices=("stop", "skip", "pass"),
)
HALF_LIFE = Setting(
    "half_life_s", 30.0, "Half-life of token use", "0: tokens are no resource.", "s", 0, 86_400, 1.0
)
SHIFT = 20
EPOCHS = 8
FADE = round(2**32 * sqrt(sqrt(sqrt(0.5))))
"""What an eighth of a half-life leaves, as a fraction of 2**32."""


class Usage(Policy):
    """A policy that knows each tenant's share of the KV blocks and seats held now and of the tokens of late.

    Tokens computed and tokens offered are halved by every half-life, at fixed epochs and in integers, so that
    a jump sees what single steps see.
    """

    counts_holdings = True

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.used = dict.fromkeys(scene.weights, 0)
        self.offered = 0
        self.epoch_ps = int(as_written(options.half_life_s) * PS_PER_S) // EPOCHS
        self.fades_ps, self.other_ps = self.epoch_ps or None, self.next_ps
        """When use fades next, and the timer of the policy that this is mixed into."""
        self._wind()

    def _wind(self) -> None:
        self.next_ps = min((due for due in (self.other_ps, self.fades_ps) if due), default=None)

    def computed(self, tenant: str, tokens: int) -> None:
        if self.epoch_ps:
            self.used[tenant] += tokens << SHIFT

    def ran(self, iterations: int) -> None:
        if self.epoch_ps:
            self.offered += iterations * self.scene.machine.max_num_batched_tokens << SHIFT

    def tick(self, now_ps: int) -> None:
        if self.fades_ps and self.fades_ps <= now_ps:
            passed = (now_ps - self.fades_ps) // self.epoch_ps + 1
            self.fades_ps += passed * self.epoch_ps
            while passed and self.offered:
                passed -= 1
                self.offered = self.offered * FADE >> 32
                self.used = {tenant: used * FADE >> 32 for tenant, used in self.used.items()}
        if self.other_ps and self.other_ps <= now_ps:
            super().tick(now_ps)
            self.other_ps = self.next_ps
        self._wind()

    def share(self, tenant: str) -> Fraction:
        """The largest of a tenant's shares of capacity, by its weight."""
        machine, holding = self.scene.machine, self.holding(tenant)
        blocks = Fraction(holding.kv_blocks, machine.kv_blocks)
        seats = Fraction(holding.seats, machine.max_num_seqs)
        tokens = Fraction(self.used[tenant], self.offered or 1)
        return max(blocks, seats, tokens) / self.scene.weights[tenant]
