"""The lessons in a real browser: by keyboard alone, by link, in Chinese, on a phone, without motion."""

from typing import Any

import pytest

from sched.text.lessons import BY_KEY, LESSONS, PLAYED_S, facts_of, told
from tests.browsing import WAIT_MS
from tests.test_browser_axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
STILL = "window.__stilled > 0"
ASKED = "document.querySelector('.st-key-question input')"


def lesson(key: str, lang: str = "en") -> str:
    return f"v=1&view=learn&lesson={key}&lang={lang}"


def tab_to(first: Any, selector: str) -> None:
    """Tab until the focus is inside an element."""
    for _ in range(80):
        if first.js(f"!!document.activeElement.closest({selector!r})"):
            return
        first.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not come to {selector}")


def rests(first: Any, at_s: float) -> None:
    first.until(f"window.__stage && !__stage.playing && Math.abs(__stage.t - {at_s}) < 1e-3")


def test_a_lesson_is_walked_through_by_keyboard(visit: Any) -> None:
    first = visit(lesson("bounded"), STILL)
    facts, text = facts_of("bounded"), told("bounded")
    tab_to(first, ".st-key-question [role=radiogroup]")
    assert first.page.get_by_role("radiogroup", name=text.question).count() == 1
    first.page.keyboard.press("Space")
    for _ in range(BY_KEY["bounded"].options.index(facts.right)):
        first.page.keyboard.press("ArrowDown")
    first.idle()
    tab_to(first, ".st-key-commit-bounded")
    first.page.keyboard.press("Enter")
    first.until("window.__stage?.playing")
    rests(first, facts.at_s + PLAYED_S)
    assert first.page.get_by_role("status").filter(has_text="You were right").count() == 1
    assert first.js("!!document.activeElement.closest('.st-key-commit-bounded')"), "the focus stays"
    assert first.js("[...document.querySelectorAll('.st-key-question input')].every((one) => one.disabled)")
    first.page.keyboard.press("Enter")  # plays again
    first.until("window.__stage?.playing")
    rests(first, facts.at_s + PLAYED_S)
    tab_to(first, ".st-key-to_lab")
    first.page.keyboard.press("Enter")
    first.until("location.search.includes('focus=chat-1') && !document.querySelector('.st-key-question')")
    first.until(f"window.__stage && Math.abs(__stage.t - {facts.at_s}) < 1e-3")
    first.idle()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_lesson_opens_by_its_link(visit: Any, lang: str) -> None:
    for one in LESSONS:
        first = visit(lesson(one.key, lang), ASKED)
        text = told(one.key, lang)
        first.says(".st-key-lesson h1", text.title)
        assert first.page.locator("[data-testid=stRadioOption]").count() == len(text.options)
        if one.key != "lock":
            first.until(STILL)
            label = first.js("__still.panel.memoryCanvas.getAttribute('aria-label')")
            assert "{" not in label and ("free" if lang == "en" else "空闲") in label
        assert not first.js("!!window.__stage"), "the answer is not even loaded"
        first.context.close()


def test_what_was_answered_is_there_after_a_reload_until_one_begins_again(visit: Any) -> None:
    first = visit(lesson("rescue"), STILL, reduced_motion="reduce")
    again = first.page.url.replace("/learn?", "/?")
    first.page.locator("[data-testid=stRadioOption]").first.click()
    first.page.locator(".st-key-commit-rescue button:not([disabled])").click()
    rests(first, facts_of("rescue").at_s + PLAYED_S)
    first.page.goto(again)
    rests(first, facts_of("rescue").at_s + PLAYED_S)
    first.says(".st-key-lessons", "1 done")
    first.page.locator(".st-key-forget button").click()
    first.says(".st-key-lessons", "0 done")
    first.until("localStorage.getItem('sched.lessons') === '{}'")
    first.page.goto(again)
    first.until(STILL)
    first.page.locator(".st-key-commit-rescue button[disabled]").wait_for(timeout=WAIT_MS)
    first.says(".st-key-lessons", "0 done")


def test_without_motion_the_replay_stands_at_its_end(visit: Any) -> None:
    first = visit(lesson("rescue"), STILL, reduced_motion="reduce")
    first.page.locator("[data-testid=stRadioOption]").first.click()
    first.page.locator(".st-key-commit-rescue button:not([disabled])").click()
    rests(first, facts_of("rescue").at_s + PLAYED_S)
    assert first.js("__stage.frames") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_answered_lesson_keeps_the_rules_of_access(visit: Any, scheme: str) -> None:
    first = visit(lesson("lock"), ASKED, reduced_motion="reduce", color_scheme=scheme)
    first.page.locator("[data-testid=stRadioOption]").first.click()
    first.page.locator(".st-key-commit-lock button:not([disabled])").click()
    rests(first, facts_of("lock").at_s + PLAYED_S)
    first.idle()
    assert not violations(first.page)


def test_a_lesson_fits_a_phone(visit: Any) -> None:
    first = visit(lesson("lock"), ASKED, size=(390, 844), has_touch=True)
    first.until("document.querySelectorAll('.st-key-lesson button').length > 1")
    assert first.js("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    options = "[...document.querySelectorAll('[data-testid=stRadioOption]')]"
    assert first.js(f"Math.min(...{options}.map((one) => one.getBoundingClientRect().height))") >= 44
