"""What a policy is to the engine: it ranks, yields and sets aside; the engine referees."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Literal

from sched.model import Machine, Request, SetAside, Setting

Rank = tuple[Any, ...]

MISFIT = Setting(
    "misfit",
    "stop",
    "When a request does not fit",
    "stop: nobody behind it is admitted; skip: whoever fits is.",
    choices=("stop", "skip"),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a policy may know of a run: the machine, the most urgent priority present, tenants' weights."""

    machine: Machine
    most_urgent: int
    weights: Mapping[str, Fraction]
    sign: int = 1
    """-1 when the scenario's larger number is the more urgent; priorities here are already turned."""


class Policy:
    """Base of all policies: the switches the engine reads, with the defaults of strict non-preemptive
    priority.
    """

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    settings: ClassVar[tuple[Setting, ...]] = ()

    misfit: Literal["stop", "skip"] = "stop"
    skip_limit: int | None = None
    """With `misfit` skip: admissions that may pass a blocked request before it stops the scan; None: any
    number.
    """
    arrival_order = False
    """The queue is first come, first served; `rank` is not asked."""
    requeue_at_front = False
    """An evicted request goes to the head of the queue, whatever its rank."""
    running_by_rank = False
    """The running pass goes by rank instead of by admission."""
    moving = False
    """`rank` depends on the clock: it is asked anew at each decision until `stands_until_ps`."""
    fair = False
    """The queue is one queue a tenant, chosen by `counter`; `served` is told every token."""
    closed_batch = False
    """Nobody is admitted while anybody runs."""
    batch_limit: int | None = None
    streams = True
    """A request leaves when it ends; False: when the last of its batch does."""
    displaces_for_waiters = False
    only_loans = False
    """Displacement takes back only what lower classes hold beyond the unreserved part."""
    lifts_holders = False
    """Before a victim is chosen, `lift` is told the most urgent priority that waits for KV."""
    set_aside: SetAside | None = None

    def __init__(self, options: Any, scene: Scene) -> None:
        self.options = options
        self.scene = scene
        self.misfit = getattr(options, "misfit", self.misfit)

    def rank(self, request: Request, since_ps: int, now_ps: int) -> Rank:
        """Who goes first: the smallest. `since_ps` is the arrival, or the last eviction."""
        return (request.priority, request.arrival_ps, request.id)

    def yields(self, request: Request, admission: int) -> Rank:
        """Who loses KV when a running request cannot grow: the largest; of equals the first in the batch."""
        return (request.priority, request.arrival_ps)

    def displaces(self, waiter: Request, holder: Request, evictions: int, admission: int) -> Rank | None:
        """None if the waiter may not evict this holder; else a key, and the largest key goes first."""
        return None

    def stands_until_ps(self, request: Request, since_ps: int, now_ps: int) -> int | None:
        """When the rank of a waiting request next changes, if it is moving."""
        return None

    def counter(self, tenant: str) -> Rank:
        """Of a fair policy: the tenant with the smallest counter is served next."""
        return ()

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        """A request arrived for a tenant that had none waiting; `waiting_tenants` are those that have."""

    def admitted(self, request: Request, returning: bool) -> None:
        """A request entered the batch; `returning` after an eviction."""

    def served(self, tenant: str, tokens: int) -> None:
        """Output tokens were emitted. Additive, so that many iterations can be told at once."""

    def stands_for(self, tenants: list[str], decoding: Mapping[str, int]) -> int | None:
        """Of a fair policy: iterations for which the smallest counter stays so while these decode."""
        return None

    def lift(self, priority: int | None) -> None:
        """The most urgent priority that waits for KV now, or None."""


@cache
def as_written(number: float) -> Fraction:
    """The decimal that was written, exactly: 0.1 is one tenth."""
    return Fraction(repr(number))


def round_half_up(fraction: float, whole: int) -> int:
    """A fraction of a count, rounded half up on the decimal as written (0.15 of 10 is 2)."""
    part = as_written(fraction)
    return (2 * part.numerator * whole + part.denominator) // (2 * part.denominator)


def kept(aside: SetAside, idle: int) -> int:
    """Of an idle set-aside, what lower classes may not even borrow."""
    return idle - round_half_up(aside.lend_share, idle) if aside.lend else idle
