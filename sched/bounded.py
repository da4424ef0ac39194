"""The bounds of a knob: checked, and said in words with the unit."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import ValidationError

from sched.sentences import counted, problem

NO_NUMBER = ("must be a number", "must be a whole number")


def bound_text(extra: Mapping[str, Any]) -> str:
    """The bounds in words: `at least 1 and at most 64 blocks`; "" when there are none."""
    found = [
        (words, extra[key])
        for key, words in (("low", "at least"), ("above", "more than"), ("high", "at most"))
        if extra.get(key) is not None
    ]
    units = [""] * (len(found) - 1) + [str(extra.get("unit") or "")]
    parts = [f"{words} {counted(value, unit)}" for (words, value), unit in zip(found, units, strict=False)]
    return " and ".join(parts) + (f", or {extra['also']}" if extra.get("also") else "")


def _each(value: float, extra: Mapping[str, Any]) -> None:
    """Raise, in words, when one number of a list or a table is outside the knob's bounds."""
    low, high, above = extra.get("low"), extra.get("high"), extra.get("above")
    is_low = (low is not None and value < low) or (above is not None and value <= above)
    if is_low or (high is not None and value > high):
        raise problem(f"each number in it must be {bound_text(extra)}", str(extra.get("unit", "")))


def check_bounds(value: Any, extra: Mapping[str, Any]) -> None:
    """Raise, in words, when a number (or the length of a text) is outside the knob's bounds."""
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else ()
    for one in inside:
        if isinstance(one, int | float):
            _each(one, extra)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return
    size = len(value) if isinstance(value, str) else value
    low, high, above = extra.get("low"), extra.get("high"), extra.get("above")
    is_text = isinstance(value, str)
    must, unit = "must have" if is_text else "must be", "" if is_text else str(extra.get("unit", ""))
    of = "characters" if is_text else unit
    also = f", or {extra['also']}" if extra.get("also") else ""
    if low is not None and size < low:
        raise problem(f"{must} at least {counted(low, of)}{also}", unit)
    if above is not None and size <= above:
        raise problem(f"{must} more than {counted(above, of)}{also}", unit)
    if high is not None and size > high:
        raise problem(f"{must} at most {counted(high, of)}{also}", unit)


def bounded(error: ValidationError, known: Mapping[str, Mapping[str, Any]]) -> ValidationError:
    """The same mistake; with the bounds, where a value is no number. `known` describes the knobs by name."""
    first = error.errors(include_url=False)[0]
    text, place = first.get("ctx", {}).get("text"), first["loc"]
    extra = known.get(str(place[0]), {}) if len(place) == 1 else {}
    bounds = bound_text(extra)
    if text not in NO_NUMBER or not bounds:
        return error
    unit = str(extra.get("unit") or "")
    said = problem(f"{text}, {bounds}", unit if unit.startswith("of ") else "")
    return ValidationError.from_exception_data(
        error.title, [{"type": said, "loc": place, "input": first["input"]}]
    )
