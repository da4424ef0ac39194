"""How figures are said: times, counts, and pieces of sentences with their tone."""

from typing import NamedTuple

DEEDS = {"direct_s": "was there first", "growth_s": "kept growing", "bypass_s": "was admitted past it"}
"""What a culprit did, by kind of blame."""
SOME = {"direct_s": "were there first", "growth_s": "kept growing", "bypass_s": "were admitted past it"}
SHARE_WORTH_NAMING = 0.25


class Run(NamedTuple):
    """A piece of a sentence and how it is set: plain, strong, bad or good."""

    text: str
    tone: str = "plain"


def duration(s: float) -> str:
    """A time as a person says it: 7.6 s, 0.38 s, 12 ms, at most three digits."""
    if s >= 100:
        return f"{s:,.0f} s"
    if s >= 0.1:
        return f"{s:.1f} s" if s >= 1 else f"{s:.2f} s"
    return f"{s * 1000:.0f} ms" if s >= 0.001 or s == 0 else f"{s * 1e6:.0f} µs"


def percent(share: float, digits: int = 0) -> str:
    """A share as a person writes it: 96 %."""
    return f"{100 * share:.{digits}f} %"


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 request, 1,250 blocks."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
