"""What is said beside a result about its worth."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from sched import simulate
from sched.accuracy import in_full, in_short, is_made_up, live
from sched.cost import fitted, hardware
from sched.external import change
from sched.inversion import analyse
from sched.language import Language, catalogue
from sched.metrics import summary
from sched.scenario import Scenario, preset
from sched.trust import Trust, sample, trust
from sched.version import VERSION
from tests.test_page import component, opened

pytestmark = pytest.mark.xdist_group("page")


def of(scenario: Scenario, name: str, seeds: tuple[int, ...] = (0,), policy: str = "") -> Trust:
    key = policy or next(iter(scenario.policies))
    numbers = [scenario.seed + one for one in seeds]
    runs, found = [], None
    for seed in numbers:
        one = scenario.changed(seed=seed)
        log = simulate(one, key)
        inversion = analyse(log)
        runs.append(summary(log, one, inversion, with_blame=False))
        found = sample(log, inversion, name)
    return trust(scenario, name, {key: runs}, numbers, found=found if len(seeds) == 1 else None)


def test_one_run_of_few_requests_says_what_that_is_worth() -> None:
    scenario = preset("noisy-neighbour")
    log = simulate(scenario, "fcfs")
    many = int((log.requests.class_index == log.requests.class_names.index("chat")).sum())
    told = of(scenario, "chat")
    assert f"{many} chat requests, seed {scenario.seed}. One run." in told.line
    assert "at the median" in told.line
    assert any(text.startswith("One run: another seed") for text in told.weaknesses)
    assert any(f"p99 of {many} chat requests" in text for text in told.weaknesses)
    assert any(f"Sched Lab {VERSION}" in text for text in told.facts)
    assert any("empty engine" in text for text in (*told.weaknesses, *told.facts))


def test_several_seeds_have_intervals_and_the_requests_of_all() -> None:
    scenario = preset("noisy-neighbour")
    one, three = of(scenario, "chat"), of(scenario, "chat", (0, 1, 2))
    counts = [int(re.findall(r"\d+", told.line.replace(",", ""))[0]) for told in (one, three)]
    assert counts[1] > 2 * counts[0]
    assert f"over seeds {scenario.seed} to {scenario.seed + 2}" in three.line
    assert not any(text.startswith("One run") for text in three.weaknesses)
    assert any("paired seed by seed" in text for text in three.facts)


def test_the_interval_of_p99_holds_what_the_run_gave() -> None:
    scenario = preset("noisy-neighbour")
    log = simulate(scenario, "fcfs")
    found = sample(log, analyse(log), "chat")
    p99 = summary(log, scenario, analyse(log))["classes"]["chat"]["ttft_s"]["p99"]
    assert found.low_s is not None and found.low_s <= p99
    assert found.high_s is None or found.high_s >= p99


def test_times_made_up_for_teaching_are_called_so() -> None:
    scenario = preset("textbook")
    assert scenario.engine.hardware == "constant" and is_made_up(scenario)
    told = of(scenario, next(iter(simulate(scenario, "fcfs").requests.class_names)))
    assert "made up for teaching" in told.line and "as written down" in told.line
    assert any("the seconds do not" in text for text in told.weaknesses)
    assert any("Nothing here is drawn" in text for text in told.weaknesses)
    assert "own" in in_full(change(scenario, {"engine.hardware": "affine"}))[0]


def test_the_error_of_every_preset_is_said_in_words_and_only_what_is_known() -> None:
    base = preset("noisy-neighbour")
    for row in hardware():
        scenario = change(base, {"engine.hardware": json.dumps(row["name"])})
        known = fitted(row["name"])
        said = " ".join([in_short(scenario), *in_full(scenario)])
        assert row["gpu"] in said
        if known["fit"] is None:
            assert is_made_up(scenario) and "estimate" in said and "%" not in said
        else:
            assert f"{known['fit']['points']:,} published measurements" in said
        if known["fit"] and not known["live"]:
            assert "not held against a live engine" in said
    assert "requests, each workload" in live(fitted("h100_sxm|llama-2-7b|tp1"))
    assert "14 stages of a load test" in live(fitted("h100_sxm|llama-3.1-8b|tp1"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drain_s": "0"}, "had not ended with the run"),
        ({"traffic.docs.timeout_s": "1"}, "gave up waiting"),
        ({"engine.max_model_len": "2000"}, "can never run and were refused"),
    ],
)
def test_who_got_no_answer_is_counted(changes: dict[str, str], words: str) -> None:
    told = of(change(preset("noisy-neighbour"), changes), "chat")
    assert any(words in text for text in told.weaknesses)


def test_all_of_it_is_said_in_chinese_too() -> None:
    for path in ("noisy-neighbour", "textbook"):
        scenario = change(preset(path), {"warmup_s": "5", "drain_s": "0"})
        say = Language("zh", catalogue("zh"))
        key = next(iter(scenario.policies))
        log = simulate(scenario, key)
        found = summary(log, scenario, analyse(log), with_blame=False)
        name = log.requests.class_names[0]
        for seeds in ((1,), (1, 2)):
            told = trust(scenario, name, {key: [found]}, seeds, say, sample(log, analyse(log), name))
            assert told.weaknesses and all(text[-1] in "。）" for text in (*told.weaknesses, *told.facts))
        assert not say.missing


def test_a_warm_up_and_an_end_are_said() -> None:
    told = of(change(preset("noisy-neighbour"), {"warmup_s": "10", "drain_s": "20"}), "chat")
    said = " ".join((*told.weaknesses, *told.facts))
    assert "first 10.0 s are simulated and not counted" in said and "whatever is still there" in said


def test_a_run_that_stopped_early_is_not_said_to_have_gone_on_to_the_end() -> None:
    request = {"id": "r{i}", "class": "job", "prompt": 10, "output": 1000, "count": 4}
    engine = {"hardware": "constant", "iteration_s": 3600.0, "max_num_seqs": 1}
    told = of(Scenario(requests=[request], engine=engine, policies={"fcfs": {}}), "job")
    assert any("fcfs: 2 of 4 requests had not ended with the run." in text for text in told.weaknesses)
    assert any("a run that could not go on stopped before" in text for text in told.facts)
    assert not any("goes on until every request has ended" in text for text in told.facts)


def test_the_lab_shows_it_with_the_weaknesses_behind_the_line_in_the_reader_s_language() -> None:
    told = component(opened(v="1", t="30"), "cards")
    assert "One run." in told["trust"] and "Inversion:" in told["trust"]
    assert told["basis"]["weak"][0] == "What weakens it" and len(told["basis"]["weak"]) > 2
    assert any(f"Sched Lab {VERSION}" in text for text in told["basis"]["facts"])
    told = component(opened(v="1", t="30", lang="zh"), "cards")
    assert "种子" in told["trust"] and told["basis"]["weak"][0] == "可疑之处"
    recorded = component(opened(v="1", scenario="textbook"), "cards")
    assert "made up for teaching" in recorded["trust"]


def test_a_note_of_stock_elements_says_the_same_and_leads_to_about() -> None:
    def view() -> None:
        from sched.page.state import arrive, shown
        from sched.page.trust import trust_note
        from sched.tasks import Task, summarised

        arrive("compare")
        scenario = shown().scenario
        runs = {"*First*": [summarised(Task(scenario, "fcfs", seed)) for seed in (1, 2)]}
        trust_note(scenario, "chat", runs, (1, 2))

    page = AppTest.from_function(view, default_timeout=60)
    page.run()
    assert not page.exception and "over seeds 1 to 2" in page.caption[0].value
    said = "\n".join(one.value for one in page.markdown)
    assert "**What weakens it**" in said and "paired seed by seed" in said
    page.button(key="trust_about").click().run()
    assert (page.session_state["shown"].page, page.session_state["shown"].part) == ("about", "hardware")


def test_trade_offs_says_how_far_to_trust_it() -> None:
    page = opened(v="1", view="tradeoffs", scenario="textbook", seeds="1", vary="rescue.kv=0:0.2:0.1")
    assert not page.exception
    assert any("made up for teaching" in one.value for one in page.caption)
    assert page.button(key="tradeoff_trust_about").label == "About the model"


def test_figures_of_the_whole_run_are_computed_from_all_its_requests() -> None:
    scenario = preset("noisy-neighbour")
    log = simulate(scenario, "fcfs")
    found = summary(log, scenario, analyse(log), with_blame=False)
    told = trust(scenario, "", {"First come": [found]}, (scenario.seed,))
    assert f"{len(log.requests):,} chat, api, docs requests" in told.line
