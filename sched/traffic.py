"""The arrivals of a traffic class in its scenario, or why they cannot be drawn, in words."""

from typing import NoReturn

from sched.arrivals import MAX_REQUESTS, MOST_DRAWN, TooDense, TooMany, arrivals
from sched.fields import number_text, refuse
from sched.laws import Bursts, OnOff
from sched.randomness import Floats, Stream, stream
from sched.scenario import Scenario, Traffic
from sched.sentences import quoted


def stream_of(scenario: Scenario, traffic: Traffic, purpose: str) -> Stream:
    """The random numbers of a class for one purpose."""
    return stream(scenario.seed, "traffic", traffic.name, purpose)


def arrival_times(scenario: Scenario, traffic: Traffic) -> Floats:
    """Arrival times in seconds, cut at the class's own cap. Raises ScenarioError for too many of them."""
    most, rate, end = traffic.max_requests, traffic.rate_per_s, scenario.duration_s
    until = end if most is None else min(end, 2.0 * (most + 10) / rate)
    try:
        times = arrivals(traffic.arrivals, stream_of(scenario, traffic, "arrivals"), rate, until)
        while most is not None and len(times) < most and until < end:
            until = min(end, 4.0 * until)
            times = arrivals(traffic.arrivals, stream_of(scenario, traffic, "arrivals"), rate, until)
    except TooDense:
        _refuse_dense(traffic, until)
    except TooMany:
        refuse(
            f"{rate:g} requests/s for {end:g} s make too many requests: at most {MAX_REQUESTS:,}; "
            "lower the rate or duration_s, or set max_requests",
            f"traffic.{quoted(traffic.name)}.rate_per_s",
        )
    return times[:most]


def _refuse_dense(traffic: Traffic, until_s: float) -> NoReturn:
    """Moments of activity that are too short or too rare for the numbers that may be drawn."""
    law = traffic.arrivals
    assert isinstance(law, OnOff | Bursts)
    path = f"traffic.{quoted(traffic.name)}.arrivals.on_s"
    on, off = number_text(law.on_s), number_text(law.off_s)
    refuse(
        f"must be longer beside off_s = {off} s: more than {MOST_DRAWN:,} numbers would be drawn for "
        f"{until_s:g} s of such periods",
        f"{path} = {on} s",
    )
