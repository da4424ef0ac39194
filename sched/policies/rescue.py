"""The rescue buffer."""

from typing import Any, ClassVar

from sched.model import Request, SetAside, Setting, Standing
from sched.policies.base import MISFIT, Policy, Rank, Scene, round_half_up


class Rescue(Policy):
    """Priority, with KV blocks, tokens and seats kept for the urgent; lent while idle and taken back by
    preemption, or strict.

    Helps the urgent: a request within the buffer starts in the next iteration. Hurts the others: strict, by
    memory that lies idle; lent, by preemptions of the newest borrowers.
    Source: the ceiling of Baker, Stack-based scheduling of realtime processes, 1991, on a pool of like units;
    lending as in Kubernetes API priority and fairness.
    """

    key = "rescue"
    title = "Rescue buffer"
    settings: ClassVar[tuple[Setting, ...]] = (
        Setting("kv", 0.1, "KV kept for urgent", "Share of the KV blocks.", "of KV", 0, 1, 0.01),
        Setting("tokens", 0.0, "Tokens kept", "Share of the token budget.", "of tokens", 0, 1, 0.05),
        Setting("slices", None, "Tokens by level", "Budget shares by priority.", "", 0, 1, table=True),
        Setting("seats", 0.0, "Seats kept", "Share of the seats.", "of seats", 0, 1, 0.05),
        Setting("lend", True, "Lend while idle", "Off: strict, less urgent requests never touch the buffer."),
        Setting("lend_share", 1.0, "Share that is lent", "Of an idle buffer.", "of it", 0, 1, 0.05),
        Setting("for_priority", None, "Kept for priority", "This level and above; unset: the most urgent.",
                "level", -1_000_000, 1_000_000, 1),
        Setting("guard_growth", False, "Guard against growth", "On: lower ones may not grow into it either."),
        MISFIT,
    )  # fmt: skip

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        machine = scene.machine
        level: int = scene.most_urgent if options.for_priority is None else options.for_priority * scene.sign
        by_level = {int(name) * scene.sign: share for name, share in options.slices.items()}
        shares = by_level or {level: options.tokens}
        tokens = machine.max_num_batched_tokens
        cut = [(one, round_half_up(share, tokens)) for one, share in sorted(shares.items())]
        slices = tuple(cut) if any(tokens for _, tokens in cut) else ()
        self.urgent, self.displaces_for_waiters, self.only_loans = level, options.lend, options.lend
        self.set_aside = SetAside(
            level,
            round_half_up(options.kv, machine.kv_blocks),
            sum(tokens for _, tokens in slices),
            round_half_up(options.seats, machine.max_num_seqs),
            options.lend,
            options.lend_share,
            options.guard_growth,
            slices,
        )
        self.running_by_rank = options.tokens > 0 or bool(options.slices)

    def reaches(self, waiter: Request, holder: Request) -> bool:
        return waiter.priority <= self.urgent < holder.priority

    def displaces(self, waiter: Request, waiting: Standing, holder: Request, held: Standing) -> Rank | None:
        return (held.admission,) if self.reaches(waiter, holder) else None
