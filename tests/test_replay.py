"""A trace given to the page becomes the scenario; its link opens again; what is none changes nothing."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sched import simulate
from sched.experiments import expected_requests
from sched.fields import ScenarioError
from sched.figures.looks import looks
from sched.figures.payload import pack_run
from sched.inversion import analyse
from sched.metrics import summary
from sched.page import replay
from sched.page.results import LARGE, MOST
from sched.page.titles import plain
from sched.trace_store import store, use_store
from sched.traces import read_trace, trace_scenario
from sched.verdict import urgent_class
from tests.conftest import ROOT
from tests.test_page import component, opened, query, unpacked

pytestmark = pytest.mark.xdist_group("page")

COMPOSED = "composed_p0p1p2_10min.csv"
LOW_FIRST = b"""timestamp,priority,tenant,prompt_tokens,output_tokens
0,P2,web,3000,300
1,P0,app,200,20
2,P1,app,500,50
3,P0,web,100,10
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the page keeps traces in this test."""
    monkeypatch.setenv("SCHED_STORE", str(tmp_path))
    return tmp_path


def give(page: AppTest, name: str, data: bytes) -> AppTest:
    page.file_uploader[0].set_value((name, data, "text/plain"))
    return page.run()


def words(page: AppTest) -> str:
    return "\n".join(one.value for one in page.sidebar.caption)


def rows(many: int) -> bytes:
    lines = ["timestamp,prompt_tokens,output_tokens", *(f"{row / 10},100,2" for row in range(many))]
    return "\n".join(lines).encode()


def of_file(data: bytes) -> tuple[Any, Any, Any]:
    trace = read_trace(data, "t.csv")
    scenario = trace_scenario(trace)
    store(data)
    log = simulate(scenario, "fcfs")
    return scenario, log, summary(log, scenario, analyse(log), with_blame=False)


def test_the_most_urgent_class_of_a_trace_is_not_its_first_rows(folder: Path) -> None:
    use_store(str(folder))
    scenario, log, found = of_file(LOW_FIRST)
    assert log.requests.class_names[0] == "P2"
    assert found["inversion"]["urgent_class"] == urgent_class(found, scenario) == "P0"
    assert looks(log.requests) == {"P2": 2, "P0": 0, "P1": 1}


def test_of_classes_with_mixed_priorities_the_more_urgent_one_is_meant(folder: Path) -> None:
    use_store(str(folder))
    head = b"timestamp,class,priority,prompt_tokens,output_tokens\n"
    mixed = b"0,bulk,0,10,2\n1,bulk,5,10,2\n2,chat,0,10,2\n3,chat,1,10,2\n"
    scenario, _, found = of_file(head + mixed)
    assert urgent_class(found, scenario) == "chat"


def test_of_many_classes_that_are_alike_the_largest_is_meant_and_each_keeps_its_name(folder: Path) -> None:
    use_store(str(folder))
    lines = ["timestamp,class,prompt_tokens,output_tokens"]
    lines += [f"{row},user-{row if row < 300 else 290},10,2" for row in range(303)]
    scenario, log, found = of_file("\n".join(lines).encode())
    assert urgent_class(found, scenario) == "user-290"
    head, columns = unpacked(pack_run(log, analyse(log)))
    assert head["classes"][columns["requests.cls"][299]] == "user-299"


def test_a_trace_becomes_the_scenario_and_its_link_opens_again() -> None:
    page = give(opened(v="1", t="12", focus="chat-3"), "mine.csv", LOW_FIRST)
    assert not page.exception and not page.error and not page.warning
    assert any(one.value == f"# **{plain('Replay of mine.csv')}**" for one in page.markdown)
    assert "2 P0 requests, as recorded" in component(page, "cards")["trust"]
    assert {row["role"] for row in component(page, "incidents")["rows"]} <= {0}
    assert "4 requests in 3 s" in words(page) and "Dropped nothing" in words(page)
    assert plain("P0 = 0") in words(page) and "Assumed" in words(page)
    link = query(page)
    assert len(link["trace.digest"][0]) == 64 and "t" not in link and "focus" not in link
    again = opened(**{key: texts[0] for key, texts in link.items()})
    assert not again.exception and not again.error
    assert component(again, "cards") == component(page, "cards") and words(again) == words(page)
    assert not again.file_uploader[0].value
    again.selectbox(key="scenario").set_value("textbook").run()
    assert not again.exception and "trace.digest" not in query(again)
    assert "Read as" not in words(again)


def test_the_composed_trace_is_about_its_most_urgent_class(shared: Path) -> None:
    page = give(opened(), COMPOSED, (shared / "traces" / COMPOSED).read_bytes())
    assert not page.exception and not page.error
    data = component(page, "cards")
    assert "4,524 P0 requests" in data["trust"] and len(data["cards"]) == 4
    assert "P0 requests wait" in "".join(text for text, _ in data["verdict"])
    assert {row["role"] for row in component(page, "incidents")["rows"]} == {0}
    assert [page.slider(key=f"tenants.{one}.weight").disabled for one in ("acme", "delta")] == [True, True]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("html_saved_as.csv", "is a web page"),
        ("binary_as.csv", "is binary"),
        ("empty.csv", "is empty"),
        ("col_no_header.csv", "no header"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_words(name: str, why: str, shared: Path, folder: Path) -> None:
    page = opened(v="1", scenario="noisy-neighbour@1", **{"rescue.kv": "0.3"})
    before = component(page, "cards"), query(page)
    page = give(page, name, (shared / "traces" / "adversarial" / name).read_bytes())
    assert not page.exception and not page.error
    (said,) = [one.value for one in page.sidebar.warning]
    assert said.startswith(plain(name)) and why in said and said.count(plain(name)) == 1
    assert (component(page, "cards"), query(page)) == before and not list(folder.iterdir())
    page.slider(key="rescue.kv").set_value(0.2).run()
    assert not page.sidebar.warning


FOREIGN = b"a,b,when,who\n300,20,1000,high\n400,30,1500,low\n"


def test_columns_of_unknown_names_are_asked_for_and_the_link_carries_the_answer(folder: Path) -> None:
    page = give(opened(), "mine.csv", FOREIGN)
    (said,) = [one.value for one in page.sidebar.warning]
    assert "no column of prompt or output tokens was recognised. Say below" in said and "--map" not in said
    assert not page.exception and not list(folder.iterdir())
    asked = {one.label: one for one in page.sidebar.selectbox}
    assert asked["Time"].value is None and "a \u00b7 300" in asked["Time"].options
    asked["Prompt tokens"].set_value("a")
    asked["Answer tokens"].set_value("b")
    asked["Time"].set_value("when")
    asked["Unit of time"].set_value("ms")
    asked["Class, if any"].set_value("who")
    read_so(page)
    assert not page.exception and not page.sidebar.warning and "2 requests in 0.5 s" in words(page)
    assert "Prompt tokens" not in [one.label for one in page.sidebar.selectbox]
    link = query(page)
    assert 'prompt="a"' in link["trace.map"][0] and link["trace.unit"] == ["ms"]
    again = opened(**{key: texts[0] for key, texts in link.items()})
    assert not again.exception and words(again) == words(page)


def read_so(page: AppTest) -> None:
    next(one for one in page.sidebar.button if one.label in ("Read it so", "就这样读取")).click().run()


def test_an_answer_that_does_not_do_is_asked_again_and_the_file_can_be_discarded() -> None:
    page = give(opened(lang="zh"), "mine.csv", FOREIGN)
    read_so(page)
    assert not page.exception and len(page.sidebar.warning) == 1
    asked = {one.label: one for one in page.sidebar.selectbox}
    asked["提示 token 数"].set_value("a")
    asked["回答 token 数"].set_value("who")
    read_so(page)
    assert not page.exception and len(page.sidebar.warning) == 1
    next(one for one in page.sidebar.button if one.label == "放弃这个文件").click().run()
    assert not page.exception and "提示 token 数" not in [one.label for one in page.sidebar.selectbox]


def test_what_was_dropped_is_listed_with_its_reason(shared: Path) -> None:
    name = "num_bad_values.csv"
    page = give(opened(), name, (shared / "traces" / "adversarial" / name).read_bytes())
    assert not page.exception and not page.error
    assert "Dropped, 13 records" in words(page) and "line 4: prompt is missing" in words(page).replace(
        "\\", ""
    )
    assert "and 7 more" in words(page)


def test_a_trace_is_counted_exactly_and_too_long_a_one_is_refused(folder: Path) -> None:
    use_store(str(folder))
    scenario, _, _ = of_file(LOW_FIRST)
    assert expected_requests(scenario) == 4 < LARGE
    with pytest.raises(ScenarioError, match=rf"long\.csv: this trace has 30,001 requests.*at most {MOST:,}"):
        replay.scenario_of(rows(MOST + 1), "long.csv")
    assert len(list(folder.iterdir())) == 1
    with (ROOT / ".streamlit" / "config.toml").open("rb") as file:
        most_bytes = tomllib.load(file)["server"]["maxUploadSize"] * 10**6
    assert len(rows(MOST)) < 160 * MOST < most_bytes  # as its comment says
    digest = store(rows(MOST + 1))
    page = opened(v="1", scenario="blank", duration_s="3001", trace__digest=digest)
    assert not page.exception and f"at most {MOST:,}" in page.error[0].value


def test_names_from_a_trace_are_never_taken_as_markdown() -> None:
    bad = "![x](https://example.org/x.png)"
    text = LOW_FIRST.decode().replace("web", bad).replace("1,P0", f"1,{bad}")
    page = give(opened(), f"{bad.replace('/', '')}.csv", text.encode())
    assert not page.exception
    kinds = (page.markdown, page.caption, page.warning, page.info, page.error)
    said = [one.value for kind in kinds for one in kind] + [one.label for one in page.slider]
    assert any("x\\.png" in one or "x.png" in one for one in said)
    assert not any("![" in one or "](http" in one for one in said)


def test_a_link_cannot_name_a_file_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(LOW_FIRST)
    page = opened(v="1", scenario="blank", trace__file=str(tmp_path / "rows.csv"))
    assert not page.exception and "trace.file" in page.error[0].value.replace("\\", "")
    assert "Read as" not in words(page)
