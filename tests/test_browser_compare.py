"""Compare in a real browser: sorted and steered by keyboard, its link opens the same, never blank."""

from typing import Any

import pytest

from tests.browsing import WAIT_MS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

TABLE = "window.__compare"
READY = f"{TABLE}?.isConnected && {TABLE}.dataset.rows > 0"
ORDER = f"[...{TABLE}.querySelectorAll('tbody tr')].map((one) => one.dataset.key)"
DOTS = f"[...{TABLE}.querySelectorAll('svg.dots')].map((one) => one.querySelectorAll('.seed').length)"
SEEDS = f"Math.min(...{DOTS})"


def opened(visit: Any, query: str = "", **context: Any) -> Any:
    return visit(f"view=compare&{query}".rstrip("&"), READY, **context)


def texts(page: Any, selector: str) -> str:
    return str(page.js(f"{TABLE}.querySelector('{selector}').textContent"))


def test_the_table_is_there_at_once_and_the_seeds_fill_it_in(visit: Any) -> None:
    first = opened(visit, "seeds=9&traffic.chat.rate_per_s=0.83")
    assert first.js(SEEDS) >= 1
    first.until(f"{SEEDS} === 9")
    first.idle()
    assert "9 seeds" in texts(first, ".basis")


def test_sorting_by_keyboard_is_in_the_link_and_opens_again(visit: Any) -> None:
    first = opened(visit, "seeds=3")
    before = first.js(ORDER)
    first.page.locator(".compare-root [data-sort='throughput']").focus()
    first.page.keyboard.press("Enter")
    first.until(f"{TABLE}.querySelector('[data-sort=throughput]').closest('th').ariaSort === 'ascending'")
    first.page.keyboard.press("Enter")
    first.until(f"{TABLE}.querySelector('[data-sort=throughput]').closest('th').ariaSort === 'descending'")
    after = first.js(ORDER)
    assert sorted(after) == sorted(before) and after != before
    assert first.js(f"{TABLE}.getRootNode().activeElement.dataset.sort") == "throughput"
    first.idle()
    first.until("location.search.includes('sort=-throughput')")
    again = visit(first.page.url.partition("?")[2], READY)
    assert again.js(ORDER) == after


def test_a_row_becomes_the_baseline_by_keyboard(visit: Any) -> None:
    first = opened(visit, "seeds=3")
    said = texts(first, ".verdict")
    first.page.locator(".compare-root tr[data-key='fcfs'] .policy").focus()
    first.page.keyboard.press("Enter")
    first.page.keyboard.press("ArrowDown")
    first.page.keyboard.press("ArrowUp")
    assert first.js(f"{TABLE}.getRootNode().activeElement.dataset.what") == "baseline"
    first.page.keyboard.press("Enter")
    first.until("location.search.includes('baseline=fcfs')")
    first.idle()
    assert texts(first, ".verdict") != said
    assert not first.js(f"{TABLE}.querySelector('.menu')")


def test_escape_closes_the_menu_and_gives_the_focus_back(visit: Any) -> None:
    first = opened(visit, "seeds=1")
    first.page.locator(".compare-root tr[data-key='rescue'] .policy").focus()
    first.page.keyboard.press("Enter")
    first.page.keyboard.press("Escape")
    assert first.js(f"{TABLE}.getRootNode().activeElement.className") == "policy"
    assert not first.js(f"{TABLE}.querySelector('.menu')")


def test_a_row_opens_in_the_lab(visit: Any) -> None:
    first = opened(visit, "seeds=1")
    first.page.locator(".compare-root tr[data-key='preemptive']").click()
    first.page.locator(".compare-root .menu [data-what='lab']").click()
    first.until("window.__ready > 0")
    first.idle()
    assert "b=preemptive" in first.page.url and "view=compare" not in first.page.url


def test_a_change_stops_the_seeds_and_shows_at_once(visit: Any) -> None:
    first = opened(visit, "seeds=20&traffic.chat.rate_per_s=1.31")
    first.page.locator(".st-key-part button", has_text="p50").click()
    first.until("location.search.includes('metric=ttft.p50')")
    first.until(f"{TABLE}.querySelector('caption') && {TABLE}.textContent.includes('TTFT p50')")
    first.until(f"{SEEDS} === 20")


def test_the_baseline_of_a_select_is_in_the_link(visit: Any) -> None:
    first = opened(visit, "seeds=1")
    first.page.locator(".st-key-baseline").get_by_role("combobox").click()
    first.page.get_by_role("option", name="First come").click()
    first.until("location.search.includes('baseline=fcfs')")


def test_each_tab_draws_its_charts_and_no_others(visit: Any) -> None:
    first = opened(visit, "seeds=1")
    first.page.wait_for_selector(".js-plotly-plot .main-svg", timeout=WAIT_MS)
    charts = {"waits": 1, "service": 2, "shares": 2, "counters": 2, "queue": 1, "table": 0}
    for place, (chart, many) in enumerate(charts.items(), 1):
        first.page.locator(".st-key-chart").get_by_role("tab").nth(place).click()
        first.until(f"location.search.includes('chart={chart}')")
        first.idle()
        first.until(f"document.querySelectorAll('.js-plotly-plot .main-svg').length >= {many}")
        first.until(f"document.querySelectorAll('.js-plotly-plot').length === {many}")
    first.until("window.__percentiles?.dataset.rows > 0")


def test_names_are_text_and_the_page_fits_a_phone(visit: Any) -> None:
    name = (
        "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%3Cb%3EZo%C3%AB%20%D7%A2%D7%91%D7%A8%D7%99%D7%AA%3C%2Fb%3E"
    )
    query = f"seeds=1&requests=%5B%7Bid%3D%22a%22%2Cclass%3D%22{name}%22%2Cprompt%3D9%2Coutput%3D3%7D%5D"
    first = opened(visit, f"scenario=blank&{query}", size=(390, 844))
    assert not first.js(f"{TABLE}.querySelector('img, .verdict b b')")
    assert "<img src=x onerror=…" in texts(first, "thead")
    whole = first.js(f"{TABLE}.querySelector('thead th[title]').title")
    assert "<img src=x onerror=alert(1)><b>Zoë עברית</b>" in whole
    edges = first.page.locator(".compare-root .edges")
    assert edges.evaluate("(one) => [...one.classList]") == ["edges", "more-right"]
    region = first.page.locator(".compare-root .scroll")
    assert region.get_attribute("tabindex") == "0" and region.get_attribute("aria-label")
    region.evaluate("(one) => { one.scrollLeft = one.scrollWidth; }")
    first.until(f"[...{TABLE}.querySelector('.edges').classList].join() === 'edges,more-left'")
    assert first.js("document.documentElement.scrollWidth <= innerWidth")
