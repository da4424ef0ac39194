"""Whoever reads the page in Chinese meets no English sentence, whatever is opened."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from streamlit.testing.v1 import AppTest

from sched.language import language
from sched.registry import known_policies
from sched.text.lessons import BY_KEY
from sched.version import REPOSITORY_TITLE
from sched.view import CHARTS, PARTS

ROOT = Path(__file__).resolve().parent.parent
SENTENCE = re.compile(r"\b[a-z]{2,}(?:[ ,;:]+[a-z]{2,}){2,}\b")
"""Three English words in a row."""
SOURCES = re.compile(r"来源：.*|\*\*来源\*\* .*|`[^`]*`|" + re.escape(REPOSITORY_TITLE) + ".*")
"""Names of papers stay in their language, and so does what is code."""
NOT_TEXT = {"id", "elementId", "icon", "key", "componentName", "url", "urlPathname", "query"}
NOT_TEXT |= {"jsContent", "cssContent", "htmlContent"}
POLICIES = sorted(known_policies())
pytestmark = pytest.mark.xdist_group("page")


def opened(query: dict[str, str]) -> AppTest:
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for key, text in {"v": "1", "lang": "zh", **query}.items():
        page.query_params[key] = text
    return page.run()


def texts(found: Any) -> Iterator[str]:
    """Every text in what an element was sent."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name == "json" and isinstance(value, str):
                yield from texts(json.loads(value or "null"))
            elif name not in NOT_TEXT:
                yield from texts(value)
    elif isinstance(found, list):
        for value in found:
            yield from texts(value)
    elif isinstance(found, str):
        yield found


def shown(block: Any) -> Iterator[str]:
    """Every text of the page. Style sheets and drawings are none, nor are names of sources and code."""
    if hasattr(getattr(block, "proto", None), "DESCRIPTOR"):
        for text in texts(MessageToDict(block.proto)):
            if "<style" not in text and "<svg" not in text:
                yield SOURCES.sub("", text)
    for child in getattr(block, "children", {}).values():
        yield from shown(child)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"expert": "1", "view": "queue"},
        {"view": "request", "focus": "docs-6"},
        {"rescue.lend": "false", "rescue.lend_share": "0.5", "utm_source": "mail"},
        {"t": "500", "focus": "nobody", "rescue.kv": "0.08"},
        {"scenario": "textbook@1", "expert": "1"},
        {"scenario": "tenant-burst@1", "view": "request"},
        {"scenario": "long-context@1", "expert": "1"},
        {"scenario": "code-bursts@1", "expert": "1", "duration_s": "20"},
        {"scenario": "office-hours@1", "expert": "1"},
        *(
            {"policies": ",".join(POLICIES[first : first + 12]), "expert": "1", "duration_s": "20"}
            for first in range(0, len(POLICIES), 12)
        ),
        {"policies": "isolated,shed", "shed.max_queue": "1", "view": "request"},
        *({"view": "compare", "chart": chart} for chart in CHARTS["compare"]),
        {"view": "compare", "chart": "shares", "scenario": "tenant-burst@1"},
        *(
            {"view": "tradeoffs", "chart": chart, "seeds": "1", "duration_s": "15"}
            for chart in CHARTS["tradeoffs"]
        ),
        *({"view": "learn", "lesson": lesson} for lesson in BY_KEY),
        *({"view": "about", "part": part} for part in PARTS),
    ],
    ids=lambda query: "&".join(f"{key}={text[:20]}" for key, text in query.items()),
)
def test_no_view_has_an_english_sentence_in_chinese(query: dict[str, str]) -> None:
    zh = language("zh")
    zh.missing.clear()
    page = opened(query)
    assert not page.exception
    assert not zh.missing, f"add these to a file in sched/text/zh: {sorted(zh.missing)}"
    english = sorted({text for text in shown(page._tree) if SENTENCE.search(text)})
    assert not english


def test_a_link_that_is_not_understood_is_still_answered_in_its_language() -> None:
    page = opened({"nonsense": "1"})
    assert "no such setting" in page.error[0].value and "改为显示：吵闹的邻居" in page.error[0].value
    assert not [text for text in shown(page._tree) if SENTENCE.search(text) and "nonsense" not in text]


def test_a_page_in_english_is_looked_up_nowhere() -> None:
    zh = language("zh")
    zh.missing.clear()
    page = opened({"lang": "en"})
    assert any(SENTENCE.search(text) for text in shown(page._tree)) and not zh.missing


def test_how_far_a_large_scenario_is_and_how_many_lessons_there_are_is_said_in_chinese() -> None:
    def view() -> None:
        import streamlit as st

        from sched.page.results import now_running
        from sched.page.state import arrive

        arrive()
        st.text(now_running("rescue", 2, 4))

    page = AppTest.from_function(view, default_timeout=60)
    page.query_params["lang"] = "zh"
    title = language("zh")(known_policies()["rescue"].title)
    assert page.run().text[0].value == f"{title}，第 2 个，共 4 个"
    page = opened({"view": "learn"})
    assert any(one.value == f"共 {len(BY_KEY)} 课" for one in page.caption)


def test_that_a_refused_value_stays_as_it_was_is_said_in_chinese() -> None:
    def view() -> None:
        from sched.page.lab import messages
        from sched.page.state import arrive, set_values

        arrive()
        set_values({"rescue.kv": "7"})
        messages()

    page = AppTest.from_function(view, default_timeout=60)
    page.query_params["lang"] = "zh"
    assert page.run().warning[0].value.replace("\\", "") == (
        "rescue.kv = 7: must be at most 1 (share of KV). 保持原样。"
    )
