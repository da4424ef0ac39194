"""When a waiting request would fit if nobody else were admitted: an estimate, and the notes that carry it.

It takes the true remaining lengths of those in the batch and the pace of the last iterations, so it errs when
the pace changes, when somebody is admitted past the request, and when an eviction frees blocks sooner.
"""

from typing import Any

import numpy as np

from sched.inversion import Inversion
from sched.log import Ints
from sched.model import PS_PER_S
from sched.moments import asked_and_free, cause_name, holders
from sched.occupancy import ceil_div, peak_blocks
from sched.sums import seconds
from sched.supply import LEGITIMATE

ROWS = 8
"""At most so many notes a wait: at the threshold, and whenever the time waited has doubled."""
BLOCKERS = 3
PACE = 16
"""Iterations over which the present pace is taken."""


def remaining_iterations(inversion: Inversion, slot: int) -> tuple[Ints, Ints, Ints]:
    """Who is in the batch in a slot, the iterations that each still takes, and its tokens before the slot."""
    seen = inversion.seen
    machine, listed, iteration = seen.log.machine, seen.log.requests, int(seen.time.iteration[slot])
    now = seen.held.take((seen.held.iteration <= iteration) & (seen.held.end > iteration))
    steps: Ints = np.minimum(iteration - now.iteration, now.count)
    done = now.before + steps * now.step
    known = seen.log.stays.known_tokens[now.stay]
    life = listed.prompt_tokens[now.request] + listed.output_tokens[now.request]
    if machine.max_model_len:
        life = np.minimum(life, machine.max_model_len)
    # What is left of a prompt goes on in pieces like the present one.
    prefill: Ints = -(-np.maximum(known - done, 0) // np.maximum(now.step, 1))
    left: Ints = prefill + np.maximum(life - 1 - np.maximum(done, known), 0)
    return now.request, left, done


def pace_ps(inversion: Inversion, slot: int) -> int:
    """Mean length of the last iterations up to this one."""
    first = max(0, slot + 1 - PACE)
    begin = inversion.seen.time.begin_ps
    return int(begin[slot + 1] - begin[first]) // (slot + 1 - first)


def eta_ps(inversion: Inversion, wait: int, slot: int) -> int | None:
    """Time from the start of a slot until the wait would end, or None if it does not end this way."""
    seen = inversion.seen
    machine, length = seen.log.machine, pace_ps(inversion, slot)
    if seen.time.iteration[slot] < 0:
        return 0
    request, left, done = remaining_iterations(inversion, slot)
    wait_row, slot_row = np.array([wait]), np.array([slot])
    need, free, entitled = (part[0].tolist()[0] for part in asked_and_free(seen, wait_row, slot_row))
    blocks, seats = _ahead(inversion, wait, slot)
    room = machine.kv_blocks - (free - entitled) - need - blocks
    promised = peak_blocks(seen.log)[request]
    for step in sorted({0, *left.tolist()}):
        stays = np.flatnonzero(left > step)
        held = promised if machine.gate == "peak" else ceil_div(done + step, machine.block_size)
        if int(held[stays].sum()) <= room and len(stays) + seats < machine.max_num_seqs:
            return int(step) * length
    return None


def _ahead(inversion: Inversion, wait: int, slot: int) -> tuple[int, int]:
    """Blocks and seats that go first to those before this wait in the queue whose level is not lower."""
    seen = inversion.seen
    at = seen.time.begin_ps[slot]
    waits, listed = seen.waits, seen.log.requests
    mine = int(waits.request[wait])
    there = (
        (waits.from_ps <= at) & (waits.to_ps > at) & (listed.priority[waits.request] <= listed.priority[mine])
    )
    first = np.flatnonzero(there & (seen.place < seen.place[wait]))
    return int(seen.need[0][first].sum()), len(first)


def annotation(inversion: Inversion, request: int, after_ps: int) -> list[dict[str, Any]]:
    """What a request is told once it has waited `after_ps`: what it lacks, who holds it, how long yet."""
    seen, rows = inversion.seen, []
    for wait in np.flatnonzero(seen.waits.request == request).tolist():
        since, until = int(seen.waits.from_ps[wait]), int(seen.waits.to_ps[wait])
        waited = after_ps
        for _ in range(ROWS):
            slot = int(np.searchsorted(seen.time.begin_ps, since + waited))
            if slot >= len(seen.time.iteration) or seen.time.begin_ps[slot] >= until:
                break
            rows.append(_note(inversion, wait, slot))
            waited = 2 * (int(seen.time.begin_ps[slot]) - since) or PS_PER_S // 10
    return rows


def _note(inversion: Inversion, wait: int, slot: int) -> dict[str, Any]:
    seen = inversion.seen
    log, at = seen.log, int(seen.time.begin_ps[slot])
    need, free, entitled = (
        part[:, 0].tolist() for part in asked_and_free(seen, np.array([wait]), np.array([slot]))
    )
    run = np.flatnonzero((seen.runs.wait == wait) & (seen.runs.first <= slot) & (seen.runs.end > slot))
    code = int(seen.runs.code[run[0]]) if len(run) else LEGITIMATE
    short = next((k for k in (0, 2, 1) if code < LEGITIMATE and code & 1 << k), 0)
    left = dict(zip(*(part.tolist() for part in remaining_iterations(inversion, slot)[:2]), strict=True))
    length = pace_ps(inversion, slot)
    eta = eta_ps(inversion, wait, slot)
    return {
        "at_s": seconds(at),
        "state": "preempted" if seen.waits.is_return[wait] else "queued",
        "waited_s": seconds(at - int(seen.waits.from_ps[wait])),
        "cause": cause_name(code),
        "kv_asked": need[0],
        "kv_free": free[0],
        "kv_deficit": max(0, need[0] - entitled[0]),
        "tokens_deficit": max(0, need[1] - entitled[1]),
        "seats_deficit": max(0, need[2] - entitled[2]),
        "blockers": [
            {"id": log.requests.ids[who], "holds": units, "ends_in_s": seconds(left[who] * length)}
            for who, units in holders(seen, wait, slot, short)[:BLOCKERS]
        ],
        "eta_s": None if eta is None else seconds(eta),
        "eta_is": "an estimate: at the present pace, with true lengths, and nobody admitted past it",
        "actual_s": seconds(int(seen.waits.to_ps[wait]) - at),
        "passed_by": len(seen.passed(wait, at)),
    }
