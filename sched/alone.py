"""How long a request takes when it has the engine to itself: what its slowdown is measured against.

Equal chunks and a straight line of decodes are summed in closed form: the same few steps whatever the
lengths.
"""

from sched.cost import IterationCost
from sched.model import Machine


def prefill_alone_ps(
    machine: Machine, cost: IterationCost, prompt_tokens: int, cached_tokens: int = 0
) -> int:
    """Picoseconds from its start to its first token on an empty engine.

    A lone request is not held to the threshold of long prompts. `cached_tokens` at its start need no
    computing; all of them: no time.
    """
    piece = machine.max_num_batched_tokens
    full, rest = divmod(prompt_tokens - cached_tokens, piece)
    total = 0
    if full:
        total += full * (cost.mixed_ps(0, piece, 1) + cost.prefix_ps * cached_tokens)
        total += cost.prefix_ps * piece * (full * (full - 1) // 2)
        # Of an iteration half a picosecond may be cut off; of the full ones all are odd, or none is.
        area = full * piece * (2 * cached_tokens + piece * full)
        total += (cost.attention_ps * area - full * (cost.attention_ps * piece % 2)) // 2
    if rest:
        before = cached_tokens + full * piece
        total += cost.mixed_ps(0, rest, 1) + cost.prefix_ps * before
        total += cost.attention_ps * rest * (2 * before + rest) // 2
    return total


def alone_ps(
    machine: Machine, cost: IterationCost, prompt_tokens: int, output_tokens: int, cached_tokens: int = 0
) -> int:
    """Picoseconds from its start to its last token on an empty engine: prefill, then one decode a token.

    Exactly what a run of this request alone takes; its tokens end at the machine's longest context.
    """
    decodes = machine.tokens_of_life(prompt_tokens, output_tokens) - prompt_tokens
    context = decodes * prompt_tokens + decodes * (decodes - 1) // 2
    prefill = prefill_alone_ps(machine, cost, prompt_tokens, cached_tokens)
    return prefill + cost.decode_ps(1) * decodes + cost.kv_token_ps * context
