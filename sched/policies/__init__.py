"""The policies, one file each. Adding one: its file, one line here, one test."""

from sched.policies.aging import Aging
from sched.policies.article_drf import ArticleDrf
from sched.policies.article_mlfq import ArticleMlfq
from sched.policies.auto_rescue import AutoRescue
from sched.policies.backfill import Backfill
from sched.policies.base import Policy, Scene
from sched.policies.ceiling import Ceiling
from sched.policies.dlpm import Dlpm
from sched.policies.drf import Drf
from sched.policies.drr import Drr
from sched.policies.edf import Edf
from sched.policies.fcfs import Fcfs
from sched.policies.hol import Hol
from sched.policies.hrrn import Hrrn
from sched.policies.inheritance import Inheritance
from sched.policies.isolated import Isolated
from sched.policies.kv_cap import KvCap
from sched.policies.mlfq import Mlfq
from sched.policies.mlfq_drf import MlfqDrf
from sched.policies.preemptive import Preemptive
from sched.policies.priority import Priority
from sched.policies.quota import Quota
from sched.policies.rescue import Rescue
from sched.policies.rescue_cap import RescueCap
from sched.policies.shed import Shed
from sched.policies.sjf import Sjf
from sched.policies.skip_join_mlfq import SkipJoinMlfq
from sched.policies.skip_limit import SkipLimit
from sched.policies.slack import Slack
from sched.policies.srpt import Srpt
from sched.policies.static import Static
from sched.policies.vtc import Vtc
from sched.scenario import register_policy

_ALL: tuple[type[Policy], ...] = (
    Static,
    Fcfs,
    Priority,
    Backfill,
    Hol,
    SkipLimit,
    Preemptive,
    Sjf,
    Srpt,
    Mlfq,
    SkipJoinMlfq,
    ArticleMlfq,
    Aging,
    Hrrn,
    Edf,
    Slack,
    Drf,
    ArticleDrf,
    MlfqDrf,
    Quota,
    Vtc,
    Dlpm,
    Drr,
    Inheritance,
    Ceiling,
    Rescue,
    KvCap,
    RescueCap,
    AutoRescue,
    Isolated,
    Shed,
)
POLICIES: dict[str, type[Policy]] = {policy.key: policy for policy in _ALL}
assert len(POLICIES) == len(_ALL) and all(POLICIES), "every policy needs a key of its own"

for _policy in POLICIES.values():
    register_policy(_policy.key, _policy.title, _policy.__doc__ or "", _policy.settings)

__all__ = ["POLICIES", "Policy", "Scene"]
