"""Caps on what a class may hold of the KV cache, for the policies that have them."""

from collections import Counter
from typing import Any

from sched.model import Machine, Request, Setting, Standing, StayEnd
from sched.pieces import pieces_of
from sched.policies.base import Policy, Rank, Scene
from sched.workload import RequestList

CAPS = (
    Setting("per_request", None, "Largest request", "Unset: a quarter of the KV blocks; larger is refused.",
            "tokens", 1, 1_000_000_000, 100),
    Setting("aggregate", None, "Most for a class", "Of its running requests at their largest; unset: 60 %.",
            "tokens", 1, 1_000_000_000, 100),
    Setting("long_tokens", 4096, "Long from", "A request with more is long.", "tokens", 0, 1_000_000_000, 64),
    Setting("long_limit", 1, "Long at once", "Of each class.", "requests", 1, 1_000_000, 1),
    Setting("split", False, "Split what is too large", "On: into pieces, one after the other."),
    Setting("split_prefix", 0, "Instructions per piece", "Repeated in front of each piece.", "tokens", 0,
            1_000_000, 10),
)  # fmt: skip


class Capped(Policy):
    """A policy with caps on every class below the most urgent, or on all if there is one level only: on a
    request, on all running ones of a class, on how many of them are long.

    The size of a request is the most tokens whose KV it may ever hold.
    """

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.per_request, self.aggregate = caps_of(options, scene.machine)
        self.free_level = free_level(scene.most_urgent, len(scene.peaks))
        self.size: dict[int, int] = {}
        self.held: Counter[str] = Counter()
        self.long: Counter[str] = Counter()
        self.pieces: dict[str, set[int]] = {}

    @classmethod
    def prepare(cls, listed: RequestList, options: Any, machine: Machine) -> RequestList:
        if not options.split or not len(listed):
            return listed
        most, _ = caps_of(options, machine)
        levels = set(listed.priority.tolist())
        level = free_level(min(levels), len(levels))
        return pieces_of(listed, machine, level, most, options.split_prefix)

    def rank(self, request: Request, standing: Standing) -> Rank:
        # The tenth piece comes after the second, although its id comes before.
        whole = request.parent or request.id
        return (request.priority, request.arrival_ps, whole, len(request.id), request.arrival_ps, request.id)

    def refuses(self, request: Request, size_tokens: int) -> str:
        most = min(self.per_request, self.aggregate)
        if request.priority <= self.free_level or size_tokens <= most:
            return ""
        return f"it comes to {size_tokens:,} tokens, its class may have {most:,}"

    def holds_back(self, request: Request, size_tokens: int) -> bool:
        self.size[request.ordinal] = size_tokens
        if request.priority <= self.free_level:
            return False
        name = request.class_name
        return (
            self.held[name] + size_tokens > self.aggregate
            or (size_tokens > self.options.long_tokens and self.long[name] >= self.options.long_limit)
            or min(self.pieces.get(request.parent, ()), default=request.ordinal) < request.ordinal
        )

    def arrived(self, request: Request, now_ps: int) -> None:
        if request.parent:
            self.pieces.setdefault(request.parent, set()).add(request.ordinal)

    def ended(self, request: Request, emitted_tokens: int) -> None:
        self.size.pop(request.ordinal, None)
        if request.parent:
            self.pieces[request.parent].discard(request.ordinal)

    def admitted(self, request: Request, standing: Standing) -> None:
        self._count(request, 1)

    def left(self, request: Request, standing: Standing, end: StayEnd) -> None:
        self._count(request, -1)

    def _count(self, request: Request, sign: int) -> None:
        size = self.size[request.ordinal]
        self.held[request.class_name] += sign * size
        self.long[request.class_name] += sign * (size > self.options.long_tokens)


def free_level(most_urgent: int, levels: int) -> int:
    """The priority that no cap binds: the most urgent, if there are several; of one alone, all are bound."""
    return most_urgent - 1 if levels == 1 else most_urgent


def caps_of(options: Any, machine: Machine) -> tuple[int, int]:
    """Tokens that a request, and that all running ones of a class, may come to hold."""
    all_tokens = machine.kv_blocks * machine.block_size
    return options.per_request or all_tokens // 4, options.aggregate or all_tokens * 3 // 5
