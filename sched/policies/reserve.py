"""How large a reserve should be: by what the urgent are going to hold, and by how long they waited."""

from collections import deque
from fractions import Fraction
from math import isqrt
from typing import Any

from sched.model import PS_PER_S, Request, SetAside, Standing, StayEnd
from sched.policies.base import Policy, Scene, round_half_up

_WHOLE = 10**9
"""Shares of the pool are integers: billionths."""
_MINUTE_PS = 60 * PS_PER_S
_SLEW_PER_S = _WHOLE // 10
_DECAY = _WHOLE // 100


class Demand:
    """Arrivals of the last minute, and what those that finished were like.

    What requests hold is then shot noise: each grows from its prompt to prompt and answer while it stays, and
    they come independently (exact for Poisson arrivals that never wait).
    """

    def __init__(self) -> None:
        self.arrivals: deque[int] = deque()
        self.count = self.prompt_tokens = self.output_tokens = self.stay_ps = 0

    def arrived(self, at_ps: int) -> None:
        """One came."""
        self.arrivals.append(at_ps)

    def finished(self, prompt_tokens: int, output_tokens: int, stay_ps: int) -> None:
        """One has had its whole answer, after so long in the batch."""
        self.count += 1
        self.prompt_tokens += prompt_tokens
        self.output_tokens += output_tokens
        self.stay_ps += stay_ps

    def tokens(self, now_ps: int, safety: Fraction) -> int:
        """Tokens held at once: the mean, and `safety` standard deviations more."""
        window_ps = min(now_ps, _MINUTE_PS)
        while self.arrivals and self.arrivals[0] <= now_ps - _MINUTE_PS:
            self.arrivals.popleft()
        if not window_ps or not self.count:
            return 0
        present = Fraction(len(self.arrivals) * self.stay_ps, window_ps * self.count)
        prompt, output = Fraction(self.prompt_tokens, self.count), Fraction(self.output_tokens, self.count)
        mean = present * (prompt + output / 2)
        variance = present * (prompt * prompt + prompt * output + output * output / 3)
        return int(mean) + isqrt(int(safety * safety * variance))


class Feedback:
    """A share of the pool, in billionths, that rises while the urgent wait too long and decays while they do
    not.
    """

    def __init__(self, options: Any, kv_blocks: int, target_ps: int, period_ps: int) -> None:
        parts = [round_half_up(part, _WHOLE) for part in (options.kv, options.low, options.high, options.up)]
        share, low, self.high, self.gain = parts
        self.low = min(low, self.high)
        self.share = min(max(share, self.low), self.high)
        self.kv_blocks, self.target_ps = kv_blocks, target_ps
        self.slew = _SLEW_PER_S * period_ps // PS_PER_S
        self.wait_ps: int | None = None
        self.most_blocks = self._blocks(self.high)

    def _blocks(self, share: int) -> int:
        """A share of the pool in blocks, rounded half up."""
        return (2 * share * self.kv_blocks + _WHOLE) // (2 * _WHOLE)

    def blocks(self, ahead: int = 0) -> int:
        """Blocks to keep: the share, or what is foreseen if that is more, at most the largest."""
        return min(max(self._blocks(self.share), ahead), self.most_blocks)

    def step(self, waits_ps: list[int], mostly_idle: bool) -> None:
        """The end of a period, with the waits seen in it; without any nothing changes.

        The 95th percentile (nearest rank) is averaged, half and half, with what it was.
        """
        if not waits_ps:
            return
        seen_ps = sorted(waits_ps)[-(-19 * len(waits_ps) // 20) - 1]
        self.wait_ps = seen_ps if self.wait_ps is None else (self.wait_ps + seen_ps) // 2
        over_ps = self.wait_ps - self.target_ps
        if over_ps > 0:
            self.share += min(self.slew, self.gain * over_ps // self.target_ps)
        elif 2 * self.wait_ps < self.target_ps and mostly_idle:
            self.share -= _DECAY
        self.share = min(max(self.share, self.low), self.high)


class UrgentBook(Policy):
    """A policy with a set-aside that keeps a book of the requests it is for: how they wait, stay and come."""

    def __init__(self, options: Any, scene: Scene) -> None:
        super().__init__(options, scene)
        self.demand = Demand()
        self.waits_ps: list[int] = []
        """Of those admitted since the last look, since their arrival or preemption."""
        self.since_ps: dict[int, int] = {}
        self.stays: dict[int, tuple[int, int]] = {}
        """Of those in the batch: since when, and the blocks of their prompt."""

    @property
    def aside(self) -> SetAside:
        """What is set aside now."""
        assert self.set_aside
        return self.set_aside

    def _is_urgent(self, request: Request) -> bool:
        return request.priority <= self.aside.for_priority

    def queued(self, request: Request, standing: Standing) -> None:
        if self._is_urgent(request):
            self.since_ps[request.ordinal] = standing.since_ps
            if not standing.preemptions:
                self.demand.arrived(request.arrival_ps)

    def unqueued(self, request: Request) -> None:
        self.since_ps.pop(request.ordinal, None)

    def admitted(self, request: Request, standing: Standing) -> None:
        if self._is_urgent(request):
            self.waits_ps.append(standing.now_ps - standing.since_ps)
            blocks = self.scene.machine.blocks(request.prompt_tokens)
            self.stays[request.ordinal] = (standing.now_ps, blocks)

    def left(self, request: Request, standing: Standing, end: StayEnd) -> None:
        if self._is_urgent(request):
            began_ps, _ = self.stays.pop(request.ordinal)
            if end == StayEnd.FINISHED:
                stay_ps = standing.now_ps - began_ps
                self.demand.finished(request.prompt_tokens, standing.emitted_tokens, stay_ps)

    def waits_of_period(self, now_ps: int) -> list[int]:
        """The waits since the last look; where nobody came in, how long those who wait have waited."""
        seen, self.waits_ps = self.waits_ps, []
        return seen or [now_ps - since_ps for since_ps in self.since_ps.values()]

    def prompts_in_blocks(self) -> int:
        """Blocks of the prompts of those in the batch."""
        return sum(blocks for _, blocks in self.stays.values())
