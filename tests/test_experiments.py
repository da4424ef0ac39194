"""Policies over seeds: paired on the same requests, the same whoever computes, honest about the unknown."""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sched import simulate
from sched.experiments import compare, seeds_of, told
from sched.external import change
from sched.fields import ScenarioError
from sched.intervals import Difference, difference, estimate, holm
from sched.inversion import analyse
from sched.measures import METRICS
from sched.metrics import summary
from sched.scenario import Scenario, preset
from sched.tasks import Task, summarised
from sched.trace_store import store_in_use, use_store
from sched.workers import Workers, WorkersDied, run_all
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def short() -> Scenario:
    """The default scenario, cut to a few seconds."""
    return change(preset("noisy-neighbour"), {"duration_s": "15"})


def test_a_task_gives_the_figures_of_a_run(short: Scenario) -> None:
    found = summarised(Task(short, "rescue", short.seed))
    log = simulate(short, "rescue")
    full = summary(log, short, analyse(log), in_full=True)
    for key in ("requests", "throughput", "kv_utilisation", "jain", "tenants", "window", "stranded_kv"):
        for name, value in found[key].items() if isinstance(found[key], dict) else [(None, found[key])]:
            assert value == (full[key] if name is None else full[key][name])
    for name, row in found["classes"].items():
        assert row["ttft_s"] == {key: full["classes"][name]["ttft_s"][key] for key in row["ttft_s"]}


def test_a_policy_against_itself_differs_by_exactly_nothing(short: Scenario) -> None:
    found = told(compare(short, ["fcfs", "rescue"], 3, baseline="rescue"))
    own = found["policies"]["rescue"]
    rows = [row for one in [*own["classes"].values(), own["total"]] for row in one.values()]
    assert len(rows) > len(METRICS)
    for row in rows:
        if row["n"]:
            assert row["difference"] == row["difference_low"] == row["difference_high"] == 0
            assert not row["clear"]


def test_every_policy_gets_the_same_requests_on_each_seed(short: Scenario) -> None:
    found = compare(short, list(short.policies), 2)
    assert found.seeds == (short.seed, short.seed + 1)
    counts = {
        policy: [[one["n"] for one in run["classes"].values()] for run in runs]
        for policy, runs in found.runs.items()
    }
    assert len({str(one) for one in counts.values()}) == 1
    assert counts["fcfs"][0] != counts["fcfs"][1]


def test_the_same_seeds_give_the_same_figures_whoever_computes(short: Scenario) -> None:
    alone = compare(short, ["fcfs", "rescue"], 2)
    workers = Workers(2)
    try:
        in_processes = compare(short, ["fcfs", "rescue"], 2, executor=workers.executor())
    finally:
        workers.close()
    with ThreadPoolExecutor(2) as threads:
        in_threads = compare(short, ["fcfs", "rescue"], 2, executor=threads)
    assert told(alone) == told(in_processes) == told(in_threads)


def test_one_seed_has_no_interval_and_says_so(short: Scenario) -> None:
    found = told(compare(short, ["fcfs", "backfill"], 1))
    row = found["policies"]["backfill"]["classes"]["chat"]["ttft_s.p99"]
    assert row["mean"] is not None and row["low"] is row["high"] is row["difference_low"] is None
    assert row["n"] == 1 and row["difference"] is not None
    assert any(note["path"] == "seeds" for note in found["notes"])
    json.dumps(found, allow_nan=False)


def test_nothing_drawn_is_said() -> None:
    found = compare(preset("textbook"), ["priority"], 3)
    assert any("every seed has the same requests" in note["text"] for note in found.notes)
    one = found.estimate("priority", "throughput.output_tokens_per_s")
    assert one.low == one.mean == one.high and one.n == 3


def test_whoever_starves_is_of_the_least_urgent_class(short: Scenario) -> None:
    found = compare(short, ["preemptive"], 1)
    assert found.lowest_class == "docs" and found.classes == ("chat", "api", "docs")
    turned = compare(change(short, {"urgency": "high_first"}), ["preemptive"], 1)
    assert turned.lowest_class == "chat"


def test_a_goal_is_counted_by_seed(short: Scenario) -> None:
    found = compare(short, ["fcfs"], 3)
    values = [one for one in found.values("fcfs", "ttft_s.p99", "chat") if one is not None]
    assert found.meets("fcfs", "ttft_s.p99", sorted(values)[1], "chat") == (2, 3)
    assert found.meets("fcfs", "slo_attainment", 0.0, "chat") == (3, 3)


def test_wrong_numbers_of_seeds_and_unknown_baselines_are_refused(short: Scenario) -> None:
    with pytest.raises(ScenarioError, match="seeds = 0: must be at least 1"):
        seeds_of(short, 0)
    with pytest.raises(ScenarioError, match="baseline = hrrn: must be one of"):
        compare(short, ["fcfs"], 1, baseline="hrrn")


def test_the_interval_holds_the_true_mean_in_95_of_100() -> None:
    draws, trials = np.random.default_rng(5), 4000
    samples = draws.normal(3.0, 2.0, (trials, 5)).tolist()
    held = sum(found.low <= 3.0 <= found.high for found in map(estimate, samples) if found.low and found.high)
    error = sqrt(0.95 * 0.05 / trials)
    assert abs(held / trials - 0.95) < 4 * error


def test_no_difference_is_found_clear_in_5_of_100_families() -> None:
    draws, trials = np.random.default_rng(6), 1500
    families = draws.normal(0.0, 1.0, (trials, 4, 6))
    wrong = 0
    for base, *others in families.tolist():
        wrong += any(one.is_clear for one in holm([difference(one, base) for one in others]))
    error = sqrt(0.95 * 0.05 / trials)
    assert 0 < wrong / trials < 0.05 + 4 * error


def test_an_interval_worked_by_hand() -> None:
    # Mean 2, standard deviation 1, standard error 0.57735, t of 2 degrees of freedom 4.30265.
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2 and found.low is not None and found.high is not None
    assert found.high == pytest.approx(2 + 4.30265 / sqrt(3), abs=1e-4)
    assert estimate([1.0, 2.0, 3.0], least=0.0).low == 0
    # Paired: 1 and 3 more; the third seed has no partner.
    assert difference([2.0, 5.0, 7.0], [1.0, 2.0, None]).mean == 2
    assert difference([2.0, None], [None, 1.0]) == Difference(None, None, None, 0)


def test_what_has_not_begun_is_cancelled_when_somebody_interrupts() -> None:
    begun: list[int] = []
    gate = threading.Event()

    def call(task: int) -> None:
        begun.append(task)
        gate.wait(20)

    class ChangedMind(BaseException):
        pass

    def interrupt(done: int, total: int) -> None:
        if begun:
            raise ChangedMind

    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ChangedMind):
            run_all(call, list(range(50)), executor, interrupt)
        gate.set()
    assert begun == [0]


def test_progress_is_told_from_nothing_to_all() -> None:
    told_of: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told_of.append((done, total))

    assert run_all(str, [1, 2, 3], None, tell) == ["1", "2", "3"]
    assert told_of == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_process_that_dies_is_said_in_words_and_replaced() -> None:
    workers = Workers(1)
    leave: Any = os._exit
    try:
        with pytest.raises(WorkersDied, match="A worker process ended"):
            run_all(leave, [3], workers.executor(), None)
        assert not workers.are_ready
        assert run_all(abs, [-3], workers.executor(), None) == [3]
    finally:
        workers.close()


def test_what_is_known_is_not_computed_again_and_what_was_done_is_kept(short: Scenario) -> None:
    kept: dict[Any, Any] = {}
    seen: list[int] = []
    compare(short, ["fcfs"], 2, kept=kept)
    assert len(kept) == 2
    found = compare(short, ["fcfs", "rescue"], 3, kept=kept, progress=lambda done, total: seen.append(total))
    assert set(seen) == {4} and len(kept) == 6
    assert told(found) == told(compare(short, ["fcfs", "rescue"], 3))

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    before = len(kept)
    with pytest.raises(KeyboardInterrupt):
        compare(short, ["backfill"], 5, kept=kept, progress=stop)
    assert len(kept) == before + 2


def test_processes_find_the_traces_that_the_server_keeps(tmp_path: Path) -> None:
    use_store(str(tmp_path))
    workers = Workers(1)
    try:
        assert run_all(_store, [0], workers.executor(), None) == [str(tmp_path)]
    finally:
        use_store("")
        workers.close()


def _store(_: int) -> str:
    return store_in_use()


KILLED = """
import os, signal
from sched.workers import Workers

if __name__ == "__main__":
    pool = Workers(1).executor()
    print(pool.submit(os.getpid).result(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_processes_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(KILLED, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, str(script)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=60,
    )
    # The pipe is read to its end, which comes when the last process that holds it has ended.
    assert found.returncode == -signal.SIGKILL and int(found.stdout) > 0


CLOSED = """
import resource
from sched.workers import Workers

resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
workers = Workers(2)
print(workers.executor_for(10**9), workers.executor_for(10**9))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_where_no_process_can_be_made_all_is_done_here() -> None:
    found = subprocess.run(
        [sys.executable, "-c", CLOSED], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert found.stdout == "None None\n"


def test_little_work_starts_no_processes() -> None:
    workers = Workers(2)
    assert workers.executor_for(100) is None and not workers.are_ready
