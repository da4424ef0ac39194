"""Slices of an iteration's token budget that are kept for the more urgent, level by level."""

from sched.job import Job
from sched.model import SetAside


class Slices:
    """What those below each boundary may still use in the iteration at hand.

    A request of tier t is below t boundaries: the first t of the levels for which tokens are kept.
    """

    def __init__(self, aside: SetAside) -> None:
        self.levels = [priority for priority, _ in aside.slices]
        self.sizes = [tokens for _, tokens in aside.slices]
        self.lends = aside.lend
        self.left = [0] * len(self.levels)

    def tier_of(self, priority: int) -> int:
        """How many slices are kept from this priority."""
        return sum(1 for level in self.levels if priority > level)

    def open(self, budget: int, demand: list[int]) -> None:
        """A new iteration, in which each level's requests could use so many tokens."""
        kept = 0
        for place, (size, wanted) in enumerate(zip(self.sizes, demand, strict=True)):
            kept += min(size, wanted) if self.lends else size
            self.left[place] = budget - kept

    def most(self, job: Job, budget: int) -> int:
        """Tokens that this request may have of what is left of the budget."""
        return min(budget, *self.left[: job.tier]) if job.tier else budget

    def take(self, tier: int, tokens: int) -> None:
        """A request of this tier uses tokens; less than none: it gives them back."""
        for place in range(tier):
            self.left[place] -= tokens
