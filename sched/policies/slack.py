"""Least slack first."""

from dataclasses import replace

from sched.model import Request, Standing
from sched.policies.edf import Edf


class Slack(Edf):
    """The request that must start first to keep its promise enters first; who cannot keep it any more, last.

    Helps long prompts, which need an earlier start than short ones due at the same time. Hurts those that are
    relegated, and whoever was promised nothing: they wait behind all others.
    Source: the least slack of Mok, Fundamental design problems of distributed systems for the hard-real-time
    environment, 1983; the eager relegation of Niyama, 2025.
    """

    key = "slack"
    title = "Least slack"
    blind = True
    settings = tuple(replace(one, default=True) if one.name == "relegate" else one for one in Edf.settings)

    def urgency_ps(self, request: Request, due_ps: int, standing: Standing) -> int:
        return self.latest_ps(request, due_ps, standing)
