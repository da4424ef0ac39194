"""What the first five lessons claim, worked out from their runs: batches, blocks, locks, inheritance."""

from collections.abc import Mapping
from typing import NamedTuple

from sched.model import PS_PER_S
from sched.text import lesson_runs as of
from sched.text.onelock import (
    BLOCKED,
    HIGH,
    LOCKED,
    LOW,
    MEDIUM,
    PATHFINDER,
    Piece,
    schedule,
    with_medium_work,
)

Value = int | float | str
AHEAD_S = 0.4
"""So long before something happens the engine is stopped."""
SETTLED_S = 2.5
"""After so long a wait a lesson looks for its moment."""


class Facts(NamedTuple):
    """What a run says to a lesson: the moment at which it is stopped, the request looked at, which option is
    right, and the numbers of the text. Of `claims` each option's is what would happen if it were right.
    """

    at_s: float
    focus: str
    claims: Mapping[str, object]
    right: str
    values: Mapping[str, Value]


def facts(at_s: float, focus: str, claims: Mapping[str, object], happened: object, **values: Value) -> Facts:
    """Facts with the option that is right: the one whose claim is what happened."""
    return Facts(at_s, focus, claims, of.right_of(claims, happened), {"at_s": at_s, "focus": focus, **values})


def batching() -> Facts:
    """A fifth request comes while four are in the batch: when may it enter?"""
    run, static = of.run("batching", "fcfs"), of.run("batching", "static")
    log, name = run.log, "chat-5"
    came = of.arrival_s(log, name)
    before = of.running(log, came)
    ends = [of.end_s(log, one) for one in before]
    boundary = min(float(ps) / PS_PER_S for ps in log.iteration_start_ps if ps > came * PS_PER_S)
    claims = {"now": came, "next": boundary, "seat": min(ends), "batch": max(ends)}
    entered = of.start_s(log, name)
    alone, together = of.decode_s(log, 1), of.decode_s(log, len(before) + 1)
    many = len(before) + 1
    return facts(
        (came + entered) / 2,
        name,
        claims,
        entered,
        running=len(before),
        seats=log.machine.max_num_seqs,
        wait_s=of.wait_s(run, name),
        static_wait_s=of.wait_s(static, name),
        first_end_s=min(ends),
        batch_end_s=of.end_s(static.log, of.leavers(static.log)[len(before) - 1][1]),
        alone_s=alone,
        together_s=together,
        many=many,
        longer_share=together / alone - 1,
        times=many * alone / together,
    )


def blocks() -> Facts:
    """A long request holds most blocks: when does it give any back?"""
    run = of.run("blocks", "fcfs")
    log, name, holder = run.log, "chat-1", "docs-1"
    begin, held = of.held_blocks(run, holder)
    fell, preempted = bool((held[1:] < held[:-1]).any()), bool(log.preemptions[of.place(log, holder)])
    ended, entered = of.end_s(log, holder), of.start_s(log, name)
    happened = "asked" if preempted else "bits" if fell else "end" if entered == ended else "never"
    at_s = ended - 1.2
    return facts(
        at_s,
        name,
        {key: key for key in ("bits", "end", "asked")},
        happened,
        holder=holder,
        needs=of.needs(run, name),
        free=of.free(run, at_s),
        free_last=of.free(run, float(begin[-1])),
        holds=of.holds(run, holder, at_s),
        holds_last=int(held[-1]),
        block_size=log.machine.block_size,
        kv_blocks=log.machine.kv_blocks,
        prompt=int(log.requests.prompt_tokens[of.place(log, holder)]),
        output=int(log.requests.output_tokens[of.place(log, holder)]),
        waited_s=at_s - of.arrival_s(log, name),
        wait_s=of.wait_s(run, name),
        lost_tokens=int(of.run("blocks", "preemptive").log.preempted.lost_tokens.sum()),
        seats_free=log.machine.max_num_seqs - len(of.running(log, at_s)),
    )


LOCK_STEP = PATHFINDER[1].release
"""The step at which the task in the middle comes, and the lesson asks who runs."""


def lock() -> Facts:
    """Three tasks and one lock, and the same three as requests on one memory."""
    plain, lifted = schedule(PATHFINDER), schedule(PATHFINDER, inherits=True)
    twice = schedule(with_medium_work(2 * PATHFINDER[1].work))
    ours, ours_lifted = of.run("lock", "backfill"), of.run("lock", "inheritance")
    gated, name, holder = of.run("lock", "hol"), "chat-1", "docs-1"
    came = of.arrival_s(ours.log, "api-0")
    return facts(
        came,
        name,
        {one: one for one in (HIGH, MEDIUM, LOW)},
        plain.runner(LOCK_STEP),
        step=LOCK_STEP,
        section=plain.spent(LOW, LOCKED),
        section_left=sum(one.end - max(one.begin, LOCK_STEP) for one in plain.pieces if _is_section(one)),
        medium_work=PATHFINDER[1].work,
        twice_work=2 * PATHFINDER[1].work,
        plain_steps=plain.spent(HIGH, BLOCKED),
        twice_steps=twice.spent(HIGH, BLOCKED),
        lifted_steps=lifted.spent(HIGH, BLOCKED),
        holder=holder,
        holds=of.holds(ours, holder, came),
        needs=of.needs(ours, name),
        free=of.free(ours, came),
        newcomers=of.passed(ours, name, of.start_s(ours.log, name)),
        wait_s=of.wait_s(ours, name),
        lifted_wait_s=of.wait_s(ours_lifted, name),
        gated_wait_s=of.wait_s(gated, name),
    )


def _is_section(piece: Piece) -> bool:
    return piece.task == LOW and piece.does == LOCKED and piece.end > LOCK_STEP


def crossing(run: of.Run, name: str, after_s: float = SETTLED_S) -> tuple[float, str, float]:
    """A moment of a wait shortly before somebody leaves and somebody else who waits gets in: that moment, who
    leaves and when.
    """
    log = run.log
    for ends, leaver in of.leavers(log):
        at_s = ends - AHEAD_S
        entered, who = of.first_in(log, at_s)
        is_late = at_s >= of.arrival_s(log, name) + after_s
        if is_late and entered == ends and who <= set(of.waiting(log, at_s)):
            return at_s, leaver, ends
    raise AssertionError(f"nobody leaves for one who waits while {name} waits")


def handover(run: of.Run, name: str, newcomer: str, crossed: tuple[float, str, float]) -> dict[str, Value]:
    """The numbers of a crossing: what is given back, what two of those who wait need, how long one has."""
    at_s, leaver, ends = crossed
    gives, idle = of.holds(run, leaver, at_s), of.free(run, at_s)
    return {
        "leaver": leaver,
        "ahead_s": ends - at_s,
        "gives": gives,
        "free": idle,
        "free_then": idle + gives,
        "needs": of.needs(run, name),
        "newcomer": newcomer,
        "needs_newcomer": of.needs(run, newcomer),
        "waited_s": at_s - of.arrival_s(run.log, name),
    }


def bounded() -> Facts:
    """Somebody is about to give blocks back: who starts next, while an urgent one waits for more?"""
    run, name, small = of.run("stream", "backfill"), "chat-1", "chat-2"
    at_s, leaver, ends = crossing(run, name)
    longer: of.Changes = (("requests.api-{i}.count", str(2 * _stream_length())),)
    _, who = of.first_in(run.log, ends)
    newcomer = next(one for one in of.waiting(run.log, at_s) if one.startswith("api"))
    claims = {
        "oldest": frozenset({name}),
        "small": frozenset({small}),
        "passer": frozenset({newcomer}),
        "nobody": frozenset(),
    }
    return facts(
        at_s,
        name,
        claims,
        who,
        **handover(run, name, newcomer, (at_s, leaver, ends)),
        small=small,
        needs_small=of.needs(run, small),
        passed_so_far=of.passed(run, name, at_s),
        passed=of.passed(run, name, of.start_s(run.log, name)),
        newcomers=_stream_length(),
        wait_s=of.wait_s(run, name),
        bound_wait_s=of.wait_s(of.run("stream", "hol"), name),
        newcomers_longer=2 * _stream_length(),
        longer_wait_s=of.wait_s(of.run("stream", "backfill", longer), name),
        longer_bound_wait_s=of.wait_s(of.run("stream", "hol", longer), name),
    )


def _stream_length() -> int:
    return next(one.count for one in of.lesson_scenario("stream").requests if one.class_name == "api")


def inheritance() -> Facts:
    """Everybody who holds blocks gets the urgency of the one who waits: when does that one start?"""
    plain, lifted, name = of.run("stream", "backfill"), of.run("stream", "inheritance"), "chat-1"
    at_s, _, _ = crossing(lifted, name)
    before, after = of.start_s(plain.log, name), of.start_s(lifted.log, name)
    happened = "sooner" if after < before else "later" if after > before else "same"
    came = of.arrival_s(lifted.log, name)
    holder = of.running(lifted.log, at_s)[0]
    return facts(
        at_s,
        name,
        {key: key for key in ("sooner", "same", "later")},
        happened,
        holder=holder,
        needs=of.needs(lifted, name),
        waited_s=at_s - came,
        served_share=served_share(lifted, holder, came),
        plain_wait_s=of.wait_s(plain, name),
        wait_s=of.wait_s(lifted, name),
        passed=of.passed(lifted, name, after),
        gated_wait_s=of.wait_s(of.run("stream", "hol"), name),
        kept_wait_s=of.wait_s(of.run("stream", "rescue"), name),
        holders=len(of.running(lifted.log, at_s)),
    )


def served_share(run: of.Run, name: str, from_s: float) -> float:
    """Of the iterations after a moment in which a request is in the batch, the share that gave it tokens."""
    log, held = run.log, run.inversion.seen.held
    mine = held.take(held.request == of.place(log, name))
    begin = log.iteration_start_ps / PS_PER_S
    there = served = 0
    for first, end, many in zip(mine.iteration.tolist(), mine.end.tolist(), mine.count.tolist(), strict=True):
        there += int((begin[first:end] >= from_s).sum())
        served += int((begin[first : first + many] >= from_s).sum())
    return served / there
