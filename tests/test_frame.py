"""The frame of the stage in a link: it comes back as it was, and one that cannot be is refused in words."""

from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from sched.fields import ScenarioError
from sched.view import query_of, short, shown_by


def test_the_frame_of_a_link_comes_back_as_it_was() -> None:
    shown, _ = shown_by(parse_qs("v=1"))
    assert shown.window is None and "from=" not in query_of(shown)
    framed = replace(shown, window=(0.0, 72.125))
    assert "from=0&to=72.125" in query_of(framed)
    assert shown_by(parse_qs(query_of(framed)))[0] == framed


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("from=9&to=9", "from = 9 s: must be before to = 9 s"),
        ("from=9&to=3", "from = 9 s: must be before to = 3 s"),
        ("from=-1&to=3", "from = -1 s: must be at least 0"),
        ("from=3", "from = 3 s: needs to beside it"),
        ("to=3", "to = 3 s: needs from beside it"),
    ],
)
def test_a_frame_that_cannot_be_is_refused_in_words(query: str, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        shown_by(parse_qs(f"v=1&{query}"))
    assert str(refused.value) == said


def test_a_time_is_said_without_zeros_that_say_nothing() -> None:
    assert [short(60.0, 3), short(100, 0), short(0.25, 3)] == ["60", "100", "0.25"]
