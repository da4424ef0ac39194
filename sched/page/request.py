"""The story of one request: its life, where its wait went, who held what, what would have helped."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import streamlit as st

from sched.figures.looks import looks
from sched.model import PS_PER_S
from sched.moments import RESOURCE_NAMES, RESOURCE_WORDS
from sched.page.cards import seconds
from sched.page.component import component
from sched.page.explained import by_wait, culprits, explained, longest_wait, parts_of_wait
from sched.page.language import say, tr, tr_count
from sched.page.results import LARGE, Incident, Result
from sched.page.state import show, shown
from sched.page.titles import title, unbroken
from sched.page.told import noted
from sched.story import story
from sched.view import Shown
from sched.words import DEEDS, NARROW

LISTED = 500
"""So many requests are offered by name, those that waited longest first; any other can be typed."""


def cause_words() -> dict[str, str]:
    """What each part of a wait is called under its bar."""
    return {
        "quantum_s": tr("the iteration in progress"),
        "legitimate_s": tr("its own level and above"),
        "reserved_s": tr("a rule of the policy"),
        "kv_s": tr("KV memory held by less urgent requests"),
        "tokens_s": tr("tokens of less urgent requests"),
        "seats_s": tr("seats of less urgent requests"),
    }


def deed_words() -> dict[str, str]:
    """What a culprit did, by kind of blame."""
    return {kind.removesuffix("_s"): tr(words) for kind, words in DEEDS.items()}


def event_words() -> dict[str, str]:
    """What an event in a request's life is called."""
    return {
        "arrival": tr("arrived"),
        "wait": tr("waited"),
        "admission": tr("admitted"),
        "prefill": tr("prefill"),
        "decode": tr("decode"),
        "preemption": tr("preempted"),
        "end": tr("end"),
    }


def resource_words() -> dict[str, str]:
    """What was short, by the name of the resource."""
    return dict(zip(RESOURCE_NAMES, map(tr, RESOURCE_WORDS), strict=True))


def _share(part: float, whole: float) -> str:
    found = 100 * part / whole if whole else 0.0
    digits = 1 if 99 < found < 99.95 else 0
    return f"{found:.{digits}f}{NARROW}%" if found >= 1 or not found else f"<1{NARROW}%"


def _chosen() -> None:
    st.session_state["picked"] = st.session_state.get("picked", 0) + 1
    show(replace(shown(), focus=st.session_state["request"]))


def request_tab(now: Shown, runs: Mapping[str, Result], found: Mapping[str, tuple[Incident, ...]]) -> None:
    """The request in focus under A, and under B beside it; without a focus, the one that waited longest."""
    run = runs[now.a]
    ids = run.log.requests.ids
    name = now.focus or longest_wait(run, ids)
    options = by_wait(run, LISTED)
    if name is not None and name not in options:
        options.insert(0, name)
    st.session_state["request"] = name
    with st.container(horizontal=True, vertical_alignment="bottom", key="request_choice"):
        st.selectbox(
            tr("Request"),
            options,
            key="request",
            accept_new_options=len(ids) > len(options),
            placeholder=tr("Choose a request"),
            width=250,
            on_change=_chosen,
        )
        st.caption(_hint(now, name, len(ids)), width="stretch")
    if name is None:
        st.info(tr("Nobody waited in this run: choose a request, or click one."), icon=":material/inbox:")
        return
    keys = list(dict.fromkeys((now.a, now.b)))
    with st.spinner(tr("Playing the requests again")) if len(ids) > LARGE else nullcontext():
        sides = [_side(now, runs, key, name, side) for key, side in zip(keys, "AB", strict=False)]
    component("story")(data=_data(name, sides), key="story")
    noted(replace(now, focus=name), runs, found)


def _hint(now: Shown, name: str | None, many: int) -> str:
    """Why this request is shown, and how to see another one."""
    if name is None or now.focus is not None:
        return tr("Click a request anywhere on the stage to read its story; a time below moves the stage.")
    return tr(
        "Nobody is in focus, so this is the request that waited longest for less urgent ones. Click another "
        "one on the stage, or choose among {many}.",
        many=f"{many:,}",
    )


def _data(name: str, sides: list[dict[str, Any]]) -> dict[str, Any]:
    """What the component is sent: every text in the reader's language."""
    words = {
        "parts": tr("Where its wait went"),
        "adds": tr("Every moment has one cause; the parts add up to the wait."),
        "culprits": tr("Who held what it lacked"),
        "shared": tr("Blame is shared by what was held; the parts add up to the inversion."),
        "helped": tr("Had one thing been different"),
        "again": tr("The same requests played again with one change. Not to be added to the blame."),
        "life": tr("Its life"),
        "heads": [tr("request"), tr("what it did"), tr("short of"), tr("time"), tr("share")],
        "goto": tr("Show on the stage"),
    }
    state = st.session_state
    is_first = state["arrival"]["number"] == 0 and not state.get("changed")  # a link led here
    told = {"words": words, "sides": sides, "landing": is_first}
    return {"request": name, "picked": state.get("picked", 0)} | told


def _side(now: Shown, runs: Mapping[str, Result], key: str, name: str, side: str) -> dict[str, Any]:
    """The story under one policy."""
    run = runs[key]
    listed = run.log.requests
    head = {"side": side, "policy": title(now.scenario, key), "name": name}
    if name not in listed.ids:
        return head | {"gone": tr("This policy cut the requests in other pieces: it has none of this name.")}
    look = looks(listed)
    found = explained(now.scenario, key, name, run)
    wait, inverted = found["wait_s"], sum(found["causes"][one] for one in ("kv_s", "tokens_s", "seats_s"))
    return head | {
        "role": look.get(found["request"]["class"], 1),
        "wait": tr("waited {span}", span=seconds(wait)) if wait else tr("did not wait"),
        "wait_s": wait,
        "bad": tr("{share} of it inversion", share=_share(inverted, wait)) if inverted else "",
        "sentences": [unbroken(text) for text in _sentences(found)],
        "parts": _parts(found),
        "culprits": _culprits(found, look, inverted),
        "more": _more(found, inverted),
        "helped": _helped(now, runs, key, name, found),
        "life": _life(found),
    }


def _sentences(found: Mapping[str, Any]) -> list[str]:
    """The story without its last sentence, which is the list of what would have helped."""
    texts = story(found, say())
    waited = found["wait_s"] and found["request"]["outcome"] not in ("refused", "shed")
    return texts[:-1] if waited else texts


def _parts(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    words, wait = cause_words(), found["wait_s"]
    return [
        {
            "cause": name.removesuffix("_s"),
            "words": words[name],
            "s": s,
            "said": seconds(s),
            "share": s / wait,
        }
        for name, s in parts_of_wait(found)
    ]


def _culprits(found: Mapping[str, Any], look: Mapping[str, int], inverted: float) -> list[dict[str, Any]]:
    did, what = deed_words(), resource_words()
    return [
        {
            "id": one["id"],
            "role": look.get(one["class"], 2),
            "did": did[one["kind"]],
            "kind": one["kind"],
            "short": what[one["resource"]],
            "said": seconds(one["s"]),
            "part": one["s"] / inverted,
            "share": _share(one["s"], inverted),
        }
        for one in culprits(found)[0]
    ]


def _more(found: Mapping[str, Any], inverted: float) -> str:
    _, many, s = culprits(found)
    if not many:
        return ""
    span, share = seconds(s), _share(s, inverted)
    return tr_count(
        many, "and {n} more: {span}, {share}", "and {n} more: {span}, {share}", span=span, share=share
    )


def _helped(
    now: Shown, runs: Mapping[str, Result], key: str, name: str, found: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Its wait as it was and in each run with one change; nothing for one that did not wait."""
    wait, again = found["wait_s"], found["counterfactual"]
    if not wait:
        return []
    rows = [(tr("as it was"), wait)]
    if found["request"]["passed_by"]:
        rows.append((tr("nobody may pass a request that does not fit"), again["no_bypass_wait_s"]))
    rows.append((tr("without any less urgent request"), again["no_lower_wait_s"]))
    other = now.b if key == now.a else now.a
    ids = runs[other].log.requests.ids
    if other != key and name in ids:
        ps = int(runs[other].inversion.wait_ps[ids.index(name)])
        rows.append((tr("under {policy}", policy=title(now.scenario, other)), ps / PS_PER_S))
    longest = max(s for _, s in rows)
    return [{"words": words, "said": seconds(s), "s": s, "share": s / longest} for words, s in rows]


def _life(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events in order, each with the moment the stage is moved to."""
    words = event_words()
    return [
        {
            "event": one["event"],
            "words": words[one["event"]],
            "at": f"{one['from_s']:.2f}{NARROW}s",
            "t": one["from_s"],
            "text": unbroken(one["text"]),
        }
        for one in found["events"]
    ]
