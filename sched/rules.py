"""The policy of a run built again from its scenario, and what of its rules an outsider may count on."""

from sched.cost import iteration_cost
from sched.engine import scene_of, settings_of
from sched.log import Log
from sched.policies import POLICIES
from sched.policies.base import Policy, overrides
from sched.scenario import Scenario


def rules_of(log: Log, scenario: Scenario) -> Policy:
    """A fresh policy as it was when the run began: its switches and settings, none of what it has counted."""
    options = settings_of(scenario, log.policy)
    scene = scene_of(scenario, log.requests, log.machine, iteration_cost(scenario), options)
    return POLICIES[log.policy](options, scene)


def why_not_bounded(rules: Policy) -> str:
    """What lets later requests go first, or keeps a request out although it fits; "" if nothing does."""
    if rules.is_replicated:
        return "there are several engines, and what is said here holds for one"
    if rules.fair:
        return "whose turn it is depends on what each tenant has been served"
    if rules.misfit == "pass":
        return "a request that does not fit lets all other lines past"
    if not rules.arrival_order and (rules.moving or rules.reads_cache or overrides(rules, "rank")):
        return "its order is neither that of arrival nor that of urgency, so later requests may go first"
    if rules.pools is not None or overrides(rules, "holds_back", "stops_at"):
        return "it may hold a request back that would fit"
    if rules.displaces_for_waiters and overrides(rules, "arrived", "admitted", "left", "queued", "turned"):
        return "whom it preempts may depend on what it has seen in the run"
    if rules.next_ps is not None or overrides(rules, "tick"):
        return "what it sets aside changes as the run goes on"
    return ""
