"""Random scenarios: the same for the same seed, hard enough, and a failure says how to repeat it."""

from typing import Any

import pytest

from sched import POLICIES, Scenario, simulate
from sched.__main__ import main
from sched.files import from_text
from sched.fuzz import check, scenario_of_seed
from sched.model import Outcome


def test_every_policy_passes_some_random_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--seeds", "25"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("25 passed, 0 failed\n", "")


def test_the_same_seed_gives_the_same_scenario() -> None:
    assert scenario_of_seed(7) == scenario_of_seed(7) != scenario_of_seed(8)
    assert list(scenario_of_seed(7).policies) == list(POLICIES)


def test_one_policy_alone_keeps_its_scenario_and_settings() -> None:
    whole, one = scenario_of_seed(7), scenario_of_seed(7, ["rescue"])
    assert one == whole.changed(policies={"rescue": whole.policies["rescue"]})


def test_the_scenario_of_a_seed_can_be_kept_as_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--seed", "7", "--policy", "rescue", "--show"]) == 0
    assert from_text(capsys.readouterr().out) == scenario_of_seed(7, ["rescue"])


def test_the_scenarios_are_hard_enough() -> None:
    logs = [
        simulate(scenario_of_seed(seed), policy) for seed in range(40) for policy in ("priority", "rescue")
    ]
    assert sum(len(log.preempted.victim) for log in logs) > 20
    found = {outcome for log in logs for outcome in log.outcome.tolist()}
    assert found >= {Outcome.FINISHED, Outcome.REFUSED, Outcome.TIMED_OUT, Outcome.UNFINISHED}


def test_a_failure_says_how_to_repeat_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(scenario: Scenario, policy: str) -> Any:
        if policy == "rescue" and scenario.seed == 2:
            raise AssertionError("free = -1 blocks")
        return simulate(scenario, policy)

    monkeypatch.setattr("sched.fuzz.simulate", broken)
    assert check(scenario_of_seed(2), "rescue")[0].startswith("AssertionError: free = -1 blocks (")
    assert main(["fuzz", "--seeds", "4"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("seed 2, rescue: AssertionError")
    assert lines[1:] == [
        "  to repeat: python -m sched fuzz --seed 2 --policy rescue",
        "3 passed, 1 failed",
    ]
    assert main(lines[1].split()[5:]) == 1
