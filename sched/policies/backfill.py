"""Fill by what fits."""

from sched.policies.base import Policy


class Backfill(Policy):
    """Most urgent first, but whoever fits is admitted past a blocked request.

    Helps occupancy and small requests. Hurts wide urgent ones without a bound: newcomers keep the free pool
    below what they need.
    Source: the admission rule proposed for vLLM in its pull requests 33499, 35852 and 36390.
    """

    key = "backfill"
    title = "Priority + backfill"
    misfit = "skip"
