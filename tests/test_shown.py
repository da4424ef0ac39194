"""What the screen shows and what its link says are the same thing, whatever is shown."""

from dataclasses import fields
from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched.external import VIEW
from sched.fields import ScenarioError
from sched.language import NAMES
from sched.scenario import Scenario, preset, presets
from sched.text import lessons
from sched.view import (
    LESSONS,
    PAGES,
    SEEDS,
    SETTINGS,
    TABS,
    Shown,
    default_pair,
    query_of,
    run_by,
    shown_by,
)

WORDS = st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable() and text.strip() == text)


def parsed(query: str) -> dict[str, list[str]]:
    return parse_qs(query, keep_blank_values=True)


@st.composite
def seen(draw: st.DrawFn) -> Shown:
    scenario: Scenario = preset(draw(st.sampled_from([one.name for one in presets()])))
    keys = list(scenario.policies)
    a, b = draw(st.permutations(keys).map(lambda order: order[:2]))
    page = draw(st.sampled_from(PAGES))
    return Shown(
        scenario,
        a,
        b,
        t=draw(st.none() | st.integers(0, 10**7).map(lambda tick: tick / 10**4)),
        focus=draw(st.none() | WORDS),
        tab=draw(st.sampled_from(TABS)) if page == PAGES[0] else TABS[0],
        expert=draw(st.booleans()),
        page=page,
        lang=draw(st.sampled_from(list(NAMES))),
        seeds=draw(st.none() | st.sampled_from(SEEDS)),
        baseline=draw(st.none() | st.sampled_from(keys)),
    )


@settings(max_examples=150, deadline=None)
@given(seen())
def test_a_link_opens_on_exactly_what_is_shown(shown: Shown) -> None:
    assert shown_by(parsed(query_of(shown)))[0] == shown


@given(st.sampled_from([name for name in SETTINGS if name != "baseline"]), WORDS)
def test_what_a_view_is_told_in_its_own_words_travels_unchanged(name: str, words: str) -> None:
    scenario = preset("noisy-neighbour")
    shown, notes = shown_by({"v": ["1"], name: [words]})
    told = [text for path, text in notes if path == name]
    assert getattr(shown, name) == (None if told else words)  # a view that knows its words says so of others
    assert all(f"{name} = " in text and "must be one of" in text for text in told)
    assert shown_by(parsed(query_of(shown)))[0] == shown
    assert (shown.a, shown.b) == default_pair(scenario)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("v=1&view=nowhere", "view = nowhere"),
        ("v=1&lang=fr", "lang = fr: must be one of en, zh"),
        ("v=1&t=1_0", "t = 1_0: must be a finite number of seconds"),
        ("v=1&t=%EF%BC%91", "must be a finite number of seconds"),
        ("v=1&seeds=2", "seeds = 2: must be one of 1, 3, 9, 20"),
        ("v=1&baseline=static", "baseline = static: must be one of"),
    ],
)
def test_a_view_that_there_is_not_is_refused_in_words(query: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        shown_by(parsed(query))


def test_the_view_that_a_link_names_wins_over_the_path_it_was_put_behind() -> None:
    assert shown_by(parsed("v=1&view=learn"), "compare")[0].page == "learn"
    assert shown_by(parsed("v=1"), "compare")[0].page == "compare"
    assert shown_by(parsed("v=1&view=queue"), "compare")[0].page == "lab"


NOT_THERE = {
    "metric=ttft.p75": "metric = ttft.p75: must be one of ttft.p50, ttft.p90, ttft.p99, tpot.p50",
    "sort=--mean": "sort = --mean: must be one of policy, mean",
    "lesson=quantum": "lesson = quantum: must be one of batching, blocks",
    "part=nothing": "part = nothing: must be one of model, limits",
    "chart=pie": "chart = pie: must be one of ecdf, waits, service, shares, counters, queue, table, curve",
    "view=tradeoffs&chart=ecdf": "chart = ecdf: must be one of curve, map, load",
}


@pytest.mark.parametrize("query", NOT_THERE)
def test_a_word_that_a_view_does_not_know_is_told_and_whoever_runs_the_link_refuses_it(query: str) -> None:
    shown, notes = shown_by(parsed(f"v=1&{query}"))
    ((name, told),) = notes
    assert told.startswith(NOT_THERE[query]) and told.endswith(". The link is read without it.")
    assert getattr(shown, name) is None and f"{name}=" not in query_of(shown)
    with pytest.raises(ScenarioError) as refused:
        run_by(f"v=1&{query}")
    assert str(refused.value) == told.removesuffix(". The link is read without it.")


def test_a_word_that_a_view_does_not_know_is_told_in_the_language_of_the_link() -> None:
    ((_, told),) = shown_by(parsed("v=1&lang=zh&part=nothing"))[1]
    assert told.startswith("part = nothing：必须是 model, limits") and told.endswith("链接按没有这一项来读。")


@given(seen())
@settings(max_examples=30, deadline=None)
def test_page_and_command_line_read_the_same_in_a_link(shown: Shown) -> None:
    query = query_of(shown)
    assert run_by(query)[0] == shown_by(parsed(query))[0] == shown


def test_the_words_of_the_views_are_those_that_there_are() -> None:
    assert list(LESSONS) == [one.key for one in lessons.LESSONS]
    assert set(VIEW) == {field.name for field in fields(Shown)} - {"scenario", "window", "tab", "page"} | {
        *("from", "to", "view")
    }
