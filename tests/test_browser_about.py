"""About the model and the note of trust in a real browser."""

from typing import Any

import pytest

from sched.view import PARTS
from tests.browsing import WAIT_MS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def test_what_a_result_rests_on_opens_by_keyboard_and_leads_to_about(visit: Any) -> None:
    first = visit("v=1&t=30", reduced_motion="reduce")
    first.page.locator(".trust summary").focus()
    first.page.keyboard.press("Enter")
    first.page.locator(".basis li").first.wait_for(timeout=WAIT_MS)
    assert first.page.locator(".basis li").count() > 5
    first.fresh_data_after(lambda: first.key("1"))
    first.page.locator("details.trust[open]").wait_for(timeout=WAIT_MS)  # also when A has changed
    first.page.get_by_role("button", name="About the model").click()
    first.until("location.search.includes('view=about') && location.search.includes('part=hardware')")
    first.page.get_by_text("All presets").wait_for(timeout=WAIT_MS)


def test_every_part_of_about_opens_has_its_link_and_fits_a_phone(visit: Any) -> None:
    first = visit("v=1&view=about", "", reduced_motion="reduce")
    first.page.locator(".katex-display").first.wait_for(timeout=WAIT_MS)
    assert first.js("document.querySelectorAll('.katex-error').length") == 0
    tabs = first.page.get_by_role("tab")
    for place, part in enumerate(PARTS[1:], start=1):
        tabs.nth(place).click()
        first.until(f"location.search.includes('part={part}')")
        first.idle()
        first.page.set_viewport_size({"width": 390, "height": 844})
        assert first.js("document.documentElement.scrollWidth") <= 390, part
        first.page.set_viewport_size({"width": 1440, "height": 1000})
    tabs.nth(0).click()
    first.until("!location.search.includes('part=')")


def test_a_word_is_looked_up_in_chinese(visit: Any) -> None:
    first = visit("v=1&view=about&part=words&lang=zh", "", reduced_motion="reduce")
    find = first.page.get_by_role("textbox")
    find.fill("抢占浪费")
    find.press("Enter")
    first.page.get_by_text("1 个术语").wait_for(timeout=WAIT_MS)
    assert first.page.locator(".st-key-about strong", has_text="抢占浪费").count() == 1
