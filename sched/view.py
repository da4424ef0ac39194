"""What a link says about the screen: read and judged once, for the page and for the command line.

A value that is out of its bounds is refused. A word that one of the views does not know is told, and the page
reads the link without it; whoever only runs the link refuses that too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sched.cost import machine
from sched.external import link, parse_link
from sched.fields import ScenarioError
from sched.language import NAMES, language
from sched.scenario import Scenario

PAGES = ("lab", "compare", "tradeoffs", "learn", "about")
"""The views of the page; the first one is shown when a link does not say."""
TABS = ("inversions", "request", "queue")
"""What may stand below the stage; the first one is open when a link does not say."""
SEEDS = (1, 3, 9, 20)
"""Over how many seeds policies may be compared on the page."""
SETTINGS = ("baseline", "of", "metric", "chart", "sort", "vary", "vary2", "goal", "lesson", "part")
"""What a view may be told in its own words."""
FAMILIES = ("ttft", "tpot", "e2e", "wait")
PERCENTILES = ("p50", "p90", "p99")
CHARTS = {
    "compare": ("ecdf", "waits", "service", "shares", "counters", "queue", "table"),
    "tradeoffs": ("curve", "map", "load"),
}
"""The charts of the views that have some; the first is open when a link does not say."""
MOST_CLASSES = 6
"""Of so many other classes Compare has a column; the full table has all of them."""
COLUMNS = (
    *("policy", "mean", "meets", "against", "slo", "goodput", "inversion"),
    *(f"other{place}" for place in range(MOST_CLASSES)),
    *("starvation", "unserved", "throughput", "price", "fairness", "recomputed", "stranded"),
)
"""What the table of Compare may be sorted by; with a minus the largest comes first."""
LESSONS = "batching blocks lock bounded inheritance rescue ageing tenants everyone".split()
"""The lessons in their order."""
PARTS = ("model", "limits", "vllm", "theory", "published", "hardware", "policies", "words", "version")
"""The parts of About the model."""
FIRST_CHOICE = ("backfill", "priority", "fcfs")
"""Shown as A when nobody chose: the first of these that is compared."""
SHORTEST_S = 0.001
"""A link counts a frame in milliseconds."""


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


def short(seconds: float, decimals: int) -> str:
    """A time with so many decimals, without zeros that say nothing."""
    text = f"{seconds:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def query_of(shown: Shown) -> str:
    """The query of a link that opens exactly this."""
    first, second = default_pair(shown.scenario)
    begin, end = (None, None) if shown.window is None else (short(one, 3) for one in shown.window)
    return link(
        shown.scenario,
        a=shown.a if shown.a != first else None,
        b=shown.b if shown.b != second else None,
        view=shown.page if shown.page != PAGES[0] else shown.tab if shown.tab != TABS[0] else None,
        t=None if shown.t is None else short(shown.t, 4),
        **{"from": begin, "to": end},
        focus=shown.focus,
        expert="1" if shown.expert else None,
        play="1" if shown.play else None,
        lang=shown.lang if shown.lang != "en" else None,
        seeds=None if shown.seeds is None else str(shown.seeds),
        **{name: getattr(shown, name) for name in SETTINGS},
    )


def window_of(view: Mapping[str, str]) -> tuple[float, float] | None:
    """The frame of a link. Raises ScenarioError where it has one end only, or ends before it begins."""
    if "from" not in view and "to" not in view:
        return None
    for key, other in (("from", "to"), ("to", "from")):
        if key not in view:
            raise ScenarioError(f"{other} = {view[other]} s: needs {key} beside it", other)
    begin, end = float(view["from"]), float(view["to"])
    if begin < 0:
        raise ScenarioError(f"from = {view['from']} s: must be at least 0", "from")
    if end - begin < SHORTEST_S:
        raise ScenarioError(f"from = {view['from']} s: must be before to = {view['to']} s", "from")
    return begin, end


def unknown_words(shown: Shown) -> dict[str, str]:
    """The settings that take one of a few words and have another, each with the words it takes."""
    words: dict[str, Sequence[str]] = {
        "metric": [f"{family}.{percentile}" for family in FAMILIES for percentile in PERCENTILES],
        "chart": CHARTS.get(shown.page) or [one for own in CHARTS.values() for one in own],
        "sort": COLUMNS,
        "lesson": LESSONS,
        "part": PARTS,
    }
    if (sort := shown.sort) is not None and sort.removeprefix("-") in COLUMNS:
        del words["sort"]
    return {
        name: ", ".join(known) for name, known in words.items() if getattr(shown, name) not in (None, *known)
    }


def _choice(view: Mapping[str, str], name: str, known: Sequence[str]) -> str | None:
    value = view.get(name)
    if value is not None and value not in known:
        raise ScenarioError(f"{name} = {value}: must be one of {', '.join(known)}", name)
    return value


def _read(view: Mapping[str, str], scenario: Scenario, page: str) -> Shown:
    """What the view half of a link says of this scenario. Raises ScenarioError when it is not understood."""
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
    return Shown(
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


def shown_by(query: Mapping[str, list[str]], page: str = PAGES[0]) -> tuple[Shown, list[tuple[str, str]]]:
    """What a link's query shows, and notes about it; `page` is the view where the query names none.

    A word that a view does not know is told in a note, and left out. Raises ScenarioError when the link is
    not understood otherwise.
    """
    say = language(next((one for one in query.get("lang", ()) if one in NAMES), "en"))
    scenario, view, notes = parse_link(query, say)
    shown = _read(view, scenario, page)
    unknown = unknown_words(shown)
    for name, known in unknown.items():
        template = "{name} = {value}: must be one of {known}. The link is read without it."
        notes.append((name, say(template, name=name, value=view.pop(name), known=known)))
    return _read(view, scenario, page) if unknown else shown, notes


def run_by(query: str) -> tuple[Shown, list[tuple[str, str]]]:
    """The same for whoever runs the link and sees no view. Raises ScenarioError for an unknown word too."""
    scenario, view, notes = parse_link(query)
    shown = _read(view, scenario, PAGES[0])
    for name, known in unknown_words(shown).items():
        raise ScenarioError(f"{name} = {getattr(shown, name)}: must be one of {known}", name)
    return shown, notes
