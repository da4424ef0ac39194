"""What the screen shows, as one frozen value; the address bar says the same.

The query is read by `sched.external` before any widget exists, and every widget is set from the scenario
before it is drawn, so that neither can say something else than the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

import streamlit as st

from sched.cost import machine
from sched.external import change, link, parse_link
from sched.fields import ScenarioError
from sched.language import NAMES, language
from sched.page.frame import ends, short, window_of
from sched.scenario import Scenario, preset

PAGES = ("lab", "compare", "tradeoffs", "learn", "about")
"""The views of the page; the first one is shown when a link does not say."""
TABS = ("inversions", "request", "queue")
"""What may stand below the stage; the first one is open when a link does not say."""
SEEDS = (1, 3, 9, 20)
"""Over how many seeds policies may be compared on the page."""
SETTINGS = ("baseline", "of", "metric", "chart", "sort", "vary", "vary2", "goal", "lesson", "part")
"""What a view may be told in its own words; it refuses in words what it does not know."""
FIRST_CHOICE = ("backfill", "priority", "fcfs")
"""Shown as A when nobody chose: the first of these that is compared."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A scenario and how it is looked at; `t` is None until somebody has stopped the replay somewhere.

    `window` is the time that the frame on the stage shows, in seconds, once somebody has moved it.
    What is None was not chosen. `of` is the class or tenant that a view speaks of, `vary` and `vary2` are the
    knobs of a sweep as `key=start:stop:step`.
    """

    scenario: Scenario
    a: str
    b: str
    t: float | None = None
    window: tuple[float, float] | None = None
    focus: str | None = None
    tab: str = TABS[0]
    expert: bool = False
    play: bool = False
    page: str = PAGES[0]
    lang: str = "en"
    seeds: int | None = None
    baseline: str | None = None
    of: str | None = None
    metric: str | None = None
    chart: str | None = None
    sort: str | None = None
    vary: str | None = None
    vary2: str | None = None
    goal: str | None = None
    lesson: str | None = None
    part: str | None = None


def default_pair(scenario: Scenario) -> tuple[str, str]:
    """The two policies on the stage when nobody chose: a plain one, and the last that differs."""
    keys = list(scenario.policies)
    first = next((key for key in FIRST_CHOICE if key in keys), keys[0])
    return first, next((key for key in reversed(keys) if key != first), first)


def with_scenario(shown: Shown, scenario: Scenario) -> Shown:
    """The same view of another scenario; a policy that is no longer compared leaves the stage."""
    keys = list(scenario.policies)
    first, second = default_pair(scenario)
    a = shown.a if shown.a in keys else first if shown.b != first else second
    b = shown.b if shown.b in keys else second if a != second else first
    baseline = shown.baseline if shown.baseline in keys else None
    return replace(shown, scenario=scenario, a=a, b=b, baseline=baseline)


def query_of(shown: Shown) -> str:
    """The query of a link that opens exactly this."""
    first, second = default_pair(shown.scenario)
    return link(
        shown.scenario,
        a=shown.a if shown.a != first else None,
        b=shown.b if shown.b != second else None,
        view=shown.page if shown.page != PAGES[0] else shown.tab if shown.tab != TABS[0] else None,
        t=None if shown.t is None else short(shown.t, 4),
        **ends(shown.window),
        focus=shown.focus,
        expert="1" if shown.expert else None,
        play="1" if shown.play else None,
        lang=shown.lang if shown.lang != "en" else None,
        seeds=None if shown.seeds is None else str(shown.seeds),
        **{name: getattr(shown, name) for name in SETTINGS},
    )


def _choice(view: Mapping[str, str], name: str, known: list[str]) -> str | None:
    value = view.get(name)
    if value is not None and value not in known:
        raise ScenarioError(f"{name} = {value}: must be one of {', '.join(known)}", name)
    return value


def shown_by(query: Mapping[str, list[str]], page: str = PAGES[0]) -> tuple[Shown, list[tuple[str, str]]]:
    """What a link's query shows, and notes about it; `page` is the view where the query names none.

    Raises ScenarioError when it is not understood.
    """
    asked = next((one for one in query.get("lang", ()) if one in NAMES), "en")
    scenario, view, notes = parse_link(query, language(asked))
    machine(scenario)
    if float(view.get("t", 0)) < 0:
        raise ScenarioError(f"t = {view['t']} s: must be at least 0", "t")
    keys = list(scenario.policies)
    first, second = default_pair(scenario)
    a = _choice(view, "a", keys) or first
    b = _choice(view, "b", keys) or (second if second != a else next((key for key in keys if key != a), a))
    opened = _choice(view, "view", [*PAGES, *TABS])
    seeds = _choice(view, "seeds", [str(many) for many in SEEDS])
    _choice(view, "baseline", keys)
    shown = Shown(
        scenario,
        a,
        b,
        t=float(view["t"]) if "t" in view else None,
        window=window_of(view),
        focus=view.get("focus"),
        tab=opened if opened in TABS else TABS[0],
        expert=_choice(view, "expert", ["0", "1"]) == "1",
        play=_choice(view, "play", ["0", "1"]) == "1",
        page=opened if opened in PAGES else PAGES[0] if opened else page,
        lang=_choice(view, "lang", list(NAMES)) or "en",
        seeds=int(seeds) if seeds else None,
        **{name: view[name] for name in SETTINGS if view.get(name)},
    )
    return shown, notes


def query_now() -> dict[str, list[str]]:
    """The query of the address bar."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def arrive(page: str = PAGES[0]) -> None:
    """Take over what the address bar says, when somebody opened a link or went back in history.

    A run that a widget started is no such arrival: its message may carry an older address than ours. Nor is
    one that the bar of views started, whose address says nothing: the same scenario is shown in that view.
    """
    state, query = st.session_state, query_now()
    state["bare"] = False
    before, state["page"] = state.get("page"), page
    if "shown" in state and before not in (None, page) and (not query or query == state.get("query")):
        state["shown"] = replace(shown(), page=page, play=False)
        state["query"] = query
        state["changed"] = state["bare"] = True
        state.pop("touched", None)
        start(shown())
        return
    if "shown" in state and (state.pop("touched", False) or query == state.get("query")):
        return
    state["query"] = query
    state["fault"], state["notes"] = None, []
    first_visit = state["newcomer"] = "shown" not in state and not query
    try:
        state["shown"], state["notes"] = shown_by(query, page)
    except ScenarioError as error:
        state["fault"] = sentence(error)
        if "shown" not in state:
            scenario = preset("noisy-neighbour")
            lang = next((one for one in query.get("lang", ()) if one in NAMES), "en")
            state["shown"] = Shown(scenario, *default_pair(scenario), page=page, lang=lang)
    if first_visit and (st.context.locale or "").partition("-")[0] in NAMES:
        state["shown"] = replace(shown(), lang=(st.context.locale or "").partition("-")[0])
    state["bare"] = bool(query)  # completed where it stands: Back must not come to the same link again
    start(state["shown"], play=first_visit or shown().play)


def start(now: Shown, *, play: bool = False) -> None:
    """The stage begins anew, at the moment the link names or at the worst wait; else it keeps its place."""
    state = st.session_state
    number = state["arrival"]["number"] + 1 if "arrival" in state else 0
    state["arrival"] = {"number": number, "t": now.t, "window": now.window, "focus": now.focus, "play": play}


def write_address() -> None:
    """Make the address bar say what is shown. A link that was not understood stays until a change."""
    state = st.session_state
    shown: Shown = state["shown"]
    if state["fault"] or (not state["query"] and not state.get("changed")):
        return
    query = _as_query(shown)
    if state["bare"] and query != query_now():
        state["completed"] = (state.get("completed", (0, ""))[0] + 1, query_of(shown))
    elif query != query_now():
        st.query_params.from_dict(query)
    state["query"] = query


def _as_query(shown: Shown) -> dict[str, list[str]]:
    return {key: [text] for key, text in parse_qsl(query_of(shown), keep_blank_values=True)}


def leave() -> dict[str, list[str]]:
    """Another view is opened: its address, which is then no arrival."""
    state = st.session_state
    state["page"] = shown().page
    state["query"] = query = _as_query(shown())
    return query


def show(shown: Shown) -> None:
    """A person changed something: this is shown from now on."""
    state = st.session_state
    state["shown"] = replace(shown, play=False)
    state["touched"] = state["changed"] = True
    state["fault"], state["notes"] = None, []


def shown() -> Shown:
    """What is shown now."""
    value: Shown = st.session_state["shown"]
    return value


def set_values(texts: Mapping[str, str]) -> None:
    """Change values by their dotted paths; a value that is refused is said in words and not taken."""
    now = shown()
    try:
        scenario = change(now.scenario, texts)
        machine(scenario)
        show(with_scenario(now, scenario))
    except ScenarioError as error:
        refuse(sentence(error))


def refuse(why: str) -> None:
    """Say in this run why a value is not taken."""
    st.session_state["touched"] = True
    st.session_state["refused"] = f"{why} It stays as it was."


def sentence(error: Exception) -> str:
    """The error as a sentence."""
    text = str(error)
    return text if text.endswith((".", "?", "!")) else f"{text}."
