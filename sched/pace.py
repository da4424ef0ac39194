"""How long an iteration takes whose pieces are counted one by one."""

from array import array

from sched.batch import Batch
from sched.cost import IterationCost


def iteration_of_pieces(batch: Batch, cost: IterationCost, chunks: "array[int]") -> tuple[int, int, int]:
    """Picoseconds, prefill tokens and decodes of the iteration just planned; notes its pieces in `chunks`."""
    straight, iteration = batch.straight, batch.iteration
    decodes, context = straight.count, straight.count * iteration + straight.offsets
    prefill = squares = prefix = 0
    for job, tokens in batch.pieces:
        before = job.computed
        chunks.extend((job.ordinal, iteration, tokens, before))
        if before >= job.target:
            decodes += 1
            context += before
        else:
            prefill += tokens
            squares += tokens * (before + before + tokens)
            if before > prefix:
                prefix = before
    if not prefill:
        return cost.decode_ps(decodes) + cost.kv_token_ps * context, 0, decodes
    duration = cost.mixed_ps(decodes, prefill, straight.count + len(batch.pieces))
    duration += cost.kv_token_mixed_ps * context + cost.attention_ps * squares // 2 + cost.prefix_ps * prefix
    return duration, prefill, decodes
