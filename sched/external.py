"""Scenarios as links: a query is checked like a file, and nothing in it is replaced in silence."""

import math
import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, quote

from sched.changes import TOP, assignments, change, changes, read
from sched.fields import ScenarioError, refuse, suggestion
from sched.files import from_text, load, migrated, to_json, to_toml
from sched.knobs import Knob, field, reference
from sched.language import ENGLISH, Language
from sched.plain import is_written_as_number
from sched.registry import known_policies
from sched.scenario import SCHEMA, Scenario
from sched.sentences import NO_TEXT, is_text

VIEW = {
    "view": "the view or the tab that is open",
    "t": "where the replay stands, in seconds",
    "focus": "the request in focus",
    "a": "the first policy of the comparison",
    "b": "the second policy of the comparison",
    "from": "begin of the time window, in seconds",
    "to": "end of the time window, in seconds",
    "play": "1: the replay starts by itself",
    "lesson": "the lesson that is open",
    "expert": "1: all controls are shown",
    "lang": "the language of the page: en or zh",
    "seeds": "over how many seeds policies are compared",
    "baseline": "the policy that the others are compared with",
    "of": "the class that the charts speak of",
    "metric": "the figure that is compared, as ttft.p99",
    "chart": "the chart that is open",
    "sort": "the column by which a table is sorted",
    "vary": "the first knob of a sweep, key=start:stop:step",
    "vary2": "the second knob of a sweep",
    "part": "the part of About the model that is open",
    "goal": "what a recommendation is to reach, as class.metric.p99<=value",
}
"""What a link may say about the screen, beside the scenario."""
NUMBERS = ("t", "from", "to")
FOREIGN = ("utm_", "fbclid", "gclid", "mc_cid", "mc_eid")
"""Added to links by mailers and networks; they say nothing about the scenario."""
LONGEST_LINK = 8000
"""Beyond this many characters hosts refuse a link: offer a file instead."""
ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
WRAPPED = re.compile(r"\??v=\d+(&|$)")
LONGEST_QUERY = 1_000_000


def link(scenario: Scenario, **view: str | float | None) -> str:
    """The query of a link, without "?", that opens this scenario, and this view of it (names of VIEW).

    Raises ScenarioError for a trace that is not stored under its digest: a link cannot carry a file.
    """
    trace = scenario.trace
    if trace is not None and trace.file:
        if not trace.digest:
            refuse(
                "a link cannot carry a file; store the trace first, the link then carries its digest",
                "trace.file",
            )
        scenario = scenario.changed(trace=trace.changed(file=""))
    pairs = {"v": str(SCHEMA), **changes(scenario)}
    for name, value in view.items():
        if name not in VIEW:
            raise ScenarioError(f"{name}: no such view setting{suggestion(name, VIEW)}", name)
        if value is not None and value != "":
            pairs[name] = f"{value:.6g}" if isinstance(value, float) else str(value)
    return "&".join(f"{quote(key, safe='.')}={quote(text, safe=',:@/.')}" for key, text in pairs.items())


def parse_link(
    query: str | Mapping[str, str | Sequence[str]], say: Language = ENGLISH
) -> tuple[Scenario, dict[str, str], list[tuple[str, str]]]:
    """The scenario, the view (names of VIEW) and notes (path, sentence) of a link's query, in any order.

    Raises ScenarioError for whatever is unknown, given twice, out of bounds or from a newer version.
    """
    pairs, notes = _unwrapped(_pairs(query), say)
    given = _single(pairs)
    notes += [
        (key, say("{key}: was added to the link on its way and says nothing about the scenario", key=key))
        for key in given
        if key.startswith(FOREIGN)
    ]
    given = {key: text for key, text in given.items() if not key.startswith(FOREIGN)}
    version = given.pop("v", None)
    if version is not None:
        _checked_version(version)
    view = {key: given.pop(key) for key in list(given) if key in VIEW}
    for key in NUMBERS:
        if key in view:
            _finite(key, view[key])
    for key in given:
        first = key.partition(".")[0]
        if key != "scenario" and first not in TOP and first not in known_policies():
            refuse(f"no such setting{suggestion(first, ['scenario', *TOP, *known_policies(), *VIEW])}", key)
        if key.startswith(("trace.file", "trace=")) or (key == "trace" and "file" in given[key]):
            refuse("a link names a trace by its digest only", key)
    try:
        scenario = read(given)
    except ScenarioError as error:
        if any(ESCAPE.search(f"{key}={text}") for key, text in given.items()):
            raise ScenarioError(f"{error}; the link seems to be encoded twice", error.path) from None
        raise
    return scenario, view, notes + scenario.notes(say)


def _unwrapped(
    pairs: list[tuple[str, str]], say: Language
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The pairs, and a note if the whole link was encoded as one name: that can have only one meaning."""
    if len(pairs) != 1 or pairs[0][1] or not WRAPPED.match(pairs[0][0]):
        return pairs, []
    said = say("the link was encoded twice on its way; it is read as it was before")
    return _pairs(pairs[0][0]), [("v", said)]


def _pairs(query: str | Mapping[str, str | Sequence[str]]) -> list[tuple[str, str]]:
    if not isinstance(query, str):
        return [
            (str(key).removeprefix("amp;"), str(one))
            for key, texts in query.items()
            for one in ([texts] if isinstance(texts, str) else texts)
        ]
    # Some hosts escape the separator as for HTML; a value's own & is always percent-encoded.
    query = query.removeprefix("?").replace("&amp;", "&")
    if len(query) > LONGEST_QUERY:
        raise ScenarioError(
            f"this link has {len(query):,} characters: must be at most {LONGEST_QUERY:,}; use a file"
        )
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=20_000)
    except UnicodeDecodeError:
        raise ScenarioError("this link is damaged: it holds bytes that are not UTF-8 text") from None
    except ValueError as error:
        raise ScenarioError(f"this link is damaged: {error}") from None
    return pairs


def _single(pairs: list[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, text in pairs:
        if not is_text(key + text):
            raise ScenarioError(f"{key} = {text}: {NO_TEXT}", key)
        if key in found:
            refuse("given twice in the link", key)
        found[key] = text
    return found


def _checked_version(text: str) -> None:
    if not text.isascii() or not text.isdigit():
        raise ScenarioError(f"v = {text}: must be a whole number from 1 to {SCHEMA}", "v")
    migrated({}, int(text[:18]), "v")


def _finite(key: str, text: str) -> None:
    try:
        good = math.isfinite(float(text)) and is_written_as_number(text)
    except ValueError:
        good = False
    if not good:
        raise ScenarioError(f"{key} = {text}: must be a finite number of seconds", key)


__all__ = [
    "LONGEST_LINK",
    "VIEW",
    "Knob",
    "assignments",
    "change",
    "changes",
    "field",
    "from_text",
    "link",
    "load",
    "parse_link",
    "read",
    "reference",
    "to_json",
    "to_toml",
]
