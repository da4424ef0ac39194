"""A class looks alike in the sidebar, in stories and in pictures: by the requests that came."""

from typing import Any

from sched import Scenario, simulate
from sched.figures.looks import look_of_class, looks
from sched.figures.side import side
from sched.inversion import analyse
from sched.page.controls import marked_name
from sched.page.results import MOST, looks_of
from sched.scenario import preset
from sched.workload import requests

TOKENS = {"kind": "constant", "tokens": 20}


def of_classes(*classes: tuple[str, int, float]) -> Scenario:
    """Name, priority and rate of each class; 20 s on an engine of 0.1 s an iteration."""
    traffic: list[dict[str, Any]] = [
        {"name": name, "priority": priority, "rate_per_s": rate, "prompt": TOKENS, "output": TOKENS}
        for name, priority, rate in classes
    ]
    return Scenario.model_validate(
        {
            "duration_s": 20,
            "engine": {"hardware": "constant", "iteration_s": 0.1},
            "policies": {"fcfs": {}},
            "traffic": traffic,
        }
    )


def test_classes_look_by_their_urgency() -> None:
    assert looks(requests(preset("noisy-neighbour"))) == {"chat": 0, "api": 1, "docs": 2}


def test_a_class_that_sent_nothing_takes_no_look_from_those_that_came() -> None:
    scenario = of_classes(("rare", 0, 0.001), ("api", 1, 2), ("docs", 2, 1))
    log = simulate(scenario, "fcfs")
    assert "rare" not in {log.requests.class_names[one] for one in log.requests.class_index}
    assert looks(log.requests) == {"rare": 2, "api": 0, "docs": 2}
    assert looks_of(scenario) == looks(log.requests)
    assert side(log, analyse(log)).role_of_class == look_of_class(log.requests)


def test_equal_classes_look_in_turn() -> None:
    assert list(looks_of(of_classes(("a", 0, 2), ("b", 0, 2), ("c", 0, 2))).values()) == [1, 2, 0]


def test_a_class_whose_requests_are_not_made_has_no_mark() -> None:
    many = looks_of(of_classes(("api", 0, MOST), ("docs", 1, 1)))
    lost = looks_of(preset("noisy-neighbour").changed(traffic=(), trace={"file": "not-there.csv"}))
    assert many == lost == {}
    assert (marked_name("api", many), marked_name("api", {"api": 0})) == ("api", "▲ api")
