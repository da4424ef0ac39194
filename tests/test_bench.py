"""The scenario whose speed is measured: what it is, and that its load is what it is said to be."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sched import simulate
from sched.__main__ import main
from sched.bench import LOAD, SATURATION_PER_S, scenario
from sched.model import PS_PER_S, Outcome
from sched.workload import requests

QUEUED = 20_000
"""Requests that all wait from the beginning: so many that its ends hardly count."""


def test_saturation_is_what_was_measured() -> None:
    mix = scenario(QUEUED)
    listed = requests(mix)
    log = simulate(mix, "fcfs", replace(listed, arrival_ps=np.zeros_like(listed.arrival_ps)))
    assert (log.outcome == Outcome.FINISHED).all()
    assert round(len(listed) * PS_PER_S / int(log.ended_ps.max()), 2) == SATURATION_PER_S


def test_the_load_is_four_fifths_of_saturation() -> None:
    listed = requests(scenario(20_000))
    rate = len(listed) * 10**12 / int(listed.arrival_ps[-1])
    # The mean of 20,000 exponential gaps has a standard error of 0.7 %.
    assert rate == pytest.approx(LOAD * SATURATION_PER_S, rel=0.021)
    shares = np.bincount(listed.class_index) / len(listed)
    assert shares.tolist() == pytest.approx([0.60, 0.36, 0.04])
    assert listed.prompt_tokens.max() == 2048 and listed.output_tokens.max() == 1024


def test_memory_contends_only_when_it_is_tight() -> None:
    wide, tight = (simulate(scenario(5000, tight=tight), "priority") for tight in (False, True))
    assert len(wide.preempted.victim) == 0 < len(tight.preempted.victim)


def test_bench_prints_the_object_that_scripts_rely_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--requests", "500", "--policy", "fcfs", "--tight", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [
        *("requests", "policy", "requests_per_cpu_s", "iterations_per_cpu_s", "cpu_s", "peak_mb"),
        *("jumps", "iterations"),
    ]
    assert (found["requests"], found["policy"]) == (500, "fcfs")
    assert found["requests_per_cpu_s"] == pytest.approx(500 / found["cpu_s"])
    assert main(["bench", "--requests", "500"]) == 0
    assert "requests" in capsys.readouterr().out
