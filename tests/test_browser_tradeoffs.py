"""Trade-offs in a real browser: drawn, clicked, stopped, in the dark and on a phone."""

from typing import Any

import pytest

from tests.browsing import WAIT_MS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
QUICK = "v=1&view=tradeoffs&duration_s=20&seeds=1"
DRAWN = (
    "document.querySelector('.st-key-tradeoff_verdict strong')"
    " && document.querySelector('.js-plotly-plot .points path')"
)
POINTS = ".js-plotly-plot .scatterlayer .trace .points path"


def test_a_click_on_a_point_chooses_it_and_it_opens_in_the_lab(visit: Any) -> None:
    first = visit(f"{QUICK}&vary=rescue.kv=0:0.4:0.1", ready=DRAWN, reduced_motion="reduce")
    box = first.page.locator(POINTS).nth(4).bounding_box()
    first.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    first.until(
        "[...document.querySelectorAll('.st-key-tradeoff_point *')]"
        ".some((one) => (one.value ?? one.innerText ?? '').includes('40'))"
    )
    first.idle()
    first.page.locator(".st-key-tradeoff_open button").click()
    first.until("window.__ready > 0")
    first.idle()
    assert "rescue.kv=0.4" in first.page.url and "view=tradeoffs" not in first.page.url


def test_a_map_is_stopped_by_a_change_and_what_was_asked_last_is_shown(visit: Any) -> None:
    query = "v=1&view=tradeoffs&chart=map&seeds=20"
    first = visit(query, ready="document.querySelector('.stProgress')", reduced_motion="reduce", idle=False)
    first.page.get_by_role("tab", name="What it buys and costs").click()
    first.until(DRAWN)
    first.idle()
    assert "chart=map" not in first.page.url and first.page.locator(".stProgress").count() == 0
    assert first.page.locator(".js-plotly-plot .heatmaplayer image").count() == 0


def test_dark_and_narrow_it_stays_whole(visit: Any) -> None:
    narrow = {"size": (390, 844), "is_mobile": True, "has_touch": True, "reduced_motion": "reduce"}
    phone = visit(f"{QUICK}&chart=load&lang=zh", ready=DRAWN, color_scheme="dark", **narrow)
    assert phone.js("document.documentElement.scrollWidth <= innerWidth + 1")
    colour = phone.js(f"getComputedStyle(document.querySelectorAll('{POINTS}')[0]).fill")
    assert colour == "rgb(92, 151, 247)"
    assert phone.page.get_by_text("吞吐量").count() > 0
    phone.page.locator(".stExpander summary").last.click()
    phone.page.locator("table").last.wait_for(timeout=WAIT_MS)
