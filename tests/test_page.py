"""The page without a browser: address and controls say the same, the payload says what the log says."""

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from sched import simulate
from sched.external import change, field, link
from sched.figures.payload import NEVER, pack_run, unit_ps
from sched.figures.waiting import waiting_figure
from sched.inversion import analyse
from sched.log import Log
from sched.metrics import summary
from sched.page import lab, state
from sched.page.another import another
from sched.page.cards import kept, rate, seconds
from sched.page.component import VIEWS, script
from sched.page.controls import value_at
from sched.page.headline import reason
from sched.page.results import MOST, blamed
from sched.page.titles import plain
from sched.scenario import Scenario, preset, presets
from sched.trace_store import store
from sched.verdict import verdict
from sched.view import Shown, default_pair, query_of, shown_by
from sched.words import duration
from tests.conftest import ROOT

pytestmark = pytest.mark.xdist_group("page")


def opened(**query: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for key, text in query.items():
        page.query_params[key.replace("__", ".")] = text
    return page.run()


@pytest.fixture(scope="module")
def page() -> Iterator[AppTest]:
    """A page that was opened without a query."""
    yield opened()


def query(page: AppTest) -> dict[str, list[str]]:
    return {
        key: [texts] if isinstance(texts, str) else list(texts) for key, texts in page.query_params.items()
    }


def component(page: AppTest, name: str) -> Any:
    """What a component of ours was sent: JSON data, or the bytes of the stage."""
    found = [one for one in page.get("bidi_component") if one.proto.component_name.endswith(f"sched_{name}")]
    assert found, f"{name} is not on the page"
    return json.loads(found[0].proto.json) if found[0].proto.json else found[0].proto.bytes


def test_the_first_view_shows_a_card_for_every_policy_and_a_verdict(page: AppTest) -> None:
    assert not page.exception
    data = component(page, "cards")
    assert [card["key"] for card in data["cards"]] == list(preset("noisy-neighbour").policies)
    assert data["verdict"] and "seed" in data["trust"]
    assert {card["side"] for card in data["cards"]} >= {"A", "B"}


def test_a_control_is_made_from_the_schema(page: AppTest) -> None:
    for path in ("traffic.chat.rate_per_s", "rescue.kv", "engine.max_num_seqs", "tenants.web.weight"):
        slider, knob = page.slider(key=path), field(path)
        assert knob.help in slider.help
        assert slider.min >= (knob.low if knob.low is not None else 0)
        assert knob.high is None or slider.max <= knob.high


def test_a_slider_changes_the_address_and_the_results() -> None:
    page = opened()
    before = component(page, "cards")["cards"]
    page.slider(key="traffic.chat.rate_per_s").set_value(1.2).run()
    assert not page.exception
    assert query(page)["traffic.chat.rate_per_s"] == ["1.2"]
    assert query(page)["v"] == ["1"]
    assert component(page, "cards")["cards"] != before


def test_a_link_opens_what_it_says() -> None:
    page = opened(v="1", scenario="noisy-neighbour", rescue__kv="0.3", a="fcfs", t="12.5", expert="1")
    assert not page.exception and not page.error
    assert page.slider(key="rescue.kv").value == 0.3
    sides = {card["side"]: card["key"] for card in component(page, "cards")["cards"]}
    assert sides["A"] == "fcfs"
    head = stage_head(component(page, "stage"))
    assert (head["t"], head["play"]) == (12.5, False)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rescue.kv": "7"}, "rescue.kv = 7"),
        ({"traffic.chat.rate_per_s": "nan"}, "traffic.chat.rate_per_s"),
        ({"no_such": "1"}, "no such setting"),
        ({"a": "nobody"}, "a = nobody"),
        ({"v": "9"}, "v"),
        ({"t": "soon"}, "t = soon"),
        ({"t": "-5"}, "t = -5 s: must be at least 0"),
    ],
)
def test_a_bad_link_is_said_in_words_and_the_page_stays_usable(wrong: dict[str, str], words: str) -> None:
    page = opened(**{"v": "1"} | wrong)
    assert not page.exception
    assert len(page.error) == 1 and plain(words) in page.error[0].value
    assert query(page) == {key: [text] for key, text in ({"v": "1"} | wrong).items()}
    page.slider(key="rescue.kv").set_value(0.3).run()
    assert not page.error and not page.exception
    assert query(page)["rescue.kv"] == ["0.3"]


def test_a_refused_value_is_said_in_words_and_nothing_changes() -> None:
    page = opened()
    page.multiselect(key="policies").set_value([]).run()
    assert not page.exception
    assert page.warning and "policy" in page.warning[0].value
    assert page.multiselect(key="policies").value == list(preset("noisy-neighbour").policies)


def test_taking_a_policy_off_takes_it_off_the_stage() -> None:
    page = opened()
    page.multiselect(key="policies").set_value(["fcfs", "rescue"]).run()
    assert not page.exception
    assert query(page)["policies"] == ["fcfs,rescue"]
    assert {card["side"] for card in component(page, "cards")["cards"]} == {"A", "B"}


def test_every_control_of_the_expert_mode_can_be_drawn() -> None:
    page = opened(v="1", expert="1")
    assert not page.exception
    keys = [one.key for kind in ("slider", "number_input", "toggle", "selectbox") for one in page.get(kind)]
    assert "traffic.docs.slo.e2e_s" in keys and "engine.gate" in keys
    assert len(keys) == len(set(keys))


def test_the_list_of_incidents_and_the_card_give_the_same_inversion() -> None:
    page = opened(v="1", a="fcfs")
    card = next(one for one in component(page, "cards")["cards"] if one["key"] == "fcfs")
    lead = component(page, "incidents")["lead"]
    assert f"chat inversion {lead[1][0]}" == card["left"]


@pytest.mark.parametrize("name", [one.name for one in presets()])
def test_every_ready_scenario_opens_with_all_its_controls(name: str) -> None:
    page = opened(v="1", scenario=name, expert="1")
    assert not page.exception and not page.error
    assert component(page, "cards")["cards"]


def test_an_optional_number_can_be_given_and_emptied() -> None:
    page = opened(v="1", expert="1")
    page.number_input(key="traffic.docs.slo.ttft_s").set_value(3.0).run()
    assert query(page)["traffic.docs.slo.ttft_s"] == ["3"]
    page.number_input(key="traffic.docs.slo.ttft_s").set_value(None).run()
    assert "traffic.docs.slo.ttft_s" not in query(page)


def test_hardware_that_is_not_known_is_refused_in_words() -> None:
    page = opened(v="1", engine__hardware="xyz")
    assert not page.exception and plain("engine.hardware = xyz") in page.error[0].value


def test_the_other_tab_is_only_built_when_it_is_open() -> None:
    assert not opened().get("plotly_chart")
    assert opened(v="1", view="queue").get("plotly_chart")


def scenarios() -> list[Scenario]:
    base = preset("noisy-neighbour")
    return [
        base,
        change(base, {"rescue.kv": "0.3", "traffic.chat.rate_per_s": "1.1", "seed": "5"}),
        change(base, {"policies": "rescue,fcfs", "engine.gate": "full_prompt"}),
    ]


@pytest.mark.parametrize("scenario", scenarios())
@pytest.mark.parametrize("t", [None, 0.0, 31.32])
def test_the_address_reads_back_to_what_is_shown(scenario: Scenario, t: float | None) -> None:
    first, second = default_pair(scenario)
    for shown in (
        Shown(scenario, first, second, t),
        Shown(scenario, second, first, t, focus="chat-3", tab="queue", expert=True),
    ):
        pairs = {key: [text] for key, text in parse_qsl(query_of(shown), keep_blank_values=True)}
        assert shown_by(pairs)[0] == shown


def stage_head(data: bytes) -> dict[str, Any]:
    (size,) = struct.unpack_from("<I", data)
    return dict(json.loads(data[4 : 4 + size]))


def unpacked(block: bytes) -> tuple[dict[str, Any], dict[str, NDArray[np.int64]]]:
    """The head and the columns of a packed run, as the browser reads them."""
    data = zlib.decompress(block)
    (size,) = struct.unpack_from("<I", data)
    head, at = json.loads(data[4 : 4 + size]), 4 + size
    columns: dict[str, NDArray[np.int64]] = {}
    for name, kind, count in head["columns"]:
        width = 1 if kind == "u1" else 4
        part = np.frombuffer(data, np.uint8, count * width, at)
        at += count * width
        if kind == "u1":
            columns[name] = part.astype(np.int64)
            continue
        steps = np.ascontiguousarray(part.reshape(4, count).T).view("<u4").ravel()
        values = np.cumsum(steps, dtype=np.uint32)
        columns[name] = values.view(np.int32).astype(np.int64) if kind == "i4" else values.astype(np.int64)
    assert at == len(data)
    return head, columns


def held_blocks(log: Log, columns: dict[str, NDArray[np.int64]], iteration: int) -> int:
    """Blocks that all requests hold in an iteration, from the pieces alone."""
    total = 0
    for stay, (start, end) in enumerate(zip(columns["stays.iteration"], columns["stays.end"], strict=True)):
        if not start <= iteration < end:
            continue
        mine = (columns["pieces.stay"] == stay) & (columns["pieces.iteration"] <= iteration)
        last = np.flatnonzero(mine)[-1]
        turns = min(iteration - columns["pieces.iteration"][last] + 1, columns["pieces.count"][last])
        tokens = columns["pieces.tokens"][last]
        total += log.machine.blocks(int(columns["pieces.before"][last] + (turns if tokens == 1 else tokens)))
    return total


@pytest.fixture(scope="module", params=["fcfs", "backfill", "preemptive", "rescue"])
def packed(request: pytest.FixtureRequest) -> tuple[Log, bytes]:
    log = simulate(preset("noisy-neighbour"), request.param)
    return log, pack_run(log, analyse(log))


def test_a_packed_run_is_small(packed: tuple[Log, bytes]) -> None:
    assert len(packed[1]) <= 50_000


def test_a_packed_run_has_the_times_of_every_iteration(packed: tuple[Log, bytes]) -> None:
    log, block = packed
    head, columns = unpacked(block)
    assert head["unit_s"] == 1e-6
    starts, count = columns["stretches.start"], columns["stretches.count"]
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(log.iterations) - (np.cumsum(count) - count)[row]
    first, step = columns["stretches.first"][row], columns["stretches.step"][row] / 1000
    found = starts[row] + place * first + step * (place * (place - 1) // 2)
    slack = 1 + count[row]  # half a microsecond an iteration, and the start's own
    assert (np.abs(found - log.iteration_start_ps / 1e6) <= slack).all()


def test_a_packed_run_holds_the_blocks_of_the_log(packed: tuple[Log, bytes]) -> None:
    log, block = packed
    _, columns = unpacked(block)
    lines = log.stretches
    for row in range(0, len(lines.iteration), 37):
        assert held_blocks(log, columns, int(lines.iteration[row])) == lines.kv_used[row]


def test_the_pieces_of_a_packed_run_are_all_tokens_that_were_computed(packed: tuple[Log, bytes]) -> None:
    log, block = packed
    _, columns = unpacked(block)
    tokens = int((columns["pieces.tokens"] * columns["pieces.count"]).sum())
    assert tokens == int(log.chunks.tokens.sum() + log.runs.count.sum())


def test_times_of_a_long_run_fit_in_32_bits() -> None:
    day = 86_400 * 10**12
    assert unit_ps(60 * 10**12) == 10**6
    for end in (day, 100 * day):
        assert end // unit_ps(end) < NEVER


def test_all_code_travels_as_one_module() -> None:
    text = script()
    assert text.count("export default") == 1
    assert "innerHTML" not in text and "insertAdjacentHTML" not in text
    assert all(f'"{name}"' in text for name in VIEWS)


def test_the_queue_figure_keeps_the_highest_queue_of_the_log() -> None:
    log = simulate(preset("noisy-neighbour"), "fcfs")
    figure = waiting_figure({"First come": log}).figure
    assert max(figure["data"][0]["y"]) == log.stretches.waiting.max()
    assert len(figure["data"][0]["x"]) <= 601


def test_a_value_that_no_tenant_sets_is_its_default() -> None:
    scenario = preset("noisy-neighbour")
    assert value_at(scenario, ("tenants", "nobody", "weight")) == 1.0


def test_words_for_seconds_have_at_most_three_figures() -> None:
    words = [seconds(value) for value in (None, 0.0, 0.0123, 0.38, 7.61, 104.2)]
    assert words == ["–", "0\u202fs", "12\u202fms", "0.38\u202fs", "7.6\u202fs", "104\u202fs"]


def test_a_link_of_the_default_is_short() -> None:
    assert len(link(preset("noisy-neighbour"))) < 60


EXTREMES = {
    "traffic.chat.rate_per_s": ("0.000001", "1000"),
    "traffic.docs.rate_per_s": ("0.000001", "1000000"),
    "traffic.docs.prompt.mean": ("18000", "22000"),
    "engine.kv_blocks": ("1", "1000000000"),
    "engine.max_num_seqs": ("1", "1000000"),
    "engine.max_num_batched_tokens": ("512", "1000000"),
    "rescue.kv": ("0", "1"),
    "tenants.web.weight": ("0.001", "1000000"),
    "seed": ("0", "9223372036854775807"),
}


BEYOND = {
    "traffic.docs.rate_per_s": "must be at most 2,000,000; lower a rate or duration_s, or set max_requests",
    "engine.kv_blocks": 'must be at most 100,000,000 blocks, or "unlimited"',
    "engine.max_num_seqs": "must be at most 65,536 seats",
}
"""Where the upper end is beyond what a scenario may hold: what the page says then."""


@pytest.mark.parametrize(
    ("path", "text"), [(path, text) for path, texts in EXTREMES.items() for text in texts]
)
@pytest.mark.usefixtures("without_runs")
def test_every_control_can_be_drawn_at_its_ends(path: str, text: str) -> None:
    page = opened(**{"v": "1", path: text})
    assert not page.exception
    *refused, last = [one.value.replace("\\", "") for one in page.error]
    assert last == "not run."
    wanted = BEYOND.get(path) if text == EXTREMES[path][1] else None
    said = [one.partition(". Shown instead")[0].rpartition(": ")[2] for one in refused]
    assert said == ([wanted] if wanted else [])


def test_a_moment_after_the_end_and_an_unknown_request_are_said_and_leave_the_link() -> None:
    page = opened(v="1", t="1000000000", focus="nobody")
    assert not page.exception and not page.error
    assert [one.value.partition(":")[0] for one in page.info] == ["t = 1e+09 s", "focus = nobody"]
    completed = dict(parse_qsl(page.session_state["completed"][1]))
    assert float(completed["t"]) < 1000 and "focus" not in completed


def test_more_requests_than_the_page_can_show_are_refused_in_words() -> None:
    page = opened(v="1", traffic__chat__rate_per_s="900")
    assert not page.exception and f"at most {MOST:,}" in page.error[0].value
    page.slider(key="traffic.chat.rate_per_s").set_value(1.2).run()
    assert not page.exception and not page.error and component(page, "cards")["cards"]


def test_the_controls_of_a_policy_that_is_not_compared_offer_to_add_it() -> None:
    page = opened(v="1")
    assert page.slider(key="tenants.web.weight").disabled
    page.button(key="offer.aging").click().run()
    page.button(key="offer.vtc").click().run()
    assert not page.exception
    assert query(page)["policies"] == ["fcfs,backfill,preemptive,rescue,aging,vtc"]
    assert {card["side"]: card["key"] for card in component(page, "cards")["cards"]}["B"] == "vtc"
    assert not page.slider(key="tenants.web.weight").disabled and page.number_input(key="aging.threshold_s")
    assert page.slider(key="rescue.kv").value == 0.25


def test_one_policy_alone_is_not_set_against_itself() -> None:
    page = opened(v="1", policies="fcfs")
    assert not page.exception
    assert [one.key for one in page.selectbox if str(one.key).startswith("pick")] == ["pick_A"]


def test_text_from_a_link_is_never_taken_as_markdown() -> None:
    image = "![x](https://example.org/x.png)"
    assert "![" not in plain(image) and plain(plain("a b")) == "a b"
    for wrong in ({image: "1"}, {"title": image, "story": image}, {"focus": image}, {"a": image}):
        page = opened(v="1", scenario="textbook", **wrong)
        assert not page.exception
        said = [one.value for one in [*page.markdown, *page.error, *page.info, *page.caption]]
        assert any("x\\.png" in text or "x.png" in text for text in said)
        assert not any("![" in text or "](http" in text for text in said)


def test_names_of_classes_and_tenants_are_labels_word_for_word(monkeypatch: Any) -> None:
    name = "![x](//example.org) <b>:red[y]</b>"
    base = preset("noisy-neighbour")
    first = base.traffic[0].model_copy(update={"name": name, "tenant": name})
    hostile = base.model_copy(update={"traffic": (first, *base.traffic[1:])})
    monkeypatch.setattr(state, "preset", lambda *_: hostile)
    monkeypatch.setattr(lab, "results", lambda _: {})
    page = opened(v="9")
    labels = [one.label for one in page.slider]
    assert sum(plain(name) in label for label in labels) == 3 and not any("![" in one for one in labels)


def test_throughput_is_said_with_as_many_digits_as_matter() -> None:
    assert kept(82.1, 100.0) == "\u221218\u202f% tokens/s"
    assert kept(97.9, 100.0) == "\u22122.1\u202f% tokens/s"


def test_a_small_rate_keeps_the_digits_that_tell_it_from_another() -> None:
    cases = ((2.2, "2.2"), (2.68, "2.7"), (99.4, "99.4"), (465.3, "465"), (12345.6, "12,346"), (0.0, "0"))
    assert all(rate(value) == text for value, text in cases)
    assert rate(0.043) == "0.043" and rate(0.8) == "0.80"
    assert kept(2.2, None) == "2.2 tokens/s"


@pytest.mark.parametrize("name", ["textbook", "noisy-neighbour"])
def test_the_text_to_paste_blames_whom_the_verdict_blames(name: str) -> None:
    now = Shown(preset(name), a="backfill", b="rescue")
    told = reason(now, "chat")
    whole = "".join(run.text for run in verdict({"backfill": blamed(now.scenario, "backfill")}, now.scenario))
    assert told.startswith("Under priority + backfill, ") and whole.endswith(told.partition(", ")[2])
    assert ("shared among" in told) == (name != "noisy-neighbour")


def test_the_verdict_fits_any_name_and_does_not_praise_a_draw() -> None:
    scenario = change(preset("textbook"), {"policies": "backfill,hol"})
    log = simulate(scenario, "backfill")
    found = summary(log, scenario, analyse(log))
    told = "".join(
        run.text for run in verdict({"backfill": found, "hol": found}, scenario, "backfill", "hol")
    )
    assert "requests wait 7.0 s for their first token" in told and "leaves it at 7.0 s" in told
    row = found["classes"]["chat"]
    row["inversion_share"] = 0.003
    told = "".join(run.text for run in verdict({"backfill": found}, scenario, "backfill"))
    assert "less than 1 % of the waiting is inversion" in told


@pytest.mark.parametrize(
    ("other", "given", "kind", "verb"),
    [
        ("isolated", {}, "refused", "refuses"),
        ("kv_cap", {}, "refused", "refuses"),
        ("shed", {"shed.max_queue": "2"}, "shed", "sheds"),
    ],
)
def test_who_turns_requests_away_is_not_praised_for_its_throughput(
    other: str, given: dict[str, str], kind: str, verb: str
) -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": f"backfill,{other}", **given})
    found = {}
    for key in ("backfill", other):
        log = simulate(scenario, key)
        found[key] = summary(log, scenario, analyse(log))
    turned = found[other]["requests"][kind]
    assert turned and not found["backfill"]["requests"][kind]
    told = verdict(found, scenario, "backfill", other)
    text = "".join(run.text for run in told)
    said = f"{verb} {turned} of {found[other]['requests']['arrived']} requests"
    assert f"to those it serves, but {said}, which priority + backfill serves" in text
    assert "adds" not in text and "same throughput" not in text
    assert not any(run.tone == "good" for run in told) and any(run == (said, "bad") for run in told)
    back = "".join(run.text for run in verdict(found, scenario, other, "backfill"))
    assert f". It {said}." in back and f"serves {turned} more requests" in back


def test_what_misses_the_goal_is_not_in_the_good_colour() -> None:
    for size, tone in (("0.15", "strong"), ("0.25", "good")):
        scenario = change(preset("noisy-neighbour"), {"policies": "backfill,rescue", "rescue.kv": size})
        found = {}
        for key in ("backfill", "rescue"):
            log = simulate(scenario, key)
            found[key] = summary(log, scenario, analyse(log))
        late = found["rescue"]["classes"]["chat"]["ttft_s"]["p99"]
        assert (late <= scenario.promise("chat").slo.ttft_s) == (tone == "good")
        told = verdict(found, scenario, "backfill", "rescue")
        assert {run.tone for run in told if run.text == duration(late)} == {tone}


def test_a_card_says_how_many_were_not_served_instead_of_a_gain() -> None:
    cards = component(opened(v="1", policies="backfill,isolated,rescue"), "cards")["cards"]
    right = {card["key"]: card["right"] for card in cards}
    assert right["isolated"] == "6 not served"
    assert all("tokens/s" in right[key] for key in ("backfill", "rescue"))


def test_a_link_to_a_stored_trace_opens(monkeypatch: Any, tmp_path: Path) -> None:
    rows = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    rows += [f"2023-11-16 18:01:{second:02d}.5,{100 * second},9" for second in range(10, 40)]
    digest = store("\n".join(rows).encode(), str(tmp_path))
    monkeypatch.setenv("SCHED_STORE", str(tmp_path))
    page = opened(v="1", scenario="blank", duration_s="60", trace__digest=digest)
    assert not page.exception and not page.error
    assert "30" in component(page, "cards")["trust"]
    assert any("recorded trace" in one.value for one in page.caption)
    page = opened(v="1", scenario="blank", trace__digest="0" * 64)
    assert not page.exception and "not in the store" in page.error[0].value


def test_a_list_that_comes_back_in_other_words_changes_nothing(page: AppTest) -> None:
    # The browser knows a choice by its words: none of them may say a value that a slider moves meanwhile.
    for key in ("pick_A", "pick_B"):
        assert not any(sign.isdigit() for one in page.selectbox(key=key).options for sign in one)


def test_another_scenario_is_seen_in_the_same_language_view_and_controls() -> None:
    now = Shown(
        preset("noisy-neighbour"), "backfill", "rescue", t=3.0, focus="chat-1", lang="zh", expert=True
    )
    now = replace(now, expert=True, page="compare", seeds=3, baseline="backfill")
    seen = another(now, preset("textbook"))
    assert (seen.lang, seen.expert, seen.page, seen.seeds) == ("zh", True, "compare", 3)
    assert (seen.t, seen.focus, seen.baseline) == (None, None, None)
    assert seen.a in seen.scenario.policies and seen.b in seen.scenario.policies
