"""What a control says of the value it sets: title, unit, bounds and choices, in the session's language."""

import re

from sched.knobs import Knob
from sched.page.language import say, tr
from sched.sentences import grouped


def titled(knob: Knob) -> str:
    """The title with the unit, where the title does not say it already."""
    return with_unit(tr(knob.title), "" if knob.unit.startswith("of ") else tr(knob.unit))


def with_unit(title: str, unit: str) -> str:
    """A title and its unit, unless a word of the title says it."""
    edge = r"(?![A-Za-z])" if unit.isascii() else ""
    if not unit or re.search(rf"{edge and '(?<![A-Za-z])'}{re.escape(unit)}{edge}", title, re.IGNORECASE):
        return title
    return tr("{title}, {unit}", title=title, unit=unit)


def bounds(knob: Knob) -> str:
    """The bounds of a knob as a sentence: "At least 1 and at most 64 blocks."; "" when there are none."""
    low, above, high = (None if one is None else grouped(one) for one in (knob.low, knob.above, knob.high))
    if low is not None and high is not None:
        text = tr("at least {low} and at most {high}", low=low, high=high)
    elif low is not None:
        text = tr("at least {low}", low=low)
    elif above is not None and high is not None:
        text = tr("more than {above} and at most {high}", above=above, high=high)
    elif above is not None:
        text = tr("more than {above}", above=above)
    elif high is not None:
        text = tr("at most {high}", high=high)
    else:
        return ""
    if knob.unit and not knob.unit.startswith("of "):
        text = tr("{bounds} {unit}", bounds=text, unit=tr(knob.unit))
    return tr("{bounds}.", bounds=text[:1].upper() + text[1:])


def choice(one: str) -> str:
    """A choice of the schema as it is shown: its name in a file, and beside it what it means elsewhere."""
    shown = say()
    found = f"choice: {one}"
    return shown(found) if shown.code != "en" and found in shown.messages else one
