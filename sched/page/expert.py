"""Expert: every value of a scenario that is not among the simple controls already, by part."""

import streamlit as st

from sched.cost import hardware
from sched.external import reference
from sched.page.controls import entry, marked_name
from sched.page.knob_words import with_unit
from sched.page.language import tr
from sched.page.titles import name_of
from sched.scenario import Scenario, known_policies
from sched.sources import Traffic
from sched.verdict import uncapital

LAWS = ("arrivals", "prompt", "output")
PARTS = {"arrivals": "arrivals: {title}", "prompt": "prompt: {title}", "output": "output: {title}"}
FIXED = ("name", "prompt.kind", "output.kind")
"""Not to be changed one by one: another law of lengths needs other values at the same time."""
HARDWARE = ("constant", "affine", *(str(one["name"]) for one in hardware()))
"""What an iteration's time may come from."""


def expert(scenario: Scenario, look: dict[str, int]) -> None:
    """Every other value of this scenario, by part."""
    with st.expander(tr("Run"), icon=":material/timer:"):
        for name in ("duration_s", "warmup_s", "drain_s", "urgency"):
            entry((name,))
    with st.expander(tr("Engine, all of it"), icon=":material/tune:"):
        for knob in reference():
            part, _, name = knob.path.partition(".")
            if part == "engine" and "." not in name:
                entry(("engine", name), choices=HARDWARE if name == "hardware" else ())
    for one in scenario.traffic:
        with st.expander(tr("{name}, all of it", name=marked_name(one.name, look))):
            _class(scenario, one)
    for key in scenario.policies:
        if known_policies()[key].settings:
            with st.expander(name_of(key), icon=":material/rule_settings:"):
                for setting in known_policies()[key].settings:
                    entry((key, setting.name))


def _class(scenario: Scenario, one: Traffic) -> None:
    """All knobs of a class that its laws have."""
    for knob in reference():
        if not knob.path.startswith("traffic.<class>."):
            continue
        name = knob.path.removeprefix("traffic.<class>.")
        part = name.partition(".")[0]
        law = getattr(one, part).kind if part in LAWS else ""
        if name in FIXED or knob.type in ("table", "list") or knob.when not in ("", f"kind = {law}"):
            continue
        entry(
            ("traffic", one.name, *name.split(".")),
            label=_titled(name, knob.title, knob.unit),
            kind=law or None,
        )


def _titled(name: str, title: str, unit: str) -> str:
    """The title of a class's knob, with the part of the class it belongs to."""
    words, part = tr(title), name.partition(".")[0]
    if part in PARTS:
        words = tr(PARTS[part], title=uncapital(words))
    return with_unit(words, tr(unit))
