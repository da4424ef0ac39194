"""Pictures are made from the log: each block where the engine counts it, each name as it was written."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from sched import simulate
from sched.figures import palette
from sched.figures.blocks import FREE, memory
from sched.figures.side import side
from sched.figures.svg import document, tag, words
from sched.figures.thumbnail import thumbnail
from sched.inversion import analyse
from sched.presets import presets
from sched.scenario import Scenario, preset
from tests.conftest import ROOT

NASTY = '<script>alert("1")</script> &lt; \x00 \u202e <b>'


@pytest.mark.parametrize("policy", ["backfill", "rescue", "preemptive"])
def test_the_map_holds_what_the_engine_counts(policy: str) -> None:
    log = simulate(preset("noisy-neighbour"), policy)
    seen, lines = side(log, analyse(log)), log.stretches
    for row in range(0, len(lines.iteration), max(1, len(lines.iteration) // 9)):
        now = memory(seen, int(lines.iteration[row]), True)
        assert now.per_cell == 1 and len(now.owner) == log.machine.kv_blocks
        mine = np.bincount(now.owner[now.owner != FREE], minlength=len(now.held))
        np.testing.assert_array_equal(mine, now.held)
        if log.machine.gate != "peak":
            assert now.held.sum() == lines.kv_used[row]
        running = seen.running(int(lines.iteration[row]), True)
        assert set(np.flatnonzero(now.held)) <= set(running)
        assert len(running) == lines.running[row]


def test_blocks_keep_their_place_while_they_are_held() -> None:
    log = simulate(preset("noisy-neighbour"), "backfill")
    seen = side(log, analyse(log))
    before, after = memory(seen, 400, True), memory(seen, 401, True)
    stays = (seen.stays.iteration <= 400) & (seen.stays.end_iteration > 401)
    kept = np.isin(before.owner, np.flatnonzero(stays))
    assert kept.any()
    np.testing.assert_array_equal(before.owner[kept], after.owner[kept])


def test_nobody_holds_a_block_before_the_first_iteration_and_after_the_last() -> None:
    log = simulate(preset("textbook"), "backfill")
    seen = side(log, analyse(log))
    assert memory(seen, -1, False).free == log.machine.kv_blocks
    assert memory(seen, log.iterations - 1, False).free == log.machine.kv_blocks


@pytest.mark.parametrize("one", [one.name for one in presets()])
@pytest.mark.parametrize("is_dark", [False, True])
def test_a_thumbnail_is_small_and_well_formed(one: str, is_dark: bool) -> None:
    scenario = preset(one)
    log = simulate(scenario, next(iter(scenario.policies)))
    picture = thumbnail(log, analyse(log), is_dark=is_dark, label=NASTY)
    root = ElementTree.fromstring(picture)
    assert root.get("viewBox") == "0 0 320 120"
    assert len(picture) < 20_000
    assert "<script" not in picture and "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_a_run_without_requests_has_a_thumbnail_too() -> None:
    log = simulate(Scenario(), "fcfs")
    ElementTree.fromstring(thumbnail(log, analyse(log)))


def test_text_in_a_picture_stays_text() -> None:
    picture = document(10, 10, [tag("g", NASTY, data_name=NASTY), words(NASTY, 1, 2)], title=NASTY)
    root = ElementTree.fromstring(picture)
    fit = NASTY.replace("\x00", "\ufffd")
    assert [node.text for node in root.iter() if node.text] == [fit] * 3
    assert {node.tag.rpartition("}")[2] for node in root.iter()} == {"svg", "title", "g", "text"}


def test_pictures_have_the_colours_of_the_stage() -> None:
    tokens = json.loads((ROOT / "sched/page/canvas/tokens.json").read_text("utf-8"))["palette"]
    for colours, theme in ((palette.LIGHT, "light"), (palette.DARK, "dark")):
        assert colours.items() <= tokens[theme].items()
