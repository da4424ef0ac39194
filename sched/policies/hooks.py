"""What a policy may be told of a run, and what it may say of its order as the run goes on."""

from collections.abc import Iterable, Mapping

from sched.model import Request, Standing, StayEnd
from sched.policies.common import Rank


class Hooks:
    """Nothing is kept and nothing is said; a hook that a policy does not override is never called."""

    # -- fairness among tenants

    def counter(self, tenant: str, head: Request) -> Rank:
        """Of a fair policy: the tenant with the smallest counter is served next, with its head."""
        return ()

    def joined(self, tenant: str, waiting_tenants: list[str]) -> None:
        """A request arrived for a tenant that had none waiting; `waiting_tenants` are those that have, in any
        order.
        """

    def drained(self, tenant: str) -> None:
        """The last waiting request of a tenant has left the queue."""

    def choosing(self, tenants: Iterable[str]) -> None:
        """A choice is about to be made among the waiting requests of these tenants."""

    def served(self, tenant: str, tokens: int) -> None:
        """Output tokens were emitted. Additive, so that many iterations can be told at once."""

    def computed(self, tenant: str, tokens: int) -> None:
        """Tokens were computed, prompts and recomputed ones included. Additive."""

    def ran(self, iterations: int) -> None:
        """So many iterations have been run."""

    def stands_for(self, tenants: list[str], decoding: Mapping[str, int]) -> int | None:
        """Of a fair policy: iterations for which the smallest counter stays so while these decode."""
        return None

    # -- what happens to a request

    def arrived(self, request: Request, now_ps: int) -> None:
        """It has come and was not refused; it joins the queue next."""

    def admitted(self, request: Request, standing: Standing) -> None:
        """It enters the batch; `standing.preemptions` > 0: again."""

    def left(self, request: Request, standing: Standing, end: StayEnd) -> None:
        """It leaves the batch, with so many tokens emitted."""

    def ended(self, request: Request, emitted_tokens: int) -> None:
        """It is gone for good, finished or not, with so many tokens; refused ones never came."""

    def queued(self, request: Request, standing: Standing) -> None:
        """It joins those who wait, new or preempted."""

    def unqueued(self, request: Request) -> None:
        """It waits no more: it enters the batch, gave up, or was turned away."""

    def turns_ps(self, request: Request, now_ps: int) -> int | None:
        """When the standing of a running request next changes by its time in the batch."""
        return None

    def turned(self, request: Request, now_ps: int) -> None:
        """That time has come: it is an iteration boundary at or after it."""

    def turns_tokens(self, request: Request, emitted_tokens: int) -> int | None:
        """The count of emitted tokens at which the standing of a running request next changes, if it may be
        displaced by it.
        """
        return None

    def tick(self, now_ps: int) -> None:
        """The timer `next_ps` is due, at an iteration boundary at or after it; sets the next one, which must
        lie after `now_ps`. Whoever waits is ranked anew, and with `running_by_rank` whoever runs.
        """
