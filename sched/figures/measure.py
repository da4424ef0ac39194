"""How wide a text is likely to be, so that it can be broken and shortened without any font."""

import re
import unicodedata

FONT = (
    "'Source Sans 3','Source Sans Pro',system-ui,'Noto Sans','Noto Sans CJK SC','Microsoft YaHei',sans-serif"
)
NARROW = "ijlIft.,:;'!|()[] \u202f"
DENSE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
WIDE = "mwMW@%—–+=<>"


def width(text: str, size: float, *, is_bold: bool = False) -> float:
    """About how many pixels a text of this size takes, rather too many than too few."""
    units = 0.0
    for sign in text:
        if unicodedata.combining(sign) or unicodedata.category(sign) in ("Cf", "Mn"):
            continue
        if unicodedata.east_asian_width(sign) in "WF":
            units += 1.0
        elif sign in NARROW:
            units += 0.34
        elif sign in WIDE:
            units += 0.92
        else:
            units += 0.68 if sign.isupper() else 0.6
    return units * size * (1.08 if is_bold else 1.0)


def shortened(text: str, room: float, size: float, *, is_bold: bool = False) -> str:
    """The text, or its beginning with an ellipsis where there is no room for all of it."""
    if width(text, size, is_bold=is_bold) <= room:
        return text
    cut = text
    while cut and width(cut + "…", size, is_bold=is_bold) > room:
        cut = cut[:-1]
    return cut.rstrip() + "…"


def apart(name: str) -> str:
    """A name that reads from right to left, kept from turning the sentence around it; others as they are."""
    if any(unicodedata.bidirectional(sign) in ("R", "AL", "RLE", "RLO", "RLI") for sign in name):
        return f"\u2068{name}\u2069"
    return name


LONGEST_NAME = 28
TURNS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\x00-\x1f]")
"""Signs that turn the writing round, or none at all."""


def displayed(name: str) -> str:
    """A name as a user wrote it, fit to stand in a sentence: not too long, nothing turned, nothing bold."""
    letters = TURNS.sub("", name)
    cut = letters if len(letters) <= LONGEST_NAME else f"{letters[: LONGEST_NAME - 9]}…{letters[-8:]}"
    return apart(cut.replace("**", "*\u200b*"))


def pieces(text: str) -> list[str]:
    """Where a text may be broken: after a space, and around every sign of a script without spaces."""
    return re.findall(rf"[{DENSE}]|[^ \n\t{DENSE}]+[ \n\t]*|[ \n\t]+", text)


Toned = tuple[str, str]
"""A piece of text with its tone."""


def lines(runs: list[Toned], room: float, size: float) -> list[list[Toned]]:
    """A text of pieces in tones, broken into lines."""
    found: list[list[Toned]] = [[]]
    used = 0.0
    for text, tone in runs:
        for piece in pieces(text):
            wide = width(piece.rstrip(), size, is_bold=tone not in ("", "plain"))
            if used and used + wide > room:
                found.append([])
                used = 0.0
                piece = piece.lstrip()
            if found[-1] and found[-1][-1][1] == tone:
                found[-1][-1] = (found[-1][-1][0] + piece, tone)
            else:
                found[-1].append((piece, tone))
            used += width(piece, size, is_bold=tone not in ("", "plain"))
    return [line for line in found if line] or [[("", "")]]
