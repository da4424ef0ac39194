"""What every policy of the registry must keep, whoever adds it: nothing here names a policy."""

from dataclasses import fields
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from sched import POLICIES, Log, simulate
from sched.audit import audit
from sched.engine import settings_of
from sched.fuzz import scenario_of_seed
from sched.inversion import analyse
from sched.model import Machine, Request, Standing
from sched.policies import Policy, Scene
from sched.scenario import Scenario
from sched.waits import waits
from tests.strategies import small_scenarios

SEEDS = range(150)
COLUMNS = (
    "outcome first_scheduled_ps first_token_ps ended_ps emitted_tokens preemptions recomputed_tokens"
).split()

every_policy = pytest.mark.parametrize("policy", sorted(POLICIES))


def same(one: Log, other: Log) -> bool:
    """Whether two logs say the same of every request, stay and preemption."""
    tables = [(getattr(one, part), getattr(other, part)) for part in ("stays", "preempted")]
    pairs = [(getattr(one, name), getattr(other, name)) for name in COLUMNS]
    pairs += [(getattr(a, column.name), getattr(b, column.name)) for a, b in tables for column in fields(a)]
    return all(np.array_equal(a, b) for a, b in pairs)


@every_policy
def test_a_jump_changes_nothing(policy: str) -> None:
    jumps = 0
    for seed in SEEDS:
        scenario = scenario_of_seed(seed, [policy])
        log = simulate(scenario, policy)
        jumps += log.jumps
        assert same(log, simulate(scenario, policy, longest_jump=1)), f"seed {seed}"
    assert jumps > len(SEEDS)


@every_policy
def test_the_laws_hold_on_random_scenarios(policy: str) -> None:
    @settings(max_examples=60)
    @given(small_scenarios((policy,)))
    def law(scenario: Scenario) -> None:
        log = simulate(scenario, policy)
        assert audit(log) == []
        rows, inversion = waits(log), analyse(log)
        waited = np.zeros(len(log.requests), dtype=np.int64)
        np.add.at(waited, rows.request, rows.to_ps - rows.from_ps)
        assert np.array_equal(waited, inversion.wait_ps)

    law()


def fresh(policy: str) -> Any:
    """The policy with its default settings on a small machine with two tenants."""
    scenario = scenario_of_seed(1, [policy])
    weights = {"a": Fraction(1), "b": Fraction(2)}
    return POLICIES[policy](settings_of(scenario, policy), Scene(Machine(100, 16, 8, 256), 0, weights))


@every_policy
def test_a_rank_ends_in_arrival_and_id_so_that_ties_are_decided(policy: str) -> None:
    rules = fresh(policy)
    if rules.arrival_order:
        pytest.skip("its queue is in order of arrival and asks for no rank")
    for request in (Request(0, "x", "c", "a", 1, 7, 5), Request(1, "y", "d", "b", 3, 9, 50)):
        assert rules.rank(request, Standing(20, request.arrival_ps))[-2:] == (request.arrival_ps, request.id)


@every_policy
@pytest.mark.parametrize("word", ["Helps ", "Hurts ", "Source: "])
def test_the_help_says_whom_it_helps_whom_it_hurts_and_where_it_is_from(policy: str, word: str) -> None:
    assert word in (POLICIES[policy].__doc__ or "")


@every_policy
def test_it_has_a_key_a_title_and_declared_settings(policy: str) -> None:
    kind: Any = POLICIES[policy]
    assert kind.key == policy and kind.title
    assert set(type(fresh(policy).options).model_fields) == {setting.name for setting in kind.settings}


@every_policy
def test_the_defaults_lie_within_their_bounds(policy: str) -> None:
    options = settings_of(Scenario(), policy).model_dump()
    assert type(settings_of(Scenario(), policy)).model_validate(options)


@every_policy
def test_no_hook_is_misspelt(policy: str) -> None:
    known = {name for name in dir(Policy) if not name.startswith("_")}
    own = {name for name in vars(POLICIES[policy]) if not name.startswith("_")} - known
    alike = {name: get_close_matches(name, known, n=1, cutoff=0.85) for name in own}
    assert not {name: near for name, near in alike.items() if near}
