"""The nouns every floor shares: what a request is to a policy, what the machine has, how a policy declares a
setting.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple

PS_PER_S = 10**12
"""Picoseconds in a second. Inside the engine time is an int of picoseconds."""

UNLIMITED_BLOCKS = 2**40
"""What `kv_blocks = "unlimited"` becomes: more blocks than any run can fill, still exact in 64 bits."""

NEVER = -1
"""Stands in an integer column for a time that did not come."""


class Outcome(IntEnum):
    """How a request ended; every request ends in exactly one of these."""

    FINISHED = 0
    REFUSED = 1
    TIMED_OUT = 2
    SHED = 3
    UNFINISHED = 4


class StayEnd(IntEnum):
    """Why a request left the running batch."""

    FINISHED = 0
    OUTGROWN = 1
    """Preempted because a running request needed a block and none was free."""
    DISPLACED = 2
    """Preempted to let a waiting request in."""
    TIMED_OUT = 3
    STILL_RUNNING = 4
    """In the batch when the horizon came."""


class RefusalCode(IntEnum):
    """Why the request at the head of the queue was not admitted."""

    KV = 0
    TOKENS = 1
    SEATS = 2
    RESERVED = 3
    """It fits physically, but the blocks or seats are set aside for others."""
    AFTER_PREEMPTION = 4
    """Somebody was preempted in this iteration, so nobody is admitted in it."""
    BATCH_CLOSED = 5
    """The policy admits nobody now (static batching)."""
    HELD = 6
    """The policy holds it back although it fits: a cap, a quota."""


class Request(NamedTuple):
    """What a policy sees of a request. There is no output length: no real scheduler knows it.

    `priority` is already turned so that the smaller number is the more urgent, whatever the scenario's
    direction. `ttft_goal_ps` and `e2e_goal_ps` are the times to first and last token that were promised, or
    NEVER. `parent` is the id of the request of which this is a piece, or "".
    """

    ordinal: int
    id: str
    class_name: str
    tenant: str
    priority: int
    arrival_ps: int
    prompt_tokens: int
    ttft_goal_ps: int = NEVER
    e2e_goal_ps: int = NEVER
    parent: str = ""


class Standing(NamedTuple):
    """How far a request has come, when a policy is asked about it.

    `since_ps` is its arrival, or its last preemption. `computed_tokens` are those whose KV it has, or keeps
    on the host after a swap. `admission` counts who entered the batch before it; NEVER while it has not.
    `cached_tokens` are those at its start that the prefix cache holds now, told only to a policy that reads
    the cache.
    """

    now_ps: int
    since_ps: int
    emitted_tokens: int = 0
    computed_tokens: int = 0
    preemptions: int = 0
    admission: int = NEVER
    cached_tokens: int = 0


class Holding(NamedTuple):
    """What a tenant's running requests hold now: KV blocks (under the peak gate: promised ones) and seats."""

    kv_blocks: int
    seats: int


class Door(NamedTuple):
    """What a policy that turns requests away sees when one arrives.

    `iteration` is the number of the next one, `iteration_ps` how long the last one took (before any: one of a
    single decode). `running` requests have `running_work` iterations left by the policy's own count of their
    work, which may be less than nothing.
    """

    now_ps: int
    iteration: int
    iteration_ps: int
    running: int
    running_work: int


class Pool(NamedTuple):
    """What a tenant may have at most: KV blocks and seats at any time, tokens in an iteration."""

    kv_blocks: int
    seats: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The engine's fixed numbers, presets resolved. Blocks, tokens and seats are counts.

    `kv_blocks` is what can be used (a recorded pool of N blocks has N - 1). `watermark_blocks` are kept free
    at admission while anything runs. `max_model_len` 0 means no limit.
    Source: vLLM 0.33, config/scheduler.py.
    """

    kv_blocks: int
    block_size: int
    max_num_seqs: int
    max_num_batched_tokens: int
    long_prefill_token_threshold: int = 0
    adaptive_threshold: bool = False
    enable_chunked_prefill: bool = True
    enable_prefix_caching: bool = False
    watermark_blocks: int = 0
    max_model_len: int = 0
    gate: Literal["full_prompt", "first_chunk", "peak", "expected", "lookahead"] = "full_prompt"
    refuse_infeasible: bool = True
    expected_ratio: int = 700_000
    expected_decay: int = 0
    expected_floor: int = 0
    """Of the expected gate, in millionths: the share of the output still to come that is kept free, what it
    falls by in each iteration, and where it ends.
    """

    def blocks(self, tokens: int) -> int:
        """Blocks that hold this many tokens."""
        return -(-tokens // self.block_size)

    def tokens_of_life(self, prompt_tokens: int, output_tokens: int) -> int:
        """Most tokens whose KV a request ever holds: the last token's KV is never computed."""
        total = prompt_tokens + output_tokens
        return (min(total, self.max_model_len) if self.max_model_len else total) - 1


@dataclass(frozen=True, slots=True)
class SetAside:
    """What a policy keeps from lower classes for requests with priority <= `for_priority`.

    `kv_blocks` and `seats` are what lower classes may not take while idle; `lendable_*` is the part of an
    idle buffer that is lent all the same and taken back by preemption. `tokens` is the slice of an
    iteration's budget.
    """

    for_priority: int
    kv_blocks: int = 0
    tokens: int = 0
    seats: int = 0
    lend: bool = False
    lend_share: float = 1.0
    guard_growth: bool = False
    """Lower classes may not grow into the buffer either; the lowest of them yields."""
    slices: tuple[tuple[int, int], ...] = ()
    """Tokens of an iteration kept for each level and above: (priority, tokens), most urgent first."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob of a policy, declared once: the form, the link, the file, the command line and the help come
    from it.
    """

    name: str
    default: bool | int | float | str | tuple[float, ...] | None
    title: str
    help: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    table: bool = False
    """A table of numbers by name (such as token slices per priority) instead of one value."""
