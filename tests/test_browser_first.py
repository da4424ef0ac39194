"""The first minute in a real browser: steps that go away, cards that open, a run that gives way."""

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_the_steps_for_newcomers_are_read_once(visit: Any) -> None:
    first = visit(reduced_motion="reduce")
    assert first.page.locator(".hint li").count() == 3
    first.key("w")
    first.until("location.search.includes('focus=')")
    first.idle()
    assert first.page.locator(".hint li").count() == 3  # looking is not changing
    first.page.locator(".hint button").click()
    assert first.page.locator(".hint").count() == 0
    first.page.goto(first.page.url.partition("?")[0])
    first.until("window.__ready > 0")
    first.idle()
    assert first.page.locator(".hint").count() == 0


def test_a_card_opens_its_scenario_by_keyboard_too(visit: Any) -> None:
    first = visit("v=1", reduced_motion="reduce")
    first.page.locator(".st-key-gallery_open button").first.click()
    card = first.page.locator(".gallery-root li button").last
    card.wait_for()
    assert first.page.get_by_role("dialog").count() == 1
    first.fresh_data_after(lambda: card.press("Enter"))
    first.until("location.search.includes('scenario=textbook')")
    first.page.locator(".gallery-root").wait_for(state="detached")
    assert first.js("__stage.worlds[0].n") == 8


def test_a_long_run_gives_way_to_a_change(visit: Any) -> None:
    first = visit("v=1&scenario=textbook", reduced_motion="reduce")
    address = first.page.url.partition("?")[0]
    first.page.goto(f"{address}?v=1&duration_s=6003")
    first.page.locator(".stProgress").first.wait_for()
    before = first.js("performance.now()")
    first.page.locator(".st-key-mode button").nth(1).click()
    first.page.locator(".stSidebar summary").nth(9).wait_for()
    assert (
        first.js("performance.now()") - before < 3000
    )  # all four policies take longer; 0.5 s on a quiet machine
    first.page.goto(f"{address}?v=1&scenario=textbook")
    first.until("window.__ready > 0")
