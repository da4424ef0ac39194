"""First come, first served, with continuous batching."""

from sched.model import Request, Standing
from sched.policies.base import Policy, Rank


class Fcfs(Policy):
    """Requests enter in order of arrival; when a running one cannot grow, the last admitted is preempted.

    Helps everybody equally and starves nobody. Hurts the urgent: it is blind to priority, and one long prompt
    at the head of the queue holds all behind it.
    Source: vLLM 0.33, scheduling policy "fcfs", v1/core/sched/scheduler.py.
    """

    key = "fcfs"
    title = "First come"
    blind = True
    arrival_order = True
    requeue_at_front = True

    def yields(self, request: Request, standing: Standing) -> Rank:
        return (standing.admission,)
