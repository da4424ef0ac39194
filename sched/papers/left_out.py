"""Published rows that are not run, and what the simulator would need for them."""

from sched.papers.row import NotRun

LEFT_OUT = (
    NotRun(
        "andes",
        "Liu et al., Andes, arXiv 2404.16283",
        "more requests than can be served at reading speed",
        "quality of experience up to 3.2 times higher, or 1.6 times the rate (first version); 4.7 times, or "
        "61 % of the GPUs (second version)",
        "It pauses requests that are ahead of the reader and keeps their KV; no policy here pauses a running "
        "request without preempting it.",
    ),
    NotRun(
        "multi-slo",
        "SLOs-Serve, arXiv 2504.08784; QLM, arXiv 2407.00047",
        "classes with several goals each",
        "2.2 times the capacity (SLOs-Serve); 40 to 90 % more goals met (QLM)",
        "They plan the tokens of several iterations ahead, or swap whole models; neither is modelled.",
    ),
)
