"""Everyone can use the page: the rules of WCAG 2.2 AA, the keyboard alone, large type, forced colours."""

import itertools
from typing import Any

import pytest

from sched.external import link
from sched.scenario import preset

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
OUTLINE = {rule: {"enabled": True} for rule in ("heading-order", "empty-heading")}
"""Best practice beside what the guidelines demand: who hears the page walks from heading to heading."""
EXCUSED = {
    (
        "scrollable-region-focusable",
        'class="katex-display"',
    ): "A formula wider than a phone scrolls under the "
    "finger. The framework draws it, so it has no place in the tab order; the sentence beside says the same.",
}
"""What the framework makes and we cannot mend: rule and a part of the element's markup, with the reason."""
VIEWS = {
    "lab": ("v=1&t=64", "window.__ready > 0"),
    "request": ("v=1&t=64&view=request&focus=chat-46", "window.__ready > 0"),
    "queue": ("v=1&t=64&view=queue&expert=1", "window.__ready > 0"),
    "compare": ("v=1&view=compare", ""),
    "tradeoffs": ("v=1&view=tradeoffs", ""),
    "learn": ("v=1&view=learn", ""),
    "about": ("v=1&view=about", ""),
}
DESKTOP = {"size": (1440, 1000)}
PHONE = {"size": (390, 844), "has_touch": True}


def violations(page: Any) -> list[str]:
    """What axe finds on the page as it is, one line an element."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.AXE_SCRIPT)
    options = {"runOnly": {"type": "tag", "values": TAGS}, "rules": OUTLINE, "resultTypes": ["violations"]}
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    lines = []
    for rule in found:
        for node in rule["nodes"]:
            if any(name == rule["id"] and part in node["html"] for name, part in EXCUSED):
                continue
            why = [check["message"] for check in (*node["any"], *node["all"], *node["none"])]
            lines.append(f"{rule['id']}: {node['html'][:160]} {why[:1]}")
    return lines


def seen(visit: Any, query: str, ready: str, **context: Any) -> Any:
    """A visit that waits until the view has stood still."""
    first = visit(query, ready, reduced_motion="reduce", **context)
    first.still()
    return first


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_keeps_the_rules_in_light_and_in_dark(visit: Any, view: str, look: dict[str, Any]) -> None:
    first = seen(visit, *VIEWS[view], color_scheme="light", **look)
    assert not violations(first.page)
    first.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    first.still()
    assert not violations(first.page)


LEVELS = """() => {
    const found = [], walk = (root) => root.querySelectorAll("*").forEach((one) => {
        if (/^H[1-6]$/.test(one.tagName) && one.checkVisibility()) found.push(Number(one.tagName[1]));
        if (one.shadowRoot) walk(one.shadowRoot);
    });
    walk(document.querySelector("[data-testid=stMain]"));
    return found;
}"""


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_an_outline_under_one_heading(visit: Any, view: str) -> None:
    levels = seen(visit, *VIEWS[view]).page.evaluate(LEVELS)
    assert levels[0] == 1 and levels.count(1) == 1 and len(levels) > 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_opens_above_the_page_keeps_the_rules(visit: Any, scheme: str) -> None:
    first = seen(visit, *VIEWS["lab"], color_scheme=scheme)
    page = first.page
    page.locator(".st-key-share button").first.click()
    page.locator(".st-key-link code").wait_for()
    first.still()
    assert not violations(page)
    page.keyboard.press("Escape")
    page.locator(".st-key-suggested-why button").first.click()
    page.get_by_test_id("stPopoverBody").wait_for()
    first.still()
    assert not violations(page)
    page.keyboard.press("Escape")
    page.locator(".st-key-gallery_open button").first.click()
    page.locator(".gallery-root li").nth(5).wait_for()
    first.still()
    assert not violations(page)


def test_the_document_says_its_language(visit: Any) -> None:
    for lang, tongue in (("en", "en"), ("zh", "zh-Hans")):
        first = visit(f"v=1&lang={lang}")
        first.until(f"document.documentElement.lang === '{tongue}'")


WALK = """() => {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    if (!node || node === document.body) return null;
    const box = node.getBoundingClientRect(), root = node.getRootNode();
    const around = [node, node.parentElement, node.closest("li, label")];
    const ringed = (style) => style.outlineStyle !== "none" && style.outlineWidth !== "0px";
    const label = node.getAttribute("aria-label") || node.labels?.[0]?.innerText;
    const name = label || node.innerText || node.title;
    return {
        name: (name ?? "").trim().slice(0, 60),
        place: node.tagName + Math.round(box.x) + "," + Math.round(box.y + scrollY) + name,
        ours: root instanceof ShadowRoot,
        said: around.some((one) => one && ringed(getComputedStyle(one))),
    };
}"""
"""The element in focus, wherever it is, and whether it shows that it is."""


def test_the_keyboard_alone_reaches_everything_and_is_caught_nowhere(visit: Any) -> None:
    first = seen(visit, *VIEWS["lab"], color_scheme="light")
    page = first.page
    page.evaluate("document.activeElement?.blur?.()")
    steps: list[dict[str, Any]] = []
    for _ in range(160):
        page.keyboard.press("Tab")
        step = page.evaluate(WALK)
        if step is None or (len(steps) > 20 and step["place"] == steps[0]["place"]):
            break
        steps.append(step)
    names = " | ".join(step["name"] for step in steps)
    assert len(steps) < 160, names  # it came to the end and round again
    for wanted in (
        "Skip to",
        "Share",
        "KV kept for urgent",
        "Play",
        "Playhead",
        "Next inversion",
        "Inversions",
    ):
        assert wanted in names, (wanted, names)
    mine = [step for step in steps if step["ours"]]
    assert len(mine) > 15 and all(step["name"] for step in mine)
    assert not [step for step in mine if not step["said"]]
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(WALK) is not None


@pytest.mark.parametrize("view", VIEWS)
def test_at_the_width_of_a_small_phone_nothing_is_wider_than_the_page(visit: Any, view: str) -> None:
    first = seen(visit, *VIEWS[view], size=(320, 700), has_touch=True)
    assert first.js("document.documentElement.scrollWidth") <= 320
    wide = first.js(
        """[...document.querySelectorAll('[data-testid="stMain"], [data-testid="stMainBlockContainer"]')]
        .filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.dataset.testid)"""
    )
    assert not wide


def test_at_twice_the_size_the_lab_needs_no_scrolling_sideways(visit: Any) -> None:
    first = seen(visit, *VIEWS["lab"], size=(720, 500), device_scale_factor=2)
    assert first.js("document.documentElement.scrollWidth") <= 720
    assert first.js("document.querySelector('[data-testid=\"stMain\"]').scrollWidth") <= 720


def test_with_forced_colours_marks_and_bars_can_still_be_told_apart(visit: Any) -> None:
    first = seen(visit, *VIEWS["request"], forced_colors="active")
    assert first.js("matchMedia('(forced-colors: active)').matches")
    bars = """[...document.querySelectorAll('*')].flatMap((node) =>
        [...node.shadowRoot?.querySelectorAll('.whole i') ?? []])
        .map((bar) => getComputedStyle(bar).background)"""
    found = first.js(bars)
    assert found and any("gradient" in one for one in found)


def test_names_from_right_to_left_stay_whole_and_do_not_turn_the_line(visit: Any) -> None:
    names, base = {"chat": "دردشة", "docs": "מסמכים"}, preset("noisy-neighbour")
    traffic = tuple(one.model_copy(update={"name": names.get(one.name, one.name)}) for one in base.traffic)
    scenario = base.model_copy(update={"traffic": traffic})
    query = link(scenario, view="request", t="64", focus=f"{names['chat']}-44")
    first = seen(visit, query, "window.__ready > 0", color_scheme="light")
    assert first.js("getComputedStyle(document.body).direction") == "ltr"
    told = first.page.locator(".story-root h2 bdi").all_inner_texts()
    assert told and all(name.startswith(names["chat"]) for name in told)
    assert not violations(first.page)
    assert first.js("document.documentElement.scrollWidth") <= 1440
