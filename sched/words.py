"""How figures are said: times, counts, and pieces of sentences with their tone, in a language."""

import re
from collections.abc import Iterable, Sequence
from string import Formatter
from typing import NamedTuple

from sched.language import ENGLISH, Language, met

DEEDS = {"direct_s": "was there first", "growth_s": "kept growing", "bypass_s": "was admitted past it"}
"""What a culprit did, by kind of blame."""
SOME = {"direct_s": "were there first", "growth_s": "kept growing", "bypass_s": "were admitted past it"}
SHARE_WORTH_NAMING = 0.25


class Run(NamedTuple):
    """A piece of a sentence and how it is set: plain, strong, bad or good."""

    text: str
    tone: str = "plain"


NARROW = "\u202f"
"""Between a number and its unit where a line may break; what is read in a terminal has a plain space."""


def duration(s: float, space: str = " ") -> str:
    """A time as people say it: at most three digits, milliseconds below a tenth of a second."""
    if s == 0:
        return f"0{space}s"
    if s < 0.0995:
        return f"{s * 1000:.0f}{space}ms" if s >= 0.00095 else f"<1{space}ms"
    digits = 2 if s < 0.995 else 1 if s < 99.5 else 0
    return f"{s:,.{digits}f}{space}s"


def capital(text: str) -> str:
    """A text at the head of a sentence."""
    return text[:1].upper() + text[1:]


def percent(share: float, digits: int = 0) -> str:
    """A share as a person writes it: 96 %."""
    return f"{100 * share:.{digits}f} %"


def count(number: int, noun: str, say: Language = ENGLISH) -> str:
    """A number with its noun: 1 request, 1,250 blocks."""
    return say.count(number, f"{{n}} {noun}", f"{{n}} {noun}s")


def marked(template: str, say: Language = ENGLISH, /, **values: str | Sequence[Run]) -> list[Run]:
    """A sentence whose template sets pieces apart: **strong**, **bad: alarming**, **good: better**.

    A value is a text, in which nothing is a mark, or a sentence that is marked already.
    """
    found: list[Run] = []
    for place, piece in enumerate(re.split(r"\*\*", say(template))):
        kind, colon, rest = piece.partition(": ") if place % 2 else ("", "", piece)
        is_toned = bool(colon) and kind in ("bad", "good")
        tone = kind if is_toned else "strong" if place % 2 else "plain"
        for literal, name, _, _ in Formatter().parse(rest if is_toned else piece):
            value = values[name] if name else ""
            inside = [Run(value, tone)] if isinstance(value, str) else value
            found += [Run(literal, tone), *inside]
    return _merged(found, say)


def _merged(runs: Iterable[Run], say: Language) -> list[Run]:
    """The pieces without empty ones, neighbours of one tone in one, spaced as the language has it."""
    found: list[Run] = []
    for one in runs:
        if not one.text:
            continue
        if found and say.code != "en":
            before, after = met(found[-1].text, one.text)
            found[-1], one = Run(before, found[-1].tone), Run(after, one.tone)
        if found and found[-1].tone == one.tone:
            found[-1] = Run(found[-1].text + one.text, one.tone)
        else:
            found.append(one)
    return found


def listed(parts: Sequence[str], say: Language = ENGLISH) -> str:
    """Several things in a row: "one, two"."""
    found = parts[0] if parts else ""
    for one in parts[1:]:
        found = say("{first}, {next}", first=found, next=one)
    return found


def joined(sentences: Iterable[str], say: Language = ENGLISH) -> str:
    """Sentences one after the other: with a space between them where the language has one."""
    return ("" if say.code == "zh" else " ").join(one for one in sentences if one)


__all__ = [
    "DEEDS",
    "ENGLISH",
    "SHARE_WORTH_NAMING",
    "SOME",
    "Language",
    "Run",
    "count",
    "duration",
    "joined",
    "listed",
    "marked",
    "percent",
]
