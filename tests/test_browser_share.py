"""Sharing in a real browser: pictures agree with the stage, files open again, links survive the way."""

import io
import json
import re
import struct
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sched import simulate
from sched.exports import csv_zip
from sched.external import change, link, parse_link
from sched.figures.blocks import memory
from sched.figures.side import side
from sched.files import from_text
from sched.inversion import analyse
from sched.report import NAMES
from sched.scenario import preset
from tests.browsing import WAIT_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
SHOWN = "v=1&a=backfill&t=64.35&rescue.kv=0.2"


def test_the_picture_puts_every_block_where_the_stage_has_it(visit: Any) -> None:
    first = visit("v=1&a=backfill&b=rescue&t=1", reduced_motion="reduce")
    for number, key in enumerate(("backfill", "rescue")):
        log = simulate(preset("noisy-neighbour"), key)
        seen = side(log, analyse(log))
        for iteration in np.linspace(3, log.iterations - 1, 7).astype(int).tolist():
            now = memory(seen, iteration, True)
            probe = "([side, i]) => [...__stage.worlds[side].seek(i).owner]"
            assert first.page.evaluate(probe, [number, iteration]) == now.owner.tolist()


def opened(visit: Any, query: str = SHOWN, **context: Any) -> Any:
    """A visit with the panel behind Share open."""
    first = visit(query, reduced_motion="reduce", **context)
    first.page.locator(".st-key-share button").first.click()
    first.page.wait_for_selector(".st-key-take_TOML button", timeout=WAIT_MS)
    first.idle()
    return first


def taken(first: Any, label: str, folder: Path) -> Path:
    """The file behind a button of the panel."""
    with first.page.expect_download(timeout=WAIT_MS) as coming:
        first.page.locator(f".st-key-take_{label} button").click()
    path = folder / str(coming.value.suggested_filename)
    coming.value.save_as(path)
    assert path.name.isascii()
    return path


def test_every_file_opens_again(visit: Any, tmp_path: Path) -> None:
    first = opened(visit)
    scenario = parse_link(SHOWN)[0]
    logs = {key: simulate(scenario, key) for key in scenario.policies}
    runs = {key: (log, analyse(log)) for key, log in logs.items()}

    toml = taken(first, "TOML", tmp_path)
    again = from_text(toml.read_text("utf-8"))
    assert again == scenario and toml.name.startswith("noisy-neighbour-fcfs-backfill-")

    csv = taken(first, "CSV", tmp_path).read_bytes()
    assert csv == csv_zip(scenario, runs)
    with zipfile.ZipFile(io.BytesIO(csv)) as archive:
        for name in NAMES:
            assert len(pd.read_csv(archive.open(f"{name}.csv"), encoding="utf-8-sig")) > 0

    with zipfile.ZipFile(taken(first, "Parquet", tmp_path)) as archive:
        for name in NAMES:
            assert "policy" in pq.read_table(io.BytesIO(archive.read(f"{name}.parquet"))).column_names

    figures = json.loads(taken(first, "JSON", tmp_path).read_text("utf-8"), parse_constant=None)
    assert set(figures["policies"]) == set(scenario.policies)

    svg = taken(first, "SVG", tmp_path)
    root = ElementTree.parse(svg).getroot()
    assert svg.name == "noisy-neighbour-backfill-rescue-picture.svg"
    wide, high = (round(2 * float(root.get(one, "0"))) for one in ("width", "height"))
    png = taken(first, "PNG", tmp_path).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", png[16:24])
    assert size[0] == wide and abs(size[1] - high) <= 2


def heard(page: "Page") -> tuple[list[Any], list[Any]]:
    """What a page complains of, and what it asks for."""
    errors, asked = list[Any](), list[Any]()
    page.on("pageerror", lambda error: errors.append(error))
    page.on("console", lambda said: errors.append(said.text))
    page.on("request", lambda request: asked.append(request))
    return errors, asked


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_plays_offline_and_prints(
    visit: Any, browser: "Browser", tmp_path: Path, lang: str
) -> None:
    first = opened(visit, SHOWN + ("" if lang == "en" else f"&lang={lang}"))
    path = taken(first, "HTML", tmp_path)
    assert path.stat().st_size < 600_000
    for scheme in ("light", "dark"):
        context = browser.new_context(
            viewport={"width": 1300, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_offline(True)
        page = context.new_page()
        errors, asked = heard(page)
        page.goto(path.as_uri())
        page.locator("#stage .clock", has_text="64.35").wait_for(timeout=WAIT_MS)
        assert page.evaluate("__stage.t") == pytest.approx(64.35)
        page.keyboard.press("Space")
        assert page.evaluate("__stage.playing && scrollY === 0")
        page.keyboard.press("Space")
        page.evaluate("__stage.go(0)")
        assert not page.evaluate("__stage.worlds.some((world) => world.state.owner.some((one) => one >= 0))")
        page.evaluate("__stage.root.focus()")
        page.keyboard.press("w")
        assert page.evaluate("__stage.worst.from <= __stage.t && __stage.t <= __stage.worst.to")
        assert page.evaluate("document.documentElement.lang") == ("en" if lang == "en" else "zh-Hans")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not errors and all(one.url.startswith(("file:", "blob:")) for one in asked)
        if scheme == "dark":
            pdf = page.pdf(prefer_css_page_size=True)
            pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
            assert 3 <= pages <= 7
            page.emulate_media(media="print")
            assert page.evaluate("document.querySelector('h1').getBoundingClientRect().top") < 60
            assert not page.locator("#stage").is_visible() and page.locator(".picture svg").is_visible()
        context.close()


def test_the_copy_button_copies_the_link_and_says_so(visit: Any) -> None:
    first = opened(visit, permissions=["clipboard-read", "clipboard-write"])
    box = first.page.locator(".st-key-link code")
    first.page.locator(".st-key-link button").click()
    first.page.locator(".st-key-link output", has_text="Copied.").wait_for(timeout=WAIT_MS)
    copied = first.js("navigator.clipboard.readText()")
    assert copied == box.inner_text() and SHOWN.partition("&")[2].split("&")[1] in copied
    assert first.page.locator(".st-key-link code b").count() == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_lesson_is_shared_by_its_link_alone_and_a_link_for_one_machine_says_so(
    visit: Any, lang: str
) -> None:
    first = visit(f"v=1&view=learn&lesson=lock&lang={lang}", "", reduced_motion="reduce")
    first.page.locator(".st-key-share button").first.click()
    whole = re.compile(r"127\.0\.0\.1:\d+/\?v=1&.*lesson=lock")  # by the page's root, not by the view's path
    first.page.locator(".st-key-link code", has_text=whole).wait_for(timeout=WAIT_MS)
    first.idle()
    first.says("[data-testid=stAlert]", "127.0.0.1")
    assert first.page.locator(".st-key-sharing img, .st-key-sharing [data-testid=stImage] svg").count() == 1
    assert first.page.locator(".st-key-take_TOML").count() == 0


LINKS = {
    "reordered": "rescue.kv=0.2&t=64.35&a=backfill&v=1",
    "encoded": "v=1&a=backfill&t=64%2E35&rescue%2Ekv=0%2E2",
    "of an HTML page": "v=1&amp;a=backfill&amp;t=64.35&amp;rescue.kv=0.2",
    "from a mailer": "v=1&a=backfill&t=64.35&rescue.kv=0.2&utm_source=mail",
}


@pytest.mark.parametrize("how", LINKS)
def test_a_link_survives_the_way(visit: Any, how: str) -> None:
    first = visit(LINKS[how], reduced_motion="reduce")
    assert first.js("[__stage.t, __stage.head.titles[1]]") == [64.35, "Rescue buffer 20\u202f%"]
    assert first.page.get_by_test_id("stAlert").count() == (1 if how == "from a mailer" else 0)


UNSAID = ("lab", "inversions")
"""What the page opens with: its address does not name it."""
VIEWS = (*UNSAID, "compare", "tradeoffs", "learn", "about", "queue")


@pytest.mark.parametrize("view", VIEWS)
def test_the_link_of_a_view_opens_that_view_in_a_fresh_browser(visit: Any, view: str) -> None:
    ready = "window.__ready > 0" if view in ("lab", "inversions", "queue") else ""
    first = visit(f"v=1&scenario=textbook@1&view={view}", ready, reduced_motion="reduce")
    address = dict(parse_qsl(first.page.url.partition("?")[2]))
    assert address.get("view") == (None if view in UNSAID else view)
    assert "textbook" in address.get("scenario", "")
    again = visit(first.page.url.partition("?")[2], ready, reduced_motion="reduce")
    assert dict(parse_qsl(again.page.url.partition("?")[2])) == address
    assert again.page.title() == first.page.title()


def test_a_second_link_in_the_same_tab_is_opened_and_back_brings_the_first(visit: Any) -> None:
    first = visit("v=1&rescue.kv=0.2", reduced_motion="reduce")
    base = first.page.url.partition("?")[0]
    first.page.goto(f"{base}?v=1&rescue.kv=0.4")
    first.until("window.__ready > 0 && __stage.head.titles[1].includes('40')")
    first.idle()
    first.page.go_back()
    first.until("window.__ready > 0 && __stage.head.titles[1].includes('20')")
    first.page.reload()
    first.until("window.__ready > 0 && __stage.head.titles[1].includes('20')")


def test_back_after_a_second_link_to_another_view_brings_the_first_at_once(visit: Any) -> None:
    first = visit("v=1&rescue.kv=0.15&t=64&focus=chat-44&view=request", reduced_motion="reduce")
    base = first.page.url.partition("?")[0]
    first.page.goto(f"{base}?v=1&rescue.kv=0.4&view=compare")
    first.page.wait_for_url("**/compare?*", timeout=WAIT_MS)
    first.until("window.__past")
    first.idle()
    many = first.js("history.length")
    first.page.go_back()
    first.until("window.__ready > 0 && __stage.head.titles[1].includes('15')")
    first.idle()
    assert "view=request" in first.page.url and first.js("__stage.t") == pytest.approx(64)
    first.page.go_forward()
    first.page.wait_for_url("**/compare?*", timeout=WAIT_MS)
    first.idle()
    assert "rescue.kv=0.4" in first.page.url
    assert first.js("history.length") <= many, "the link's own entries, made anew"


NAMES_OF_OTHERS = ("мой сосед", "吵闹的邻居", "مستأجر", "a|b, c & d = e + f", '🦊 "quoted" %41')


@pytest.mark.parametrize("name", NAMES_OF_OTHERS)
def test_names_in_any_script_survive_the_link_and_reach_the_tab(visit: Any, name: str) -> None:
    scenario = change(preset("textbook"), {"title": name})
    first = visit(link(scenario), reduced_motion="reduce")
    assert first.page.title().startswith(f"{name}: ")
    again = visit(first.page.url.partition("?")[2], reduced_motion="reduce")
    assert again.page.title() == first.page.title()
    assert parse_link(first.page.url.partition("?")[2])[0] == scenario


def test_a_link_encoded_as_a_whole_is_opened_and_that_is_said(visit: Any) -> None:
    first = visit(quote("v=1&rescue.kv=0.2", safe=""), reduced_motion="reduce")
    assert first.js("__stage.head.titles[1]") == "Rescue buffer 20\u202f%"
    first.says("[data-testid=stAlert]", "encoded twice")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_prints_on_paper_without_sidebar_and_with_nothing_cut(visit: Any, scheme: str) -> None:
    first = visit("v=1&a=backfill&t=64.35", reduced_motion="reduce", color_scheme=scheme)
    wide = first.js("__stage.root.clientWidth")
    pdf = first.page.pdf(prefer_css_page_size=True)
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) <= 5
    first.page.set_viewport_size({"width": 718, "height": 1047})
    first.js("document.documentElement.style.setProperty('--shown-width', wide)".replace("wide", str(wide)))
    first.page.emulate_media(media="print")
    for hidden in ("stSidebar", "stHeader"):
        assert not first.page.get_by_test_id(hidden).is_visible()
    right = "__stage.root.getBoundingClientRect().right"
    assert first.js(right) <= 720 and first.js("__stage.root.getBoundingClientRect().top") < 700


@pytest.mark.parametrize("view", ["compare", "tradeoffs", "learn", "about"])
def test_the_tab_names_the_view_and_the_scenario(visit: Any, view: str) -> None:
    first = visit(f"v=1&scenario=textbook@1&view={view}&lang=zh", "", reduced_motion="reduce")
    assert first.page.title().count(" · ") == 2 and first.page.title().endswith(" · Sched Lab")


def test_the_tab_keeps_its_name_while_the_page_is_drawn_anew(visit: Any) -> None:
    first = visit("v=1&a=backfill", reduced_motion="reduce")
    first.js(
        """window.__titles = [], new MutationObserver(() => __titles.push(document.title))
        .observe(document.head, { childList: true, subtree: true, characterData: true })"""
    )
    first.fresh_data_after(lambda: first.page.get_by_label("Show First come as A").click())
    assert first.js("__titles.every(name => name.endsWith(' · Sched Lab'))"), first.js("__titles")
    first.page.get_by_role("link", name="About the model").click()
    first.until("document.title.startsWith('About the model · ')")
    assert first.js("__titles.length") > 0, "the observer sees every name"
    first.idle()
    assert first.js("__titles.every(name => name.endsWith(' · Sched Lab'))"), first.js("__titles")


CHAT = ".st-key-traffic-chat-rate_per_s input[type=range]"


def slid(visit: Any, query: str) -> Any:
    """A visit whose slider has been moved by two steps."""
    first = visit(query, reduced_motion="reduce")
    for rate in ("0.85", "0.9"):
        first.page.locator(CHAT).focus()
        first.page.keyboard.press("ArrowRight")
        first.until(f"location.search.includes('chat.rate_per_s={rate}')")
        first.idle()
    return first


@pytest.mark.parametrize("query", ["", "v=1&expert=1"])
@pytest.mark.parametrize("view", ["Compare", "Trade-offs"])
def test_what_was_changed_stays_changed_in_every_view_and_back(visit: Any, query: str, view: str) -> None:
    first = slid(visit, query)
    first.page.get_by_role("link", name=view).click()
    first.page.wait_for_url(f"**/{view.replace('-', '').lower()}?*", timeout=WAIT_MS)
    first.says("[data-testid=stMain]", "9 seeds")
    first.page.locator(".st-key-seeding .stProgress").wait_for(state="detached", timeout=WAIT_MS)
    first.idle()
    assert first.page.locator(CHAT).get_attribute("value") == "0.9"
    assert "chat.rate_per_s=0.9&" in first.page.url
    first.page.go_back()
    first.until("window.__ready > 0 && !location.search.includes('view=')")
    first.until(f"document.querySelector('{CHAT}')?.value === '0.9'")
    first.idle()
    assert (
        "chat.rate_per_s=0.9" in first.page.url and first.page.locator(CHAT).get_attribute("value") == "0.9"
    )
    first.page.go_back()
    first.until("location.search.includes('chat.rate_per_s=0.85')")
    first.until(f"document.querySelector('{CHAT}')?.value === '0.85'")


def test_whoever_goes_back_at_once_leaves_no_address_of_another_view(visit: Any) -> None:
    first = slid(visit, "")
    first.page.get_by_role("link", name="Compare").click()
    first.page.wait_for_url("**/compare*", timeout=WAIT_MS)
    first.page.go_back()
    first.page.locator(".st-key-pick_A").wait_for(timeout=WAIT_MS)
    first.idle()
    first.until("window.__ready > 0")
    assert "view=" not in first.page.url and "chat.rate_per_s=0.9" in first.page.url


def test_back_from_a_point_that_was_opened_brings_the_curve_as_it_was(visit: Any) -> None:
    first = visit("v=1&view=tradeoffs&chart=load&seeds=1&duration_s=20", "", reduced_motion="reduce")
    first.page.locator(".st-key-tradeoff_open button").wait_for(timeout=WAIT_MS)
    first.idle()
    before = first.page.url
    first.page.locator(".st-key-tradeoff_open button").click()
    first.until("window.__ready > 0")
    first.idle()
    assert "view=" not in first.page.url
    first.page.go_back()
    first.page.locator(".st-key-tradeoff_open button").wait_for(timeout=WAIT_MS)
    first.idle()
    assert dict(parse_qsl(first.page.url.partition("?")[2])) == dict(parse_qsl(before.partition("?")[2]))
    first.page.go_forward()
    first.until("!location.search.includes('view=') && document.querySelector('.st-key-pick_A')")
