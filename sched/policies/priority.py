"""Priority as the real scheduler has it: in the queue, not in the batch."""

from sched.policies.base import Policy


class Priority(Policy):
    """The most urgent waits at the head and everybody waits behind it; nobody running is displaced for it.

    Helps the urgent overtake in the queue. Hurts them still when KV blocks, seats or the token budget are in
    lower hands: a less urgent request is preempted only when a running one cannot grow.
    Source: vLLM 0.33, scheduling policy "priority", v1/core/sched/scheduler.py.
    """

    key = "priority"
    title = "Priority"
