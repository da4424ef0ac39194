"""One control for one value: made from the schema's description of it, the dotted path is its key."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from sched.external import Knob, field
from sched.fields import ScenarioError
from sched.page.glossary import term_of, with_term
from sched.page.knob_words import bounds, choice, titled
from sched.page.language import say, tr
from sched.page.state import refuse, set_values, shown
from sched.page.titles import plain
from sched.plain import inline, join_path, read_value, value_text
from sched.scenario import Scenario, known_policies, preset
from sched.words import joined

MARKS = ("▲", "●", "■")
SEVERAL = ("numbers separated by commas", "name = number, separated by commas")
"""How a list and a table are written."""


def value_at(scenario: Scenario, path: tuple[str, ...]) -> Any:
    """The value at a path whose members go by name; what a policy or tenant does not say is its default."""
    node: Any = scenario
    if path[0] in known_policies():
        path = ("policies", *path)
    for place, part in enumerate(path):
        if isinstance(node, tuple):
            node = next(one for one in node if getattr(one, "name", None) == part)
        elif isinstance(node, dict):
            node = node.get(part)
        else:
            node = getattr(node, part)
        if node is None:
            return None if place + 1 == len(path) or path[0] != "tenants" else 1.0
    return node


def marked_name(name: str, look: Mapping[str, int]) -> str:
    """A class with its mark, as a label; without one where its look is not known."""
    return f"{MARKS[look[name]]} {plain(name)}" if name in look else plain(name)


def usual(scenario: Scenario, path: tuple[str, ...], fallback: Any) -> Any:
    """The value in the scenario this one was made from: a slider's range does not move with its knob."""
    try:
        base = preset(*_name_and_revision(scenario.link_base))
        value = value_at(base, path)
    except (ScenarioError, StopIteration, AttributeError):
        value = None
    return fallback if value is None else value


def _name_and_revision(base: str) -> tuple[str, int | None]:
    name, _, revision = base.partition("@")
    return name, int(revision) if revision else None


def nice(value: float) -> float:
    """The next 1, 2, 3, 5 or 8 times a power of ten."""
    power = 10 ** math.floor(math.log10(value))
    return float(next(power * k for k in (1, 2, 3, 5, 8, 10) if power * k >= value * (1 - 1e-9)))


def _range(knob: Knob, value: float, usual: float) -> tuple[float, float, float]:
    """Low, high and step of a slider: all that the schema allows of a share, else no further than four times
    the usual value.
    """
    step = float(knob.step or 1)
    if not knob.type.startswith("whole"):
        while step > usual / 5 > 0:
            step = round(step / 5, 10)
    low = step if knob.low is None or 0 < knob.low < step else float(knob.low)
    far = math.inf if knob.high is None else knob.high
    high = (
        far if knob.high is not None and knob.unit.startswith("of ") else min(far, nice(4 * max(usual, step)))
    )
    return min(low, value), max(high, value), step


def _text(value: Any) -> str:
    return value_text(float(f"{value:.10g}") if isinstance(value, float) else value)


def changed(key: str, path: str, turn: Callable[[Any], Any] | None = None) -> None:
    value = st.session_state[key]
    set_values({path: _text(turn(value) if turn else value)})


def several_text(value: Any) -> str:
    """A list or a table of numbers as it is edited: `0.5, 2, 10` or `chat = 2, api = 1`."""
    if isinstance(value, Mapping):
        return ", ".join(inline({name: one})[1:-1].replace("=", " = ", 1) for name, one in value.items())
    return ", ".join(value_text(one) for one in value)


def _changed_several(key: str, is_table: bool) -> None:
    text = st.session_state[key].strip().strip("[]{}")
    whole = f"{{{text}}}" if is_table else f"[{text}]"
    if isinstance(read_value(whole), dict if is_table else list):
        set_values({key: whole})
    else:
        refuse(f"{key} = {text}: must be {SEVERAL[is_table]}.")


def first_drawn(key: str) -> bool:
    """Whether this is the first control for the value in this run; a key can be used once."""
    drawn: set[str] = st.session_state["drawn"]
    is_first = key not in drawn
    drawn.add(key)
    return is_first


def slider(
    path: tuple[str, ...], label: str | None = None, *, value: Any = None, off: str | None = None
) -> None:
    """A slider for a number of the schema.

    `value` stands in where the scenario leaves it to the hardware; `off` says why it cannot be moved now.
    """
    key = join_path(path)
    if not first_drawn(key):
        return
    knob = field(key)
    now = value_at(shown().scenario, path)
    now = next(one for one in (now, value, knob.default, knob.low) if one is not None)
    cast = int if knob.type.startswith("whole") else float
    low, high, step = _range(knob, float(now), float(usual(shown().scenario, path, now)))
    st.session_state[key] = cast(now)
    unit = "percent" if knob.unit.startswith("of ") else None
    st.slider(
        label or titled(knob),
        cast(low),
        cast(high),
        step=cast(step),
        key=key,
        help=with_term(
            joined((off, tr(knob.help)) if off else (tr(knob.help), bounds(knob)), say()), term_of(key)
        ),
        format=unit or ("%d" if cast is float and step >= 1 else None),
        disabled=off is not None,
        on_change=changed,
        args=(key, key),
    )


def entry(
    path: tuple[str, ...],
    label: str | None = None,
    kind: str | None = None,
    choices: tuple[str, ...] = (),
    absent: str | None = None,
) -> None:
    """Any other value: a switch, a choice, a number that may be absent, a list, a text; once in a run.

    `choices` are the values of a text that are known, `absent` stands where there is no number.
    """
    key = join_path(path)
    if not first_drawn(key):
        return
    knob = field(key, kind)
    now = value_at(shown().scenario, path)
    title = label or titled(knob)
    told = with_term(tr(knob.help), term_of(key))
    common: dict[str, Any] = {"key": key, "help": told, "on_change": changed, "args": (key, key)}
    st.session_state[key] = now
    if knob.type == "true or false":
        st.toggle(title, **common)
    elif choices or knob.type == "choice":
        words = {one: choice(one) for one in choices or knob.choices}
        st.selectbox(title, list(words), format_func=lambda one: words.get(one, one), **common)
    elif knob.type == "text":
        st.text_input(title, **common)
    elif knob.type in ("list", "table"):
        st.session_state[key] = several_text(now)
        common |= {"on_change": _changed_several, "args": (key, knob.type == "table")}
        how = tr("Write {how}.", how=tr(SEVERAL[knob.type == "table"]))
        common["help"] = with_term(joined((tr(knob.help), how), say()), term_of(key))
        st.text_input(title, placeholder=tr("none"), **common)
    elif isinstance(now, int | float | None) and ("number" in knob.type):
        cast = int if knob.type.startswith("whole") else float
        st.session_state[key] = None if now is None else cast(now)
        if knob.optional:
            common["value"] = None  # else an emptied field would jump back
        st.number_input(
            title,
            min_value=None if knob.low is None else cast(knob.low),
            max_value=None if knob.high is None or knob.high > 2**53 else cast(knob.high),
            step=cast(knob.step or (1 if cast is int else 0.01)),
            placeholder=tr("none") if absent is None else absent,
            format=None if cast is int else "%g",
            **common,
        )
