"""Which limit keeps requests waiting, for how long, and what a queue says about the figures of a run."""

import numpy as np

from sched.log import Ints, Log
from sched.model import Outcome, RefusalCode
from sched.sums import exact_sum
from sched.words import count, percent

WORTH_A_WORD = 0.1
"""Share of the busy time with a queue below which nothing is said of it."""
SEATS, TOKENS, KV, POLICY = range(4)


def queue_ps(log: Log) -> dict[int, int]:
    """Picoseconds of iterations that somebody waits through, by what is short: SEATS, TOKENS, KV or POLICY.

    Of several the first counts. Seats and tokens are short when all are taken; else the last recorded refusal
    says whether blocks were missing (a preemption, too, comes of that) or the policy admitted nobody.
    """
    lines, machine = log.stretches, log.machine
    code = np.full(len(lines.count), POLICY, dtype=np.int64)
    if len(log.refusals.code):
        last = np.searchsorted(log.refusals.iteration, lines.iteration, "right") - 1
        told = np.where(last >= 0, log.refusals.code[last], RefusalCode.RESERVED)
        code[np.isin(told, (RefusalCode.KV, RefusalCode.AFTER_PREEMPTION))] = KV
        code[told == RefusalCode.TOKENS] = TOKENS
    code[lines.prefill_tokens + lines.decode_tokens >= machine.max_num_batched_tokens] = TOKENS
    code[lines.running >= machine.max_num_seqs] = SEATS
    waits = lines.waiting > 0
    length = stretch_ps(log)
    return {one: exact_sum(length[waits & (code == one)]) for one in np.unique(code[waits]).tolist()}


def stretch_ps(log: Log) -> Ints:
    """How long each stretch lasts."""
    lines = log.stretches
    found: Ints = lines.count * lines.first_ps + lines.step_ps * (lines.count * (lines.count - 1) // 2)
    return found


def about_the_queue(log: Log) -> dict[str, str]:
    """Sentences by path: that nobody queued, or which limit binds, and how far the figures can be trusted."""
    if not len(log.stretches.count):
        return {}
    by_limit, busy = queue_ps(log), exact_sum(stretch_ps(log))
    queued = sum(by_limit.values())
    if not queued and _all_entered_whole(log):
        path = f"policies.{log.policy}"
        return {path: "no request waited for room, so the policy had no effect: there was nothing to order"}
    if queued <= WORTH_A_WORD * busy:
        return {}
    limit = max(by_limit, key=by_limit.__getitem__)
    path, what = _named(log, limit)
    share = percent(by_limit[limit] / queued)
    found = {path: f"requests queue in {percent(queued / busy)} of the time, in {share} of it for {what}"}
    if len(np.unique(log.iteration_duration_ps)) > 1:
        # Where every iteration takes the same time no machine is meant, and there is nothing to be off from.
        found["engine.hardware"] = (
            "with such a queue the order of the policies and the direction of a change are reliable, "
            "absolute values are not"
        )
    return found


def _all_entered_whole(log: Log) -> bool:
    """Whether several came and each had its whole prompt computed at once and ended undisturbed."""
    if len(log.requests.ids) < 2 or (log.outcome != Outcome.FINISHED).any():
        return False
    first = np.searchsorted(log.iteration_start_ps, log.first_scheduled_ps)
    return np.array_equal(log.first_token_ps, (log.iteration_start_ps + log.iteration_duration_ps)[first])


def _named(log: Log, limit: int) -> tuple[str, str]:
    """The knob of a limit, and its words."""
    machine = log.machine
    return {
        SEATS: ("engine.max_num_seqs", f"one of {count(machine.max_num_seqs, 'seat')}"),
        TOKENS: (
            "engine.max_num_batched_tokens",
            f"the token budget ({count(machine.max_num_batched_tokens, 'token')} an iteration)",
        ),
        KV: ("engine.kv_blocks", f"KV memory ({count(machine.kv_blocks, 'block')})"),
        POLICY: (f"policies.{log.policy}", "the policy, which keeps them out although they would fit"),
    }[limit]
