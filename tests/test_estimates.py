"""What the stage is told of when waits would end: the estimates of `explain`, of the runs that are shown."""

from dataclasses import replace

import pytest

from sched.eta import estimate
from sched.evidence import Evidence
from sched.forecast import before_in_queue
from sched.log import Ints
from sched.page import estimates
from sched.page.estimates import MOST_WAITS, TIMES, estimated, stamp
from sched.page.results import result
from sched.scenario import preset
from sched.view import Shown

NOW = Shown(preset("noisy-neighbour"), "backfill", "rescue")


def test_they_are_the_estimates_of_explain_for_the_longest_urgent_waits() -> None:
    run = result(NOW.scenario, "backfill")
    found = estimated(NOW, "backfill", run)
    seen, ids = run.inversion.seen, run.log.requests.ids
    assert 0 < len(found) <= MOST_WAITS * TIMES
    for name, at_s, fits_s in found:
        slot = min(range(len(seen.time.begin_ps)), key=lambda one: abs(seen.time.begin_ps[one] / 1e12 - at_s))
        at = seen.time.begin_ps[slot]
        inside = (seen.waits.from_ps <= at) & (at < seen.waits.to_ps)
        (wait,) = (one for one in inside.nonzero()[0].tolist() if ids[int(seen.waits.request[one])] == name)
        assert estimate(run.inversion, wait, slot).p50_ps == round(fits_s * 1e12)
    longest = max(
        range(len(ids)), key=lambda one: (run.log.requests.priority[one] == 0) * run.inversion.wait_ps[one]
    )
    assert ids[longest] in {name for name, _, _ in found}


def test_a_run_without_long_urgent_waits_has_none() -> None:
    assert estimated(NOW, "rescue", result(NOW.scenario, "rescue")) == ()


def test_behind_a_long_queue_fewer_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    played = list[int]()

    def counted(seen: Evidence, wait: int, slot: int) -> Ints:
        found = before_in_queue(seen, wait, slot)
        played.append(len(found))
        return found

    monkeypatch.setattr(estimates, "before_in_queue", counted)
    now = replace(NOW, scenario=NOW.scenario.changed(seed=14))
    run = result(now.scenario, "backfill")
    many = len(estimated(now, "backfill", run))
    assert many == len(played) and sum(played) > 6
    monkeypatch.setattr(estimates, "MOST_PLAYED", 6)
    estimates._told.clear()
    few = len(estimated(now, "backfill", run))
    assert 0 < few < many


def test_the_stamp_tells_one_pair_of_runs_from_another() -> None:
    runs = [result(NOW.scenario, key).payload for key in ("backfill", "rescue")]
    assert stamp(runs) == stamp(list(runs)) != stamp(reversed(runs))
    other = replace(NOW, scenario=NOW.scenario.changed(seed=13))
    assert stamp([result(other.scenario, "backfill").payload]) != stamp(runs[:1])
