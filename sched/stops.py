"""What cannot go on, in words: a request that no state of the engine could serve, an engine that makes no
progress.

Such a request is refused when it comes, and such an engine stops; neither ever spins.
"""

from sched.batch import Batch
from sched.job import Job
from sched.model import PS_PER_S, Machine, SetAside
from sched.policies.base import Policy, kept

_ROUNDS = 8


def closed_for_good(aside: SetAside | None) -> int:
    """Blocks that lower classes may never take."""
    return kept(aside, aside.kv_blocks) if aside else 0


def shut_to_lower(machine: Machine, aside: SetAside | None) -> str:
    """Why lower classes can never run at all; "" if they can."""
    if aside is None:
        return ""
    if kept(aside, aside.seats) >= machine.max_num_seqs:
        return f"each of the {machine.max_num_seqs:,} seats is kept for others"
    return ""


def without_tokens(machine: Machine, aside: SetAside | None, tier: int) -> str:
    """Why a request below so many slices of tokens never gets any; "" if it does."""
    if aside is None or aside.lend:
        return ""
    if sum(tokens for _, tokens in aside.slices[:tier]) < machine.max_num_batched_tokens:
        return ""
    return f"all {machine.max_num_batched_tokens:,} tokens of an iteration are kept for others"


def why_refused(machine: Machine, policy: Policy, job: Job) -> str:
    """Why a request is refused on arrival, by the policy's caps or because it can never run; "" if not."""
    why = policy.refuses(job.request, job.limit - 1)
    if not why and machine.refuse_infeasible:
        why = _over_pool(machine, policy, job)
    why = why or why_never(
        machine, policy.set_aside, job.urgent, job.request.prompt_tokens, job.limit, job.keeps_free
    )
    return why or (without_tokens(machine, policy.set_aside, job.tier) if machine.refuse_infeasible else "")


def why_never(
    machine: Machine, aside: SetAside | None, urgent: bool, prompt: int, limit: int, keeps_free: int = 0
) -> str:
    """The two numbers that keep a request from ever running to its end; "" if it can.

    `limit` are the tokens at which it ends; `urgent`: what is set aside is for it. `keeps_free` blocks must
    be left when it enters.
    """
    if prompt < 1:
        return "its prompt has no token"
    longest = machine.max_model_len
    if prompt >= longest > 0:
        return f"its prompt of {prompt:,} leaves no room below the context limit of {longest:,} tokens"
    if not machine.refuse_infeasible:
        return ""
    peak, closed = machine.blocks(limit - 1), 0 if urgent else closed_for_good(aside)
    closed += keeps_free
    if peak > machine.kv_blocks - closed:
        kept_back = f", {closed:,} of them kept for others" if closed else ""
        return f"it comes to need {peak:,} KV blocks of {machine.kv_blocks:,}{kept_back}"
    if not urgent and (shut := shut_to_lower(machine, aside)):
        return shut
    first, budget = prompt, machine.max_num_batched_tokens
    if machine.long_prefill_token_threshold:
        first = min(first, machine.long_prefill_token_threshold)
    if first > budget and not machine.enable_chunked_prefill:
        return f"its first piece of {first:,} must be computed at once, an iteration has {budget:,} tokens"
    return ""


def _over_pool(machine: Machine, policy: Policy, job: Job) -> str:
    """Why the share of its tenant is too small for a request."""
    if policy.pools is None:
        return ""
    pool, peak = policy.pools[job.request.tenant], machine.blocks(job.limit - 1)
    if peak > pool.kv_blocks:
        return f"it comes to need {peak:,} KV blocks, its tenant's share is {pool.kv_blocks:,}"
    if pool.tokens < 1:
        return f"its tenant's share of an iteration's {machine.max_num_batched_tokens:,} tokens is none"
    return ""


def stalled(batch: Batch, now_ps: int) -> str:
    """Work waits, nothing can run, and nothing will arrive."""
    head = batch.queue.head(now_ps).request.id
    why = batch.refusal.name.lower().replace("_", " ")
    return (
        f"stalled at {now_ps / PS_PER_S:g} s: {head} waits ({why}), nothing can run and nothing will arrive"
    )


def goes_round(batch: Batch) -> str:
    """Requests preempt each other, again and again, and no token comes of it; "" while that may still end."""
    live = len(batch.running) + batch.waiting
    if batch.barren <= _ROUNDS * (live + _ROUNDS):
        return ""
    names = ", ".join(sorted({job.request.id for job in batch.preempted})[:3])
    return (
        f"livelock at {batch.now_ps / PS_PER_S:g} s: {batch.barren} preemptions ({names} among them) "
        "and no token; the pool is too small for what the gate lets in together"
    )
