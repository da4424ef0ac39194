"""Pictures are made from the log: each block where the engine counts it, each name as it was written."""

import json
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sched import simulate
from sched.external import change
from sched.figures import palette
from sched.figures.blocks import FREE, memory
from sched.figures.captions import caption
from sched.figures.glance import Glance, span, status
from sched.figures.measure import apart, lines, width
from sched.figures.panel_part import queue
from sched.figures.picture import Drawn, Scene, picture
from sched.figures.side import side
from sched.figures.svg import document, tag, words
from sched.figures.thumbnail import thumbnail
from sched.inversion import analyse
from sched.language import ENGLISH, language
from sched.model import PS_PER_S
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
    for is_dark, theme in ((False, "light"), (True, "dark")):
        assert tokens[theme].items() <= palette.palette(is_dark).items()


def scene(name: str, keys: tuple[str, ...], **more: Any) -> Scene:
    scenario = more.pop("scenario", None) or preset(name)
    logs = [simulate(scenario, key) for key in keys]
    sides = [Drawn(log, analyse(log), key, "what it does") for key, log in zip(keys, logs, strict=True)]
    card = {"title": NASTY, "value": "7.6 s", "told": "misses 0.50 s", "left": "inversion", "right": "same"}
    told = {"title": NASTY, "verdict": [("Under ", ""), (NASTY, "bad")], "trust": NASTY, "cards": [card] * 6}
    return Scene(**{**told, "sides": sides, "footer": [NASTY], **more})


def texts(picture: str) -> str:
    return " ".join(node.text or "" for node in ElementTree.fromstring(picture).iter())


@pytest.mark.parametrize("one", [one.name for one in presets()])
def test_a_picture_of_every_ready_scenario_is_well_formed_at_any_moment(one: str) -> None:
    keys = tuple(preset(one).policies)
    shown = scene(one, (keys[0], keys[-1]))
    for t_s in (None, 0.0, 7.31, 1e9):
        root = ElementTree.fromstring(picture(replace(shown, t_s=t_s)))
        assert float(root.get("width", "0")) == 1184
        assert {node.tag.rpartition("}")[2] for node in root.iter()} <= DRAWN
        assert not [node for node in root.iter() if any("href" in name for name in node.attrib)]


DRAWN = set("svg title desc defs pattern clipPath rect path g text tspan".split())


def test_a_picture_holds_what_it_was_given_as_text() -> None:
    made = picture(scene("textbook", ("fcfs", "preemptive")))
    assert "<script" not in made and "\x00" not in made
    assert NASTY.split()[0].replace("\x00", "\ufffd") in texts(made)


def test_the_queue_of_a_picture_leaves_out_nobody_who_waits() -> None:
    log = simulate(preset("noisy-neighbour"), "backfill")
    seen, room = side(log, analyse(log)), 570.0
    for at_s in np.arange(58.0, 72.0, 0.7):
        view = Glance(seen, int(at_s * PS_PER_S))
        shown = texts(document(600, 40, [queue(view, room, ENGLISH)]))
        counted = [int(many) for many in re.findall(r"(?<![\w-])(\d+) (?:chat|api|docs)\b", shown)]
        assert sum(counted) + len(re.findall(r"\w+-\d+ needs", shown)) == len(view.waiting)


def test_cards_fill_the_width_of_a_picture() -> None:
    for many in (3, 4, 5, 6):
        shown = scene("textbook", ("backfill",))
        drawn = picture(replace(shown, cards=[shown.cards[0]] * many))
        ends = [
            float(one.attrib["x"]) + float(one.attrib["width"])
            for one in ElementTree.fromstring(drawn).iter()
            if one.attrib.get("height") == "84"
        ]
        assert len(ends) == many and max(ends) == pytest.approx(1184 - 26 - 1, abs=0.2)


def test_the_same_scene_is_the_same_picture() -> None:
    shown = scene("textbook", ("backfill", "preemptive"), t_s=2.0)
    assert picture(shown) == picture(shown)


def test_the_caption_tells_who_waits_for_what_and_how_much_is_free() -> None:
    log = simulate(preset("noisy-neighbour"), "backfill")
    seen = side(log, analyse(log))
    view = Glance(seen, seen.resting_ps())
    head = view.waiting[0].request
    assert seen.worst is not None and seen.worst[0] in {one.request for one in view.waiting}
    held = int(view.memory.held[view.running].sum())
    assert view.free == log.machine.kv_blocks - held
    said = caption(view, head)
    assert said.startswith(
        f"**{log.requests.ids[head]} needs {view.waiting[0].needs:,} blocks, {view.free:,} are free.**"
    )
    assert view.culprit is not None
    assert f"holds {view.memory.held[view.culprit]:,}; " in said


@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.parametrize("name", ["noisy-neighbour", "textbook"])
def test_a_caption_never_says_that_nobody_urgent_waits_while_the_header_counts_some(
    name: str, code: str
) -> None:
    say = language(code)
    log = simulate(preset(name), "backfill")
    seen, listed = side(log, analyse(log)), log.requests
    chosen = np.linspace(0, len(listed) - 1, 8).astype(int).tolist()
    counted = 0
    for at in np.linspace(0, int(log.ended_ps.max()), 60).astype(int).tolist():
        view = Glance(seen, at)
        header, many = status(view, say)[0], len(view.urgent)
        for request in [None, *chosen]:
            said = caption(view, request, say)
            assert (say("**No urgent request waits.**") in said) <= (not many), (at, request)
            if many and request not in [one.request for one in view.waiting]:
                longest = max(at - one.from_ps for one in view.urgent)
                template = (
                    "{n} urgent request waits, {longest}.",
                    "{n} urgent requests wait, {longest} at most.",
                )
                assert say.count(many, *template, longest=span(longest)) in said, (at, request)
                assert span(longest) in header and str(many) in header
                counted += 1
            if request is not None and at < listed.arrival_ps[request]:
                time = span(int(listed.arrival_ps[request]) - at)
                assert said.startswith(say("**{name} comes in {time}.**", name=view.name(request), time=time))
    assert counted > 20


def test_a_picture_of_several_engines_and_of_split_requests_is_drawn_too() -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": "isolated,kv_cap", "duration_s": "20"})
    for keys in (("isolated",), ("isolated", "kv_cap"), ("kv_cap", "isolated")):
        ElementTree.fromstring(picture(scene("", keys, scenario=scenario)))


def test_a_name_that_reads_from_right_to_left_does_not_turn_the_sentence() -> None:
    assert apart("مرحبا-1") == "\u2068مرحبا-1\u2069"
    assert apart("chat-1") == "chat-1"


@pytest.mark.parametrize("text", ["a few words in a row", "中文没有空格也要换行", "supercalifragilistic" * 4])
def test_a_text_is_broken_into_lines_and_none_of_it_is_lost(text: str) -> None:
    made = lines([(text, ""), (text, "bad")], 90, 14)
    together = "".join(piece for line in made for piece, _ in line)
    assert together.replace(" ", "") == (2 * text).replace(" ", "")
    if " " in text or text[0] == "中":
        assert all(width("".join(piece for piece, _ in line).rstrip(), 14) <= 97 for line in made)
