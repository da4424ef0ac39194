"""A published result in the language of the session: its texts one by one, its figures name by name."""

import re
from collections.abc import Mapping
from typing import Any

from sched.page.language import say, tr

TEXTS = ("setting", "published", "ran")
FIGURES = ("ours", "rule")
NOT_ALLOWED = ", which the rule does not allow. "
"""Between what a row missed and why."""
NUMBER = re.compile(r"(-?[\d,.]+) ?(.*)")


def translated(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row as it is shown: in English as it stands."""
    if say().code == "en":
        return dict(row)
    said: dict[str, Any] = {name: tr(row[name]) for name in TEXTS if row[name]}
    said |= {name: _figures(row[name]) for name in FIGURES}
    missed, is_missed, why = row["why"].rpartition(NOT_ALLOWED)
    if is_missed:
        said["why"] = tr(
            "{missed}, which the rule does not allow. {why}", missed=_figures(missed), why=tr(why)
        )
    elif why:
        said["why"] = tr(why)
    return {**row, **said}


def pieces(text: str) -> list[str]:
    """The figures in a text, one by one."""
    return re.split("; |；", text)


def together(parts: list[str]) -> str:
    """Pieces in one text."""
    found = parts[0]
    for one in parts[1:]:
        found = tr("{first}; {next}", first=found, next=one)
    return found


def _figures(text: str) -> str:
    return together([_figure(one) for one in pieces(text)])


def _figure(text: str) -> str:
    """A figure with its name, or the bounds that were set for it."""
    name, _, value = text.rpartition(": ")
    if not name:
        return text
    low, _, high = value.partition(" and at most ")
    if value.startswith("exactly "):
        said = tr("exactly {value}", value=_value(value.removeprefix("exactly ")))
    elif high:
        said = tr(
            "at least {low} and at most {high}", low=_value(low.removeprefix("at least ")), high=_value(high)
        )
    elif value.startswith("at least "):
        said = tr("at least {low}", low=_value(value.removeprefix("at least ")))
    elif value.startswith("at most "):
        said = tr("at most {high}", high=_value(value.removeprefix("at most ")))
    else:
        said = _value(value)
    return tr("{name}: {value}", name=tr(name), value=said)


def _value(text: str) -> str:
    """A number and its unit."""
    match = NUMBER.fullmatch(text)
    if not match or not match[2]:
        return text
    return tr("{n} {unit}", n=match[1], unit=tr(f"unit: {match[2]}"))
