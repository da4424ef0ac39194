"""The parts of a scenario that are not requests: the engine, what was promised, the weight of a tenant."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from sched.fields import Flag, Part, Real, Text, Whole, knob, whole
from sched.laws import MOST_TOKENS

LONGEST_S = 100 * 86400
"""No run is longer than this: 2^63 picoseconds are 106 days."""

SHORTEST_S = 1e-12
"""A picosecond: what is shorter would be no time at all."""


def _blocks(value: Any) -> int | str | None:
    if value is None or value == "unlimited":
        return value  # type: ignore[no-any-return]
    return whole(value)


Gate = Literal["full_prompt", "first_chunk", "peak", "expected", "lookahead"]


class Affine(Part):
    """An iteration's time as a straight line: for teaching and theory.

    Time = base_s + prefill_token_s x prefill tokens + decode_seq_s x decoding requests + kv_token_s x
    cached tokens read + attention_s x sum over prefill chunks of q (before + q / 2). The defaults resemble
    an 8B model on a GPU with 2 TB/s.
    """

    base_s: Real = knob(
        0.008, "Base", "Time of an iteration that does nothing.", unit="s", above=0.0, high=3600.0
    )
    prefill_token_s: Real = knob(
        6e-5, "Per prefill token", "Time per prompt token.", unit="s", low=0.0, high=60.0
    )
    decode_seq_s: Real = knob(3e-5, "Per decode", "Time per decoding request.", unit="s", low=0.0, high=60.0)
    kv_token_s: Real = knob(
        8.7e-8, "Per cached token", "Time per cached token read.", unit="s", low=0.0, high=1.0
    )
    attention_s: Real = knob(
        2e-9, "Attention", "Time per pair of prompt tokens.", unit="s", low=0.0, high=1.0
    )
    swap_token_s: Real = knob(
        0.0,
        "Per swapped token",
        "To move a token's KV to the host or back.",
        unit="s",
        low=0.0,
        high=60.0,
    )


class Engine(Part):
    """The serving engine: memory, seats, token budget, and how long an iteration takes."""

    hardware: Text = knob(
        "h100_sxm|llama-3.1-8b|tp1",
        "Hardware",
        "A fitted model and GPU; or constant: every iteration takes iteration_s; or affine: a straight line.",
        low=1,
        high=200,
    )
    iteration_s: Real = knob(
        1.0,
        "Iteration time",
        "For constant hardware.",
        unit="s",
        low=1e-6,
        high=3600.0,
        step=0.01,
        expert=True,
    )
    affine: Affine = knob(Affine(), "Affine coefficients", "For affine hardware.", expert=True)
    kv_blocks: Annotated[int | Literal["unlimited"] | None, BeforeValidator(_blocks)] = knob(
        None,
        "KV memory",
        "Blocks that can be used; unlimited; or none: what the hardware has, unlimited where it has no say.",
        unit="blocks",
        low=1,
        high=100_000_000,
        step=50,
        also='"unlimited"',
    )
    block_size: Whole = knob(
        16, "Block size", "Tokens in a KV block.", unit="tokens", low=1, high=65536, expert=True
    )
    max_num_seqs: Whole = knob(
        256, "Seats", "Most requests in the batch at once.", unit="seats", low=1, high=65536, step=1
    )
    max_num_batched_tokens: Whole = knob(
        2048, "Token budget", "Most tokens in one iteration.", unit="tokens", low=1, high=MOST_TOKENS, step=64
    )
    long_prefill_token_threshold: Whole = knob(
        0,
        "Longest prefill chunk",
        "Most prompt tokens of one request in an iteration while others are there; 0: off.",
        unit="tokens",
        low=0,
        high=MOST_TOKENS,
        step=64,
        expert=True,
    )
    long_prefill_adaptive: Flag = knob(
        False,
        "Adaptive chunk",
        "Raises the longest chunk to an equal share of the budget when few compete.",
        expert=True,
    )
    enable_chunked_prefill: Flag = knob(
        True, "Chunked prefill", "A prompt may be computed in pieces over several iterations.", expert=True
    )
    enable_prefix_caching: Flag = knob(
        False, "Prefix caching", "A prompt that begins like an earlier one reuses its blocks."
    )
    watermark: Real = knob(
        0.0,
        "Watermark",
        "Share of the blocks kept free at admission while anything runs.",
        low=0.0,
        high=0.9,
        step=0.01,
        expert=True,
    )
    max_model_len: Whole = knob(
        0,
        "Context limit",
        "Most tokens of prompt and output together; 0: no limit.",
        unit="tokens",
        low=0,
        high=2 * MOST_TOKENS,
        expert=True,
    )
    gate: Gate = knob(
        "full_prompt",
        "Admission gate",
        "What must fit before a request is admitted: its whole prompt, its first chunk, its peak (prompt "
        "and output), its expected peak, or the near future of the whole batch.",
    )
    expected_ratio: Real = knob(
        0.7,
        "Output expected",
        "Of the expected gate: share of the output still to come that is kept free at first.",
        low=0.0,
        high=1.0,
        step=0.05,
        expert=True,
    )
    expected_decay: Real = knob(
        0.001, "Expectation falls by", "In each iteration, until a preemption raises it; 0: never.",
        low=0.0, high=1.0, step=0.001, expert=True,
    )  # fmt: skip
    expected_floor: Real = knob(
        0.1, "Least expected", "Where the fall of the expectation ends.", low=0.0, high=1.0, step=0.05,
        expert=True,
    )  # fmt: skip
    swap_gb_per_s: Real = knob(
        50.0,
        "Swap bandwidth",
        "One way between a GPU and its host, for policies that swap preempted KV; with a hardware preset.",
        unit="GB/s",
        low=0.001,
        high=10_000.0,
        step=5.0,
        expert=True,
    )
    refuse_infeasible: Flag = knob(
        True, "Refuse what never fits", "false only to replay a recorded trace.", expert=True
    )
    replicas: Whole = knob(1, "Replicas", "Engines behind a router; one for now.", low=1, high=1, expert=True)


class Slo(Part):
    """What was promised to a class of requests; what is absent was not promised."""

    ttft_s: Real | None = knob(
        None,
        "Time to first token",
        "Goal for arrival to first token.",
        unit="s",
        low=SHORTEST_S,
        high=1e6,
        step=0.1,
    )
    tpot_s: Real | None = knob(
        None,
        "Time per output token",
        "Goal for the mean gap.",
        unit="s",
        low=SHORTEST_S,
        high=1e6,
        step=0.005,
    )
    e2e_s: Real | None = knob(
        None,
        "End to end",
        "Goal for arrival to last token.",
        unit="s",
        low=SHORTEST_S,
        high=float(LONGEST_S),
        step=1.0,
        expert=True,
    )


def timeout() -> Any:
    """The knob of a client's patience."""
    return knob(
        None,
        "Time-out",
        "The client gives up after this long; none: never.",
        unit="s",
        low=SHORTEST_S,
        high=float(LONGEST_S),
        step=1.0,
        expert=True,
    )


class ClassPromise(Part):
    """What holds for a class however its requests came: explicit, generated or from a trace."""

    slo: Slo = knob(Slo(), "Promises", "Goals of this class.")
    timeout_s: Real | None = timeout()


class Tenant(Part):
    """Whose requests they are."""

    weight: Real = knob(1.0, "Weight", "Share this tenant is entitled to.", above=0.0, high=1e6, step=0.5)
