"""The laws every run obeys, checked on its log: what a bug in the engine or in a policy would break first.

It trusts nothing that the engine summed up: blocks, tokens and seats are counted again from the pieces.
"""

from collections.abc import Iterator

import numpy as np

from sched.log import Ints, Log
from sched.model import NEVER, Outcome, StayEnd
from sched.occupancy import Bools, Pieces, Sums, held_by_group, pieces
from sched.waits import waits

MOST_SENTENCES = 20


def audit(log: Log) -> list[str]:
    """A sentence for every law that is broken, at most twenty; none when all hold."""
    if log.replicas:
        return [f"replica {number}: {one}" for number, part in enumerate(log.replicas) for one in audit(part)]
    found: list[str] = []
    for law in (_time, _outcomes, _order_of_events, _stays, _work, _batch):
        try:
            found += law(log)
        except (IndexError, ValueError) as error:
            found.append(f"the log cannot be read by the check of {law.__name__.strip('_')}: {error}")
        if found:
            # What comes later stands on what came before.
            break
    return found[:MOST_SENTENCES]


def _name(log: Log, request: int) -> str:
    return log.requests.ids[request]


def _where(is_wrong: Bools) -> list[int]:
    found: list[int] = np.flatnonzero(is_wrong)[:3].tolist()
    return found


def _time(log: Log) -> Iterator[str]:
    """Iterations are numbered without gaps, last some time, and do not overlap."""
    rows = log.stretches
    if not len(rows.count):
        return
    for row in _where((rows.count < 1) | (rows.first_ps < 1)):
        yield f"stretch {row}: {rows.count[row]} iterations of {rows.first_ps[row]} ps"
    if rows.iteration[0] != 0:
        yield f"the first stretch begins with iteration {rows.iteration[0]}, not 0"
    for row in _where(rows.iteration[1:] != rows.iteration[:-1] + rows.count[:-1]):
        yield f"stretch {row + 1} begins with iteration {rows.iteration[row + 1]}, which does not follow on"
    start, length = log.iteration_start_ps, log.iteration_duration_ps
    for one in _where(length < 1):
        yield f"iteration {one} lasts {length[one]} ps"
    for one in _where(start[1:] < start[:-1] + length[:-1]):
        yield f"iteration {one + 1} begins at {start[one + 1]} ps, before iteration {one} has ended"


def _outcomes(log: Log) -> Iterator[str]:
    """Every request ends exactly once, and a finished one has emitted what it should."""
    listed, kind = log.requests, log.outcome
    due = listed.output_tokens
    if log.machine.max_model_len:
        due = np.clip(log.machine.max_model_len - listed.prompt_tokens, 0, due)
    finished, refused, unfinished = (
        kind == one for one in (Outcome.FINISHED, Outcome.REFUSED, Outcome.UNFINISHED)
    )
    for one in _where((kind < Outcome.FINISHED) | (kind > Outcome.UNFINISHED)):
        yield f"{_name(log, one)} has no outcome: {kind[one]}"
    for one in _where(finished & (log.emitted_tokens != due)):
        yield f"{_name(log, one)} finished with {log.emitted_tokens[one]} tokens instead of {due[one]}"
    for one in _where(~finished & (log.emitted_tokens > due)):
        yield f"{_name(log, one)} emitted {log.emitted_tokens[one]} tokens, more than {due[one]}"
    for one in _where((log.ended_ps == NEVER) != unfinished):
        end = Outcome(int(kind[one])).name
        yield f"{_name(log, one)} has outcome {end} and ended at {log.ended_ps[one]} ps"
    for one in _where(refused & ((log.first_scheduled_ps != NEVER) | (log.emitted_tokens > 0))):
        yield f"{_name(log, one)} was refused and yet scheduled"
    if unfinished.any() and log.horizon_ps == NEVER and not log.stop_reason:
        yield f"{_name(log, _where(unfinished)[0])} never ended, although the run drained"


def _order_of_events(log: Log) -> Iterator[str]:
    """Arrival, first scheduling, first token and end come in this order; a token needs a scheduling."""
    begin = np.where(log.first_scheduled_ps == NEVER, log.requests.arrival_ps, log.first_scheduled_ps)
    token = np.where(log.first_token_ps == NEVER, begin, log.first_token_ps)
    end = np.where(log.ended_ps == NEVER, np.maximum(token, log.end_ps), log.ended_ps)
    for what, before, after in (
        ("scheduled before it arrived", log.requests.arrival_ps, begin),
        ("given a token before it was scheduled", begin, token),
        ("ended before its first token", token, end),
    ):
        for one in _where(after < before):
            yield f"{_name(log, one)} was {what}: {after[one]} ps < {before[one]} ps"
    has_token = log.first_token_ps != NEVER
    for one in _where(has_token != (log.emitted_tokens > 0)):
        first = log.first_token_ps[one]
        yield f"{_name(log, one)} has {log.emitted_tokens[one]} tokens and its first at {first} ps"


def _stays(log: Log) -> Iterator[str]:
    """A request is in the batch once at a time, between its arrival and its end; it returns if preempted."""
    stays, starts = log.stays, log.iteration_start_ps
    order = np.lexsort((stays.iteration, stays.request))
    request, first, end = stays.request[order], stays.iteration[order], stays.end_iteration[order]
    # Where the run stops at a decision, who has just been admitted has stayed for none.
    none = (first == end) & (stays.end[order] != StayEnd.STILL_RUNNING)
    for row in _where((first > end) | none | (first < 0) | (end > log.iterations)):
        yield f"{_name(log, int(request[row]))} is in the batch for iterations {first[row]} to {end[row]}"
    again = request[1:] == request[:-1]
    for row in _where(again & (first[1:] < end[:-1])):
        yield f"{_name(log, int(request[row]))} is in the batch twice in iteration {first[row + 1]}"
    is_last = np.append(~again, True) if len(order) else np.zeros(0, dtype=bool)
    preempted = np.isin(stays.end[order], (StayEnd.OUTGROWN, StayEnd.DISPLACED))
    for row in _where(~is_last & ~preempted):
        yield f"{_name(log, int(request[row]))} came back without having been preempted"
    if len(order):
        for row in _where((stays.start_ps[order] != np.append(starts, log.end_ps)[first]) & (first < end)):
            at = stays.start_ps[order][row]
            yield f"{_name(log, int(request[row]))} enters at {at} ps, not with its iteration"
        for row in _where(stays.start_ps[order] < log.requests.arrival_ps[request]):
            yield f"{_name(log, int(request[row]))} is in the batch before it arrived"
        ended = log.ended_ps[request]
        for row in _where(
            is_last & (stays.end[order] == StayEnd.FINISHED) & (log.outcome[request] != Outcome.FINISHED)
        ):
            yield f"{_name(log, int(request[row]))} left the batch finished and is not"
        for row in _where(
            (ended != NEVER) & (stays.end_ps[order] > ended) & (stays.end[order] != StayEnd.FINISHED)
        ):
            yield f"{_name(log, int(request[row]))} is in the batch after it ended"
    preemptions = np.bincount(request[preempted], minlength=len(log.preemptions))
    for one in _where(preemptions != log.preemptions):
        yield f"{_name(log, one)} was preempted {preemptions[one]} times; {log.preemptions[one]} are recorded"
    if len(log.preempted.victim) != int(preempted.sum()):
        yield f"{len(log.preempted.victim)} preemptions are recorded; {int(preempted.sum())} end with one"


def _work(log: Log) -> Iterator[str]:
    """In each stay the pieces follow on one another, from what was in the cache to what it left with."""
    held, stays = pieces(log), log.stays
    if not len(held):
        return
    after = held.before + held.step * held.count
    yield from _pieces_in_place(log, held)
    begin = np.where(held.is_first, stays.hit_tokens[held.stay], np.concatenate(([0], after[:-1])))
    for row in _where(held.before != begin):
        who = _name(log, int(held.request[row]))
        where = f"{held.before[row]} tokens before it, not {begin[row]}"
        yield f"{who} computes in iteration {held.iteration[row]} with {where}"
    is_last = np.append(held.is_first[1:], True)
    done, stay = after[is_last], held.stay[is_last]
    # The iteration that computes the last known token gives the next one, and so does each after it.
    emitted = np.maximum(done - stays.known_tokens[stay] + 1, 0)
    # Who comes back from the host with all it had computed has emitted the token that comes of it before.
    emitted -= stays.hit_tokens[stay] >= stays.known_tokens[stay]
    total = np.bincount(stays.request[stay], weights=emitted, minlength=len(log.emitted_tokens)).astype(
        np.int64
    )
    # Who gives up during an iteration does not get that iteration's token.
    unheard = (log.outcome == Outcome.TIMED_OUT) & (log.emitted_tokens == total - 1)
    for one in _where((total != log.emitted_tokens) & ~unheard):
        yield f"{_name(log, one)} emitted {log.emitted_tokens[one]} tokens; its pieces make {total[one]}"
    known = log.requests.prompt_tokens[stays.request]
    early = np.flatnonzero(stays.known_tokens < known)
    for row in early[:3].tolist():
        yield f"{_name(log, int(stays.request[row]))} enters with fewer tokens than its prompt has"
    yield from _recomputed(log, done, stay)


def _pieces_in_place(log: Log, held: Pieces) -> Iterator[str]:
    """Pieces lie inside their stay and do not overlap."""
    stays = log.stays
    good = (held.iteration >= stays.iteration[held.stay]) & (held.iteration + held.count <= held.end)
    good &= (stays.request[held.stay] == held.request) & (held.step >= 1) & (held.count >= 1)
    good &= ~held.is_first | (held.iteration == stays.iteration[held.stay])
    for row in _where(~good):
        who = _name(log, int(held.request[row]))
        yield f"{who} computes in iteration {held.iteration[row]}, outside its stay"


def _recomputed(log: Log, done: Ints, stay: Ints) -> Iterator[str]:
    """Tokens computed = tokens needed once + tokens lost by preemption - tokens found in the cache."""
    lost = np.bincount(
        log.preempted.victim, weights=log.preempted.lost_tokens, minlength=len(log.emitted_tokens)
    ).astype(np.int64)
    end = log.stays.end[stay]
    gone = np.isin(end, (StayEnd.OUTGROWN, StayEnd.DISPLACED))
    thrown = np.bincount(log.stays.request[stay[gone]], weights=done[gone], minlength=len(lost)).astype(
        np.int64
    )
    for one in _where(thrown != lost):
        yield f"{_name(log, one)} lost {lost[one]} computed tokens in all; its pieces say {thrown[one]}"
    most = np.where(log.recomputed_tokens > lost)
    for one in most[0][:3].tolist():
        again = log.recomputed_tokens[one]
        yield f"{_name(log, one)} recomputed {again} tokens; it had lost only {lost[one]}"


def _batch(log: Log) -> Iterator[str]:
    """Blocks, seats and tokens of every iteration: within the limits, and what the stretches say."""
    if not log.iterations:
        return
    machine, row, lines = log.machine, log.stretch_of_iteration, log.stretches
    whole = held_by_group(log, pieces(log), np.zeros(len(log.requests.ids), dtype=np.int64), 1)
    blocks, tokens, seats = whole.blocks[0], whole.tokens[0], whole.seats[0]
    first = lines.iteration
    if not machine.enable_prefix_caching:
        for one in _where(blocks > machine.kv_blocks):
            yield f"iteration {one}: {blocks[one]} blocks are held of {machine.kv_blocks}"
        for one in _where(blocks[first] != lines.kv_used):
            held, told = blocks[first[one]], lines.kv_used[one]
            yield f"iteration {first[one]}: {held} blocks are held; {told} are recorded"
    for one in _where((lines.kv_used > machine.kv_blocks) | (lines.kv_used < 0)):
        yield f"iteration {first[one]}: {lines.kv_used[one]} blocks are used of {machine.kv_blocks}"
    for one in _where(seats > machine.max_num_seqs):
        yield f"iteration {one}: {seats[one]} requests are in {machine.max_num_seqs} seats"
    for one in _where(tokens > machine.max_num_batched_tokens):
        yield f"iteration {one}: {tokens[one]} tokens exceed the budget of {machine.max_num_batched_tokens}"
    for one in _where(seats != lines.running[row]):
        told = lines.running[row][one]
        yield f"iteration {one}: {seats[one]} requests are in the batch; {told} are recorded"
    for one in _where(tokens != (lines.prefill_tokens + lines.decode_tokens)[row]):
        yield f"iteration {one}: {tokens[one]} tokens are computed; the stretch says otherwise"
    yield from _queue(log)
    yield from _promises(log, whole)


def _queue(log: Log) -> Iterator[str]:
    """As many wait after each decision as have come, are not in the batch and have not ended."""
    found, start = waits(log), log.iteration_start_ps
    come = np.searchsorted(np.sort(found.from_ps), start, "right")
    gone = np.searchsorted(np.sort(found.to_ps), start, "right")
    waiting = log.stretches.waiting[log.stretch_of_iteration]
    first = log.stretches.iteration
    for one in _where(((come - gone) != waiting)[first]):
        place = int(first[one])
        yield f"iteration {place}: {int((come - gone)[place])} requests wait; {waiting[place]} are recorded"


def _promises(log: Log, whole: Sums) -> Iterator[str]:
    """A gate that reserves the peak promises no more than there is, so nobody is preempted for growth."""
    if log.machine.gate != "peak" or log.machine.enable_prefix_caching:
        return
    for one in _where(whole.claimed[0] > log.machine.kv_blocks):
        yield f"iteration {one}: {whole.claimed[0][one]} blocks are promised of {log.machine.kv_blocks}"
    if (log.stays.end == StayEnd.OUTGROWN).any():
        yield "a request was preempted for another's growth, although every peak was reserved"
