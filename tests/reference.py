"""A second engine, slow and obvious: one iteration at a time, one request at a time, nothing skipped.

It is written from the specification alone and shares no code with the product but the nouns of `sched.model`:
an error in one of the two engines shows as a difference. Read it top to bottom: blocks, who is first and who
loses, one iteration (running pass, waiting pass, output), then the loop that moves the clock. The order, the
counters and the caps of each policy are in `tests/reference_policies.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from sched.model import NEVER, PS_PER_S, Machine, Outcome
from tests.reference_policies import BOOKS, OVER, KvCap, Rank, Shed

Token = tuple[str, int]


class Cost(Protocol):
    """Integer picoseconds of an iteration, without and with prefill; `swap_token_ps`, where there is one, is
    the time of a token to the host or back."""

    @property
    def kv_token_ps(self) -> int: ...
    @property
    def kv_token_mixed_ps(self) -> int: ...
    @property
    def attention_ps(self) -> int: ...
    @property
    def prefix_ps(self) -> int: ...
    def decode_ps(self, decodes: int, /) -> int: ...
    def mixed_ps(self, decodes: int, prefill_tokens: int, sequences: int, /) -> int: ...


@dataclass(slots=True, eq=False)
class Job:
    """A request and its progress. `clock` is the arrival time that ranks it, where that is another."""

    id: str
    arrival_ps: int
    prompt: int
    output: int
    priority: int = 0
    tenant: str = ""
    class_name: str = ""
    segments: tuple[tuple[str, int], ...] = ()
    ttft_goal: int = NEVER
    e2e_goal: int = NEVER
    timeout_ps: int = NEVER
    prediction: int = 0
    """Output tokens predicted before the first; 0 stands for the truth."""
    parent: str = ""
    part: int = 0
    clock: float | None = None
    outcome: Outcome = Outcome.UNFINISHED
    first_scheduled_ps: int = NEVER
    first_token_ps: int = NEVER
    ended_ps: int = NEVER
    emitted: int = 0
    preemptions: int = 0
    recomputed: int = 0
    wait_ps: int = 0
    computed: int = 0
    """Tokens whose KV is in the cache."""
    reached: int = 0
    """Most tokens it ever had computed: what lies below is recomputed."""
    target: int = 0
    """Known tokens at its admission; of a request back from the host, what it had computed. From there on a
    piece is a decode."""
    queued_ps: int = 0
    """When it last joined the queue: its arrival or its last preemption."""
    overtaken: int = 0
    blocks: list[int] = field(default_factory=list)
    level: int = 0
    used_ps: int = 0
    sank_ps: int = NEVER
    """Time in the batch at its level."""
    level_at_choice: int = 0
    rank_at_admission: Rank = ()
    charged: int = 0
    need_at_admission: int = 0
    from_iteration: int = 0

    @property
    def known(self) -> int:
        return self.prompt + self.emitted

    @property
    def is_over(self) -> bool:
        return self.outcome in OVER

    def predicted(self, emitted: int) -> int:
        """Output tokens predicted in all, once so many are out: a prediction that is outlived doubles."""
        total = self.prediction or self.output
        while total <= emitted:
            total *= 2
        return total

    @property
    def arrival(self) -> float:
        return self.arrival_ps if self.clock is None else self.clock

    def token(self, i: int) -> Token:
        """Content of token i: of a named segment, of the private rest of the prompt, or generated."""
        if i >= self.prompt:
            return f"generated:{self.id}", i - self.prompt
        for name, length in self.segments:
            if i < length:
                return name, i
            i -= length
        return f"private:{self.id}", i


@dataclass(frozen=True, slots=True)
class Preemption:
    victim: str
    beneficiary: str
    lost_tokens: int
    at_ps: int


@dataclass(slots=True)
class Iteration:
    """What one iteration did, ids in the order of the decisions."""

    start_ps: int
    arrived: list[str]
    duration_ps: int = 0
    scheduled: list[tuple[str, int]] = field(default_factory=list)
    before: list[int] = field(default_factory=list)
    admitted: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    hits: list[tuple[str, int]] = field(default_factory=list)
    returned: list[tuple[str, int, int]] = field(default_factory=list)
    """From the host: id, tokens computed, and from which token on a piece is a decode."""
    preempted: list[Preemption] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    prefill_tokens: int = 0
    free_after_schedule: int = 0
    free_after_update: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    jobs: dict[str, Job]
    iterations: list[Iteration]
    stop_reason: str
    waiting: list[str]

    @property
    def end_ps(self) -> int:
        """When the last iteration ended."""
        return self.iterations[-1].start_ps + self.iterations[-1].duration_ps if self.iterations else 0


class Pool:
    """Blocks, their references and contents, and the queue of free ones: returned, never used, cached."""

    def __init__(self, size: int) -> None:
        self.size, self.fresh, self.free = size, 0, size
        self.head: list[int] = []
        self.tail: list[int] = []
        self.references: Counter[int] = Counter()
        self.content_of: dict[int, object] = {}
        self.holders: dict[object, list[int]] = {}

    def pop(self) -> int:
        self.free -= 1
        if self.head:
            block = self.head.pop(0)
        elif self.fresh < self.size:
            block, self.fresh = self.fresh, self.fresh + 1
        else:
            block = self.tail.pop(0)
            self.holders[self.content_of[block]].remove(block)
            del self.content_of[block]
        self.references[block] = 1
        return block

    def share(self, block: int) -> None:
        if not self.references[block]:
            self.tail.remove(block)
            self.free -= 1
        self.references[block] += 1

    def publish(self, block: int, content: object) -> None:
        self.content_of[block] = content
        self.holders.setdefault(content, []).append(block)

    def release(self, blocks: Iterable[int]) -> None:
        """Give back a request's blocks, the last of the list first."""
        returned = []
        for block in reversed(list(blocks)):
            self.references[block] -= 1
            if not self.references[block]:
                self.free += 1
                returned.append(block)
        self.head = [block for block in returned if block not in self.content_of] + self.head
        self.tail += [block for block in returned if block in self.content_of]


def half_up(fraction: object, whole: int) -> int:
    """The fraction, as the decimal that was written, of a whole number, rounded half up."""
    return int(Fraction(str(fraction)) * whole + Fraction(1, 2))


@dataclass(slots=True)
class Ratio:
    """Part of its remaining output that the gate `expected` reckons with for each request, in millionths."""

    start: Any = 0.7
    decay: Any = 0.001
    floor: Any = 0.1
    now: int = 0

    def __post_init__(self) -> None:
        self.start, self.decay, self.floor = (half_up(x, 10**6) for x in (self.start, self.decay, self.floor))
        self.now = self.start

    def fall(self) -> None:
        self.now = max(self.now - self.decay, self.floor)

    def learn(self, running: Sequence[Job], limits: int) -> None:
        """Growth has preempted: `limits` is the output that the remaining ones may have in all."""
        if running:
            seen = sum(job.emitted for job in running) + 20 * len(running)
            self.now = max(min(10**6, seen * 10**6 // limits), self.floor)


class Engine:
    """The state between two iterations, and the decisions of one."""

    def __init__(
        self,
        machine: Machine,
        jobs: Sequence[Job],
        policy: str,
        settings: Mapping[str, Any],
        cost: Cost,
        weights: Mapping[str, Fraction],
        ratio: Ratio | None = None,
    ) -> None:
        self.machine, self.policy, self.settings = machine, policy, settings
        self.cost, self.weights, self.jobs = cost, weights, jobs
        self.ratio = ratio or Ratio()
        self.now = self.iteration = 0
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self.pool = Pool(machine.kv_blocks)
        self.place = {job.id: place for place, job in enumerate(jobs)}
        self.chains: dict[tuple[object, ...], int] = {}
        self.alone: dict[tuple[int, int], int] = {}
        self.seen: Counter[tuple[object, ...]] = Counter()
        self.emitted_before = 0
        self.given: dict[Job, int] = {}
        self.grower: Job | None = None
        self.swaps = self.setting("mode", "") == "swap" and not machine.enable_prefix_caching
        self.urgent_level = self.setting("for_priority", None)
        if self.urgent_level is None:
            self.urgent_level = min((job.priority for job in jobs), default=0)
        self.keeps = policy in ("rescue", "rescue_cap")
        self.kept_blocks = half_up(self.setting("kv", 0.1), machine.kv_blocks) if self.keeps else 0
        self.kept_seats = half_up(self.setting("seats", 0), machine.max_num_seqs) if self.keeps else 0
        self.lends = self.keeps and bool(self.setting("lend", True))
        self.lend_share = self.setting("lend_share", 1) if self.lends else 0
        self.slices = self.token_slices() if self.keeps else []
        self.book = BOOKS[policy](self)

    def setting(self, name: str, default: Any) -> Any:
        return self.settings.get(name, default)

    def token_slices(self) -> list[tuple[int, int]]:
        """Priority down to which a slice belongs, and its tokens; the most urgent first."""
        budget = self.machine.max_num_batched_tokens
        table = self.setting("slices", None) or {self.urgent_level: self.setting("tokens", 0)}
        return sorted((int(level), half_up(share, budget)) for level, share in table.items())

    # ---- who loses

    def loser(self) -> Job:
        """Who is preempted when a running request needs a block and none is free."""
        return self.book.loser([job for job in self.running if not self.is_done(job)])

    def is_kv_blocked(self, job: Job) -> bool:
        need, room = self.kv_test(job, self.next_piece(job), [])
        return need > room

    def is_lower(self, job: Job) -> bool:
        return self.keeps and job.priority > self.urgent_level

    def tier(self, job: Job) -> int:
        """Which slice of the tokens is its own; the number of slices for none."""
        return sum(job.priority > level for level, _ in self.slices)

    def is_done(self, job: Job) -> bool:
        """Only static batching without streaming keeps a request that has all its tokens."""
        return job.emitted > 0 and job.emitted >= self.most_output(job)

    def most_output(self, job: Job) -> int:
        limit = self.machine.max_model_len
        return min(job.output, limit - job.prompt) if limit else job.output

    def alone_ps(self, prompt: int, output: int) -> int:
        """Time of a request alone on the empty engine, which ends its output at the longest context."""
        if self.machine.max_model_len:
            output = max(1, min(output, self.machine.max_model_len - prompt))
        if (prompt, output) not in self.alone:
            before, total = 0, (output - 1) * self.cost.decode_ps(1)
            while before < prompt:
                tokens = min(self.machine.max_num_batched_tokens, prompt - before)
                area = tokens * (2 * before + tokens)
                total += self.cost.mixed_ps(0, tokens, 1)
                total += self.cost.attention_ps * area // 2 + self.cost.prefix_ps * before
                before += tokens
            contexts = (output - 1) * prompt + (output - 1) * (output - 2) // 2
            self.alone[prompt, output] = total + self.cost.kv_token_ps * contexts
        return self.alone[prompt, output]

    # ---- blocks

    def content(self, job: Job, index: int) -> int:
        """Name of block `index` of a request: its tokens and, by chaining, all tokens before it."""
        size, name = self.machine.block_size, 0
        for i in range(index + 1):
            key = (name, *(job.token(t) for t in range(i * size, (i + 1) * size)))
            name = self.chains.setdefault(key, len(self.chains) + 1)
        return name

    def lookup(self, job: Job) -> list[int]:
        hits: list[int] = []
        if self.machine.enable_prefix_caching:
            while len(hits) < (job.known - 1) // self.machine.block_size:
                found = self.pool.holders.get(self.content(job, len(hits)))
                if not found:
                    break
                hits.append(found[0])
        return hits

    def allocate(self, job: Job, tokens: int) -> None:
        """Blocks for `tokens` more; each block that becomes full is published at once."""
        full = len(job.blocks) if job.computed % self.machine.block_size == 0 else len(job.blocks) - 1
        for _ in range(self.machine.blocks(job.computed + tokens) - len(job.blocks)):
            job.blocks.append(self.pool.pop())
        if self.machine.enable_prefix_caching:
            for index in range(full, (job.computed + tokens) // self.machine.block_size):
                self.pool.publish(job.blocks[index], self.content(job, index))

    def peak(self, job: Job) -> int:
        return self.machine.blocks(self.machine.tokens_of_life(job.prompt, job.output))

    def held(self, jobs: Iterable[Job], others: Iterable[Job] = ()) -> int:
        """Blocks that these requests hold and the others do not; promised ones under the gate on the peak."""
        if self.machine.gate == "peak":
            return sum(self.peak(job) for job in jobs)
        theirs = {block for job in others for block in job.blocks}
        return len({block for job in jobs for block in job.blocks} - theirs)

    def kept_from(self, job: Job, stay: Sequence[Job]) -> tuple[int, int]:
        """Blocks and seats that stay closed to this request while `stay` are running."""
        if not self.is_lower(job):
            return 0, 0
        urgent = [other for other in stay if not self.is_lower(other)]
        idle = max(0, self.kept_blocks - self.held(urgent)), max(0, self.kept_seats - len(urgent))
        return idle[0] - half_up(self.lend_share, idle[0]), idle[1] - half_up(self.lend_share, idle[1])

    def asked(self, job: Job, tokens: int, stay: Sequence[Job]) -> int:
        """Blocks that the gate asks of a waiting request beside those that stay, its hits among them."""
        hits, limit = len(self.lookup(job)), self.machine.max_model_len or job.known
        start, whole = hits * self.machine.block_size + job.computed, min(job.known, limit)
        if self.machine.gate == "first_chunk":
            whole = min(start + tokens, limit)
        elif self.machine.gate == "peak":
            whole = self.machine.tokens_of_life(job.prompt, job.output)
        elif self.machine.gate == "expected" and stay:
            whole = job.known + self.ratio.now * self.hoped(job) // 10**6
        return self.machine.blocks(whole)

    def hoped(self, job: Job) -> int:
        """Output that may still come, as far as the gate `expected` looks."""
        return min(job.prompt + self.most_output(job) - job.known, 4096)

    def future_peak(self, jobs: Sequence[Job]) -> int:
        """Most blocks that these hold at any time, if each gets a token in every iteration from now on."""
        left = {job: job.prompt + self.most_output(job) - job.known for job in jobs}
        return max(
            sum(self.machine.blocks(job.known + step) for job in jobs if left[job] > step)
            for step in {rest - 1 for rest in left.values()}
        )

    def kv_test(self, job: Job, tokens: int, leave: Sequence[Job]) -> tuple[int, int]:
        """Blocks that the gate asks of a waiting request, and blocks there would be if `leave` left."""
        stay = [other for other in self.running if other not in leave]
        gone = Counter(block for other in leave for block in other.blocks)
        free = self.pool.free + sum(self.pool.references[block] == times for block, times in gone.items())
        hits = self.lookup(job)
        woken = sum(self.pool.references[block] == gone[block] for block in hits)
        closed = (self.machine.watermark_blocks if stay else 0) + self.kept_from(job, stay)[0]
        closed += self.book.closed_blocks(job)
        need = max(0, self.asked(job, tokens, stay) - len(hits)) + woken
        if self.machine.gate == "peak":
            free = self.machine.kv_blocks - self.held(stay)
        if self.machine.gate == "expected":
            free -= self.machine.blocks(self.ratio.now * sum(map(self.hoped, stay)) // 10**6)
        if self.machine.gate == "lookahead" and need <= free:
            return self.future_peak([*stay, job]) + closed, self.machine.kv_blocks
        return need + closed, free

    # ---- one iteration

    def piece(self, job: Job, computed: int) -> int:
        rest = job.known - computed
        return min(rest, self.threshold) if self.threshold else rest

    def next_piece(self, job: Job) -> int:
        """Tokens of a waiting request's first chunk, whatever the budget."""
        return self.piece(job, job.computed + len(self.lookup(job)) * self.machine.block_size)

    def schedule(self, record: Iteration) -> dict[Job, int]:
        machine, crowd = self.machine, len(self.running) + len(self.waiting)
        self.threshold = machine.long_prefill_token_threshold if crowd > 1 else 0
        if self.threshold and machine.adaptive_threshold:
            self.threshold = max(self.threshold, machine.max_num_batched_tokens // crowd)
        self.record, self.given = record, dict[Job, int]()
        self.budget, self.moved = machine.max_num_batched_tokens, 0
        self.below = self.slice_caps(self.demands() if self.lends else None)
        self.running_pass()
        if not record.preempted:
            self.waiting_pass()
        for job, tokens in self.given.items():
            record.scheduled.append((job.id, tokens))
            record.before.append(job.computed)
        record.duration_ps = self.duration_ps() + getattr(self.cost, "swap_token_ps", 0) * self.moved
        for job, tokens in self.given.items():
            job.recomputed += max(0, min(job.reached, job.computed + tokens) - job.computed)
            job.computed += tokens
            job.reached = max(job.reached, job.computed)
        record.waiting = [job.id for job in sorted(self.waiting, key=self.book.rank)]
        record.running = [job.id for job in self.running]
        record.free_after_schedule = self.pool.free
        return self.given

    def demands(self) -> list[int]:
        """What the owners of each slice, running or about to enter, can use of it in this iteration."""
        total = [0 for _ in self.slices] + [0]
        for job in self.running:
            total[self.tier(job)] += self.piece(job, job.computed)
        count, taken = len(self.running), 0
        for job in sorted(self.waiting, key=self.book.rank):
            tokens = self.next_piece(job)
            need, room = self.kv_test(job, min(tokens, self.budget), [])
            no_seat = count + self.kept_from(job, self.running)[1] >= self.machine.max_num_seqs
            if self.tier(job) == len(self.slices) or no_seat or need + taken > room:
                break
            total[self.tier(job)] += tokens
            count, taken = count + 1, taken + need
        return total

    def slice_caps(self, demands: Sequence[int] | None) -> list[int]:
        """Tokens that all the requests below each slice may have together in this iteration."""
        caps, left = [], self.machine.max_num_batched_tokens
        for i, (_, tokens) in enumerate(self.slices):
            left -= tokens if demands is None else min(tokens, demands[i])
            caps.append(max(0, left))
        return caps

    def give(self, job: Job, tokens: int) -> None:
        """Tokens of this iteration; negative ones are taken back."""
        self.budget -= tokens
        for i in range(self.tier(job)):
            self.below[i] -= tokens

    def left_for(self, job: Job) -> int:
        return max(
            0, min(self.budget, self.book.tokens_left(job), *self.below[: self.tier(job)], self.budget)
        )

    def running_pass(self) -> None:
        for job in self.book.running_order():
            if self.budget == 0:
                break
            if job not in self.running or self.is_done(job):
                continue
            tokens = min(self.piece(job, job.computed), self.left_for(job))
            if self.machine.max_model_len:
                tokens = min(tokens, self.machine.max_model_len - job.computed - 1)
            if tokens == 0:
                continue
            self.make_room(job, self.machine.blocks(job.computed + tokens) - len(job.blocks))
            if job in self.running:
                self.allocate(job, tokens)
                self.given[job] = tokens
                self.give(job, tokens)
            elif self.policy == "fcfs":
                break
        if self.record.preempted:
            self.ratio.learn(self.running, sum(map(self.most_output, self.running)))

    def make_room(self, job: Job, need: int) -> None:
        """Preempt until a running request has the blocks it needs, itself perhaps."""
        self.grower = job
        while self.book.exceeds_share(job, need) or need > self.pool.free - self.guarded(job, need):
            victim = self.loser()
            self.preempt(victim, job)
            if victim is job:
                return

    def guarded(self, job: Job, need: int) -> int:
        """Blocks that a running request may not grow into."""
        guards = self.keeps and self.setting("guard_growth", False) and need > 0
        return self.kept_from(job, self.running)[0] if guards else 0

    def preempt(self, victim: Job, beneficiary: Job) -> None:
        self.give(victim, -self.given.pop(victim, 0))
        self.record.preempted.append(Preemption(victim.id, beneficiary.id, victim.computed, self.now))
        self.pool.release(victim.blocks)
        victim.blocks = []
        if self.swaps:
            self.moved += victim.computed
        else:
            victim.computed = 0
        victim.preemptions += 1
        victim.queued_ps = self.now
        self.running.remove(victim)
        self.book.queued(victim, newly=False)
        self.waiting.insert(0, victim)

    def is_closed(self) -> bool:
        """Static batching: a batch enters an empty engine, as a whole or after the longest wait."""
        if self.policy != "static":
            return False
        seats = self.machine.max_num_seqs
        batch = min(self.setting("batch", 0) or seats, seats)
        if self.running:
            return len(self.running) >= batch or not self.record.admitted + self.record.resumed
        return len(self.waiting) < batch and bool(self.waiting) and self.now < self.timer_ps()

    def timer_ps(self) -> int:
        longest = Fraction(str(self.setting("max_wait_s", 0))) * PS_PER_S
        return min(job.arrival_ps for job in self.waiting) + int(longest)

    def waiting_pass(self) -> None:
        blocked, lines = list[Job](), set[object]()
        while self.budget > 0 and not self.is_closed():
            candidates = [
                job for job in self.waiting if job not in blocked and self.book.line(job) not in lines
            ]
            if not candidates:
                return
            self.book.choosing()
            job = min(candidates, key=self.book.rank)
            victims = self.who_must_leave(job)
            if victims is None:
                blocked.append(job)
                misfit = self.book.misfit(job)
                if misfit == "stop" or (not self.is_barred(job) and self.has_no_seat(job, [])):
                    return
                if misfit == "pass":
                    lines.add(self.book.line(job))
            else:
                for victim in victims:
                    self.preempt(victim, job)
                self.admit(job)
                for other in blocked:
                    other.overtaken += 1
            limit = self.setting("limit", 4)
            if self.policy == "skip_limit" and any(other.overtaken >= limit for other in blocked):
                return

    def has_no_seat(self, job: Job, leave: Sequence[Job]) -> bool:
        stay = [other for other in self.running if other not in leave]
        return len(stay) + self.kept_from(job, stay)[1] >= self.machine.max_num_seqs

    def is_barred(self, job: Job) -> bool:
        """It was preempted in this iteration."""
        return any(preemption.victim == job.id for preemption in self.record.preempted)

    def first_piece(self, job: Job, leave: Sequence[Job]) -> int:
        """Tokens a waiting request would start with; 0 where the budget forbids it."""
        for other in leave:
            self.give(other, -self.given.get(other, 0))
        left = self.left_for(job)
        for other in leave:
            self.give(other, self.given.get(other, 0))
        tokens = self.next_piece(job)
        return 0 if not self.machine.enable_chunked_prefill and tokens > left else max(0, min(tokens, left))

    def who_must_leave(self, job: Job) -> list[Job] | None:
        """Running requests to preempt so that this one can enter, most often none; None when it cannot."""
        if self.is_barred(job) or self.first_piece(job, []) == 0 or self.book.holds_back(job):
            return None
        candidates = self.book.preemptible(job)
        leave: list[Job] = []
        while True:
            need, room = self.kv_test(job, self.first_piece(job, leave), leave)
            no_blocks, no_seat = need > room, self.has_no_seat(job, leave)
            if not no_blocks and not no_seat:
                return leave
            lower = [other for other in self.running if self.is_lower(other) and other not in leave]
            urgent = [other for other in self.running if not self.is_lower(other)]
            lent_blocks = self.held(lower, urgent) > self.machine.kv_blocks - self.kept_blocks
            lent_seats = len(lower) > self.machine.max_num_seqs - self.kept_seats
            on_loan = (lent_blocks or not no_blocks) and (lent_seats or not no_seat)
            if self.keeps and not on_loan:
                return None
            if len(leave) == len(candidates):
                return None
            leave.append(candidates[len(leave)])

    def admit(self, job: Job) -> None:
        tokens, hits = self.first_piece(job, []), self.lookup(job)
        (self.record.resumed if job.preemptions else self.record.admitted).append(job.id)
        if hits:
            self.record.hits.append((job.id, len(hits) * self.machine.block_size))
        self.waiting.remove(job)
        self.running.append(job)
        for block in hits:
            self.pool.share(block)
        job.target = job.known
        if self.swaps and job.preemptions:
            self.moved += job.computed
            job.target = job.computed if job.computed >= job.prompt else job.known
            self.record.returned.append((job.id, job.computed, job.target))
        else:
            job.computed = len(hits) * self.machine.block_size
        job.blocks = hits
        self.allocate(job, tokens)
        self.given[job] = tokens
        self.give(job, tokens)
        job.wait_ps += self.now - job.queued_ps
        job.overtaken = 0
        first = job.first_scheduled_ps == NEVER
        if first:
            job.first_scheduled_ps = self.now
        self.book.admitted(job, first)

    def duration_ps(self) -> int:
        decodes = [job for job in self.given if job.computed >= job.target]
        chunks = [(job.computed, self.given[job]) for job in self.given if job not in decodes]
        context = sum(job.computed for job in decodes)
        self.record.prefill_tokens = prefill = sum(tokens for _, tokens in chunks)
        if not chunks:
            return self.cost.decode_ps(len(decodes)) + self.cost.kv_token_ps * context
        area = sum(tokens * (2 * before + tokens) for before, tokens in chunks)
        return (
            self.cost.mixed_ps(len(decodes), prefill, len(self.given))
            + self.cost.kv_token_mixed_ps * context
            + self.cost.attention_ps * area // 2
            + self.cost.prefix_ps * max(before for before, _ in chunks)
        )

    # ---- after the model ran

    def end(self, job: Job, outcome: Outcome) -> None:
        """Leave the engine, from the queue or from the batch."""
        if job in self.waiting:
            job.wait_ps += self.now - job.queued_ps
            self.waiting.remove(job)
        elif job in self.running:
            self.running.remove(job)
            self.pool.release(job.blocks)
        job.outcome, job.ended_ps = outcome, self.now
        self.book.ended(job)

    def time_out(self) -> None:
        # Clients give up one after the other: by deadline; at equal ones, in the order of the list.
        present = sorted(
            self.waiting + self.running, key=lambda job: (job.arrival_ps + job.timeout_ps, self.place[job.id])
        )
        for job in present:
            if job.timeout_ps != NEVER and job.arrival_ps + job.timeout_ps <= self.now:
                self.end(job, Outcome.TIMED_OUT)

    def update(self, record: Iteration) -> None:
        streams = self.policy != "static" or self.setting("stream", True)
        for job in self.given:
            if job in self.running and job.computed == job.known:
                job.emitted += 1
                self.book.got_token(job)
                if job.first_token_ps == NEVER:
                    job.first_token_ps = self.now
                if self.is_done(job) and streams:
                    record.finished.append(job.id)
                    self.end(job, Outcome.FINISHED)
        if not streams and all(self.is_done(job) for job in self.running):
            record.finished += [job.id for job in self.running]
            for job in list(self.running):
                self.end(job, Outcome.FINISHED)
        record.free_after_update = self.pool.free
        self.book.has_run(record.duration_ps)
        self.ratio.fall()
        self.iteration += 1

    def deadlines(self) -> list[int]:
        present = self.waiting + self.running
        return [job.arrival_ps + job.timeout_ps for job in present if job.timeout_ps != NEVER]

    def goes_round(self, record: Iteration) -> bool:
        """Batch and cache are as they were after an earlier preemption, and nobody has got a token since."""
        emitted = sum(job.emitted for job in self.waiting + self.running)
        if emitted != self.emitted_before or record.arrived or record.finished:
            self.seen.clear()
        self.emitted_before = emitted
        cached = tuple(self.pool.content_of[block] for block in self.pool.tail)
        running = tuple((job.id, job.computed, self.book.state(job)) for job in self.running)
        state = (running, cached, frozenset((job.id, self.book.state(job)) for job in self.waiting))
        if not record.preempted:
            return False
        self.seen[state] += 1
        return self.seen[state] > 1

    def is_refused(self, job: Job) -> bool:
        """It can never run, or a cap of the policy is too small for it."""
        machine = self.machine
        blocks, seats = self.kept_from(job, [])
        never_fits = self.peak(job) > machine.kv_blocks - blocks or seats >= machine.max_num_seqs
        if not self.lends:
            never_fits |= 0 in self.slice_caps(None)[: self.tier(job)]
        no_prompt = job.prompt == 0 or bool(machine.max_model_len and job.prompt >= machine.max_model_len)
        return no_prompt or (machine.refuse_infeasible and never_fits) or self.book.is_capped_out(job)

    def arrive(self, job: Job, decides: bool = True) -> None:
        if self.is_refused(job):
            job.outcome, job.ended_ps = Outcome.REFUSED, job.arrival_ps
            return
        job.queued_ps = job.arrival_ps
        if isinstance(self.book, Shed) and decides:
            out = self.book.who_is_shed(job)
            if out is job:
                job.outcome, job.ended_ps = Outcome.SHED, job.arrival_ps
                return
            if out is not None:
                self.end(out, Outcome.SHED)
        self.book.queued(job, newly=True)
        self.waiting.append(job)


def split(jobs: Sequence[Job], machine: Machine, settings: Mapping[str, Any]) -> list[Job]:
    """Requests too long for the cap of their class, cut into pieces of even prompts, each with the prefix."""
    cap, prefix = settings.get("per_request"), settings.get("split_prefix", 0)
    limit = Fraction(machine.kv_blocks * machine.block_size, 4) if cap is None else Fraction(cap)
    levels, found = sorted({job.priority for job in jobs}), list[Job]()
    for job in jobs:
        own = int(limit) - job.output + 1 - prefix
        size = machine.tokens_of_life(job.prompt, job.output)
        is_free = len(levels) > 1 and job.priority == levels[0]
        if is_free or size <= limit or own < 1:
            found.append(job)
            continue
        count = -(-job.prompt // own)
        for i in range(count):
            prompt = job.prompt // count + (i < job.prompt % count) + prefix
            found.append(replace(job, id=f"{job.id}/{i + 1}", prompt=prompt, parent=job.id, part=i))
    return found


def run(
    machine: Machine,
    jobs: Sequence[Job],
    policy: str,
    settings: Mapping[str, Any],
    cost: Cost,
    weights: Mapping[str, Fraction] | None = None,
    horizon_ps: int | None = None,
    ratio: Ratio | None = None,
) -> Result:
    """Run the requests, given in order of arrival, until all have ended, nothing can move, or the horizon."""
    if issubclass(BOOKS[policy], KvCap) and settings.get("split"):
        jobs = split(jobs, machine, settings)
    engine = Engine(machine, jobs, policy, settings, cost, weights or {}, ratio)
    coming, iterations, stop_reason, arrived = list(jobs), list[Iteration](), "", list[str]()
    while horizon_ps is None or engine.now < horizon_ps:
        while coming and coming[0].arrival_ps <= engine.now:
            engine.arrive(coming[0])
            arrived.append(coming.pop(0).id)
        engine.time_out()
        engine.book.at_boundary()
        if engine.waiting or engine.running:
            record = Iteration(engine.now, arrived)
            engine.schedule(record)
            if record.scheduled or record.preempted:
                iterations.append(record)
                engine.now += record.duration_ps
                engine.time_out()
                engine.update(record)
                if engine.goes_round(record) and not coming and not engine.deadlines():
                    stop_reason = "livelock"
                    break
                arrived = []
                continue
        events = [job.arrival_ps for job in coming[:1]] + engine.deadlines()
        if policy == "static" and engine.waiting and engine.now < engine.timer_ps():
            events.append(engine.timer_ps())
        if not events:
            stop_reason = "stalled" if horizon_ps is None and (engine.waiting or engine.running) else ""
            break
        engine.now = min(events) if horizon_ps is None else min(*events, horizon_ps)
    for job in coming:
        # Nobody decided about it any more, but what can never run is refused on arrival.
        engine.arrive(job, decides=False)
    # Whoever came and gave up while the last iteration ran has given up, as those who were there before.
    engine.time_out()
    return Result({job.id: job for job in jobs}, iterations, stop_reason, [job.id for job in engine.waiting])
