"""The lessons without a browser: question, prediction, answer, and the ways on."""

import json
import struct
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.errors import AppTestError

from sched.language import language
from sched.page.progress import understood
from sched.page.results import incidents
from sched.scenario import Scenario
from sched.text.lesson_runs import lesson_scenario
from sched.text.lessons import BY_KEY, LESSONS, PLAYED_S, facts_of, told
from tests.conftest import ROOT
from tests.test_page_chinese import SENTENCE, shown

pytestmark = pytest.mark.xdist_group("page")
KEYS = [one.key for one in LESSONS]


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, text in ({"v": "1", "view": "learn"} | query).items():
        page.query_params[key] = text
    return page.run()


def sent(page: AppTest, name: str) -> list[dict[str, Any]]:
    """What the components of a name were sent: their data, or the head of a packed picture."""
    found = []
    for one in page.get("bidi_component"):
        if not one.proto.component_name.endswith(f"sched_{name}"):
            continue
        if one.proto.json:
            found.append(json.loads(one.proto.json))
        else:
            (size,) = struct.unpack_from("<I", one.proto.bytes)
            found.append(json.loads(one.proto.bytes[4 : 4 + size]))
    return found


def committed(key: str, option: str, **query: str) -> AppTest:
    page = opened(lesson=key, **query)
    page.radio(key=f"answer.{key}").set_value(option).run()
    page.button(key=f"commit.{key}").click().run()
    assert not page.exception
    return page


def named(scenario: Scenario, other: Scenario) -> Scenario:
    """The scenario with the title and the story of another."""
    return scenario.changed(title=other.title, story=other.story)


def query(page: AppTest, key: str) -> str | None:
    found = page.query_params.get(key)
    return found[0] if isinstance(found, list) else found


@pytest.mark.parametrize("key", KEYS)
def test_a_lesson_asks_first_and_keeps_the_replay_closed(key: str) -> None:
    page, text = opened(lesson=key), told(key)
    assert not page.exception
    assert [one.value for one in page.title] == [text.title]
    radio = page.radio(key=f"answer.{key}")
    assert radio.label == text.question and radio.value is None
    assert radio.options == [one.label for one in text.options]
    assert page.button(key=f"commit.{key}").disabled
    assert not sent(page, "stage") and not page.success and not page.info
    assert any("once you have committed" in one.proto.body for one in page.get("html"))
    pictures = sent(page, "tasks" if key == "lock" else "still")
    assert len(pictures) == 1 and "to_lab" not in {one.key for one in page.button}


@pytest.mark.parametrize("key", KEYS)
def test_whoever_was_right_is_told_so_and_the_replay_plays_from_the_question(key: str) -> None:
    facts, text = facts_of(key), told(key)
    page = committed(key, facts.right)
    right = next(one for one in text.options if one.key == facts.right)
    assert right.why in page.success[0].value and not page.info
    (stage,) = sent(page, "stage")
    assert stage["t"] == facts.at_s and stage["stop"] == facts.at_s + PLAYED_S and stage["play"]
    assert stage["focus"] == facts.focus
    assert len(stage["sizes"]) == (2 if BY_KEY[key].against else 1) == len(stage["titles"])
    assert len(set(stage["titles"])) == len(stage["titles"])
    assert any(text.take in one.value for one in page.markdown)


def test_whoever_was_wrong_is_told_what_happens_and_why_the_prediction_does_not() -> None:
    page, text = committed("bounded", "oldest"), told("bounded")
    why = {one.key: one.why for one in text.options}
    label = next(one.label for one in text.options if one.key == "passer")
    assert label in page.info[0].value and why["passer"] in page.info[0].value
    assert any(why["oldest"] in one.value for one in page.markdown)
    assert any(why["nobody"] in one.value for one in page.expander[0].markdown)


def test_a_prediction_cannot_be_changed_once_it_is_committed() -> None:
    page = committed("bounded", "oldest")
    assert page.radio(key="answer.bounded").disabled
    first = sent(page, "stage")[0]["number"]
    with pytest.raises(AppTestError, match="disabled"):
        page.radio(key="answer.bounded").set_value("passer")
    page.session_state["answer.bounded"] = "passer"
    page.button(key="commit.bounded").click().run()
    assert page.radio(key="answer.bounded").value == "oldest" and page.info and not page.success
    assert sent(page, "stage")[0]["number"] == first + 1, "played again"


def test_next_and_previous_go_through_the_lessons_and_the_link_says_which() -> None:
    page = opened()
    assert page.title[0].value == told(KEYS[0]).title
    assert "previous" not in {one.key for one in page.button}
    for key in KEYS[1:]:
        page.button(key="next").click().run()
        assert page.title[0].value == told(key).title and query(page, "lesson") == key
    assert "next" not in {one.key for one in page.button}
    page.button(key="previous").click().run()
    assert query(page, "lesson") == KEYS[-2]
    page.button(key="lesson.rescue").click().run()
    assert query(page, "lesson") == "rescue" and query(page, "view") == "learn"


def test_what_was_done_is_marked_in_the_list_and_is_not_in_the_link() -> None:
    page = committed("lock", "medium")
    assert any("1 done" in one.value for one in page.caption)
    before = set(
        page.session_state["query"]
    )  # completed by the browser, so that no query of this page has it
    page.button(key="next").click().run()
    page.button(key="previous").click().run()
    assert page.radio(key="answer.lock").value == "medium" and page.radio(key="answer.lock").disabled
    assert set(page.session_state["query"]) == before and not {"answer", "done"} & before


def test_the_moment_opens_in_the_lab_with_its_scenario_and_the_way_back_is_kept() -> None:
    page = committed("bounded", "passer")
    page.button(key="to_lab").click().run()
    assert not page.exception
    now, facts = page.session_state["shown"], facts_of("bounded")
    assert (now.page, now.a, now.b, now.focus, now.t) == ("lab", "backfill", "hol", facts.focus, facts.at_s)
    assert now.scenario == named(lesson_scenario("stream"), now.scenario) and now.lesson == "bounded"
    assert told("bounded").title in now.scenario.title and "**" not in now.scenario.story
    assert sent(page, "stage")[0]["t"] == facts.at_s


@pytest.mark.parametrize("key", ["rescue", "bounded"])
def test_a_variation_opens_in_the_lab(key: str) -> None:
    for one in BY_KEY[key].tries:
        page = committed(key, facts_of(key).right)
        page.button(key=f"try.{key}.{one.key}").click().run()
        assert not page.exception
        now = page.session_state["shown"]
        assert (now.page, now.a, now.b) == ("lab", one.a, one.b)
        assert now.scenario == named(lesson_scenario(BY_KEY[key].scenario, one.changes), now.scenario)
        waits = incidents(now.scenario, now.a)
        assert any(w.from_s < now.t < w.to_s for w in waits) if waits else now.t == facts_of(key).at_s


def test_a_lesson_that_is_not_there_is_said_in_words() -> None:
    page = opened(lesson="quantum*")
    assert not page.exception and page.title[0].value == told(KEYS[0]).title
    assert "quantum" in page.info[0].value and "*" in page.info[0].value


@pytest.mark.parametrize("key", KEYS)
def test_a_lesson_in_chinese_has_no_english_sentence(key: str) -> None:
    zh = language("zh")
    zh.missing.clear()
    page = committed(key, BY_KEY[key].options[0], lang="zh")
    assert not zh.missing
    english = [text for text in shown(page._tree) if SENTENCE.search(text)]
    assert not english
    assert page.title[0].value == told(key, "zh").title


def test_the_tasks_are_drawn_to_the_question_and_after_it_with_and_without_inheritance() -> None:
    page = committed("lock", "high")
    question, answer = sent(page, "tasks")
    assert [len(one["charts"]) for one in (question, answer)] == [1, 2]
    at = question["charts"][0]["at"]
    assert all(stop <= at for row in question["charts"][0]["rows"] for _, stop, _ in row["pieces"])
    assert max(stop for row in answer["charts"][0]["rows"] for _, stop, _ in row["pieces"]) > at


@pytest.mark.parametrize(
    "kept", [None, [], "no", {"lock": 3}, {"lock": ["a"]}, {"no lesson": "a"}, {"lock": "no option"}]
)
def test_a_browser_that_kept_something_else_is_not_believed(kept: Any) -> None:
    assert understood(kept) == {}


def test_what_a_browser_kept_is_taken_as_far_as_it_is_known() -> None:
    known = {one.key: one.options[0] for one in LESSONS}
    assert understood(known | {"no lesson": "a"}) == known
