"""The stage in a real browser: one frame for everything, keys, focus, captions that agree with the log."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sched import simulate
from sched.inversion import analyse
from sched.moments import asked_and_free, holders
from sched.page.estimates import estimated
from sched.page.results import result
from sched.scenario import preset
from sched.supply import KV
from sched.view import Shown

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SAID = re.compile(r"(\S+) needs ([\d,]+) blocks?, ([\d,]+) (?:is|are) free\. (?:(\S+) holds ([\d,]+)[;.])?")
WORDS = "__stage.captions[0].querySelector('.words').textContent"


def test_the_caption_agrees_with_the_log(visit: Any) -> None:
    log = simulate(preset("noisy-neighbour"), "backfill")
    found = analyse(log)
    seen, spans, ids = found.seen, found.spans, log.requests.ids
    waits, begin = seen.waits, seen.time.begin_ps
    urgent = np.flatnonzero((log.requests.priority[spans.request] == 0) & (spans.code == KV))
    first = visit("v=1&t=1&a=backfill", reduced_motion="reduce")
    compared = 0
    for row in urgent[np.linspace(0, len(urgent) - 1, 25).astype(int)].tolist():
        slot = int(np.searchsorted(begin, (spans.from_ps[row] + spans.to_ps[row]) // 2, "right")) - 1
        at, wait = (int(begin[slot]) + int(begin[slot + 1])) // 2, int(spans.wait[row])
        needs, free, _ = asked_and_free(seen, np.array([wait]), np.array([slot]))
        holder, held = holders(seen, wait, slot, 0)[0]
        name = ids[int(waits.request[wait])]
        first.js(f"__stage.pin('{name}'); __stage.go({at / 1e12}, {{rest: false}})")
        said = SAID.match(first.js(WORDS))
        told = (name, f"{int(needs[0, 0]):,}", f"{int(free[0, 0]):,}", ids[holder], f"{held:,}")
        assert said is not None and said.groups() == told
        compared += 1
    assert compared == 25


def test_the_frame_of_a_link_is_kept_by_reload_new_data_and_language(visit: Any) -> None:
    first = visit("v=1&t=66&a=backfill&from=60&to=72.5", reduced_motion="reduce")
    assert first.js("__stage.window") == [60, 72.5]
    first.fresh_data_after(lambda: first.page.get_by_label("Show First come as A").click())
    assert first.js("[__stage.window, __stage.t]") == [[60, 72.5], 66]
    assert "from=60&to=72.5" in first.page.url
    first.js("__stage.attend('chat-46')")
    first.until("location.search.includes('focus=chat-46')")
    first.idle()
    first.page.reload()
    first.until("window.__ready > 0")
    assert first.js("__stage.window") == [60, 72.5]


def test_another_language_keeps_playhead_frame_and_focus(visit: Any) -> None:
    first = visit("v=1&t=64&a=backfill&from=60&to=72.5&focus=chat-44", reduced_motion="reduce")
    place = "[__stage.t, __stage.window, __stage.worlds[0].names[__stage.pinned]]"
    before = first.js(place)
    first.page.locator(".st-key-language input").click()
    first.page.get_by_role("option", name="简体中文").click()
    first.until("document.documentElement.lang === 'zh-Hans' && __stage.lang === 'zh'")
    first.until(f"{WORDS}.includes('需要')")
    assert first.js(place) == before == [64, [60, 72.5], "chat-44"]
    first.until("location.search.includes('lang=zh')")


def test_the_caption_says_in_about_how_long_a_wait_would_end(visit: Any) -> None:
    scenario = preset("noisy-neighbour")
    run = result(scenario, "backfill")
    name, at_s, fits_s = max(
        estimated(Shown(scenario, "backfill", "rescue"), "backfill", run), key=lambda one: one[2]
    )
    first = visit(f"v=1&a=backfill&t={at_s + 0.01:.3f}&focus={name}", reduced_motion="reduce")
    first.until("__stage.worlds[0].notes.size > 0")
    said = re.search(r"Fits in about ([\d.]+)\u202fs; it starts in", first.js(WORDS))
    assert said is not None and abs(float(said[1]) - fits_s) < 0.1


def test_keys_and_wheel_move_the_frame_and_the_link_says_where_it_rests(visit: Any) -> None:
    first = visit("v=1&t=30&a=backfill", reduced_motion="reduce")
    assert "from=" not in first.page.url
    first.key("+")
    narrow = first.js("__stage.window[1] - __stage.window[0]")
    first.until("location.search.includes('from=')")
    first.idle()
    first.js("__stage.handles[1].focus()")
    first.page.keyboard.press("ArrowRight")
    assert first.js("__stage.window[1] - __stage.window[0]") > narrow
    assert first.js("__stage.t") == 30
    first.js("__stage.brush.focus()")
    before = first.js("__stage.window[0]")
    first.page.keyboard.press("ArrowLeft")
    assert first.js("__stage.window[0]") < before
    first.key("b")
    assert first.js("__stage.window[1] - __stage.window[0] >= __stage.end")
    first.key("b")
    assert first.js("__stage.window[1] - __stage.window[0] < __stage.end / 2")


def test_the_frame_is_dragged_and_widened_by_the_mouse(visit: Any) -> None:
    first = visit("v=1&t=30&a=backfill&from=60&to=80", reduced_motion="reduce")
    box = first.page.locator(".scrub").bounding_box()
    at = {t: box["x"] + first.js(f"{t} / __stage.end * __stage.scrubWidth") for t in (70, 80, 90, 100)}
    mouse, y = first.page.mouse, box["y"] + box["height"] / 2
    for start, stop in ((70, 90), (100, 80)):
        mouse.move(at[start], y)
        mouse.down()
        mouse.move(at[stop], y, steps=4)
        mouse.up()
        if start == 70:
            assert first.js("__stage.window") == pytest.approx([80, 100], abs=0.5)
    assert first.js("__stage.t") == 30
    assert first.js("__stage.window[1] - __stage.window[0]") < 1


def test_a_request_is_outlined_everywhere_and_a_click_tells_the_server(visit: Any) -> None:
    first = visit("v=1&t=66&a=backfill", reduced_motion="reduce")
    first.key("t")
    first.page.locator(".tables button").first.click()
    name = first.js("__stage.worlds[0].names[__stage.pinned]")
    first.until(f"location.search.includes('focus={name}')")
    first.key("Escape")
    first.until("!location.search.includes('focus=')")


SEEN = """(names) => {
  const found = [], stage = __stage;
  for (const name of names) {
    stage.pin(name);
    for (let k = 0; k < 40; k++) {
      stage.go(((k + 0.37) / 40) * stage.end, { rest: false });
      stage.views.forEach((view, side) => {
        const r = stage.placeOn(side, stage.focus), waits = view.waiting.some(([one]) => one === r);
        const many = view.waiting.filter(([one]) => view.world.isUrgent(one)).length;
        const said = stage.captions[side].querySelector(".words").textContent;
        const header = stage.panels[side].status.textContent;
        found.push([many, header, said, waits, name !== null && view.world.requests.arrival[r] > stage.t]);
      });
    }
  }
  return found;
}"""
SENTENCES = {
    "en": (r"(\d+) urgent waiting, (\S+)", "{} urgent request", "No urgent request waits.", " comes in "),
    "zh": (r"(\d+) 个紧急请求在等待，最长 (\S+)", "{} 个紧急请求在等待", "没有紧急请求在等待", "后到达"),
}


@pytest.mark.parametrize("code", list(SENTENCES))
def test_header_and_caption_never_contradict_whoever_is_in_focus(visit: Any, code: str) -> None:
    counts, told, nobody, comes = SENTENCES[code]
    first = visit(f"v=1&t=1&a=backfill&lang={code}", reduced_motion="reduce")
    names = [None, "chat-1", "chat-20", "chat-46", "chat-60", "api-3", "api-90", "docs-2"]
    found = first.page.evaluate(
        SEEN, [one for one in names if one is None or first.js(f"__stage.find('{one}')") is not None]
    )
    beside = 0
    for many, header, said, waits, later in found:
        counted = re.search(counts, header)
        assert (int(counted[1]) if counted else 0) == many, header
        if many:
            assert nobody not in said, (header, said)
            if not waits:
                beside += 1
                assert told.format(many) in said and counted is not None and counted[2] in said, (
                    header,
                    said,
                )
        elif not waits:
            assert "urgent requests wait" not in said
        assert (comes in said) or not later, said
    assert beside > 20


def test_the_worst_wait_is_in_focus_once_it_is_gone_to(visit: Any) -> None:
    first = visit("v=1&t=20&a=backfill", reduced_motion="reduce")
    first.key("w")
    name = first.js("__stage.worlds[0].names[__stage.worst.r]")
    assert first.js(WORDS).startswith(name)
    first.until(f"location.search.includes('focus={name}')")


def test_letters_act_at_once_and_keys_that_scroll_only_once_the_stage_was_clicked(visit: Any) -> None:
    first = visit("v=1&t=30&a=backfill", reduced_motion="reduce")
    press = first.page.keyboard.press
    assert first.js("document.activeElement === document.body")
    press("Space")
    press("PageDown")
    assert first.js("[__stage.t, Boolean(__stage.playing)]") == [30, False]
    press("n")
    moved = first.js("__stage.t")
    assert moved != 30
    press("?")
    assert first.page.locator(".help:visible dd").count() > 15
    first.says(".help:visible p", "Letters, digits and ?")
    press("?")
    field = first.page.locator(".st-key-pick_A input")
    field.focus()
    press("n")
    press("Escape")
    assert first.js("__stage.t") == pytest.approx(moved, abs=1e-3)  # the link has four decimals
    first.page.locator(".stage .clock").click()
    first.js("document.activeElement.blur()")
    press("PageDown")
    assert first.js("__stage.t") == pytest.approx(moved + 1, abs=0.01)
    first.page.locator(".st-key-heading h1").first.click()
    press("PageUp")
    assert first.js("__stage.t") == pytest.approx(moved + 1, abs=0.01)


def test_a_link_to_a_story_leads_to_it_and_a_click_on_a_request_does_not_move_the_page(visit: Any) -> None:
    top = "document.querySelector('.st-key-request_choice').getBoundingClientRect().top"
    asked = "v=1&t=64&a=backfill&focus=chat-44"
    first = visit(f"{asked}&view=request", reduced_motion="reduce", size=(1366, 860))
    first.until(f"{top} < 0.7 * innerHeight && {top} > 0")
    second = visit(asked, reduced_motion="reduce", size=(1366, 860))
    second.key("t")
    second.page.locator(".tables button").nth(4).click()
    second.page.locator(".story-root").wait_for()
    second.idle()
    assert second.js(top) > 0.7 * second.js("innerHeight")


def test_a_finger_drags_the_frame_and_its_edge(visit: Any) -> None:
    size = {"size": (390, 844), "is_mobile": True, "has_touch": True}
    first = visit("v=1&t=30&a=backfill&from=60&to=90", reduced_motion="reduce", **size)
    first.page.locator(".scrub").scroll_into_view_if_needed()
    box = first.page.locator(".scrub").bounding_box()
    finger = first.context.new_cdp_session(first.page)
    y = box["y"] + box["height"] / 2

    def drag(start: float, stop: float) -> None:
        at = [box["x"] + first.js(f"{t} / __stage.end * __stage.scrubWidth") for t in (start, stop)]
        places = [at[0] + (at[1] - at[0]) * step / 5 for step in range(6)]
        for step, x in enumerate(places):
            kind = "touchMove" if step else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    drag(75, 95)
    assert first.js("__stage.window") == pytest.approx([80, 110], abs=1)
    drag(110, 98)
    assert first.js("__stage.window") == pytest.approx([80, 98], abs=1)
    assert first.js("__stage.t") == 30 and first.js("scrollX") == 0
    first.until("location.search.includes('from=80')")


def test_back_in_history_brings_the_frame_back(visit: Any) -> None:
    first = visit("v=1&t=66&a=backfill&from=60&to=72.5", reduced_motion="reduce")
    first.key("+")
    first.until("!location.search.includes('from=60&')")
    first.idle()
    first.fresh_data_after(first.page.go_back)
    assert first.js("[__stage.window, __stage.t]") == [[60, 72.5], 66]
    assert "from=60&to=72.5" in first.page.url


def test_a_name_from_right_to_left_stands_on_the_stage_as_it_is(visit: Any, tmp_path: Path) -> None:
    rows = [f"{row},{'דחוף' if row % 3 else 'مهمة'},{(row % 3 and 60) or 30000},90" for row in range(60)]
    rows = [f"{row},{'P0' if number % 3 else 'P2'},שלום-{number}" for number, row in enumerate(rows)]
    trace = tmp_path / "names.csv"
    head = "timestamp,class,prompt_tokens,output_tokens,priority,request_id"
    trace.write_text("\n".join([head, *rows]), "utf-8")
    first = visit("v=1&t=30", reduced_motion="reduce")
    first.page.get_by_text("Replay a trace").click()
    upload = first.page.locator('[data-testid="stFileUploader"] input[type=file]')
    first.fresh_data_after(lambda: upload.set_input_files(trace))
    assert first.js("__stage.worlds[0].names[1]") == "שלום-1"
    for key in ("n", "w", "t", "?"):
        first.key(key)
    name = first.js("__stage.worlds[0].names[__stage.worst?.r ?? 1]")
    first.js(f"__stage.pin('{name}')")
    assert f"\u2068{name}\u2069" in first.js(WORDS)
    assert first.page.locator(".tables table").count() == 2
    assert any("דחוף" in one for one in first.js("__stage.worlds[0].classNames"))


@pytest.mark.parametrize("query", ["v=1", "v=1&t=20", "v=1&t=20&focus=chat-44&from=10&to=40", "v=1&play=0"])
def test_a_link_that_does_not_say_so_never_plays(visit: Any, query: str) -> None:
    first = visit(query)
    at = first.js("__stage.t")
    first.page.wait_for_timeout(700)  # what is tested is that nothing starts by itself
    assert first.js("[__stage.t, Boolean(__stage.playing), __stage.frames]") == [at, False, 0]
