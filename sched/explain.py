"""Why one request waited, in full: causes, blame, moments, what would have helped, and the notes on its way.

Blame says who was holding what it lacked. The counterfactual says what would have helped: the same requests
played again without overtaking, and without any lower request. The two agree in rank, not in value; they are
never added up.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from sched.blame import KINDS
from sched.bounds import statement
from sched.chronicle import CULPRITS, events
from sched.cost import iteration_cost
from sched.evidence import Evidence
from sched.execution import execution
from sched.forecast import before_in_queue
from sched.inversion import CAUSES, Inversion
from sched.language import ENGLISH, Language
from sched.log import Log
from sched.model import NEVER, PS_PER_S, Outcome, RefusalCode
from sched.moments import RESOURCE_NAMES, cause_name, holders, moments
from sched.notes import annotation
from sched.remarks import why_refused
from sched.replicas import chosen
from sched.rules import rules_of
from sched.scenario import Scenario
from sched.several import JoinedInversion
from sched.sums import seconds
from sched.supply import LEGITIMATE, QUANTUM, RESERVED
from sched.waits import waits
from sched.workload import RequestList

Simulate = Callable[[Scenario, str, RequestList], Log]
"""Runs a policy of a scenario over a request list: `sched.simulate`."""
RULES: dict[int, str] = {
    RefusalCode.RESERVED: "what is free is set aside for others",
    RefusalCode.HELD: "a cap or a quota holds it back",
    RefusalCode.AFTER_PREEMPTION: "somebody was preempted in this iteration",
    RefusalCode.BATCH_CLOSED: "the batch is closed",
}


class UnknownRequest(ValueError):
    """The sentence for a request that the run does not have."""


def explain(
    log: Log,
    inversion: Inversion,
    request_id: str,
    scenario: Scenario,
    simulate: Simulate,
    say: Language = ENGLISH,
) -> dict[str, Any]:
    """The `explain --json` object of one request. Raises UnknownRequest in words."""
    if request_id not in log.requests.ids:
        raise UnknownRequest(f'request "{request_id}": none of the {len(log.requests.ids)} has this id')
    request = log.requests.ids.index(request_id)
    if isinstance(inversion, JoinedInversion):
        part, _ = inversion.place_of(request)
        told = explain(log.replicas[part], inversion.parts[part], request_id, scenario, simulate, say)
        # What would have helped is asked of all engines together.
        return told | {"counterfactual": _counterfactual(log, inversion, request, scenario, simulate)}
    goal = int(log.requests.ttft_goal_ps[request])
    after = scenario.annotate_after_s
    after_ps = round(after * PS_PER_S) if after is not None else max(goal, 0) // 4
    inside = execution(inversion.seen, iteration_cost(scenario))
    bound = statement(log, scenario, request, inversion.seen, say)
    return {
        "request": _request(log, request, scenario)
        | {
            "passed_by": int(inversion.bypasses[request]),
            "order_inversions": int(inversion.order_inversions[request]),
            "preemption_inversions": int(inversion.preemption_inversions[request]),
        },
        "policy": log.policy,
        "wait_s": seconds(inversion.wait_ps[request]),
        "causes": causes(inversion, request),
        "quantum": _quantum(inversion, request),
        "blame": blame_list(inversion, request),
        "intervals": intervals(inversion, request),
        "execution": {
            "running_s": seconds(inside.running_ps[request]),
            "inversion_s": seconds(inside.inversion_ps[request]),
        },
        "bound": {
            "kind": bound.kind,
            "bound_s": None if bound.bound_ps is None else seconds(bound.bound_ps),
            "text": bound.text,
        },
        "events": events(inversion, request, say),
        "counterfactual": _counterfactual(log, inversion, request, scenario, simulate),
        "annotation": annotation(inversion, request, after_ps, rules_of(log, scenario), say=say),
    }


def _request(log: Log, request: int, scenario: Scenario) -> dict[str, Any]:
    listed = log.requests

    def when(ps: int) -> float | None:
        return None if ps == NEVER else seconds(ps)

    outcome = Outcome(int(log.outcome[request]))
    return {
        "id": listed.ids[request],
        "class": listed.class_names[int(listed.class_index[request])],
        "tenant": listed.tenant_names[int(listed.tenant_index[request])],
        "priority": scenario.level(int(listed.priority[request])),
        "prompt": int(listed.prompt_tokens[request]),
        "output": int(listed.output_tokens[request]),
        "arrival_s": seconds(listed.arrival_ps[request]),
        "first_scheduled_s": when(int(log.first_scheduled_ps[request])),
        "first_token_s": when(int(log.first_token_ps[request])),
        "ended_s": when(int(log.ended_ps[request])),
        "outcome": outcome.name.lower(),
        "preemptions": int(log.preemptions[request]),
        "recomputed_tokens": int(log.recomputed_tokens[request]),
        **({"refusal": why_refused(log, request)} if outcome == Outcome.REFUSED else {}),
    }


def causes(inversion: Inversion, request: int) -> dict[str, float]:
    """Seconds of wait by cause; they add up to the wait. What can never fit is refused and has no wait."""
    found = {f"{name}_s": seconds(getattr(inversion, f"{name}_ps")[request]) for name in CAUSES}
    return found | {"infeasible_s": 0.0}


def blame_list(inversion: Inversion, request: int) -> list[dict[str, Any]]:
    """Who made it wait, most first; the parts add up to its inversion."""
    listed = inversion.seen.log.requests
    ps = inversion.blame_of(request).ps.sum(axis=0)
    found = [
        (int(ps[place]), *place) for place in zip(*(rows.tolist() for rows in np.nonzero(ps)), strict=True)
    ]
    found.sort(key=lambda row: (-row[0], *row[1:]))
    return [
        {
            "id": listed.ids[who],
            "class": listed.class_names[int(listed.class_index[who])],
            "kind": KINDS[kind],
            "resource": RESOURCE_NAMES[resource],
            "s": seconds(share),
        }
        for share, kind, resource, who in found
    ]


def intervals(inversion: Inversion, request: int) -> list[dict[str, Any]]:
    """Its waits, cut where what it was told changes, each with who held most of what it lacked then."""
    rows, ids = moments(inversion, request), inversion.seen.log.requests.ids
    found = []
    for row in range(len(rows.request)):
        code, resource, slot = int(rows.code[row]), int(rows.resource[row]), int(rows.slot[row])
        who = []
        if code < LEGITIMATE:
            who = holders(inversion.seen, int(rows.wait[row]), slot, resource)[:CULPRITS]
        found.append(
            {
                "from_s": seconds(rows.from_ps[row]),
                "to_s": seconds(rows.to_ps[row]),
                "cause": cause_name(code),
                "resource": RESOURCE_NAMES[resource],
                "needs": int(rows.needs[row]),
                "free": int(rows.free[row]),
                "entitled": int(rows.entitled[row]),
                "rule": rule_of(inversion.seen, int(rows.wait[row]), slot) if code == RESERVED else "",
                "culprits": [{"id": ids[one], "holds": units} for one, units in who],
            }
        )
    return found


def rule_of(seen: Evidence, wait: int, slot: int) -> str:
    """The rule of the policy that keeps out a request which would fit, by what it was last told."""
    told, at = seen.log.refusals, int(seen.time.begin_ps[slot])
    in_front = before_in_queue(seen, wait, slot)
    for one in (wait, *in_front[:1].tolist()):
        mine = (told.request == seen.waits.request[one]) & (told.at_ps <= at)
        mine &= told.at_ps >= seen.waits.from_ps[one]
        codes = told.code[np.flatnonzero(mine)]
        if len(codes) and int(codes[-1]) in RULES:
            return RULES[int(codes[-1])]
    return "it stands behind others in the queue" if len(in_front) else "the policy admits nobody now"


def _quantum(inversion: Inversion, request: int) -> dict[str, float]:
    """The iteration in progress when it came, shared by whose tokens it computed."""
    seen, spans = inversion.seen, inversion.spans
    tokens = seen.levels.held.tokens
    level = int(seen.levels.of_request[request])
    lower_s = other_s = 0.0
    for row in np.flatnonzero((spans.request == request) & (spans.code == QUANTUM)).tolist():
        slot = int(np.searchsorted(seen.time.begin_ps, spans.from_ps[row])) - 1
        of_slot = tokens[:, seen.time.iteration[slot]]
        lower = int(seen.lower_at(np.array([level]), np.array([slot]))[1][0])
        length = int(spans.to_ps[row] - spans.from_ps[row])
        share = length * lower // max(int(of_slot.sum()), 1)
        lower_s, other_s = lower_s + seconds(share), other_s + seconds(length - share)
    return {"lower_s": lower_s, "other_s": other_s}


def _counterfactual(
    log: Log, inversion: Inversion, request: int, scenario: Scenario, simulate: Simulate
) -> dict[str, Any]:
    """Its wait in the same run without overtaking, and in the same run without any less urgent request."""
    changed, policy = _without_overtaking(scenario, log.policy)
    without = inversion.wait_ps[request]
    if inversion.bypasses[request]:
        without = _wait_ps(simulate(changed, policy, log.requests), request)
    others = log.requests.priority <= log.requests.priority[request]
    place = int(others[:request].sum())
    alone = _wait_ps(simulate(scenario, log.policy, chosen(log.requests, np.flatnonzero(others))), place)
    return {
        "no_bypass_wait_s": seconds(without),
        "no_bypass_is": policy if inversion.bypasses[request] else "as it was: nobody was admitted past it",
        "no_lower_wait_s": seconds(alone),
    }


def _without_overtaking(scenario: Scenario, policy: str) -> tuple[Scenario, str]:
    """The policy that differs in letting nobody past a request that does not fit."""
    settings = scenario.policies.get(policy)
    if settings is not None and getattr(settings, "misfit", "") == "skip":
        return scenario.changed(policies={policy: settings.changed(misfit="stop")}), policy
    return scenario, "hol"


def _wait_ps(log: Log, request: int) -> int:
    found = waits(log)
    mine = found.request == request
    return int((found.to_ps - found.from_ps)[mine].sum())
