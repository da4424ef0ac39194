"""What the screen shows and what its link says are the same thing, whatever is shown."""

from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched.fields import ScenarioError
from sched.language import NAMES
from sched.page.state import PAGES, SEEDS, SETTINGS, TABS, Shown, default_pair, query_of, shown_by
from sched.scenario import Scenario, preset, presets

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
    try:
        shown, _ = shown_by({"v": ["1"], name: [words]})
    except ScenarioError as error:
        assert name in str(error)  # a view that knows its words refuses others
        return
    assert getattr(shown, name) == words
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
