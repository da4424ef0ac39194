"""The page in a real browser: it plays without the server, and shows what the log says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sched import simulate
from sched.external import change
from sched.scenario import preset
from tests.browsing import WAIT_MS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_a_first_visit_plays_from_just_before_the_worst_wait(visit: Any) -> None:
    first = visit()
    first.until("__stage.playing")
    assert abs(first.js("__stage.worst.from - __stage.t")) <= 2.5
    assert first.page.url.count("?") == 0


def test_reduced_motion_starts_still_on_the_worst_wait(visit: Any) -> None:
    first = visit(reduced_motion="reduce")
    first.page.wait_for_timeout(500)  # what is tested is that nothing starts by itself
    assert not first.js("__stage.playing")
    assert first.js("__stage.worst.from <= __stage.t && __stage.t <= __stage.worst.to")


def test_the_browser_holds_the_blocks_of_the_log_wherever_it_is_scrubbed_to(visit: Any) -> None:
    log = simulate(preset("noisy-neighbour"), "backfill")
    lines = log.stretches
    rows = np.random.default_rng(1).permutation(len(lines.iteration))[:80]
    wanted = [[int(lines.iteration[row]), int(lines.kv_used[row]), int(lines.running[row])] for row in rows]
    first = visit("v=1&a=backfill&t=1", reduced_motion="reduce")
    found = first.page.evaluate(PROBE, wanted)
    assert found == wanted


PROBE = """wanted => wanted.map(([i]) => {
    const world = __stage.worlds[0], state = world.seek(i), stays = world.running(i, false);
    const cells = new Map();
    state.owner.forEach((s) => { if (s >= 0) cells.set(s, (cells.get(s) ?? 0) + 1); });
    const exact = stays.every((s) => (cells.get(s) ?? 0) === state.held[s]) && cells.size <= stays.length;
    const held = stays.reduce((sum, s) => sum + world.blocks(world.computed(s, i)), 0);
    return [i, held, exact ? stays.length : -1];
})"""


def test_scrubbing_back_gives_the_same_map_as_playing_there(visit: Any) -> None:
    first = visit("v=1&t=1", reduced_motion="reduce")
    same = first.js(
        """(() => {
            const world = __stage.worlds[1], owner = (i) => [...world.seek(i).owner].join();
            const last = world.iterations - 1, places = [40, 900, 901, Math.floor(last / 2), last];
            const forward = places.map(owner);
            return places.reverse().every((i, k) => owner(i) === forward[places.length - 1 - k]);
        })()"""
    )
    assert same


def test_playing_needs_no_server_and_skips_no_beat(visit: Any) -> None:
    first = visit("v=1&t=5")
    sent, began = first.sent, first.js("performance.now()")
    first.key("Space")
    first.until("__stage.t > 7")
    assert first.js("__stage.playing") and first.sent == sent
    at, frames, cost, now = first.js("[__stage.t, __stage.frames, __stage.cost, performance.now()]")
    assert cost / frames < 12  # milliseconds of script a frame, on a busy machine
    # As fast as the clock where frames come in time, and never a tenth of a second passed over unseen.
    assert 2 < at - 5 <= min((now - began) / 1000, 0.1 * frames)
    first.key("Space")
    first.until("Number(new URLSearchParams(location.search).get('t')) > 7")
    assert not first.js("__stage.playing")


def test_keys_step_jump_and_open_the_table(visit: Any) -> None:
    first = visit("v=1&t=20&a=backfill", reduced_motion="reduce")
    first.key("ArrowRight")
    first.key("ArrowLeft")
    before = first.js("__stage.t")
    first.key("ArrowRight")
    assert 0 < first.js("__stage.t") - before < 1
    first.key("PageDown")
    first.key("n")
    assert first.js("__stage.worlds[0].episodes.some(([a, b]) => a <= __stage.t && __stage.t <= b)")
    first.key("w")
    assert first.js("__stage.worst.from <= __stage.t && __stage.t <= __stage.worst.to")
    first.key("]")
    assert first.js("__stage.speed") == 4
    first.key("t")
    assert first.page.locator(".tables table").count() == 2
    first.key("?")
    assert first.page.locator(".help:visible dd").count() > 15


def test_the_link_opens_exactly_what_is_shown(visit: Any) -> None:
    first = visit("v=1", reduced_motion="reduce")
    slider = first.page.locator(".st-key-rescue-kv input[type=range]")
    slider.focus()
    first.fresh_data_after(lambda: first.page.keyboard.press("ArrowRight"))
    first.key("n")
    first.until("location.search.includes('t=')")
    first.idle()
    first.page.locator(".st-key-share button").first.click()
    link = first.page.locator(".st-key-link code", has_text="t=").inner_text().strip()
    second = visit(link.partition("?")[2], reduced_motion="reduce")
    shown = "[__stage.t, __stage.head.titles, __stage.panels[0].memoryCap[1].textContent]"
    assert second.js(shown) == first.js(shown)
    assert second.page.locator(".st-key-rescue-kv input[type=range]").input_value() == slider.input_value()
    pairs = "[...new URLSearchParams(location.search)]"
    assert second.js(pairs) == first.js(pairs)


def test_back_in_history_goes_back_on_the_screen(visit: Any) -> None:
    first = visit("v=1&rescue.kv=0.2", reduced_motion="reduce")
    slider = first.page.locator(".st-key-rescue-kv input[type=range]")
    slider.focus()
    first.fresh_data_after(lambda: first.page.keyboard.press("ArrowRight"))
    assert "rescue.kv=0.21" in first.page.url
    first.fresh_data_after(first.page.go_back)
    assert slider.input_value() == "0.2"


def test_new_data_keeps_the_playhead_and_the_choice_of_cards_is_in_the_address(visit: Any) -> None:
    first = visit("v=1&t=30", reduced_motion="reduce")
    first.fresh_data_after(lambda: first.page.get_by_label("Show First come as A").click())
    assert "a=fcfs" in first.page.url
    assert first.js("__stage.t") == 30
    assert first.js("__stage.head.titles[0]") == "First come"


def test_a_phone_shows_one_side_at_a_time_with_large_targets(visit: Any) -> None:
    phone = visit("v=1&t=30", size=(390, 844), is_mobile=True, has_touch=True, reduced_motion="reduce")
    assert phone.js("__stage.narrow")
    seen = "__stage.panels.map(p => p.memoryCanvas.getBoundingClientRect().width > 0)"
    assert phone.js(seen) == [True, False]
    phone.page.locator(".choose button").nth(1).click()
    assert phone.js(seen) == [False, True]
    small = phone.js(
        "[...__stage.root.querySelectorAll('button')]"
        ".filter(b => b.offsetWidth && b.offsetHeight < 44).length"
    )
    assert small == 0
    assert phone.js("document.documentElement.scrollWidth") <= 390


def test_the_document_says_in_which_language_it_is(visit: Any) -> None:
    for query, code in (("v=1&t=30", "en"), ("v=1&t=30&lang=zh", "zh-Hans")):
        visit(query, reduced_motion="reduce").until(f"document.documentElement.lang === '{code}'")


def test_the_canvas_takes_the_colours_of_the_dark_page(visit: Any) -> None:
    dark = visit("v=1&t=30", color_scheme="dark", reduced_motion="reduce")
    assert dark.js("__stage.p.dark") and dark.js("__stage.p.urgent") == "#5C97F7"


def test_an_incident_takes_the_stage_to_it(visit: Any) -> None:
    first = visit("v=1&t=1&a=backfill", reduced_motion="reduce")
    row = first.page.locator(".incidents-root tbody tr").first
    name = row.locator("th").inner_text().strip()
    row.locator("button").first.click()
    first.until("__stage.t > 1")
    assert first.js("__stage.worlds[0].names[__stage.pinned]") == name


def test_the_name_of_an_incident_opens_its_story_below_the_stage(visit: Any) -> None:
    first = visit("v=1&t=1&a=backfill", reduced_motion="reduce")
    assert first.page.locator(".st-key-opened").count() == 0
    row = first.page.locator(".incidents-root tbody tr").nth(2)
    name = row.locator("th").inner_text().strip()
    row.locator("button").first.click()
    first.until("__stage.pinned !== null && location.search.includes('focus=')")
    first.idle()
    assert first.page.locator(".story-root").count() == 0
    row.locator("button.name").click()
    panel = first.page.locator(".st-key-opened")
    panel.get_by_text("p10 to p90").first.wait_for(timeout=WAIT_MS)
    first.says(".story-root", name)
    first.idle()  # what is drawn anew would close again what was opened
    panel.get_by_text("As it went on").first.click()
    panel.locator("table").first.wait_for(timeout=WAIT_MS)
    first.page.set_viewport_size({"width": 390, "height": 844})
    wide = "e => e.scrollWidth <= e.clientWidth + 1"
    assert panel.evaluate(wide) and first.js("document.documentElement.scrollWidth") <= 390


def test_about_shows_the_checks_as_tables_and_in_words(visit: Any) -> None:
    first = visit("v=1&t=30", reduced_motion="reduce")
    first.page.get_by_role("link", name="About the model").click()
    for tab, words in (("Checked by theory", "M/M/1: ✓ holds"), ("Published results", "not reproduced. ")):
        first.page.get_by_role("tab", name=tab).click()
        first.idle()
        first.page.locator('[data-testid="stDataFrame"] canvas').first.wait_for(timeout=WAIT_MS)
        first.page.get_by_text(words).first.wait_for(timeout=WAIT_MS)
        assert first.page.locator('[data-testid="stDataFrame"]').count() == 1
    first.page.set_viewport_size({"width": 390, "height": 844})
    assert first.js("document.documentElement.scrollWidth") <= 390


def test_both_sides_count_requests_alike_where_one_runs_on_two_engines(visit: Any) -> None:
    first = visit("v=1&t=64&policies=backfill,isolated&a=backfill&b=isolated", reduced_motion="reduce")
    assert first.js("__stage.worlds[0].names.join() === __stage.worlds[1].names.join() && !__stage.inB")
    assert first.js("__stage.worlds.map(w => w.roles.join())[0] === __stage.worlds[1].roles.join()")
    scenario = change(preset("noisy-neighbour"), {"policies": "isolated"})
    log = simulate(scenario, "isolated")
    own = log.replicas[0].stretches
    rows = np.random.default_rng(1).permutation(len(own.iteration))[:40]
    wanted = [[int(own.iteration[row]), int(own.kv_used[row]), int(own.running[row])] for row in rows]
    found = first.page.evaluate(PROBE.replace("worlds[0]", "worlds[1]"), wanted)
    assert found == wanted
    first.js("__stage.go(90, {rest: false}); __stage.attend('docs-4')")
    first.until("__stage.captions[1].textContent.includes('went to another engine')")


def test_requests_that_one_side_splits_are_found_by_name(visit: Any) -> None:
    query = "v=1&t=64&policies=backfill,kv_cap&kv_cap.split=true&kv_cap.per_request=6000&a=backfill&b=kv_cap"
    first = visit(query, reduced_motion="reduce")
    assert first.js("__stage.inB !== null && __stage.gantt.worlds.length === 1")
    last = "__stage.worlds[0].n - 1"
    name = first.js(f"__stage.worlds[0].names[{last}]")
    assert first.js(f"__stage.worlds[1].names[__stage.placeOn(1, {last})]") == name
    assert first.js(f"__stage.placeIn(1, __stage.placeOn(1, {last})) === {last}")
    assert first.js("__stage.placeOn(1, __stage.worlds[0].names.indexOf('docs-1'))") is None
    for share in (0.1, 0.4, 0.7):
        first.js(f"__stage.go(__stage.end * {share}, {{rest: false}}); __stage.attend('docs-1')")
    turned = visit(query.replace("a=backfill&b=kv_cap", "a=kv_cap&b=backfill"), reduced_motion="reduce")
    turned.key("w")
    turned.key("t")
    assert turned.page.locator(".tables table").count() == 2


def test_a_digit_puts_a_card_on_the_stage(visit: Any) -> None:
    first = visit("v=1&t=30", reduced_motion="reduce")
    first.fresh_data_after(lambda: first.key("1"))
    assert first.js("__stage.head.titles[0]") == "First come"
    first.fresh_data_after(lambda: first.key("Shift+3"))
    assert first.js("__stage.head.titles") == ["First come", "Preemptive"]
    assert "a=fcfs&b=preemptive" in first.page.url


HALO = "[__stage.panels[0].halo.hidden, getComputedStyle(__stage.panels[0].halo).animationName]"


def test_the_culprit_beats_after_a_jump_but_not_where_motion_is_not_wanted(visit: Any) -> None:
    first = visit("v=1&t=20&a=backfill")
    assert first.js(HALO)[1] == "none"
    first.key("w")
    first.until(f"String({HALO}) === 'false,beat'")
    calm = visit("v=1&t=20&a=backfill", reduced_motion="reduce")
    calm.key("w")
    assert calm.js(HALO)[0]


@pytest.mark.parametrize("name", ["noisy-neighbour", "code-bursts", "tenant-burst"])
def test_nothing_is_cut_off_in_the_queue_or_on_a_card(visit: Any, name: str) -> None:
    for size in ((1440, 1000), (1100, 900)):
        first = visit(f"v=1&scenario={name}", size=size, reduced_motion="reduce")
        for share in (0.2, 0.5, 0.6, 0.8):
            first.js(f"__stage.go(__stage.end * {share}, {{rest: false}})")
            cut = "__stage.panels.filter(p => p.chips.scrollWidth > p.chips.clientWidth + 1).length"
            assert first.js(cut) == 0
        cut = "e => [...e.querySelectorAll('h3, footer span')].filter(n => n.scrollWidth > n.clientWidth)"
        assert first.page.locator(".cards").evaluate(cut + ".map(n => n.textContent)") == []


def test_without_inversion_there_is_no_next_one(visit: Any) -> None:
    flat = visit("v=1&scenario=tenant-burst&t=3", reduced_motion="reduce")
    assert flat.js("__stage.nextButton.disabled")
    flat.key("n")
    assert flat.js("__stage.t") == 3
    assert not visit("v=1&t=3", reduced_motion="reduce").js("__stage.nextButton.disabled")


def test_a_link_full_of_markup_loads_nothing_and_runs_nothing(visit: Any, server: str) -> None:
    title = "%3Cimg+src=x+onerror=window.__x=1%3E![x](https://example.org/x.png)"
    first = visit(f"v=1&scenario=textbook&title={title}&focus={title}", reduced_motion="reduce")
    foreign = f"performance.getEntriesByType('resource').filter(e => !e.name.startsWith('{server}')).length"
    assert first.js("window.__x") is None
    assert (
        first.js(
            foreign + " - performance.getEntriesByType('resource')"
            ".filter(e => /^(blob|data):/.test(e.name)).length"
        )
        == 0
    )


def test_a_first_visit_can_be_shared_as_it_stands(visit: Any) -> None:
    first = visit()
    first.until("__stage.playing")
    first.key("Space")
    first.until("!__stage.playing")
    first.idle()
    first.fresh_data_after(lambda: first.page.get_by_label("Show First come as A").click())
    first.page.locator(".st-key-share button").first.click()
    first.until("location.search.includes('t=')")
    first.idle()
    link = first.page.locator(".st-key-link code", has_text="v=1").inner_text().strip()
    second = visit(link.partition("?")[2])
    shown = "[__stage.t, __stage.head.titles, __stage.captions.map(c => c.textContent)]"
    assert second.js(shown) == first.js(shown)


def test_sharing_while_it_plays_takes_that_moment(visit: Any) -> None:
    first = visit("v=1&t=20")
    first.key("Space")
    first.until("__stage.t > 20.5")
    first.page.locator(".st-key-share button").first.click()
    first.until("location.search.includes('t=2') && !location.search.includes('t=20&')")
    assert first.js("__stage.playing")


def test_a_moment_that_a_shorter_run_cuts_off_leaves_the_link(visit: Any) -> None:
    first = visit("v=1&t=137&a=preemptive&b=fcfs", reduced_motion="reduce")
    assert first.js("__stage.t") == 137
    first.fresh_data_after(lambda: first.page.get_by_label("Show Priority + backfill as A").click())
    first.until("Math.abs(new URLSearchParams(location.search).get('t') - __stage.t) < 1e-3")
    assert first.js("__stage.t") < 130


def test_an_uploaded_trace_is_on_the_stage_and_its_link_opens_it(visit: Any, tmp_path: Path) -> None:
    rows = [f"{row},{'P0' if row % 3 else 'P2'},{60 if row % 3 else 30000},9" for row in range(60)]
    good, bad = tmp_path / "mine.csv", tmp_path / "page.csv"
    good.write_text("\n".join(["timestamp,priority,prompt_tokens,output_tokens", *rows]), "utf-8")
    bad.write_text("<!DOCTYPE html><html></html>", "utf-8")
    first = visit("v=1&t=30", reduced_motion="reduce")
    first.page.get_by_text("Replay a trace").click()
    upload = first.page.locator('[data-testid="stFileUploader"] input[type=file]')
    upload.set_input_files(bad)
    first.page.get_by_text("page.csv: is a web page").wait_for(timeout=WAIT_MS)
    assert "trace.digest" not in first.page.url and first.js("__stage.t") == 30
    first.idle()
    first.fresh_data_after(lambda: upload.set_input_files(good))
    assert first.js("__stage.worlds[0].names.length") == 60 and "trace.digest" in first.page.url
    second = visit(first.page.url.partition("?")[2], reduced_motion="reduce")
    shown = "[__stage.t, __stage.head.titles, __stage.captions.map(c => c.textContent)]"
    assert second.js(shown) == first.js(shown)
    assert second.page.get_by_text("60 requests in 59 s").is_visible()


def test_a_click_on_a_request_opens_its_story_and_a_time_in_it_moves_the_stage(visit: Any) -> None:
    first = visit("v=1&t=64&a=backfill", reduced_motion="reduce")
    chip = first.page.locator(".sideA .queue .chip").first
    chip.click()
    first.until("location.search.includes('focus=')")
    first.page.wait_for_selector(".story-root section")
    first.idle()
    name = first.js("__stage.worlds[0].names[__stage.pinned]")
    assert first.page.locator(".story-root h2 bdi").all_inner_texts() == [name, name]
    assert first.js("new URLSearchParams(location.search).get('view')") == "request"
    first.page.locator(".story-root section").first.locator(".life button").first.click()
    listed = "__stage.worlds[0].requests.arrival[__stage.pinned]"
    first.until(f"Math.abs(__stage.t - {listed}) < 0.02")
