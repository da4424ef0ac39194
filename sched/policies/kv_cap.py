"""Caps on the KV of each class."""

from sched.policies.base import MISFIT
from sched.policies.caps import CAPS, Capped


class KvCap(Capped):
    """Priority, with caps on all but the most urgent: on a request, on a class, on long ones at once.

    Helps the urgent, for whom memory stays free. Hurts long requests: they wait for each other, and too large
    ones are refused, or split into pieces that each repeat the instructions and answer on their own.
    Source: the article's second remedy; vLLM V0, max_long_partial_prefills, for the limit on long ones.
    """

    key = "kv_cap"
    title = "KV caps"
    settings = (*CAPS, MISFIT)
