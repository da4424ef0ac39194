"""The engine's progress on one request, and what is reported of it."""

from typing import Any, Protocol

from sched.model import NEVER, RefusalCode, Request, StayEnd


class Job:
    """A request in the engine. Tokens and blocks are counts; `known` = prompt + emitted tokens.

    While `straight`, the request decodes one token an iteration: before iteration i it has i + `offset`
    computed tokens, its last iteration is `last`, and `known`, `computed` and `held` are stale. Compared by
    identity.
    """

    __slots__ = (
        *("request", "ordinal", "since_ps", "urgent", "tier", "limit", "peak", "need", "floor"),
        *("rank", "passed", "noted", "keeps_free"),
        *("known", "computed", "held", "high", "preemptions", "recomputed", "barred"),
        *("admission", "order", "stay_from", "stay_ps", "target", "hit"),
        *("straight", "offset", "run_from", "last", "first_scheduled_ps", "first_token_ps"),
        *("content", "chain", "blocks", "shared"),
    )

    request: Request
    ordinal: int
    since_ps: int  # its arrival, or its last preemption
    urgent: bool  # the policy's set-aside is for it
    tier: int  # slices of tokens that are kept from it
    keeps_free: int  # blocks that must stay free when it enters
    limit: int  # tokens at which it ends: prompt + output, or the model's length
    peak: int  # blocks that it holds at most
    need: int  # blocks of all it knows
    floor: int  # blocks that the gate asks for at the least
    rank: tuple[Any, ...]
    passed: int  # admissions that passed it while it was blocked
    noted: int  # why it was last refused admission
    known: int
    computed: int
    held: int
    high: int  # most tokens it ever had computed before a preemption
    preemptions: int
    recomputed: int
    barred: int  # the iteration in which it was preempted and may not return
    admission: int  # how many were admitted before it
    order: Any  # its place in the running pass: admission, or rank
    stay_from: int  # iteration of its admission
    stay_ps: int
    target: int  # what it knew at its admission: until that is computed, it prefills
    hit: int
    straight: bool
    offset: int
    run_from: int  # iteration in which it went straight
    last: int
    first_scheduled_ps: int
    first_token_ps: int
    content: tuple[tuple[Any, int], ...]
    chain: list[int]
    blocks: list[int]
    shared: int  # tokens at the start of `content` that may be another's too

    def __init__(self, request: Request, limit: int, peak: int, need: int, urgent: bool) -> None:
        self.request = request
        self.ordinal = request[0]
        self.since_ps = request[5]
        self.known = request[6]
        self.limit = limit
        self.peak = peak
        self.need = self.floor = need
        self.urgent = urgent
        self.tier = self.keeps_free = 0
        self.straight = False
        self.computed = self.held = self.hit = self.target = self.offset = 0
        self.preemptions = self.recomputed = self.passed = self.high = 0
        self.noted = self.first_scheduled_ps = self.first_token_ps = self.barred = self.run_from = NEVER
        self.admission = NEVER


class Recorder(Protocol):
    """What a batch reports as it happens."""

    def left(self, job: Job, end: StayEnd, end_iteration: int, end_ps: int) -> None:
        """A stay in the batch is over."""

    def ran(self, job: Job, count: int) -> None:
        """A straight run of `count` iterations is over."""

    def preempted(self, iteration: int, at_ps: int, victim: Job, beneficiary: Job) -> None:
        """KV was taken away; `victim.computed` tokens are lost."""

    def refused(
        self, iteration: int, at_ps: int, job: Job, code: RefusalCode, need: int, free: int, entitled: int
    ) -> None:
        """A waiting request was looked at and not admitted."""
