"""What the page tells beside the picture: a suggested buffer, what those who wait are told, the checks."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sched import simulate
from sched.command.papers import papers
from sched.cost import iteration_cost
from sched.execution import execution
from sched.external import change
from sched.fields import ScenarioError
from sched.inversion import analyse
from sched.notes import annotation
from sched.page import anchors, published
from sched.page.cards import seconds
from sched.page.opened import patience_ps
from sched.page.suggested import heading, suggestion
from sched.page.titles import in_sentence, plain
from sched.page.told import first_note, spread, table
from sched.papers import rows_on_file
from sched.rules import rules_of
from sched.scenario import preset, presets
from sched.several import JoinedInversion
from sched.sizing import suggest
from sched.theory import anchor_rows
from sched.trace_store import store
from tests.conftest import ROOT
from tests.test_page import component, opened, query

pytestmark = pytest.mark.xdist_group("page")


def texts(page: AppTest) -> list[str]:
    return [one.value for one in [*page.markdown, *page.caption]]


def suggested_on(page: AppTest) -> str:
    return next(one.value for one in page.caption if one.value.startswith("Suggested"))


def test_the_suggested_buffer_stands_beside_its_control_and_can_be_taken() -> None:
    page = opened(v="1", rescue__kv="0.1")
    found = suggest(preset("noisy-neighbour"))
    assert suggested_on(page) == heading(found) and f"({found.blocks:,} blocks)" in heading(found)
    assert all(f"- {plain(line)}" in "\n".join(texts(page)) for line in found.lines)
    page.button(key="suggested.set").click().run()
    assert not page.exception and page.slider(key="rescue.kv").value == found.share
    assert "suggested.set" not in [one.key for one in page.button]
    assert suggested_on(page) == heading(found)


def test_the_suggestion_is_there_where_no_buffer_is_compared() -> None:
    page = opened(v="1", policies="fcfs,backfill")
    assert suggested_on(page) == heading(suggest(preset("noisy-neighbour")))
    assert "suggested.set" not in [one.key for one in page.button]


def test_the_suggestion_follows_the_traffic_and_who_is_urgent_but_not_what_is_kept() -> None:
    base = preset("noisy-neighbour")
    found = suggestion(base)
    assert found is not None and suggestion(change(base, {"rescue.kv": "0.7", "policies": "rescue"})) is found
    more = suggestion(change(base, {"traffic.chat.rate_per_s": "1.6"}))
    wider = suggestion(change(base, {"rescue.for_priority": "1000"}))
    assert more is not None and more.blocks > found.blocks
    assert wider is not None and wider.rate_per_s > found.rate_per_s
    assert suggestion(change(base, {"traffic.chat.rate_per_s": "900"})) is None  # more than the page shows


@pytest.mark.parametrize("name", [one.name for one in presets()])
def test_every_ready_scenario_has_a_suggestion(name: str) -> None:
    found = suggestion(preset(name))
    assert found is not None and found == suggest(preset(name))
    assert heading(found).startswith("Suggested: ") and str(round(100 * (found.share or 0))) in heading(found)


def test_nobody_urgent_and_endless_memory_are_said_in_words() -> None:
    base = preset("noisy-neighbour")
    nobody = suggestion(change(base, {"engine.kv_blocks": "1"}))
    assert nobody is not None and heading(nobody) == "Suggested: none, as no urgent request can run"
    endless = suggestion(change(base, {"engine.kv_blocks": "none", "engine.hardware": "constant"}))
    assert endless is not None and endless.share is None and "unlimited" in heading(endless)


def test_a_trace_has_a_suggestion_of_its_own(monkeypatch: Any, tmp_path: Any) -> None:
    rows = [f"{row},{'P0' if row % 3 else 'P2'},{60 if row % 3 else 30000},9" for row in range(60)]
    written = "\n".join(["timestamp,priority,prompt_tokens,output_tokens", *rows])
    digest = store(written.encode(), str(tmp_path))
    monkeypatch.setenv("SCHED_STORE", str(tmp_path))
    page = opened(v="1", scenario="blank", duration_s="60", trace__digest=digest, policies="fcfs,rescue")
    assert not page.exception and not page.error
    assert suggested_on(page).startswith("Suggested: ") and "none" not in suggested_on(page)
    assert any(
        line.startswith("- 40 urgent requests") or "40 urgent requests" in line for line in texts(page)
    )


def test_the_opened_incident_says_what_its_request_was_told() -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": "backfill"})
    log = simulate(scenario, "backfill")
    inversion = analyse(log)
    request = int(inversion.inversion_ps.argmax())
    name, after = log.requests.ids[request], patience_ps(scenario, log, request)
    assert after == log.requests.ttft_goal_ps[request] // 4
    notes = [
        one
        for one in annotation(inversion, request, after, rules_of(log, scenario))
        if one["state"] != "not submitted yet"
    ]
    page = opened(v="1", a="backfill", focus=name, view="request")
    assert not page.exception
    said = "\n".join(texts(page))
    first, top, came = notes[0], notes[0]["blockers"][:3], seconds(notes[0]["actual_s"])
    for words in (
        f"it asked for {first['kv_asked']} KV blocks, {first['kv_free']} were free",
        f"{first['kv_deficit']} blocks short",
        *(f"{one['id']} ({one['holds']:,} blocks)" for one in top),
        f"**{seconds(first['eta_p50_s'])} (p10 to p90: {spread(first)})**; it came to {came}",
    ):
        assert words in said
    assert table(notes) in said and len(top) == 3
    assert "it asked for" not in "\n".join(texts(opened(v="1", a="backfill")))


@pytest.mark.parametrize("policy", ["backfill", "isolated"])
def test_the_list_says_what_lower_requests_cost_the_urgent_in_the_batch(policy: str) -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": policy})
    found = analyse(simulate(scenario, policy))
    parts = found.parts if isinstance(found, JoinedInversion) else (found,)
    urgent = [one.seen.log.requests for one in parts]
    total = sum(
        int(execution(one.seen, iteration_cost(scenario)).inversion_ps[listed.class_index == 0].sum())
        for one, listed in zip(parts, urgent, strict=True)
    )
    said = "".join(text for text, _ in component(opened(v="1", policies=policy), "incidents")["lead"])
    assert (total > 0) == (policy == "backfill") == ("In the batch" in said)
    cost = f"its iterations {seconds(total / 1e12)} longer under {in_sentence(scenario, policy)}"
    assert not total or cost in said


def test_a_note_says_who_passed_and_why_it_was_held_back() -> None:
    note: dict[str, Any] = {
        **{
            "at_s": 1.0,
            "waited_s": 0.5,
            "cause": "reserved",
            "kv_asked": 3,
            "kv_free": 1000,
            "kv_deficit": 0,
        },
        **{"tokens_deficit": 0, "seats_deficit": 1, "blockers": [], "bypassed_by": 2, "actual_s": 4.0},
        **{"eta_p10_s": None, "eta_p50_s": None, "eta_p90_s": None, "eta_is": "none: why"},
    }
    text = first_note(note, {})
    assert "asked for 3 KV blocks, 1,000 were free: 1 seat short" in text
    assert "a rule of the policy kept it out" in text and "2 requests had passed it" in text
    assert "No estimate could be made; it came to 4.0\u202fs" in text
    note |= {"eta_p10_s": 1.0, "eta_p50_s": 2.0, "cause": "kv", "kv_deficit": 2}
    note["blockers"] = [{"id": "*x*", "class": "docs", "holds": 1, "ends_in_s": 3.0}]
    text = first_note(note, {"docs": 2})
    assert "■ \\*x\\* (1 block)" in text and "1.0\u202fs to never here" in text


def test_from_when_a_wait_is_told_of_is_a_control_and_in_the_link() -> None:
    page = opened(v="1", a="backfill")
    rows = component(page, "incidents")["rows"]
    before = component(page, "stage")
    assert page.number_input(key="annotate_after_s").value is None
    page.number_input(key="annotate_after_s").set_value(2.0).run()
    assert query(page)["annotate_after_s"] == ["2"] and not page.exception
    late = sum(one["waited_s"] > 2 for one in rows)
    assert 0 < late < len(rows)
    assert any(
        text.startswith(f"{late} of the {len(rows)} incidents below waited longer") for text in texts(page)
    )
    assert component(page, "stage") == before  # nothing runs again for it
    page.number_input(key="annotate_after_s").set_value(None).run()
    assert "annotate_after_s" not in query(page)


def test_a_wait_that_is_shorter_is_not_told_of_and_one_without_a_wait_says_so() -> None:
    page = opened(v="1", a="backfill", focus="chat-46", view="request", annotate_after_s="60")
    assert any("not longer than the 60" in text for text in texts(page)) and not page.exception
    listed = simulate(preset("noisy-neighbour"), "backfill")
    calm = analyse(listed).wait_ps.argmin()
    page = opened(v="1", a="backfill", focus=listed.requests.ids[int(calm)], view="request")
    assert any("did not wait to be admitted" in text for text in texts(page)) and not page.exception


@pytest.mark.parametrize("policy", ["isolated", "fcfs", "shed", "static", "auto_rescue"])
def test_every_kind_of_run_can_be_asked(policy: str) -> None:
    scenario = change(preset("noisy-neighbour"), {"policies": policy})
    log = simulate(scenario, policy)
    request = int(analyse(log).wait_ps.argmax())
    page = opened(v="1", policies=policy, focus=log.requests.ids[request], view="request")
    assert not page.exception
    assert component(page, "story")["sides"][0]["sentences"]


def about(part: str = "") -> AppTest:
    return opened(v="1", view="about", **({"part": part} if part else {}))


@pytest.fixture(scope="module")
def theory() -> Iterator[AppTest]:
    yield about("theory")


def test_about_shows_every_anchor_with_its_figures(theory: AppTest) -> None:
    rows = anchor_rows()
    assert not theory.exception and len(theory.dataframe) == 1
    shown = theory.dataframe[0].value
    assert len(shown) == sum(len(row["figures"]) for row in rows)
    assert sorted(set(shown["No."])) == list(range(1, len(rows) + 1))
    figures = [one for row in rows for one in row["figures"]]
    assert list(shown["Theory"]) == [one["target"] for one in figures]
    assert list(shown["Verdict"]) == [anchors.HOLDS[one["holds"]] for one in figures]
    labels = [one.label for one in theory.expander]
    assert len(labels) == len(rows) and all(row["formula"] in "\n".join(texts(theory)) for row in rows)
    assert "`make theory`" in "".join(texts(theory))


def test_about_shows_every_published_row_and_hides_no_failure() -> None:
    rows, page = rows_on_file(), about("published")
    assert not page.exception
    shown = page.dataframe[0].value
    assert len(shown) == len(rows) == len(page.expander)
    failed = [row for row in rows if row["verdict"] == "not reproduced"]
    assert list(shown["Verdict"]) == [published.SIGNS[row["verdict"]] for row in rows]
    assert all(f"**{plain(row['source'])}** {plain(row['why'])}" in "\n".join(texts(page)) for row in failed)
    opened_up = [one.label for one in page.expander if one.proto.expanded]
    assert len(opened_up) == len(failed) and all("not reproduced" in label for label in opened_up)
    said = "\n".join(texts(page))
    assert all(plain(row["why"]) in said or "; " in row["why"] for row in rows)
    assert "python -m sched papers --write" in said and f"{len(failed)} not reproduced" in said


def test_figures_that_were_not_made_and_those_that_fail_are_said() -> None:
    figure = {"what": "mean wait", "unit": "s", "sense": "<=", "target": 4.0, "tolerance": 0.03, "ours": None}
    figure |= {"standard_error": None, "seeds": None, "jobs": None, "holds": None}
    row: dict[str, Any] = {
        "number": 1,
        "title": "M/M/1",
        "formula": "f",
        "point": "p",
        "setting": "s",
        "source": "x",
    }
    row |= {"kind": "statistical", "figures": [figure]}
    assert anchors.verdict(row) == "not run" and "theory at most 4 s: not run" in anchors.lines(row)
    assert "has been made yet" in anchors.how([figure]) and "1 not run" in anchors.tally([row])
    made = figure | {"ours": 5.0, "standard_error": 0.1, "seeds": 10, "jobs": 500, "holds": False}
    row["figures"] = [
        made,
        figure | {"ours": 1.0, "standard_error": 0.0, "seeds": 12, "jobs": 500, "holds": True},
    ]
    assert anchors.verdict(row) == "✗ does not hold" and "1 do not" in anchors.tally([row])
    assert "10 to 12 runs of 500 requests" in anchors.how(row["figures"])
    assert "ours 5 s ± 0.1: ✗ does not hold" in anchors.lines(row)


def test_long_rows_are_shortened_in_the_table_and_whole_in_words() -> None:
    text = "; ".join(f"figure {place}: 1" for place in range(6))
    assert published.shortened(text).endswith("figure 3: 1; and 2 more below")
    assert published.shortened("") == "–" and published.listed(text).count("\n    - ") == 6


def test_the_page_names_only_commands_that_there_are() -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"`make (\w+)`", anchors.HOW)
    assert named and set(named) <= set(targets)
    (command,) = re.findall(r"`python -m sched ([^`]+)`", published.HOW)
    with pytest.raises(ScenarioError, match="--write keeps all rows"):
        papers([*command.split()[1:], "watermark"])
