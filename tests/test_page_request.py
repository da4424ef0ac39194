"""The story of one request on the page: its parts are those of the run, and add up."""

import pytest
from streamlit.testing.v1 import AppTest

from sched import simulate
from sched.bounds import statement
from sched.external import change
from sched.inversion import analyse
from sched.model import PS_PER_S
from sched.page.explained import FEW_ROWS, by_wait, longest_wait
from sched.page.results import result
from sched.scenario import preset, presets
from tests.test_page import component, opened, query

pytestmark = pytest.mark.xdist_group("page")


def asked(**more: str) -> AppTest:
    page = opened(v="1", view="request", **more)
    assert not page.exception and not page.error
    return page


def test_the_parts_of_the_bar_are_the_causes_and_add_up_to_the_wait_to_the_picosecond() -> None:
    scenario = preset("noisy-neighbour")
    for key, side in (("backfill", 0), ("rescue", 1)):
        found = analyse(simulate(scenario, key))
        one = component(asked(focus="chat-46"), "story")["sides"][side]
        request = found.seen.log.requests.ids.index("chat-46")
        parts = {part["cause"]: round(part["s"] * PS_PER_S) for part in one["parts"]}
        assert sum(parts.values()) == found.wait_ps[request] == round(one["wait_s"] * PS_PER_S)
        assert all(getattr(found, f"{name}_ps")[request] == ps for name, ps in parts.items())
        assert sum(part["share"] for part in one["parts"]) == pytest.approx(1, abs=1e-12)


def test_the_story_says_the_bound_and_keeps_the_replays_out_of_the_blame() -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": "backfill"})
    log = simulate(scenario, "backfill")
    request = log.requests.ids.index("chat-46")
    one = component(asked(policies="backfill", focus="chat-46"), "story")["sides"][0]
    said = " ".join(one["sentences"]).replace("\u202f", " ")
    assert statement(log, scenario, request, analyse(log).seen).text in said
    assert "less urgent requests made its iterations" in said
    assert "Played again" not in said
    assert len(one["culprits"]) <= FEW_ROWS and sum(row["part"] for row in one["culprits"]) <= 1 + 1e-9
    assert one["helped"][0]["words"] == "as it was"
    assert one["helped"][0]["s"] == one["wait_s"] > one["helped"][-1]["s"]


def test_without_a_focus_the_longest_inversion_is_told_and_the_link_stays_as_it_was() -> None:
    page = asked(a="backfill")
    found = analyse(simulate(preset("noisy-neighbour"), "backfill"))
    name = found.seen.log.requests.ids[int(found.inversion_ps.argmax())]
    assert page.selectbox(key="request").value == name and "focus" not in query(page)
    assert {side["name"] for side in component(page, "story")["sides"]} == {name}
    assert [side["side"] for side in component(page, "story")["sides"]] == ["A", "B"]


def test_a_request_can_be_chosen_by_name_and_is_then_in_focus() -> None:
    page = asked(a="backfill")
    page.selectbox(key="request").set_value("chat-44").run()
    assert not page.exception and query(page)["focus"] == ["chat-44"]
    told = component(page, "story")
    assert told["request"] == "chat-44" and told["picked"] == 1


def test_the_life_is_in_order_and_every_time_can_be_shown_on_the_stage() -> None:
    for side in component(asked(focus="chat-46"), "story")["sides"]:
        times = [one["t"] for one in side["life"]]
        assert times == sorted(times) and side["life"][0]["event"] == "arrival"
        assert side["life"][-1]["event"] == "end" and all(
            one["words"] and one["text"] for one in side["life"]
        )


@pytest.mark.parametrize("name", [one.name for one in presets()])
def test_every_ready_scenario_tells_the_story_of_who_waited_longest(name: str) -> None:
    told = component(asked(scenario=name), "story")
    assert told["sides"] and all(side["sentences"] for side in told["sides"])


@pytest.mark.parametrize("policy", ["isolated", "dlpm", "shed", "static", "kv_cap", "srpt"])
def test_every_kind_of_policy_tells_it(policy: str) -> None:
    told = component(asked(policies=f"backfill,{policy}", b=policy), "story")
    assert "sentences" in told["sides"][0] and len(told["sides"]) == 2


def test_who_did_not_wait_has_no_bar_and_nobody_to_blame() -> None:
    run = result(preset("noisy-neighbour"), "backfill")
    calm = run.log.requests.ids[int(run.inversion.wait_ps.argmin())]
    one = component(asked(policies="backfill", focus=calm), "story")["sides"][0]
    assert one["wait_s"] == 0 and not one["parts"] and not one["culprits"] and not one["helped"]
    assert one["life"] and one["wait"] == "did not wait"


def test_the_list_offers_those_who_waited_longest_first() -> None:
    run = result(preset("noisy-neighbour"), "fcfs")
    wait = dict(zip(run.log.requests.ids, run.inversion.wait_ps.tolist(), strict=True))
    first = by_wait(run, 20)
    assert [wait[one] for one in first] == sorted(wait.values(), reverse=True)[:20]
    assert longest_wait(run, ()) is None
