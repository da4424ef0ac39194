"""The first minute on the page: the ready scenarios with pictures, three steps, and what was promised."""

from dataclasses import replace

import pytest

from sched.language import NAMES, language
from sched.page.gallery import beginning, lessons, rows
from sched.presets import presets
from sched.scenario import preset
from tests.test_page import component, opened, query

pytestmark = pytest.mark.xdist_group("page")


def test_every_ready_scenario_has_a_card_with_a_picture_a_story_and_what_it_teaches() -> None:
    found = rows("textbook", False)
    assert [row["name"] for row in found] == [one.name for one in presets()]
    assert set(lessons()) == {one.name for one in presets()}
    assert [row["name"] for row in found if row["current"]] == ["textbook"]
    for row in found:
        assert row["picture"].startswith("<svg") and row["teaches"] and len(row["story"]) >= 60
    assert all(one["picture"] != other["picture"] for one, other in zip(found, rows("", True), strict=True))


def test_a_story_begins_with_as_many_sentences_as_say_something() -> None:
    assert (
        beginning("Short. Then one that is long enough to make the sixty characters. Third.").count(".") == 2
    )
    assert beginning("One\nline") == "One line"


def test_the_cards_open_only_when_asked_for_and_one_that_is_chosen_is_shown() -> None:
    page = opened(v="1")
    assert not [one for one in page.get("bidi_component") if "gallery" in one.proto.component_name]
    page.button(key="gallery_open").click().run()
    assert not page.exception
    data = component(page, "gallery")
    assert len(data["rows"]) == len(presets()) and data["words"]["how"]


def test_a_newcomer_gets_three_steps_until_a_control_is_changed() -> None:
    page = opened()
    assert len(component(page, "cards")["hint"]["steps"]) == 3
    looked = replace(page.session_state["shown"], t=20.0, focus="chat-44", tab="request")
    page.session_state["shown"], page.session_state["changed"] = looked, True
    page.run()
    assert len(component(page, "cards")["hint"]["steps"]) == 3
    page.slider(key="rescue.kv").set_value(0.2).run()
    assert component(page, "cards")["hint"] is None
    assert component(opened(v="1"), "cards")["hint"] is None  # a link was sent by somebody who says why


def test_the_goal_of_the_most_urgent_class_is_a_simple_control() -> None:
    page = opened(v="1")
    slider = page.slider(key="traffic.chat.slo.ttft_s")
    assert slider.value == preset("noisy-neighbour").promise("chat").slo.ttft_s
    slider.set_value(0.5).run()
    assert query(page)["traffic.chat.slo.ttft_s"] == ["0.5"] and not page.exception
    assert {card["goal_s"] for card in component(page, "cards")["cards"]} == {0.5}


def test_a_class_without_a_goal_can_be_given_one() -> None:
    page = opened(v="1", traffic__chat__slo__ttft_s="none")
    assert not page.exception and page.number_input(key="traffic.chat.slo.ttft_s").value is None
    page.number_input(key="traffic.chat.slo.ttft_s").set_value(2.0).run()
    assert query(page).get("traffic.chat.slo.ttft_s") == ["2"] and not page.exception


@pytest.mark.parametrize("code", [code for code in NAMES if code != "en"])
def test_the_first_minute_is_there_in_every_language(code: str) -> None:
    say = language(code)
    page = opened(v="1", lang=code)
    page.button(key="gallery_open").click().run()
    data = component(page, "gallery")
    english = {row["title"]: row for row in rows("", False)}
    assert not page.exception
    for one, row in zip(english.values(), data["rows"], strict=True):
        assert row["title"] == say(one["title"]) != one["title"]
        assert row["story"] != one["story"] and row["teaches"] == say(one["teaches"]) != one["teaches"]


def test_where_there_is_nothing_to_see_the_ready_scenarios_are_offered() -> None:
    page = opened(v="1", scenario="blank")
    assert page.info and not page.exception
    page.button(key="gallery_instead").click().run()
    assert len(component(page, "gallery")["rows"]) == len(presets()) and not page.exception
    assert "gallery_instead" not in [one.key for one in opened(v="1").button]
