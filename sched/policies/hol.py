"""Strict head of line."""

from sched.policies.base import Policy


class Hol(Policy):
    """Most urgent first, and nothing behind a request that does not fit is admitted.

    Helps wide urgent requests: their wait is bounded by what the holders have left to do. Hurts throughput:
    blocks lie idle while the head waits for more of them.
    Source: Cobham, Priority assignment in waiting line problems, 1954; the stop at a misfit is vLLM's and
    SGLang's.
    """

    key = "hol"
    title = "Head of line"
