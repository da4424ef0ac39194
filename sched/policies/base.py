"""What a policy is to the engine: it ranks, yields and sets aside; the engine referees."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Literal

from sched.model import Door, Holding, Machine, Pool, Request, SetAside, Setting, Standing
from sched.policies.common import (
    MISFIT,
    MODE,
    PREDICTOR,
    SWAP,
    Rank,
    Scene,
    as_written,
    kept,
    round_half_up,
)
from sched.policies.hooks import Hooks

__all__ = [
    "MISFIT",
    "MODE",
    "PREDICTOR",
    "SWAP",
    "Policy",
    "Rank",
    "Scene",
    "as_written",
    "kept",
    "overrides",
    "round_half_up",
]


class Policy(Hooks):
    """Base of all policies: the switches the engine reads, with the defaults of strict non-preemptive
    priority. A hook that a policy does not override is never called.
    """

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    settings: ClassVar[tuple[Setting, ...]] = ()

    misfit: Literal["stop", "skip", "pass"] = "stop"
    """pass: with a request that does not fit, all of its `line` are passed over."""
    skip_limit: int | None = None
    """With `misfit` skip: admissions that may pass a blocked request before it stops the scan; None: any
    number.
    """
    blind = False
    """Priority says nothing about who enters first."""
    arrival_order = False
    """The queue is first come, first served; `rank` is not asked."""
    requeue_at_front = False
    """A preempted request goes to the head of the queue, whatever its rank."""
    running_by_rank = False
    """The running pass goes by the rank at admission (anew after `turned` or `tick`) instead of by admission.
    """
    moving = False
    """`rank` is asked anew at each choice; by the clock alone it changes at `order_stands_until_ps`."""
    steps = False
    """With `moving`: each rank changes only at its own `stands_until_ps`, which is far cheaper."""
    by_line = False
    """With `moving`: within a `line` the order is that of arrival, and whom a line holds changes only at
    `stands_until_ps`; the order of the lines is asked anew at each choice.
    """
    reads_cache = False
    """`rank` reads `cached_tokens`: the order may change whenever a block does."""
    fair = False
    """The queue is one queue a tenant, chosen by `counter`."""
    closed_batch = False
    """Nobody is admitted while anybody runs."""
    batch_limit: int | None = None
    """Most requests of such a batch; None: as many as there are seats."""
    batch_wait_ps = 0
    """How long a batch that is not full waits for more, from its oldest arrival."""
    streams = True
    """A request leaves when it ends; False: when the last of its batch does."""
    swaps = False
    """A preempted request keeps its KV on the host."""
    displaces_for_waiters = False
    """`displaces` is asked when a waiting request lacks blocks or a seat."""
    only_loans = False
    """Displacement takes back only what lower classes hold beyond the unreserved part."""
    lifts_holders = False
    """Before a victim is chosen, `lift` is told the most urgent priority that waits for KV."""
    counts_holdings = False
    """`holding` is kept up to date for `counter` and `rank`."""
    pools: Mapping[str, Pool] | None = None
    """What each tenant may have at most, growth included."""
    set_aside: SetAside | None = None
    is_replicated = False
    """There is an engine for each of `machines`, and `home` says whose a request is."""
    spills = False
    """Requests of the first engine may be sent on to the second."""
    next_ps: int | None = None
    """When the policy's own timer, `tick`, is due next."""

    def __init__(self, options: Any, scene: Scene) -> None:
        self.options = options
        self.scene = scene
        self.misfit = getattr(options, "misfit", self.misfit)
        self.swaps = getattr(options, "mode", "swap" if self.swaps else "recompute") == "swap"
        self.holding: Callable[[str], Holding] = lambda tenant: Holding(0, 0)

    @classmethod
    def prepare(cls, listed: Any, options: Any, machine: Machine) -> Any:
        """The request list as the clients send it under this policy: large requests in pieces, say."""
        return listed

    def rank(self, request: Request, standing: Standing) -> Rank:
        """Who goes first: the smallest. It ends in arrival and id, so that ties are decided.

        It is also asked about requests that never arrived, when a finished run is explained.
        """
        return (request.priority, request.arrival_ps, request.id)

    def yields(self, request: Request, standing: Standing) -> Rank:
        """Who loses KV when a running request cannot grow: the largest; of equals the longest admitted."""
        return (request.priority, request.arrival_ps)

    def reaches(self, waiter: Request, holder: Request) -> bool:
        """Whether the waiter could ever preempt this holder; false spares the question of `displaces`."""
        return True

    def displaces(self, waiter: Request, waiting: Standing, holder: Request, held: Standing) -> Rank | None:
        """None if the waiter may not preempt this holder; else a key, and the largest key goes first.

        A waiter may preempt only whom `rank` puts behind it; nobody who was let in at this very decision is
        preempted in it.
        """
        return None

    def line(self, request: Request) -> Hashable:
        """With `misfit` pass: those who are passed over together."""
        return request.tenant

    def lined(self, request: Request, standing: Standing) -> Hashable:
        """With `by_line`: the line that a waiting request belongs to now."""
        return self.line(request)

    def stands_until_ps(self, request: Request, standing: Standing) -> int | None:
        """When the rank of a waiting request next changes, if it is moving."""
        return None

    def order_stands_until_ps(self, waiting: list[tuple[Request, Standing]]) -> int | None:
        """When the order of those who wait may next change by the clock alone."""
        times = [self.stands_until_ps(request, standing) for request, standing in waiting]
        return min((time for time in times if time is not None), default=None)

    # -- who may come in at all

    def refuses(self, request: Request, size_tokens: int) -> str:
        """Why a request can never be served under this policy, in words with both numbers; "" if it can.

        `size_tokens` is what the client declared: the most tokens whose KV it will ever hold.
        """
        return ""

    def turns_away(self, request: Request, size_tokens: int, door: Door) -> int | None:
        """The ordinal of the request to be shed now that this one arrives: itself, or one that waits; None to
        let it in.
        """
        return None

    def work(self, request: Request, standing: Standing) -> int:
        """Iterations that a request needs when it enters the batch, for `Door.running_work`."""
        return 0

    def stops_at(self, request: Request, need_blocks: int) -> bool:
        """With `misfit` pass: whether this request, which does not fit, stops everybody all the same."""
        return False

    def holds_back(self, request: Request, size_tokens: int) -> bool:
        """Whether the policy keeps a waiting request out although it may fit: a cap. Only admissions and
        departures may change the answer.
        """
        return False

    def keeps_free(self, request: Request) -> int:
        """Blocks that must be left free when this request enters."""
        return 0

    def machines(self) -> tuple[Machine, ...]:
        """The engines, if there are several."""
        return (self.scene.machine,)

    def home(self, priority: int) -> int:
        """The engine of requests of this priority."""
        return 0

    def lift(self, priority: int | None) -> None:
        """The most urgent priority that waits for KV now, or None."""


def overrides(policy: Policy, *hooks: str) -> bool:
    """Whether the policy has its own version of any of these hooks."""
    return any(getattr(type(policy), hook) is not getattr(Policy, hook) for hook in hooks)
