"""How long a request takes when it has the engine to itself: what its slowdown is measured against."""

from sched.cost import IterationCost
from sched.model import Machine


def prefill_alone_ps(
    machine: Machine, cost: IterationCost, prompt_tokens: int, cached_tokens: int = 0
) -> int:
    """Picoseconds from its start to its first token on an empty engine, chunk by chunk.

    A lone request is not held to the threshold of long prompts. `cached_tokens` at its start need no
    computing.
    """
    before, total = cached_tokens, 0
    while before < prompt_tokens:
        tokens = min(prompt_tokens - before, machine.max_num_batched_tokens)
        area = tokens * (before + before + tokens)
        total += cost.mixed_ps(0, tokens, 1) + cost.attention_ps * area // 2 + cost.prefix_ps * before
        before += tokens
    return total


def alone_ps(
    machine: Machine, cost: IterationCost, prompt_tokens: int, output_tokens: int, cached_tokens: int = 0
) -> int:
    """Picoseconds from its start to its last token on an empty engine: prefill, then one decode a token."""
    decodes = output_tokens - 1
    context = decodes * prompt_tokens + decodes * (decodes - 1) // 2
    prefill = prefill_alone_ps(machine, cost, prompt_tokens, cached_tokens)
    return prefill + cost.decode_ps(1) * decodes + cost.kv_token_ps * context
