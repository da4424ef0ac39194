"""The batch to be expected of a stream of requests, and the time that a token then takes."""

from dataclasses import dataclass

from sched.cost import IterationCost
from sched.log import Ints
from sched.model import PS_PER_S, Machine
from sched.occupancy import ceil_div

ROUNDS = 200
"""The expected batch is looked for in at most so many steps; a handful suffice."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The batch to be expected: `decodes` requests decode, and a token of each takes `tpot_s` on average.

    A prompt is computed in pieces of at most `piece_tokens`.
    """

    decodes: int
    piece_tokens: int
    tpot_s: float


def pace(prompt: Ints, output: Ints, rate_per_s: float, machine: Machine, cost: IterationCost) -> Pace:
    """The batch at which as many tokens are made as come, by the iteration-time model.

    Decodes and time per token fit each other: more decodes make longer iterations, and longer iterations keep
    more of them in the batch, up to the seats and the memory. Some iterations also carry a piece of a prompt.
    """
    tokens, prompts = float(output.sum()), float(prompt.sum())
    context = round(float((prompt * output + output * output / 2.0).sum()) / tokens)
    before = float((prompt * prompt).sum()) / prompts / 2.0
    size = context if machine.gate != "peak" else float(((prompt + output) * output).sum()) / tokens
    most = max(1, min(machine.max_num_seqs, int(machine.kv_blocks * machine.block_size / size)))
    tpot_s, decodes, piece = 0.0, 0, 1
    for _ in range(ROUNDS):
        was = decodes
        decodes = max(1, min(most, round(rate_per_s * tokens / len(output) * tpot_s)))
        piece = largest_piece(machine, decodes)
        pieces = float(ceil_div(prompt, piece).sum())
        new = max(1, round(prompts / pieces))
        mixed_ps = cost.mixed_ps(decodes, new, decodes + 1) + cost.kv_token_mixed_ps * context * decodes
        mixed_s = (mixed_ps + (cost.attention_ps * new + cost.prefix_ps) * before) / PS_PER_S
        plain_s = (cost.decode_ps(decodes) + cost.kv_token_ps * context * decodes) / PS_PER_S
        with_piece = rate_per_s * pieces / len(output)
        left_s = 1.0 - with_piece * mixed_s
        tpot_s = 1.0 / (with_piece + left_s / plain_s) if left_s > 0.0 else mixed_s
        if decodes == was:
            break
    return Pace(decodes, piece, tpot_s)


def largest_piece(machine: Machine, decodes: int) -> int:
    """Most tokens of one prompt in an iteration beside so many decodes."""
    room = max(1, machine.max_num_batched_tokens - decodes)
    threshold = machine.long_prefill_token_threshold
    if not machine.enable_chunked_prefill:
        return machine.max_num_batched_tokens
    return min(room, threshold) if threshold else room
