"""The policies of the slow engine: who is first, who loses, what is counted and what is held back.

Each is a book that the engine opens at its decisions: a rank (smallest first), the order of the running pass,
victims, and what is written down when a request arrives, enters, gets a token, leaves. Written from the
specification alone; every comparison is exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from sched.model import NEVER, PS_PER_S, Outcome

if TYPE_CHECKING:
    from tests.reference import Engine, Job

Rank = tuple[Any, ...]


def exact(value: Any) -> Fraction:
    """The decimal that was written."""
    return Fraction(str(value))


def ps(seconds: Any) -> int:
    return int(exact(seconds) * PS_PER_S)


class Book:
    """Strict priority without preemption; what another policy does otherwise it says below."""

    always_skips = False
    line_by_line = False
    """A misfit passes over all requests of its line, unless the settings say otherwise."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.setting = engine.setting
        self.levels = sorted({job.priority for job in engine.jobs})

    @property
    def now(self) -> int:
        return self.engine.now

    def waited(self, job: Job) -> int:
        return self.now - job.queued_ps

    def weight(self, tenant: str) -> Fraction:
        return self.engine.weights.get(tenant, Fraction(1))

    def waiting_of(self, tenant: str) -> list[Job]:
        return [job for job in self.engine.waiting if job.tenant == tenant]

    def head(self, job: Job) -> tuple[float, str]:
        """Arrival and id of the oldest waiting request of this one's tenant."""
        return min((other.arrival, other.id) for other in [job, *self.waiting_of(job.tenant)])

    # ---- order

    def rank(self, job: Job) -> Rank:
        return (job.priority, job.arrival, job.id)

    def running_order(self) -> list[Job]:
        return list(self.engine.running)

    def losing_key(self, job: Job) -> Rank:
        """Where a running one needs a block the largest is preempted; of equals the longest admitted."""
        return (job.priority, job.arrival)

    def loser(self, candidates: Sequence[Job]) -> Job:
        return max(candidates, key=self.losing_key)

    def preemptible(self, job: Job) -> list[Job]:
        """Running requests that this waiting one may displace, the first to go first."""
        return []

    def misfit(self, job: Job) -> str:
        """What a misfit does to the rest of the queue: stop, skip (it alone), pass (its line)."""
        if self.always_skips:
            return "skip"
        return str(self.setting("misfit", "pass" if self.line_by_line else "stop"))

    def line(self, job: Job) -> object:
        return job.tenant

    # ---- what may not run, now or ever

    def is_capped_out(self, job: Job) -> bool:
        """A cap of the policy on what it may ask for forbids it."""
        return False

    def holds_back(self, job: Job) -> bool:
        return False

    def closed_blocks(self, job: Job) -> int:
        """Blocks that must stay free when this one has entered."""
        return 0

    def tokens_left(self, job: Job) -> int:
        """Tokens that the policy lets it have in this iteration."""
        return self.engine.machine.max_num_batched_tokens

    def exceeds_share(self, job: Job, need: int) -> bool:
        """It may not grow by so many blocks, whatever is free."""
        return False

    def state(self, job: Job) -> object:
        """What else of a request decides how it goes on, beside its computed tokens."""
        return None

    # ---- what is written down

    def choosing(self) -> None:
        """Somebody waits, and the first of them is about to be chosen."""

    def queued(self, job: Job, newly: bool) -> None:
        """It is about to join the queue: newly, or preempted."""

    def admitted(self, job: Job, first: bool) -> None:
        """It has left the queue for the batch; its cached tokens are its computed ones now."""

    def got_token(self, job: Job) -> None: ...

    def ended(self, job: Job) -> None:
        """It has left, from the queue or from the batch."""

    def has_run(self, duration_ps: int) -> None:
        """An iteration ended, its output is out, who finished has left."""

    def at_boundary(self) -> None:
        """Arrivals and time-outs are in, the decision comes."""


class Skipping(Book):
    always_skips = True


class Fcfs(Book):
    def rank(self, job: Job) -> Rank:
        """Equal ranks keep the order of the queue."""
        return ()

    def loser(self, candidates: Sequence[Job]) -> Job:
        return self.engine.running[-1]


class Static(Book):
    def rank(self, job: Job) -> Rank:
        return ()


class Inheritance(Skipping):
    def loser(self, candidates: Sequence[Job]) -> Job:
        lift = max(job.priority for job in candidates)
        lift = min([lift] + [job.priority for job in self.engine.waiting if self.engine.is_kv_blocked(job)])
        return max(candidates, key=lambda job: (min(job.priority, lift), job.arrival))


class Preemptive(Book):
    def running_order(self) -> list[Job]:
        return sorted(self.engine.running, key=self.rank)

    def preemptible(self, job: Job) -> list[Job]:
        gap, limit = self.setting("gap", 0), self.setting("max_preemptions", 3)
        found = [
            other
            for other in reversed(self.engine.running)
            if other.priority - job.priority > gap and other.preemptions < limit
        ]
        return sorted(found, key=lambda other: -other.priority)


class Rescue(Book):
    def running_order(self) -> list[Job]:
        slices = bool(self.setting("slices", None)) or self.setting("tokens", 0) > 0
        return sorted(self.engine.running, key=self.rank) if slices else list(self.engine.running)

    def preemptible(self, job: Job) -> list[Job]:
        if not self.engine.lends or self.engine.is_lower(job):
            return []
        return [other for other in reversed(self.engine.running) if self.engine.is_lower(other)]


class Aging(Book):
    def rank(self, job: Job) -> Rank:
        waited_s = Fraction(self.waited(job), PS_PER_S)
        credit: Fraction | int = exact(self.setting("per_s", 0.2)) * waited_s
        if self.setting("threshold_s", None):
            credit = waited_s // exact(self.setting("threshold_s", None))
        level = job.priority - credit
        if self.setting("floor", None) is not None:
            level = max(level, min(Fraction(job.priority), exact(self.setting("floor", None))))
        if self.setting("margin_s", None) is not None and job.ttft_goal != NEVER:
            slack = job.arrival_ps + job.ttft_goal - self.now - self.engine.alone_ps(job.known, 1)
            if slack < exact(self.setting("margin_s", None)) * PS_PER_S:
                level = min(level, Fraction(self.levels[0]))
        return (level, job.arrival, job.id)


# ---- by size and by deadline


class Sjf(Book):
    def rank(self, job: Job) -> Rank:
        key = self.setting("key", "total")
        size = {
            "total": job.prompt + job.predicted(0),
            "prefill": job.prompt - len(self.engine.lookup(job)) * self.engine.machine.block_size,
            "output": job.predicted(0),
        }[key]
        credit = exact(self.setting("aging_tokens_per_s", 0)) * Fraction(self.waited(job), PS_PER_S)
        return (size - credit, job.arrival, job.id)


class Srpt(Book):
    def remaining(self, job: Job) -> int:
        return job.prompt + job.predicted(job.emitted) - 1 - job.computed

    def rank(self, job: Job) -> Rank:
        return (self.remaining(job), job.arrival, job.id)

    def admitted(self, job: Job, first: bool) -> None:
        host = job.computed if self.engine.swaps else 0
        job.rank_at_admission = (job.prompt + job.predicted(job.emitted) - 1 - host, job.arrival, job.id)

    def running_order(self) -> list[Job]:
        return sorted(self.engine.running, key=lambda job: job.rank_at_admission)

    def losing_key(self, job: Job) -> Rank:
        return (self.remaining(job), job.arrival)

    def preemptible(self, job: Job) -> list[Job]:
        least, until = self.setting("hysteresis_tokens", 0), exact(self.setting("preempt_until", 1.0))
        found = [
            other
            for other in reversed(self.engine.running)
            if self.remaining(other) - self.remaining(job) > least
            and other.emitted < until * other.predicted(other.emitted)
        ]
        return sorted(found, key=lambda other: -self.remaining(other))


class Hrrn(Book):
    def rank(self, job: Job) -> Rank:
        alone = self.engine.alone_ps(job.prompt, job.predicted(0))
        return (-Fraction(self.waited(job), alone), job.arrival, job.id)


class Edf(Book):
    relegates = False
    by_slack = False

    def rank(self, job: Job) -> Rank:
        by_end = self.setting("deadline", "ttft") == "e2e"
        goal = job.e2e_goal if by_end else job.ttft_goal
        due = job.arrival_ps + goal
        left = job.predicted(job.emitted) - job.emitted if by_end else 1
        latest = due - self.engine.alone_ps(job.known, left)
        is_late = self.setting("relegate", self.relegates) and self.now > latest
        if goal == NEVER or is_late:
            return (1, job.arrival, job.arrival, job.id)
        return (0, latest if self.by_slack else due, job.arrival, job.id)


class Slack(Edf):
    relegates = True
    by_slack = True


# ---- by level


class Mlfq(Book):
    quanta: tuple[float, ...] = (0.5, 2, 10)
    boost_s: float = 10
    """0 for never."""
    promote_s: float | None = None
    enter = "top"
    preempts = True

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.quanta_ps = [ps(quantum) for quantum in self.setting("quanta", self.quanta)]
        self.boosts = 0

    def first_level(self, job: Job) -> int:
        by_class = self.setting("enter", self.enter) == "class" and len(self.levels) > 1
        return len(self.quanta_ps) - 1 if by_class and job.priority == self.levels[-1] else 0

    def queued(self, job: Job, newly: bool) -> None:
        if newly:
            job.level, job.used_ps = self.first_level(job), 0

    def level(self, job: Job) -> int:
        """Of a running request its own; a waiting one may have been promoted."""
        every = self.setting("promote_s", self.promote_s)
        if job in self.engine.running or every is None:
            return job.level
        return max(0, job.level - int(self.waited(job) // (exact(every) * PS_PER_S)))

    def rank(self, job: Job) -> Rank:
        return (self.level(job), job.arrival, job.id)

    def admitted(self, job: Job, first: bool) -> None:
        if job.level_at_choice < job.level:
            job.level, job.used_ps = job.level_at_choice, 0

    def running_order(self) -> list[Job]:
        return sorted(self.engine.running, key=lambda job: (job.level, job.arrival, job.id))

    def losing_key(self, job: Job) -> Rank:
        return (job.level, job.arrival)

    def choosing(self) -> None:
        for job in self.engine.waiting:
            job.level_at_choice = self.level(job)

    def preemptible(self, job: Job) -> list[Job]:
        if not self.setting("preempt", self.preempts):
            return []
        own, mine = job.level_at_choice, (job.arrival, job.id)
        found = [
            other
            for other in reversed(self.engine.running)
            # Of the same level only one that has sunk to it just now, if it is behind.
            if other.level > own
            or (other.level == own and other.sank_ps == self.now and (other.arrival, other.id) > mine)
        ]
        return sorted(found, key=lambda other: -other.level)

    def patience_ps(self, job: Job) -> int:
        """How long it waits until its level no longer changes by waiting."""
        every = self.setting("promote_s", self.promote_s)
        return ps(every) * job.level if every is not None else 0

    def state(self, job: Job) -> object:
        waited = 0 if job in self.engine.running else min(self.waited(job), self.patience_ps(job))
        return job.level, job.level < len(self.quanta_ps) - 1 and job.used_ps, waited

    def has_run(self, duration_ps: int) -> None:
        for job in self.engine.running:
            job.used_ps += duration_ps
            if job.level < len(self.quanta_ps) - 1 and job.used_ps >= self.quanta_ps[job.level]:
                job.level, job.used_ps, job.sank_ps = job.level + 1, 0, self.now

    def at_boundary(self) -> None:
        boost_s = self.setting("boost_s", self.boost_s)
        if boost_s and self.now // ps(boost_s) > self.boosts:
            self.boosts = self.now // ps(boost_s)
            for job in self.engine.waiting + self.engine.running:
                job.level, job.used_ps, job.sank_ps = 0, 0, NEVER


class SkipJoinMlfq(Mlfq):
    quanta = (0.5, 1, 2, 4)
    boost_s = 0

    def first_level(self, job: Job) -> int:
        prefill = self.engine.alone_ps(job.prompt, 1)
        fitting = [level for level, quantum in enumerate(self.quanta_ps) if quantum >= prefill]
        return fitting[0] if fitting else len(self.quanta_ps) - 1

    def level(self, job: Job) -> int:
        starves = self.setting("starve_s", 5.0)
        if job in self.engine.running or starves is None:
            return job.level
        return 0 if self.waited(job) >= ps(starves) else job.level

    def patience_ps(self, job: Job) -> int:
        starves = self.setting("starve_s", 5.0)
        return ps(starves) if starves is not None else 0


class ArticleMlfq(Book):
    def rank(self, job: Job) -> Rank:
        is_batch = len(self.levels) > 1 and job.priority == self.levels[-1]
        return (2 if is_batch else 0, job.arrival, job.id)


# ---- by tenant


class Vtc(Book):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.counters: dict[str, Fraction] = defaultdict(Fraction)
        self.last_served = ""
        self.output_weight = exact(self.setting("output_weight", 2))
        self.predicts = self.setting("predictor", "off") != "off"

    def rank(self, job: Job) -> Rank:
        return (self.counters[job.tenant], self.head(job), job.arrival, job.id)

    def charge(self, job: Job, service: Fraction) -> None:
        self.counters[job.tenant] += service / self.weight(job.tenant)

    def queued(self, job: Job, newly: bool) -> None:
        if newly and not self.waiting_of(job.tenant):
            queued = {other.tenant for other in self.engine.waiting} or {self.last_served or job.tenant}
            level = min(self.counters[tenant] for tenant in queued)
            self.counters[job.tenant] = max(self.counters[job.tenant], level)

    def admitted(self, job: Job, first: bool) -> None:
        self.last_served = job.tenant
        if first:
            self.charge(job, exact(self.setting("prompt_weight", 1)) * job.prompt)
            if self.predicts:
                job.charged = job.predicted(0)
                self.charge(job, self.output_weight * job.charged)

    def got_token(self, job: Job) -> None:
        if not self.predicts:
            self.charge(job, self.output_weight)

    def ended(self, job: Job) -> None:
        if self.predicts and job.first_scheduled_ps != NEVER:
            self.charge(job, self.output_weight * (job.emitted - job.charged))


class Dlpm(Book):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.deficits: dict[str, Fraction] = defaultdict(Fraction)

    def choosing(self) -> None:
        tenants = {job.tenant for job in self.engine.waiting}
        while all(self.deficits[tenant] <= 0 for tenant in tenants):
            for tenant in tenants:
                self.deficits[tenant] += exact(self.setting("quantum", 2000)) * self.weight(tenant)

    def rank(self, job: Job) -> Rank:
        is_out = self.deficits[job.tenant] <= 0
        return (is_out, -len(self.engine.lookup(job)), job.arrival, job.id)

    def admitted(self, job: Job, first: bool) -> None:
        self.deficits[job.tenant] -= job.known - job.computed

    def got_token(self, job: Job) -> None:
        self.deficits[job.tenant] -= 1


class Drr(Book):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        ring = list(dict.fromkeys(job.tenant for job in engine.jobs))
        self.ring = {tenant: place for place, tenant in enumerate(ring)}
        total = sum(job.prompt + 2 * job.predicted(0) for job in engine.jobs)
        self.mean = Fraction(total, max(1, len(engine.jobs)))
        self.visited: dict[str, int] = defaultdict(lambda: -1)
        self.deficit: dict[str, Fraction] = defaultdict(Fraction)
        self.last = (0, -1)

    def cost(self, job: Job) -> int:
        return 0 if job.first_scheduled_ps != NEVER else job.prompt + 2 * job.predicted(0)

    def turn(self, job: Job) -> int:
        """The round in which its tenant can pay for it."""
        missing = max(Fraction(0), self.cost(job) - self.deficit[job.tenant])
        rounds = -(-missing // (self.weight(job.tenant) * self.mean))
        return self.visited[job.tenant] + int(rounds)

    def rank(self, job: Job) -> Rank:
        head = min(self.waiting_of(job.tenant), key=lambda other: (other.arrival, other.id), default=job)
        return (self.turn(head), self.ring[job.tenant], job.arrival, job.id)

    def queued(self, job: Job, newly: bool) -> None:
        if not self.waiting_of(job.tenant):
            served, place = self.last
            self.visited[job.tenant] = served - 1 if self.ring[job.tenant] > place else served

    def choosing(self) -> None:
        self.turns = {job.id: (self.turn(job), self.cost(job)) for job in self.engine.waiting}

    def admitted(self, job: Job, first: bool) -> None:
        tenant = job.tenant
        turn, cost = self.turns[job.id]
        self.deficit[tenant] += (turn - self.visited[tenant]) * self.weight(tenant) * self.mean - cost
        self.visited[tenant] = turn
        self.last = (turn, self.ring[tenant])
        self.ended(job)

    def ended(self, job: Job) -> None:
        if not self.waiting_of(job.tenant):
            self.deficit[job.tenant] = Fraction(0)


class Shares(Book):
    """Dominant shares: blocks and seats held now, and tokens computed lately, as parts of what there is."""

    half_life_s: float = 30
    decay = round(2**32 * sqrt(sqrt(sqrt(0.5))))

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.used: dict[str, int] = defaultdict(int)
        self.offered = self.epochs = 0
        self.half_life_ps = exact(self.setting("half_life_s", self.half_life_s)) * PS_PER_S
        self.cpu_cores = exact(self.setting("cpu_cores", 0))

    def cores(self, jobs: Sequence[Job]) -> Fraction:
        table = self.setting("cpu", None) or {}
        return sum((exact(table.get(job.class_name, 1)) for job in jobs), Fraction(0))

    def share(self, tenant: str) -> Fraction:
        machine = self.engine.machine
        mine = [job for job in self.engine.running if job.tenant == tenant]
        parts = [
            Fraction(self.engine.held(mine), machine.kv_blocks),
            Fraction(len(mine), machine.max_num_seqs),
        ]
        if self.half_life_ps and self.offered:
            parts.append(Fraction(self.used[tenant], self.offered))
        if self.cpu_cores:
            parts.append(self.cores(mine) / self.cpu_cores)
        return max(parts) / self.weight(tenant)

    def holds_back(self, job: Job) -> bool:
        busy = self.cores(self.engine.running)
        return self.cpu_cores > 0 and self.cores([job]) > self.cpu_cores - busy

    def has_run(self, duration_ps: int) -> None:
        for job, tokens in self.engine.given.items():
            self.used[job.tenant] += tokens << 20
        self.offered += self.engine.machine.max_num_batched_tokens << 20

    def at_boundary(self) -> None:
        if not self.half_life_ps:
            return
        epochs = int(self.now // (self.half_life_ps / 8))
        while self.epochs < epochs and self.offered:
            self.offered = self.offered * self.decay >> 32
            self.used = defaultdict(int, {who: x * self.decay >> 32 for who, x in self.used.items()})
            self.epochs += 1
        self.epochs = epochs


class Drf(Shares):
    line_by_line = True

    def rank(self, job: Job) -> Rank:
        return (self.share(job.tenant), self.head(job), job.arrival, job.id)


class ArticleDrf(Book):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.turns: dict[str, int] = defaultdict(int)
        self.gpu: dict[str, int] = defaultdict(int)
        self.memory: dict[str, int] = defaultdict(int)

    def rank(self, job: Job) -> Rank:
        parts = [Fraction(part[job.tenant], max(1, sum(part.values()))) for part in (self.gpu, self.memory)]
        share = max(parts) / self.weight(job.tenant)
        return (self.turns[job.tenant], share, self.head(job), job.arrival, job.id)

    def queued(self, job: Job, newly: bool) -> None:
        others = {other.tenant for other in self.engine.waiting}
        if newly and others and job.tenant not in others:
            self.turns[job.tenant] = max(self.turns[job.tenant], min(self.turns[who] for who in others))

    def admitted(self, job: Job, first: bool) -> None:
        self.turns[job.tenant] += 1
        if first:
            self.gpu[job.tenant] += job.prompt + 100 * job.predicted(0)
            self.memory[job.tenant] += job.prompt + job.predicted(0)


class MlfqDrf(Mlfq, Shares):
    boost_s = 0
    promote_s = 5
    enter = "class"
    preempts = False
    line_by_line = True

    def rank(self, job: Job) -> Rank:
        return (self.level(job), self.share(job.tenant), job.arrival, job.id)

    def line(self, job: Job) -> object:
        return (self.level(job), job.tenant)

    def preemptible(self, job: Job) -> list[Job]:
        return [other for other in super().preemptible(job) if other.level > job.level_at_choice]

    def running_order(self) -> list[Job]:
        if not self.setting("preempt", self.preempts):
            return list(self.engine.running)
        return super().running_order()

    def has_run(self, duration_ps: int) -> None:
        Shares.has_run(self, duration_ps)
        Mlfq.has_run(self, duration_ps)

    def at_boundary(self) -> None:
        Shares.at_boundary(self)
        Mlfq.at_boundary(self)


class Quota(Book):
    line_by_line = True

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        names = {*engine.weights, *(job.tenant for job in engine.jobs)}
        total = sum((self.weight(name) for name in names), Fraction(0))
        machine, self.caps = engine.machine, dict[str, tuple[int, int, int]]()
        for name in names:
            part = self.weight(name) / total
            seats = max(1, int(part * machine.max_num_seqs))
            tokens = int(part * machine.max_num_batched_tokens)
            self.caps[name] = (int(part * machine.kv_blocks), seats, tokens)
        self.strict = self.setting("mode", "strict") == "strict"

    def running_of(self, tenant: str) -> list[Job]:
        return [job for job in self.engine.running if job.tenant == tenant]

    def rank(self, job: Job) -> Rank:
        mine, (blocks, seats, _) = self.running_of(job.tenant), self.caps[job.tenant]
        full = Fraction(self.engine.held(mine), blocks) if blocks else Fraction(1)
        head = min((o.priority, o.arrival, o.id) for o in [job, *self.waiting_of(job.tenant)])
        return (max(full, Fraction(len(mine), seats)), head, job.priority, job.arrival, job.id)

    def is_within(self, job: Job) -> bool:
        """Its tenant would stay within its shares of blocks and seats with it."""
        mine, (blocks, seats, _) = self.running_of(job.tenant), self.caps[job.tenant]
        asked = self.engine.asked(job, self.engine.first_piece(job, []), self.engine.running)
        theirs = {block for other in mine for block in other.blocks}
        shared = sum(block in theirs for block in self.engine.lookup(job))
        if self.engine.machine.gate == "peak":
            shared = 0
        return self.engine.held(mine) + asked - shared <= blocks and len(mine) + 1 <= seats

    def holds_back(self, job: Job) -> bool:
        return self.strict and not self.is_within(job)

    def misfit(self, job: Job) -> str:
        """Who asks for no loan is not passed over."""
        chosen = super().misfit(job)
        return "stop" if chosen == "pass" and not self.strict and self.is_within(job) else chosen

    def is_capped_out(self, job: Job) -> bool:
        blocks, _, tokens = self.caps[job.tenant]
        return self.strict and (self.engine.peak(job) > blocks or tokens == 0)

    def tokens_left(self, job: Job) -> int:
        if not self.strict:
            return super().tokens_left(job)
        given = self.engine.given.items()
        return self.caps[job.tenant][2] - sum(n for other, n in given if other.tenant == job.tenant)

    def exceeds_share(self, job: Job, need: int) -> bool:
        mine = {block for other in self.running_of(job.tenant) for block in other.blocks}
        return self.strict and need > 0 and len(mine) + need > self.caps[job.tenant][0]

    def loser(self, candidates: Sequence[Job]) -> Job:
        grower = self.engine.grower
        if self.strict and grower is not None:
            candidates = [job for job in candidates if job.tenant == grower.tenant]
        return super().loser(candidates)


# ---- caps, and who is let in at all


class Ceiling(Book):
    def closed_blocks(self, job: Job) -> int:
        peaks = sorted(self.engine.peak(other) for other in self.engine.jobs if other.priority < job.priority)
        rank = -(-exact(self.setting("quantile", 1.0)) * len(peaks) // 1)
        return peaks[max(1, int(rank)) - 1] if peaks else 0

    def is_capped_out(self, job: Job) -> bool:
        closed = self.closed_blocks(job)
        return closed > 0 and self.engine.peak(job) > self.engine.machine.kv_blocks - closed


class KvCap(Book):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        pool = engine.machine.kv_blocks * engine.machine.block_size
        per_request, aggregate = self.setting("per_request", None), self.setting("aggregate", None)
        self.per_request = Fraction(pool, 4) if per_request is None else per_request
        self.aggregate = Fraction(3 * pool, 5) if aggregate is None else aggregate
        self.long_tokens = self.setting("long_tokens", 4096)

    def rank(self, job: Job) -> Rank:
        """Pieces of one request in their order."""
        return (job.priority, job.arrival, job.parent or job.id, job.part)

    def size(self, job: Job) -> int:
        return self.engine.machine.tokens_of_life(job.prompt, job.output)

    def binds(self, job: Job) -> bool:
        return len(self.levels) == 1 or job.priority > self.levels[0]

    def is_capped_out(self, job: Job) -> bool:
        return self.binds(job) and self.size(job) > min(self.per_request, self.aggregate)

    def holds_back(self, job: Job) -> bool:
        left = self.engine.jobs
        if any(o.parent and o.parent == job.parent and o.part < job.part and not o.is_over for o in left):
            return True
        if not self.binds(job):
            return False
        mine = [other for other in self.engine.running if other.class_name == job.class_name]
        long = [other for other in mine if self.size(other) > self.long_tokens]
        too_many = self.size(job) > self.long_tokens and len(long) >= self.setting("long_limit", 1)
        return too_many or sum(self.size(other) for other in mine) + self.size(job) > self.aggregate


class RescueCap(KvCap, Rescue):
    pass


class Shed(Book):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        machine, count = engine.machine, len(engine.jobs)
        peaks = sum(engine.peak(job) for job in engine.jobs)
        parallel = min(machine.max_num_seqs, machine.kv_blocks * count // max(1, peaks))
        self.parallel = max(1, parallel)
        self.let_in: dict[tuple[str, int], int] = defaultdict(int)
        self.last_ps = engine.cost.decode_ps(1)

    def has_run(self, duration_ps: int) -> None:
        self.last_ps = duration_ps

    def need(self, job: Job) -> int:
        """Iterations it takes, alone, from where it stands at its admission."""
        prefill = -(-job.known // self.engine.machine.max_num_batched_tokens)
        return prefill + job.predicted(job.emitted) - job.emitted - 1

    def admitted(self, job: Job, first: bool) -> None:
        job.need_at_admission, job.from_iteration = self.need(job), self.engine.iteration

    def predicted_wait(self, job: Job) -> int:
        running = self.engine.running
        ahead = [other for other in self.engine.waiting if other.priority <= job.priority]
        if len(running) + len(ahead) < self.parallel:
            return 0
        rest = sum(o.need_at_admission - (self.engine.iteration - o.from_iteration) for o in running)
        work = max(0, rest) + sum(self.need(other) for other in ahead)
        return work * self.last_ps // self.parallel

    def who_is_shed(self, job: Job) -> Job | None:
        """The newcomer, or a waiting request that gives way to it, or nobody."""
        limit, cost = self.setting("tokens_per_minute", None), job.prompt + self.engine.most_output(job)
        minute = (job.tenant, job.arrival_ps // (60 * PS_PER_S))
        if limit is not None and self.let_in[minute] + cost > limit:
            return job
        longest = self.setting("max_wait_s", None)
        longest_ps = None if longest is None else ps(longest)
        if self.setting("by_slo", False):
            alone = self.engine.alone_ps(job.prompt, 1)
            longest_ps = None if job.ttft_goal == NEVER else job.ttft_goal - alone
        if longest_ps is not None and self.predicted_wait(job) > longest_ps:
            return job
        out = self.leaves_full_queue(job)
        if out is not job:
            self.let_in[minute] += cost
        return out

    def leaves_full_queue(self, job: Job) -> Job | None:
        waiting = self.engine.waiting
        if self.setting("per_class", False):
            waiting = [other for other in waiting if other.class_name == job.class_name]
        limit = self.setting("max_queue", None)
        if limit is None or len(waiting) < limit:
            return None
        if self.setting("on_full", "newcomer") == "newcomer":
            return job
        place = self.engine.place
        return max([*waiting, job], key=lambda other: (other.priority, other.arrival, place[other.id]))


BOOKS: dict[str, type[Book]] = {
    **{"static": Static, "fcfs": Fcfs, "priority": Book, "hol": Book, "backfill": Skipping},
    **{"skip_limit": Skipping, "preemptive": Preemptive, "inheritance": Inheritance, "rescue": Rescue},
    **{"aging": Aging, "sjf": Sjf, "srpt": Srpt, "hrrn": Hrrn, "edf": Edf, "slack": Slack, "mlfq": Mlfq},
    **{"skip_join_mlfq": SkipJoinMlfq, "article_mlfq": ArticleMlfq, "vtc": Vtc, "dlpm": Dlpm, "drr": Drr},
    **{"drf": Drf, "article_drf": ArticleDrf, "mlfq_drf": MlfqDrf, "quota": Quota, "ceiling": Ceiling},
    **{"kv_cap": KvCap, "rescue_cap": RescueCap, "shed": Shed},
}

OVER = (Outcome.FINISHED, Outcome.REFUSED, Outcome.TIMED_OUT, Outcome.SHED)
