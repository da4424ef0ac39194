"""Every control of the sidebar, Simple and Expert, in every language: it moves, and the link says so."""

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sched.knobs import reference
from sched.language import NAMES
from sched.page.controls import _range
from tests.test_page import opened, query

pytestmark = pytest.mark.xdist_group("page")

NO_VALUE = ("mode", "scenario", "language", "request", "link_plays")
"""Controls of the view, not of the scenario: they have tests of their own."""
SHORT = {"duration_s": "20", "policies": "fcfs,backfill,aging,vtc,rescue"}


def moved(one: Any, kind: str) -> Any:
    """Another value that the control allows; None where there is none."""
    if kind == "slider":
        step = one.step
        return one.value + step if one.value + step <= one.max else one.value - step
    if kind == "toggle":
        return not one.value
    if kind == "selectbox":
        others = [place for place in range(len(one.options)) if place != one.index]
        return others[0] if others else None
    if kind == "number_input":
        if one.value is None:
            return max(1.0, one.min or 0) if one.step < 1 else max(1, int(one.min or 0))
        up, down = one.value + one.step, one.value - one.step
        if one.max is None or up <= one.max:
            return up
        return down if one.min is None or down >= one.min else None
    return None


def controls(page: AppTest) -> Iterator[tuple[str, Any]]:
    """Every control of the sidebar with its kind, those that cannot be moved now left out."""
    for kind in ("slider", "toggle", "selectbox", "number_input"):
        for one in getattr(page.sidebar, kind):
            if one.key not in NO_VALUE and not one.disabled:
                yield kind, one


@pytest.mark.slow
@pytest.mark.parametrize("lang", NAMES)
@pytest.mark.parametrize("expert", [False, True], ids=["simple", "expert"])
def test_every_control_moves_and_the_link_says_so(lang: str, expert: bool) -> None:
    more = {"expert": "1"} if expert else {}
    page = opened(v="1", lang=lang, **more, **SHORT)
    assert not page.exception
    todo = [(kind, one.key) for kind, one in controls(page)]
    if expert:
        simple = {one.key for _, one in controls(opened(v="1", lang=lang, **SHORT))}
        todo = [pair for pair in todo if pair[1] not in simple]
    assert len(todo) > (30 if expert else 12)
    silent = []
    for kind, key in todo:
        found = [one for one in getattr(page.sidebar, kind) if one.key == key]
        if not found:  # another control's value took it away
            continue
        before, value = query(page), moved(found[0], kind)
        if value is None:
            continue
        if kind == "selectbox":
            found[0].select_index(value).run()
        else:
            found[0].set_value(value).run()
        assert not page.exception, (key, value, page.exception)
        refused = [one.value for one in page.warning]
        if query(page) == before and not refused:
            silent.append((key, value))
    assert not silent


def test_every_control_of_the_sidebar_has_a_name_and_help() -> None:
    for lang in NAMES:
        page = opened(v="1", lang=lang, expert="1")
        for _, one in controls(page):
            assert one.label.strip(), one.key
            assert one.proto.help.strip(), one.key


@pytest.mark.parametrize("lang", NAMES)
def test_the_choices_of_the_view_move(lang: str) -> None:
    page = opened(v="1", lang=lang)
    page.segmented_control(key="mode").set_value("Expert").run()
    assert query(page)["expert"] == ["1"] and not page.exception
    page.multiselect(key="policies").set_value(["fcfs", "hol"]).run()
    assert query(page)["policies"] == ["fcfs,hol"] and not page.exception
    page.button(key="another_seed").click().run()
    assert query(page)["seed"] == ["13"] and not page.exception
    page.selectbox(key="scenario").set_value("textbook").run()
    assert query(page)["scenario"][0].startswith("textbook") and not page.exception
    page.selectbox(key="pick_A").set_value("hol").run()
    assert query(page)["a"] == ["hol"] and query(page).get("lang", ["en"]) == [lang] and not page.exception


def test_a_slider_stands_on_round_values_whatever_the_least_one_is() -> None:
    for knob in reference():
        if knob.step is None or "number" not in knob.type:
            continue
        usual = 10.0 * float(knob.step)
        low, _, step = _range(knob, usual, usual)
        assert low == knob.low or (low / step).is_integer(), knob.path
        assert not 0 < low < step, knob.path
