"""How soon preemption or a reserve lets a waiting request in, whatever lower ones hold, and why."""

import numpy as np

from sched.drain import Drain, earliest
from sched.language import Language
from sched.model import SetAside, Standing
from sched.occupancy import Bools
from sched.policies.base import Policy
from sched.waits import as_seen


def at_once(found: Drain, rules: Policy) -> int | None:
    """Iterations until preemption or a reserve lets it in, whatever lower ones hold; None: never."""
    if found.wait < 0:
        return 0
    seen, aside = found.seen, rules.set_aside
    log, level = seen.log, seen.levels.of_request
    everybody = found.held(np.ones(len(level), dtype=bool))
    tokens = everybody.tokens[0] + found.need[1] <= log.machine.max_num_batched_tokens
    if aside is not None and log.requests.priority[found.request] <= aside.for_priority:
        urgent = found.held(log.requests.priority <= aside.for_priority)
        inside = urgent.claimed[0] + found.need[0] + log.machine.watermark_blocks <= aside.kv_blocks
        has_seat, machine = everybody.seats[0] < log.machine.max_num_seqs, log.machine
        if aside.lend:
            has_seat |= urgent.seats[0] < aside.seats
        else:
            free = machine.kv_blocks - everybody.claimed[0] - machine.watermark_blocks
            inside &= found.need[0] <= free
        inside &= has_seat
        return earliest(inside & tokens & found.admits & found.is_first)
    if not rules.displaces_for_waiters or rules.only_loans:
        return None
    # Whoever may be preempted counts as gone.
    firm = found.held(~_preemptible(found, rules))
    return earliest(found.fits(firm) & tokens & found.is_first)


def _preemptible(found: Drain, rules: Policy) -> Bools:
    """Requests that this one may preempt, however often they have been already in this run."""
    log = found.seen.log
    mine, standing = as_seen(log.requests, found.request), Standing(0, 0)
    may = np.zeros(len(log.requests.ids), dtype=bool)
    for row in np.unique(log.stays.request).tolist():
        held = Standing(0, 0, preemptions=int(log.preemptions[row]), admission=0)
        may[row] = rules.displaces(mine, standing, as_seen(log.requests, row), held) is not None
    return may


def why_at_once(found: Drain, rules: Policy, say: Language) -> str:
    if found.wait < 0:
        return say("It did not have to wait")
    if rules.displaces_for_waiters and not rules.only_loans:
        return say("Lower ones are preempted for it")
    aside: SetAside | None = rules.set_aside
    assert aside is not None
    blocks = f"{aside.kv_blocks:,}"
    if aside.lend:
        return say(
            "{blocks} blocks are set aside for it and those like it, and what is lent of them is taken back",
            blocks=blocks,
        )
    if aside.guard_growth:
        return say("{blocks} blocks are set aside for it and those like it", blocks=blocks)
    return say(
        "{blocks} blocks are set aside for it and those like it, and at the decision nobody had grown into "
        "them",
        blocks=blocks,
    )
