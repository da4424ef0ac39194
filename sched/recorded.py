"""Decision traces of the real vLLM scheduler (`vllm-oracle-trace/1`): what was asked of it, what it did.

A trace has one record a scheduler call; in the compact form a record leaves out what repeats or is empty.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sched.model import Machine

FORMAT = "vllm-oracle-trace/1"


@dataclass
class Step:
    """One scheduler call. Requests are named by their row in the trace; pairs are (row, tokens)."""

    time: int
    added: list[int] = field(default_factory=list)
    scheduled: list[tuple[int, int]] = field(default_factory=list)
    admitted: list[int] = field(default_factory=list)
    resumed: list[int] = field(default_factory=list)
    hits: list[tuple[int, int]] = field(default_factory=list)
    preempted: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    free_scheduled: int = 0
    free_updated: int = 0


def recorded_steps(trace: dict[str, Any]) -> Iterator[Step]:
    """The calls of a trace with everything spelled out that its compact form leaves to defaults."""
    time = -1
    scheduled: list[tuple[int, int]] = []
    waiting: list[int] = []
    for row in trace["steps"]:
        time = row.get("t", time + 1)
        if "s" in row:
            scheduled = [(one, 1) if isinstance(one, int) else (one[0], one[1]) for one in row["s"]]
        waiting = row.get("w", waiting)
        free = row["b"] if isinstance(row["b"], list) else [row["b"], row["b"]]
        yield Step(
            time=time,
            added=row.get("a", []),
            scheduled=scheduled,
            admitted=row.get("n", []),
            resumed=row.get("r", []),
            hits=[(one, tokens) for one, tokens in row.get("h", [])],
            preempted=row.get("p", []),
            waiting=waiting,
            running=row.get("R", [one for one, _ in scheduled]),
            finished=row.get("f", []),
            free_scheduled=free[0],
            free_updated=free[1],
        )


def machine_of(config: dict[str, Any]) -> Machine:
    """The trace's engine. One of its blocks is the null block, which nobody can use."""
    return Machine(
        kv_blocks=config["num_gpu_blocks"] - 1,
        block_size=config["block_size"],
        max_num_seqs=config["max_num_seqs"],
        max_num_batched_tokens=config["max_num_batched_tokens"],
        long_prefill_token_threshold=config["long_prefill_token_threshold"],
        adaptive_threshold=config["long_prefill_token_threshold_adaptive"],
        enable_chunked_prefill=config["enable_chunked_prefill"],
        enable_prefix_caching=config["enable_prefix_caching"],
        watermark_blocks=int(Fraction(repr(config["watermark"])) * config["num_gpu_blocks"]),
        max_model_len=config["max_model_len"],
        gate="full_prompt" if config["scheduler_reserve_full_isl"] else "first_chunk",
        refuse_infeasible=False,
    )
