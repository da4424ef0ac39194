"""What the last four lessons claim, worked out from their runs: the buffer, ageing, tenants, no priority."""

import numpy as np

from sched.log import Log
from sched.model import PS_PER_S
from sched.text import lesson_runs as of
from sched.text.facts_memory import AHEAD_S, Facts, crossing, facts, handover

STRICT: of.Changes = (("rescue.lend", "false"),)
STOPS: of.Changes = (("aging.misfit", '"stop"'),)
SEATS_SHORT: of.Changes = (("engine.kv_blocks", "2000"), ("engine.max_num_seqs", "4"))
HALF_URGENT: of.Changes = (("requests.web-{i}.priority", "1"),)
MORE_SEATS: of.Changes = (("engine.max_num_seqs", "16"),)


def victims(log: Log, name: str) -> tuple[frozenset[str], int]:
    """Who was preempted for a request, and how many computed tokens that threw away."""
    gone = log.preempted
    rows = np.flatnonzero(gone.beneficiary == of.place(log, name))
    return frozenset(log.requests.ids[one] for one in gone.victim[rows]), int(gone.lost_tokens[rows].sum())


def rescue() -> Facts:
    """An urgent request is about to come and all of its buffer is lent: who makes room?"""
    run, plain, strict = (
        of.run("stream", "rescue"),
        of.run("stream", "backfill"),
        of.run("stream", "rescue", STRICT),
    )
    log, name = run.log, "chat-1"
    came = of.arrival_s(log, name)
    at_s = came - AHEAD_S
    gone, lost = victims(log, name)
    there = of.running(log, of.start_s(log, name) - 1e-6)
    least = max(there, key=lambda one: int(log.requests.priority[of.place(log, one)]))
    others = [one for one in there if one != least]
    claims = {
        "nobody": frozenset[str](),
        "holder": frozenset({least}),
        "oldest": frozenset(others[: len(gone)]),
        "newest": frozenset(others[-len(gone) :]),
    }
    kept = log.set_aside
    assert kept is not None
    later = [of.end_s(log, one) - of.end_s(plain.log, one) for one in gone]
    return facts(
        at_s,
        name,
        claims,
        gone,
        ahead_s=came - at_s,
        needs=of.needs(run, name),
        kept=kept.kv_blocks,
        kv_blocks=log.machine.kv_blocks,
        free=of.free(run, at_s),
        holder=least,
        oldest=others[0],
        newest=others[-1],
        preempted=len(gone),
        lost_tokens=lost,
        later_s=max(later),
        wait_s=of.wait_s(run, name),
        plain_wait_s=of.wait_s(plain, name),
        strict_wait_s=of.wait_s(strict, name),
        makespan_s=of.makespan_s(log),
        plain_makespan_s=of.makespan_s(plain.log),
        strict_makespan_s=of.makespan_s(strict.log),
        api_wait_s=of.waits_s(run, "api") / _many(log, "api"),
        plain_api_wait_s=of.waits_s(plain, "api") / _many(plain.log, "api"),
        strict_api_wait_s=of.waits_s(strict, "api") / _many(strict.log, "api"),
    )


def _many(log: Log, class_name: str) -> int:
    return int((log.requests.class_index == log.requests.class_names.index(class_name)).sum())


def ageing() -> Facts:
    """A document has aged until it stands first in the queue, and blocks are given back: does it start?"""
    run, name = of.run("ageing", "aging"), "docs-1"
    log, settings = run.log, run.scenario.policies["aging"]
    levels = int(log.requests.priority[of.place(log, name)] - log.requests.priority.min())
    first_after_s = levels / settings.per_s
    at_s, leaver, ends = crossing(run, name, first_after_s + 0.5)
    _, who = of.first_in(log, ends)
    newcomer = next(one for one in of.waiting(log, at_s) if one != name)
    plain, stops = of.run("ageing", "backfill"), of.run("ageing", "aging", STOPS)
    return facts(
        at_s,
        name,
        {"head": frozenset({name}), "passer": frozenset({newcomer}), "nobody": frozenset[str]()},
        who,
        first=of.queue(run, at_s)[0],
        **handover(run, name, newcomer, (at_s, leaver, ends)),
        first_after_s=first_after_s,
        wait_s=of.wait_s(run, name),
        plain_wait_s=of.wait_s(plain, name),
        stops_wait_s=of.wait_s(stops, name),
        seats=int(dict(SEATS_SHORT)["engine.max_num_seqs"]),
        seats_plain_wait_s=of.wait_s(of.run("ageing", "backfill", SEATS_SHORT), name),
        seats_wait_s=of.wait_s(of.run("ageing", "aging", SEATS_SHORT), name),
    )


def served_tokens(log: Log, tenant: str, at_s: float) -> int:
    """Prompt and output tokens computed for a tenant's requests before a moment."""
    listed, at_ps = log.requests, at_s * PS_PER_S
    mine = listed.tenant_index == listed.tenant_names.index(tenant)
    ends = log.iteration_start_ps + log.iteration_duration_ps
    done = int(np.searchsorted(ends, at_ps, "right"))
    chunks, runs = log.chunks, log.runs
    of_chunks = int(chunks.tokens[mine[chunks.request] & (chunks.iteration < done)].sum())
    straight = np.clip(done - runs.iteration, 0, runs.count)
    return of_chunks + int(straight[mine[runs.request]].sum())


def tenants() -> Facts:
    """A seat is about to be free; one tenant has a queue, the other one request: who gets it?"""
    run, plain, name = of.run("tenants", "vtc"), of.run("tenants", "fcfs"), "web-1"
    log = run.log
    ends, leaver = of.leavers(log)[0]
    at_s = ends - AHEAD_S
    _, who = of.first_in(log, ends)
    queue = [one for one in of.waiting(log, at_s) if one != name]
    return facts(
        at_s,
        name,
        {"oldest": frozenset({queue[0]}), "least": frozenset({name}), "newest": frozenset({queue[-1]})},
        who,
        leaver=leaver,
        ahead_s=ends - at_s,
        oldest=queue[0],
        newest=queue[-1],
        queued=len(queue),
        sent=_many(log, "script"),
        seats=log.machine.max_num_seqs,
        waited_s=at_s - of.arrival_s(log, name),
        served_script=served_tokens(log, "script", at_s),
        served_web=served_tokens(log, "web", at_s),
        wait_s=of.wait_s(run, name),
        plain_wait_s=of.wait_s(plain, name),
        script_end_s=max(of.end_s(log, one) for one in log.requests.ids if one.startswith("script")),
        plain_script_end_s=max(
            of.end_s(plain.log, one) for one in log.requests.ids if one.startswith("script")
        ),
        makespan_s=of.makespan_s(log),
        plain_makespan_s=of.makespan_s(plain.log),
    )


def everyone() -> Facts:
    """All requests are marked urgent and a seat is about to be free: who gets it?"""
    run, plain = of.run("everyone", "priority"), of.run("everyone", "fcfs")
    half, more = of.run("everyone", "priority", HALF_URGENT), of.run("everyone", "priority", MORE_SEATS)
    log = run.log
    at_s, leaver, ends = crossing(run, "web-1")
    _, who = of.first_in(log, ends)
    queue = of.waiting(log, at_s)
    other = next(one for one in queue if one.partition("-")[0] != queue[0].partition("-")[0])
    names = log.requests.ids
    same = [of.start_s(log, one) == of.start_s(plain.log, one) for one in names]
    return facts(
        at_s,
        queue[0],
        {"oldest": frozenset({queue[0]}), "other": frozenset({other}), "newest": frozenset({queue[-1]})},
        who,
        leaver=leaver,
        ahead_s=ends - at_s,
        oldest=queue[0],
        other=other,
        newest=queue[-1],
        waiting=len(queue),
        requests=len(names),
        same=sum(same),
        mean_wait_s=of.waits_s(run) / len(names),
        app_wait_s=of.waits_s(run, "app") / _many(log, "app"),
        web_wait_s=of.waits_s(run, "web") / _many(log, "web"),
        half_app_wait_s=of.waits_s(half, "app") / _many(log, "app"),
        half_web_wait_s=of.waits_s(half, "web") / _many(log, "web"),
        half_mean_wait_s=of.waits_s(half) / len(names),
        seats=log.machine.max_num_seqs,
        more_seats=more.log.machine.max_num_seqs,
        more_wait_s=of.waits_s(more) / len(names),
        more_plain_wait_s=of.waits_s(of.run("everyone", "fcfs", MORE_SEATS)) / len(names),
    )
