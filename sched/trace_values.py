"""One cell of a trace as a number of tokens, a time or a priority; or, as text, why it is none."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Context, Decimal
from typing import Any, Literal

from sched.laws import MOST_TOKENS
from sched.model import PS_PER_S

Kind = Literal["number", "date", "clock"]

UNIT_PS = {"s": PS_PER_S, "ms": 10**9, "us": 10**6, "ns": 10**3}
"""Picoseconds in each unit that an arrival column may have."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,12}))?\s*(Z|UTC|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d\d)(?:[.,](\d{1,12}))?")
_EXACT = Context(prec=60)
LARGEST_TIME = 10**20
"""No number in an arrival column is larger: nanoseconds since 1970 have 19 digits."""

_NOTHING = {"", "null", "none", "n/a", "na", "-"}
_ENDLESS = {"nan", "inf", "+inf", "-inf", "infinity", "-infinity"}

WORDS = {
    **dict.fromkeys(("p0", "interactive", "high", "highest", "critical", "urgent"), 0),
    **dict.fromkeys(("realtime", "online", "priority"), 0),
    **dict.fromkeys(("p1", "normal", "medium", "default", "standard", "auto", "streaming"), 1),
    **dict.fromkeys(("p2", "batch", "low", "lowest", "background", "offline", "flex", "bulk"), 2),
    "p3": 3,
}  # fmt: skip
"""Words for urgency in logs and service tiers, the most urgent first."""

USUAL_PRIORITY = 1
"""What a blank or unknown priority counts as, in a trace whose priorities are words."""


def is_blank(value: Any) -> bool:
    """Nothing there, in one of the many spellings of nothing."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def short(value: Any) -> str:
    """A value as it is quoted in a sentence: at most 40 characters."""
    text = str(value).strip()
    return f'"{text[:37]}…"' if len(text) > 40 else f'"{text}"'


def counted(count: int, noun: str) -> str:
    """`1 record`, `2,000 records`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def number(value: Any, decimal_comma: bool = False) -> Decimal | str:
    """An exact decimal, or the reason why it is none."""
    if is_blank(value):
        return "is missing"
    if isinstance(value, bool):
        return f"{short(value)} is not a number"
    if isinstance(value, int):
        return Decimal(value)
    text = str(value).strip()
    if text.lower() in _ENDLESS:
        return f"{short(text)} is not a finite number"
    if decimal_comma and "," in text:
        text = text.replace(".", "").replace(",", ".")
    elif _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    if not text.isascii() or not _NUMBER.fullmatch(text):
        return f"{short(text)} is not a number"
    return _EXACT.create_decimal(text)


def tokens(value: Any, decimal_comma: bool = False) -> int | str:
    """A whole number of tokens, 0 or more, or the reason why it is none."""
    if type(value) is str and value.isdecimal() and value.isascii() and len(value) < 8:
        return int(value)
    found = number(value, decimal_comma)
    if isinstance(found, str):
        return found
    if found < 0:
        return f"{short(value)} is negative"
    if found > MOST_TOKENS:
        return f"{short(value)} is more than {MOST_TOKENS:,} tokens"
    return (
        int(found)
        if found == found.to_integral_value()
        else f"{short(value)} is not a whole number of tokens"
    )


def kind_of(values: Sequence[Any], decimal_comma: bool = False) -> Kind | None:
    """How a column tells time, judged by its first readable values; None when none is a time."""
    votes: dict[Kind, int] = {"number": 0, "date": 0, "clock": 0}
    for value in values[:1000]:
        if is_blank(value):
            continue
        text = str(value).strip()
        if not isinstance(number(value, decimal_comma), str):
            votes["number"] += 1
        elif _DATE.fullmatch(text):
            votes["date"] += 1
        elif _CLOCK.fullmatch(text):
            votes["clock"] += 1
    best = max(votes, key=lambda kind: votes[kind])
    return best if votes[best] else None


def time_ps(value: Any, kind: Kind, unit_ps: int, decimal_comma: bool = False) -> int | str:
    """Picoseconds on the column's own clock (for dates: since year 1, UTC), exactly, or why it is no time."""
    if kind == "number":
        found = number(value, decimal_comma)
        if isinstance(found, str):
            return found
        if abs(found) > LARGEST_TIME:
            return f"{short(value)} is too large for a time"
        return int(_EXACT.multiply(found, Decimal(unit_ps)).to_integral_value())
    if is_blank(value):
        return "is missing"
    text = str(value).strip()
    match = (_DATE if kind == "date" else _CLOCK).fullmatch(text)
    if match is None:
        return f"{short(text)} is not a time"
    if kind == "clock":
        hours, minutes, seconds, fraction = match.groups()
        return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * PS_PER_S + _fraction_ps(fraction)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    try:
        days = date(year, month, day).toordinal()
    except ValueError:
        return f"{short(text)} is not a date"
    since = ((days * 24 + hour) * 60 + minute) * 60 + second - _offset_s(match[8])
    return since * PS_PER_S + _fraction_ps(match[7])


def has_zone(value: Any) -> bool:
    """Whether a date says its offset from UTC."""
    match = _DATE.fullmatch(str(value).strip())
    return bool(match and match[8])


def digits_of(values: Sequence[Any]) -> int:
    """Most digits that any of the first clock times has after its seconds."""
    found = (_CLOCK.fullmatch(str(value).strip()) for value in values[:1000])
    return max((len(match[4] or "") for match in found if match), default=0)


def _fraction_ps(digits: str | None) -> int:
    return int((digits or "").ljust(12, "0"))


def _offset_s(zone: str | None) -> int:
    if not zone or zone.upper() in ("Z", "UTC"):
        return 0
    size = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -size if zone[0] == "-" else size


def guessed_unit(values: Sequence[Any], column: str, usual: str | None) -> tuple[str, str]:
    """The unit of a numeric arrival column, and why: its size, its name, or what is usual."""
    sizes = sorted(abs(one) for value in values[:1000] if not isinstance(one := number(value), str))
    middle = sizes[len(sizes) // 2] if sizes else Decimal(0)
    for unit, least in (("ns", 10**17), ("us", 10**14), ("ms", 10**11), ("s", 10**9)):
        if middle >= least:
            return unit, "the values count from 1970"
    ending = re.search(r"_(ns|us|ms|s)$|(?<=[a-z])(Ns|Us|Ms)$", column)
    if ending:
        return ending[0].strip("_").lower(), "the column's name says so"
    return (usual, "this format has it") if usual else ("s", "nothing says otherwise")


def priority(value: Any) -> int | None:
    """A priority as a whole number or one of the known words; None when it is neither."""
    text = str(value).strip().lower()
    if text in WORDS:
        return WORDS[text]
    found = number(value)
    if isinstance(found, str) or found != found.to_integral_value() or abs(found) > 2**31:
        return None
    return int(found)
