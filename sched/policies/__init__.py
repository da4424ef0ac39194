"""The policies, one file each. Adding one: its file, one line here, one test."""

from sched.policies.aging import Aging
from sched.policies.backfill import Backfill
from sched.policies.base import Policy, Scene
from sched.policies.fcfs import Fcfs
from sched.policies.hol import Hol
from sched.policies.inheritance import Inheritance
from sched.policies.preemptive import Preemptive
from sched.policies.priority import Priority
from sched.policies.rescue import Rescue
from sched.policies.skip_limit import SkipLimit
from sched.policies.static import Static
from sched.policies.vtc import Vtc
from sched.scenario import register_policy

POLICIES: dict[str, type[Policy]] = {
    policy.key: policy
    for policy in (
        Static,
        Fcfs,
        Priority,
        Backfill,
        Hol,
        SkipLimit,
        Preemptive,
        Inheritance,
        Rescue,
        Aging,
        Vtc,
    )
}

for _policy in POLICIES.values():
    register_policy(_policy.key, _policy.title, _policy.__doc__ or "", _policy.settings)

__all__ = ["POLICIES", "Policy", "Scene"]
