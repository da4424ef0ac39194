"""Every policy on the page: on both sides of the stage, and each of its settings as a control."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from sched import POLICIES, simulate
from sched.external import change, field, parse_link
from sched.figures.engines import ELSEWHERE, drawn
from sched.figures.payload import pack_run
from sched.figures.waiting import waiting_of
from sched.inversion import analyse
from sched.knobs import Knob
from sched.page.controls import several_text
from sched.page.titles import in_sentence, plain, subtitle, title
from sched.scenario import known_policies, preset
from tests.test_page import component, opened, query, stage_head, unpacked

pytestmark = pytest.mark.xdist_group("page")
KEYS = list(POLICIES)


@pytest.mark.parametrize(("a", "b"), list(zip(KEYS, [*KEYS[1:], KEYS[0]], strict=True)))
def test_every_policy_can_be_a_and_b(a: str, b: str) -> None:
    page = opened(v="1", policies=f"{a},{b}", a=a, b=b)
    assert not page.exception and not page.error
    cards = component(page, "cards")
    assert {card["side"]: card["key"] for card in cards["cards"]} == {"A": a, "B": b}
    assert cards["verdict"]
    head, shown = stage_head(component(page, "stage")), change(preset("noisy-neighbour"), {"policies": a})
    assert head["titles"][0] == title(shown, a) and head["subs"][0] == subtitle(shown, a)
    assert not head["subs"][0].endswith((",", " all others on", "the others"))


def another(knob: Knob, now: Any) -> tuple[Any, str]:
    """A value that the knob does not have now: as the control takes it, and as the link says it."""
    if knob.type == "true or false":
        return not now, "false" if now else "true"
    if knob.choices:
        other = next(one for one in knob.choices if one != now)
        return other, other
    if knob.type == "list":
        return "0.25, 3", "[0.25,3]"
    if knob.type == "table":
        return "0 = 0.5", "{0=0.5}"
    low = max(0, knob.low or 0)
    high = low + 1 if knob.high is None else min(low + 1, knob.high)
    value = high if now == low or now is None else low
    return (int if knob.type.startswith("whole") else float)(value), f"{value:g}"


def control(page: AppTest, key: str) -> Any:
    kinds = ("toggle", "selectbox", "text_input", "number_input", "slider")
    return next(one for kind in kinds for one in page.get(kind) if one.key == key)


@pytest.mark.parametrize("policy", [key for key in KEYS if known_policies()[key].settings])
def test_every_setting_has_a_control_whose_value_is_in_the_link(policy: str, without_runs: None) -> None:
    page = opened(v="1", policies=policy, expert="1")
    assert not page.exception
    scenario, wanted = parse_link(query(page))[0], {}
    for setting in known_policies()[policy].settings:
        key = f"{policy}.{setting.name}"
        value, wanted[key] = another(field(key), getattr(scenario.policies[policy], setting.name))
        control(page, key).set_value(value)
    page.run()
    assert not page.exception and not page.warning
    found = {key: texts[0] for key, texts in query(page).items() if key in wanted}
    assert found == wanted
    again = opened(**{key.replace(".", "__"): texts[0] for key, texts in query(page).items()})
    for key in wanted:
        assert control(again, key).value == control(page, key).value


def test_lists_and_tables_that_are_no_numbers_are_refused_in_words(without_runs: None) -> None:
    page = opened(v="1", policies="mlfq,drf", expert="1")
    for key, text, words in (
        ("mlfq.quanta", "3, x", "must be numbers separated by commas"),
        ("drf.cpu", "docs", "must be name = number, separated by commas"),
        ("drf.cpu", "docs = x", "must be"),
    ):
        before = control(page, key).value
        control(page, key).set_value(text).run()
        assert plain(words) in page.warning[0].value and not page.exception
        assert control(page, key).value == before and key not in query(page)


def test_a_table_is_shown_as_it_is_written() -> None:
    assert several_text({"chat": 2.0, "a b": 0.5}) == 'chat = 2, "a b" = 0.5'
    assert several_text((0.5, 2.0)) == "0.5, 2" and several_text({}) == ""


def test_titles_keep_their_capitals_and_only_a_fixed_buffer_its_size() -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": "rescue,auto_rescue,drf,article_drf"})
    assert title(scenario, "rescue") == "Rescue buffer 25\u202f%"
    assert title(scenario, "auto_rescue") == "Self-sizing rescue buffer"
    assert in_sentence(scenario, "article_drf").startswith("DRF of")
    assert in_sentence(scenario, "drf") == "dominant resource fairness"


def test_of_several_engines_the_page_says_which_one_is_drawn() -> None:
    page = opened(v="1", policies="fcfs,isolated", a="isolated", view="queue")
    log = simulate(change(preset("noisy-neighbour"), {"policies": "isolated"}), "isolated")
    said = [one.value for one in page.caption if "the stage shows engine" in one.value]
    assert len(said) == 1 and f"engine 1 of {len(log.replicas)}" in said[0]
    assert f"{len(log.replicas[0].requests)} requests" in said[0]
    start, waiting = waiting_of(log)
    for at in np.linspace(start[0], start[-1], 50).astype(np.int64):
        each = [
            int(one.stretches.waiting[np.searchsorted(one.stretches.start_ps, at, "right") - 1])
            for one in log.replicas
            if len(one.stretches.start_ps) and at >= one.stretches.start_ps[0]
        ]
        assert waiting[np.searchsorted(start, at, "right") - 1] == sum(each)


def test_one_of_several_engines_is_packed_over_all_requests() -> None:
    log = simulate(change(preset("noisy-neighbour"), {"policies": "isolated"}), "isolated")
    head, columns = unpacked(pack_run(log, analyse(log)))
    own = set(log.rows[drawn(log)].tolist())
    assert len(columns["requests.arrival"]) == len(log.requests.ids) > len(own)
    assert set(columns["stays.request"].tolist()) == own
    elsewhere = np.flatnonzero(columns["requests.outcome"] == ELSEWHERE)
    assert set(elsewhere.tolist()) == set(range(len(log.requests.ids))) - own
    arrived, ended = columns["requests.arrival"], columns["requests.ended"]
    assert (arrived[elsewhere] == ended[elsewhere]).all()
    assert head["machine"]["kv"] == log.replicas[0].machine.kv_blocks < log.machine.kv_blocks
    first_come = simulate(preset("noisy-neighbour"), "fcfs")
    assert unpacked(pack_run(first_come, analyse(first_come)))[0]["levels"] == head["levels"]
