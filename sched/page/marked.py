"""Sentences with parts that stand out, safe for any text that a user wrote."""

import re

from sched.page.titles import unbroken

Pieces = list[tuple[str, str]]
OPEN, END = "\ue000", "\ue001"
"""Around a marked part of a sentence, with its kind; no text of a user holds them when it gets here."""


def mark(text: str, kind: str = "strong") -> str:
    """A part of a sentence that stands out: strong, good or bad."""
    return f"{OPEN}{kind}:{text}{END}"


def pieces(text: str) -> Pieces:
    """A sentence cut at its marks, as texts with their kinds."""
    found: Pieces = []
    for place, piece in enumerate(re.split(f"{OPEN}(.*?){END}", text, flags=re.DOTALL)):
        kind, _, rest = piece.partition(":") if place % 2 else ("", "", piece)
        if rest:
            found.append((unbroken(rest), kind))
    return found
