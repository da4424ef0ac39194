"""Several engines behind a router: each has its own clock, and together they make one log."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from sched.cost import IterationCost
from sched.log import Ints, Log, Preempted, Refusals, Stays, frozen
from sched.model import NEVER, Machine
from sched.policies.base import Policy
from sched.record import Recorder
from sched.server import Server
from sched.workload import RequestList


def chosen(listed: RequestList, rows: Ints) -> RequestList:
    """Some of the requests, in their order; classes and tenants keep their numbers."""
    columns: dict[str, Any] = {
        one.name: frozen(value[rows])
        for one in fields(listed)
        if isinstance(value := getattr(listed, one.name), np.ndarray)
    }
    places = rows.tolist()
    texts: dict[str, Any] = {"ids": tuple(listed.ids[one] for one in places)}
    for name in ("segments", "parents"):
        values = getattr(listed, name)
        texts[name] = None if values is None else tuple(values[one] for one in places)
    return replace(listed, **columns, **texts)


def routes(listed: RequestList, cost: IterationCost, policies: list[Policy], horizon_ps: int) -> Ints:
    """The replica of each request: its home, or where the router sends it because there is no room at home.

    Only requests of replica 0 may be sent on. The router looks at both when the request arrives, at what the
    iteration under way leaves: at home it needs an empty queue, a seat, and the blocks the gate asks for;
    failing that, it is sent on if the other has them. Patience is not modelled here, only in the run itself.
    """
    home = [policies[0].home(level) for level in listed.priority.tolist()]
    route = [NEVER if one == 0 else one for one in home]
    unending = replace(listed, timeout_ps=np.full(len(listed), NEVER, np.int64))
    servers = [
        Server(unending, policy.scene.machine, cost, policy, Recorder(unending), horizon_ps)
        for policy in policies
    ]
    for number, server in enumerate(servers):
        server.intake.route = (route, number)
    for ordinal, at_ps in enumerate(listed.arrival_ps.tolist()):
        if route[ordinal] != NEVER:
            continue
        for server in servers:
            if server.now_ps < at_ps and not server.done:
                server.advance(at_ps)
        prompt, output = int(listed.prompt_tokens[ordinal]), int(listed.output_tokens[ordinal])
        peaks = [one.machine.blocks(one.machine.tokens_of_life(prompt, output)) for one in servers]
        can_fit = [peak <= one.machine.kv_blocks for peak, one in zip(peaks, servers, strict=True)]
        if not can_fit[0]:
            # It waits where it can ever run; where it cannot, it is refused at home.
            route[ordinal] = int(can_fit[1])
            continue
        has_room = [
            number not in route[server.intake.next : ordinal] and _has_room(server, prompt, output)
            for number, server in enumerate(servers)
        ]
        route[ordinal] = 0 if has_room[0] or not has_room[1] else 1
    return np.array(route, dtype=np.int64)


def _has_room(server: Server, prompt: int, output: int) -> bool:
    """Whether a request could start at the next boundary, as far as the iteration under way shows."""
    batch, machine = server.batch, server.machine
    peak = machine.blocks(machine.tokens_of_life(prompt, output))
    need = peak if batch.by_peak else machine.blocks(prompt)
    last = server.iteration + max(0, server.flying - 1)
    growth = batch.straight.held(last) - batch.straight_held if batch.straight.count else 0
    free = batch.room() - (0 if batch.by_peak else growth)
    return (
        not batch.waiting
        and len(batch.running) < batch.seats
        and need + (machine.watermark_blocks if batch.running else 0) <= free
        and peak <= machine.kv_blocks
    )


def joined(whole: RequestList, machine: Machine, logs: list[Log], rows: list[Ints]) -> Log:
    """One log of several replicas: columns by request as ever; stays, preemptions and refusals of all of
    them, with the iterations of their own replica. What is counted by iteration stands in `replicas`.
    """
    first = logs[0]
    columns: dict[str, Any] = {}
    for name in (
        *("outcome", "first_scheduled_ps", "first_token_ps", "ended_ps"),
        *("emitted_tokens", "preemptions", "recomputed_tokens"),
    ):
        column = np.empty(len(whole), dtype=np.int64)
        for log, own in zip(logs, rows, strict=True):
            column[own] = getattr(log, name)
        columns[name] = frozen(column)
    tables: dict[str, Any] = {
        "stays": Stays(*_stacked(logs, rows, "stays", ("request",))),
        "preempted": Preempted(*_stacked(logs, rows, "preempted", ("victim", "beneficiary"))),
        "refusals": Refusals(*_stacked(logs, rows, "refusals", ("request",))),
    }
    reasons = [log.stop_reason for log in logs if log.stop_reason]
    return replace(
        first,
        machine=machine,
        requests=whole,
        stop_reason="; ".join(reasons),
        jumps=sum(log.jumps for log in logs),
        why_refused={
            int(own[one]): why
            for log, own in zip(logs, rows, strict=True)
            for one, why in log.why_refused.items()
        },
        replicas=tuple(logs),
        rows=tuple(frozen(own) for own in rows),
        **columns,
        **tables,
    )


def _stacked(logs: list[Log], rows: list[Ints], table: str, named: tuple[str, ...]) -> list[Ints]:
    """A table of all replicas, requests by their place in the whole list."""
    found = []
    for column in fields(getattr(logs[0], table)):
        parts = [getattr(getattr(log, table), column.name) for log in logs]
        if column.name in named:
            parts = [own[part] for own, part in zip(rows, parts, strict=True)]
        found.append(frozen(np.concatenate(parts)))
    return found
