"""What one engine counts: its batch, its waiting queue, its KV blocks, and who of them is urgent.

Requests that decode straight are only sums (`kv.Decoders`); everybody else in the batch is `explicit`.
"""

from typing import Any

from sched.job import Job, Recorder
from sched.kv import Decoders, PrefixPool
from sched.ledger import Ledger, asks_for_ledger
from sched.model import Machine, RefusalCode, Standing
from sched.policies.base import Policy, overrides
from sched.queues import queue_for
from sched.slices import Slices


class Books:
    """State of one engine between and during decisions. `iteration` and `now_ps` are those of the decision at
    hand.
    """

    def __init__(self, machine: Machine, policy: Policy, recorder: Recorder) -> None:
        self.machine, self.policy, self.recorder = machine, policy, recorder
        self.pool = (
            PrefixPool(machine.kv_blocks, machine.block_size) if machine.enable_prefix_caching else None
        )
        self.size, self.kv_blocks = machine.block_size, machine.kv_blocks
        self.seats = min(machine.max_num_seqs, policy.batch_limit or machine.max_num_seqs)
        self.token_budget = machine.max_num_batched_tokens
        self.watermark_blocks = machine.watermark_blocks
        self.whole_prompt, self.by_peak = machine.gate == "full_prompt", machine.gate == "peak"
        self.foresees = machine.gate in ("expected", "lookahead")
        self.caps = policy.pools is not None or overrides(policy, "holds_back")
        self.chooses = overrides(policy, "choosing")
        # Whoever enters changes what is thought of those who still wait.
        self.order_moves = policy.fair or self.chooses or policy.counts_holdings or policy.reads_cache
        self.ratio = machine.expected_ratio
        self.by_rank, self.fair, self.scans = policy.running_by_rank, policy.fair, policy.misfit == "skip"
        # With prefix caching what is preempted stays in the cache while nobody needs the blocks.
        self.swaps = policy.swaps and not machine.enable_prefix_caching
        self.queue_told = overrides(policy, "queued", "unqueued", "drained")
        self.plain = self.pool is None and not machine.long_prefill_token_threshold
        self.plain = (
            self.plain
            and policy.pools is None
            and (policy.set_aside is None or not (policy.set_aside.slices or policy.set_aside.guard_growth))
        )
        self.queue = queue_for(policy, self.standing)
        self.waiting = 0
        self.running: list[Job] = []
        self.orders: list[Any] = []
        self.explicit: list[Job] = []
        self.parked: list[Job] = []
        self.straight = Decoders(machine.block_size)
        self.straight_held = 0
        self.explicit_held = 0
        self.promised = 0
        self.finishing: list[tuple[int, int, Job]] = []
        self.aside = self.first_aside = policy.set_aside
        self.urgent_straight = Decoders(machine.block_size)
        self.urgent_running = self.urgent_held = self.urgent_promised = 0
        self.iteration = self.now_ps = self.admissions = self.iteration_ahead = 0
        self.threshold = 0
        self.budget = 0
        self.slices = Slices(policy.set_aside) if policy.set_aside and policy.set_aside.slices else None
        self.pieces: list[tuple[Job, int]] = []
        self.preempted: list[Job] = []
        self.barren = 0  # preemptions since the last token
        self.moved_tokens = 0  # to the host and back, in the iteration at hand
        self.refusal = RefusalCode.KV
        self.refused_need = 0
        self.ledger = Ledger(self) if asks_for_ledger(policy) else None

    def standing(self, job: Job) -> Standing:
        """How far a request has come, as its policy may know it."""
        if not job.straight:
            emitted, computed = job.known - job.request[6], job.computed
        else:
            computed = self.iteration + job.offset
            emitted = computed + 1 - job.request[6]
        cached = 0
        if self.pool and self.policy.reads_cache and job.admission < 0:
            cached = len(self.hits_of(job)) * self.size
        return Standing(self.now_ps, job.since_ps, emitted, computed, job.preemptions, job.admission, cached)

    def hits_of(self, job: Job) -> list[int]:
        """Cached blocks that hold the start of a request's tokens; at least one token is always computed."""
        assert self.pool
        most = (job.known - 1) // self.size
        self.pool.extend_chain(job.chain, job.content, most, job.shared)
        return self.pool.lookup(job.chain, most)

    def work_left(self) -> int:
        """Iterations that the running requests still need, by the policy's count of each at its admission."""
        ledger = self.ledger
        if not ledger:
            return 0
        return (
            ledger.work
            + sum(job.stay_from for job in self.running)
            - len(self.running) * self.iteration_ahead
        )

    def room(self) -> int:
        """Blocks that nobody holds after this iteration's grants; under the peak gate: that nobody was
        promised.
        """
        if self.by_peak:
            return self.kv_blocks - self.promised
        if self.pool:
            return self.pool.free()
        return self.kv_blocks - self.explicit_held - self.straight_held

    def used(self) -> int:
        """Blocks that somebody holds after this iteration's grants."""
        if self.pool:
            return self.machine.kv_blocks - self.pool.free()
        return self.explicit_held + self.straight_held

    def used_before(self, iteration: int) -> int:
        """Blocks held before this iteration's grants."""
        if self.pool:
            return self.machine.kv_blocks - self.pool.free()
        return self.explicit_held + (self.straight.held(iteration - 1) if self.straight.count else 0)

    def hold(self, job: Job, blocks: int) -> None:
        """An explicit request now holds so many blocks."""
        more = blocks - job.held
        job.held = blocks
        self.explicit_held += more
        if job.urgent:
            self.urgent_held += more
        if self.ledger:
            self.ledger.held(job, more)

    def grow(self, pool: PrefixPool, job: Job, computed: int, tokens: int) -> None:
        """With prefix caching: named blocks for the next tokens, and their names as they become full."""
        size = self.machine.block_size
        job.blocks.extend(pool.take(-(-(computed + tokens) // size) - len(job.blocks)))
        full = (computed + tokens) // size
        if full > computed // size:
            pool.extend_chain(job.chain, job.content, full, job.shared)
            pool.commit(job.blocks, job.chain, computed // size, full)

    def held_by(self, job: Job, tokens: int) -> int:
        """Blocks of a request in this iteration; of a straight decoder, once it has so many tokens of it."""
        return -(-(self.iteration + job.offset + tokens) // self.size) if job.straight else job.held
