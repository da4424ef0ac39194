"""In words: what the request in focus could have been told while it waited."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from sched.figures.looks import looks
from sched.model import PS_PER_S
from sched.moments import NOUNS, RESOURCE_NAMES
from sched.notes import SPOKEN_OF
from sched.page.cards import seconds
from sched.page.controls import MARKS, entry
from sched.page.language import say, tr, tr_count
from sched.page.opened import opened, patience_ps
from sched.page.results import Incident, Result
from sched.page.titles import plain, title
from sched.view import Shown
from sched.words import NARROW, count, joined, listed

HEADS = (
    "at",
    "waited",
    "asked",
    "free",
    "short",
    "most held by",
    "passed by",
    "estimate",
    "p10 to p90",
    "came to",
)
QUIET = {
    "reserved": "It would have fitted: a rule of the policy kept it out.",
    "legitimate": "What is of its level or above took the rest.",
    "quantum": "The iteration in progress had to end first.",
}
"""Said where nothing that less urgent requests hold was short."""


def noun_of(cause: str) -> str:
    """The unit in which the holders of a note are counted."""
    short = cause.split("+")
    return next((NOUNS[one] for one in SPOKEN_OF if RESOURCE_NAMES[one] in short), NOUNS[0])


def _holder(one: Mapping[str, Any], look: Mapping[str, int], noun: str) -> str:
    return f"{MARKS[look.get(one['class'], 2)]} {plain(one['id'])} ({count(one['holds'], noun, say())})"


def _lack(note: Mapping[str, Any]) -> str:
    """What of what it asked for was not there: "12 blocks and 1 seat short"."""
    lacks = zip((note[f"{name}_deficit"] for name in RESOURCE_NAMES), NOUNS, strict=True)
    named = [count(many, noun, say()) for many, noun in lacks if many]
    if not named:
        return tr("nothing short")
    short = named[0]
    for one in named[1:]:
        short = tr("{one} and {other}", one=short, other=one)
    return tr("{what} short", what=short)


def expected(note: Mapping[str, Any]) -> str:
    """The estimate with its spread: "4.6 s (p10 to p90: 3.2 s to 7.1 s)"."""
    if note["eta_p50_s"] is None:
        return ""
    return tr("{span} (p10 to p90: {spread})", span=seconds(note["eta_p50_s"]), spread=spread(note))


def spread(note: Mapping[str, Any]) -> str:
    """Between which times four of five such waits should end."""
    low, high = note["eta_p10_s"], note["eta_p90_s"]
    if low is None:
        return "–"
    return tr("{low} to {high}", low=seconds(low), high=tr("never here") if high is None else seconds(high))


def first_note(note: Mapping[str, Any], look: Mapping[str, int]) -> str:
    """A note in sentences."""
    parts = [
        tr(
            "At {at}, after waiting {span}, it asked for {blocks}, {free} were free: {short}.",
            at=f"{note['at_s']:.2f}{NARROW}s",
            span=seconds(note["waited_s"]),
            blocks=count(note["kv_asked"], "KV block", say()),
            free=f"{note['kv_free']:,}",
            short=_lack(note),
        )
    ]
    if quiet := QUIET.get(note["cause"]):
        parts.append(tr(quiet))
    if note["blockers"]:
        noun = noun_of(note["cause"])
        who = listed([_holder(one, look, noun) for one in note["blockers"]], say())
        parts.append(tr("Of less urgent requests, {who} held most.", who=who))
    passed = note["bypassed_by"]
    if passed:
        parts.append(tr("{requests} had passed it.", requests=count(passed, "request", say())))
    else:
        parts.append(tr("Nobody had passed it."))
    came = seconds(note["actual_s"])
    if told := expected(note):
        parts.append(tr("Time to admission, estimated: **{told}**; it came to {came}.", told=told, came=came))
    else:
        parts.append(tr("No estimate could be made; it came to {came}.", came=came))
    return joined(parts, say())


def table(notes: Sequence[Mapping[str, Any]]) -> str:
    """All notes of the wait as a Markdown table: what was promised beside what came."""
    rows = []
    for note in notes:
        first = note["blockers"][0] if note["blockers"] else None
        cells = [
            f"{note['at_s']:.2f}{NARROW}s",
            seconds(note["waited_s"]),
            f"{note['kv_asked']:,}",
            f"{note['kv_free']:,}",
            f"{note['kv_deficit']:,}",
            f"{plain(first['id'])}, {first['holds']:,}" if first else "–",
            f"{note['bypassed_by']:,}",
            "–" if note["eta_p50_s"] is None else seconds(note["eta_p50_s"]),
            spread(note),
            seconds(note["actual_s"]),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    rule = "|".join("---" if head == "most held by" else "---:" for head in HEADS)
    return "\n".join([f"| {' | '.join(tr(head) for head in HEADS)} |", f"|{rule}|", *rows])


def told(now: Shown, run: Result, found: tuple[Incident, ...]) -> None:
    """From how long a wait on it is told of, and how many of the incidents are."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="told"):
        with st.container(width=250):
            entry(
                ("annotate_after_s",), tr("Tell of waits longer than, s"), absent=tr("a quarter of the goal")
            )
        st.caption(_how_many(now, run, found), width="stretch")


def noted(now: Shown, runs: Mapping[str, Result], found: Mapping[str, tuple[Incident, ...]]) -> None:
    """What the request in focus was told while it waited, under A and under B beside it."""
    keys = [key for key in dict.fromkeys((now.a, now.b)) if now.focus in runs[key].log.requests.ids]
    if not keys:
        return
    st.markdown(f"**{tr('What it could have been told while it waited')}**")
    with st.container(key="opened"):
        for column, key in zip(st.columns(len(keys)), keys, strict=True):
            with column, st.container(border=True):
                st.markdown(f"**{'A' if key == now.a else 'B'}** {title(now.scenario, key)}")
                _notes(now, runs[key], key, found[key])


def _notes(now: Shown, run: Result, key: str, found: tuple[Incident, ...]) -> None:
    known = opened(now, run, key, found)
    if known is None:
        st.markdown(tr("It did not wait to be admitted."))
    elif not known.notes:
        waited, after = seconds(known.waited_s), seconds(known.after_s)
        st.markdown(
            tr(
                "It waited {waited} here, not longer than the {after} after which a wait is told of.",
                waited=waited,
                after=after,
            )
        )
    else:
        st.markdown(first_note(known.notes[0], looks(run.log.requests)))
        with st.expander(tr_count(len(known.notes), "As it went on, {n} note", "As it went on, {n} notes")):
            st.markdown(table(known.notes))
            st.caption(tr("Each time is {what}.", what=plain(known.notes[-1]["eta_is"])))


def _how_many(now: Shown, run: Result, found: tuple[Incident, ...]) -> str:
    """How many of the waits in the list are told of."""
    if not found:
        return ""
    ids = run.log.requests.ids
    late = sum(
        one.waited_s * PS_PER_S > patience_ps(now.scenario, run.log, ids.index(one.request)) for one in found
    )
    if len(found) == 1 and late:
        return tr("The incident below waited longer. Show it on the stage to read what its request was told.")
    if len(found) == 1:
        return tr("The incident below did not wait longer.")
    return tr(
        "{late} of the {n} incidents below waited longer. Show one on the stage to read what its request was "
        "told.",
        late=f"{late:,}",
        n=f"{len(found):,}",
    )
