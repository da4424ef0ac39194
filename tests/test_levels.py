"""Many levels of urgency: summed up in bands, and yet each request's causes and blame are exactly its own."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sched import ahead, bands
from sched.inversion import CAUSES, Inversion, analyse
from sched.log import Log
from sched.moments import moments
from tests.test_inversion import agrees_with_the_slow_way, contended, runs

SAME = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three bands at most but for the cuts, and more than one level is many."""
    monkeypatch.setattr(bands, "MOST_BANDS", 2)
    monkeypatch.setattr(ahead, "FEW_LEVELS", 1)
    monkeypatch.setattr(bands, "CELLS_AT_ONCE", 3)


@pytest.mark.usefixtures("narrow")
@SAME
@given(runs(lowest=40))
def test_causes_and_blame_of_many_levels_are_those_of_the_slow_way(log: Log) -> None:
    agrees_with_the_slow_way(log, analyse(log))


def everything(found: Inversion) -> list[Any]:
    """What is told of a run, as lists."""
    told: list[Any] = [getattr(found, f"{name}_ps").tolist() for name in CAUSES]
    told += [found.bypasses.tolist(), found.preemption_inversions.tolist()]
    told += [getattr(found.spans, name).tolist() for name in ("wait", "from_ps", "to_ps", "code")]
    told += [found.incidents.inversion_ps.tolist(), found.urgent_culprits.total, found.culprits.growth]
    told += [found.exposure(request) for request in range(len(found.wait_ps))]
    if found.seen.time.iteration.max(initial=-1) >= 0:
        told.append(moments(found).free.tolist())
    return told


@SAME
@given(runs(lowest=40), st.integers(2, 9))
def test_bands_change_nothing(log: Log, most: int) -> None:
    whole = everything(analyse(log))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "MOST_BANDS", most)
        patch.setattr(ahead, "FEW_LEVELS", 1)
        assert everything(analyse(log)) == whole


@given(st.data())
def test_sums_over_those_before_are_those_counted_one_by_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 40))
    level, need, group = (
        np.array(data.draw(st.lists(st.integers(0, most), min_size=count, max_size=count)), dtype=np.int64)
        for most in (60, 9, 2)
    )
    group.sort()
    expected = [
        sum(need[j] for j in range(i) if group[j] == group[i] and level[j] <= level[i]) for i in range(count)
    ]
    for few in (0, 99):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ahead, "FEW_LEVELS", few)
            assert ahead.ahead(level, [need, 2 * need], group, True)[0].tolist() == expected


@pytest.mark.parametrize("policy", ["fcfs", "rescue"])
def test_what_is_kept_does_not_grow_with_the_number_of_levels(policy: str) -> None:
    requests = [
        {"id": f"r{i}", "arrival_s": i / 2, "prompt": 90, "output": 9, "priority": i * 7 % 400}
        for i in range(400)
    ]
    log = contended(requests, policy)
    seen = analyse(log).seen
    assert len(seen.levels.priority) == 400 and len(seen.waits) > 200
    parts = (*seen.there.room, *seen.there.most_room, *seen.lower, seen.levels.held.blocks)
    assert all(len(part) <= bands.MOST_BANDS + 2 for part in parts)
