"""Every mistake as one sentence: the dotted name as the user writes it, the value, and what is wrong."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn, Self

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

KEYS = ("name", "id")
NOT_UTF8 = "must be UTF-8 text; save it as UTF-8"
TOO_DEEP = "is nested too deeply; write it with fewer than 100 levels"
LONG_WORD = re.compile(r"(\S{80})\S{220,}?([:;,]?)(?=\s|$)")
"""Such as a key that somebody pasted by mistake: only its beginning is told."""
NO_TEXT = "must be text that can be written as UTF-8"
HALF = re.compile("[\ud800-\udfff]")
"""Half of a letter beyond the first 65,536: alone it is no text, and cannot be written anywhere."""
TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Signs that change the order in which what follows is shown."""


class ScenarioError(ValueError):
    """A user's mistake, in one sentence that the page, the command line and the tests all show.

    `path` is the dotted name of the value at fault, "" when the mistake is not about one value.
    """

    def __init__(self, sentence: str, path: str = "") -> None:
        # A sentence is one line that can be read, whatever is in the text that it quotes.
        sentence = LONG_WORD.sub(r"\1…\2", sentence)
        super().__init__(visible(sentence))
        self.path = path


def visible(text: str, keep: str = "") -> str:
    """The text, with what would steer a terminal or turn the reading order written out: ESC as \\x1b."""
    if text.isprintable():
        return text
    return "".join(letter if letter in keep else _shown(letter) for letter in text)


def _shown(letter: str) -> str:
    if letter in TURNING or unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp"):
        return letter.encode("unicode_escape").decode("ascii")
    return letter


def is_text(value: str) -> bool:
    """Whether it can be written as UTF-8: no half of a letter (lone surrogate) is in it."""
    return value.isascii() or HALF.search(value) is None


def problem(text: str, unit: str = "") -> PydanticCustomError:
    """A mistake in the value being checked; the path and the value are put in front of the text."""
    return PydanticCustomError("problem", "{text}", {"text": visible(text), "unit": unit})


def sentence(text: str, path: str = "") -> PydanticCustomError:
    """A mistake that concerns several values: the text is the whole sentence."""
    return PydanticCustomError("sentence", "{text}", {"text": visible(text), "path": visible(path)})


def refuse(text: str, path: str = "") -> NoReturn:
    """Stop with the sentence `path: text`."""
    raise ScenarioError(f"{path}: {text}" if path else text, path)


def suggestion(word: str, known: Iterable[str], most: int = 20) -> str:
    """` Did you mean ...?` for the nearest known word, the whole list when it is short, or nothing."""
    names = list(known)
    near = get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known are {', '.join(names)}" if 0 < len(names) <= most else ""


class Written(float):
    """A number from a text, which a sentence about it says as it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        found = super().__new__(cls, text)
        found.text = text
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (Written, (self.text,))


def number_text(value: float) -> str:
    """A number as a person writes it: 100, 0.05, 1e-09."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def grouped(value: float) -> str:
    """The same with its thousands apart: 8,640,000."""
    text = number_text(value)
    return f"{int(text):,}" if text.lstrip("-").isdigit() else text


def counted(value: float, unit: str) -> str:
    """A number with its unit: `1 block`, `8,640,000 s`; of a share the number alone."""
    if not unit or unit.startswith("of "):
        return grouped(value)
    is_one_of_many = value == 1 and unit.isalpha() and len(unit) > 1
    return f"{grouped(value)} {unit.removesuffix('s') if is_one_of_many else unit}"


def quoted(name: str) -> str:
    """A part of a dotted path; in double quotes unless it is letters, digits, `_`, `-` and `{i}`."""
    return name if re.fullmatch(r"[\w{}-]+", name) else json.dumps(name, ensure_ascii=False)


def value_text(value: Any) -> str:
    """A value as it is written in a scenario file, cut when it is long."""
    try:
        text = (
            value.text if isinstance(value, Written) else json.dumps(value, ensure_ascii=False, default=str)
        )
    except ValueError:
        text = repr(value)
    text = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf", "null": "none"}.get(text, text)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= 80 else text[:77] + "…"


def _step(value: Any, part: Any) -> Any:
    if isinstance(part, int) and isinstance(value, list | tuple):
        return value[part] if 0 <= part < len(value) else None
    if isinstance(value, Mapping):
        return value.get(part)
    return getattr(value, str(part), None)


def _place(location: tuple[Any, ...], data: Any, prefix: str) -> tuple[str, Any]:
    """Dotted path and value at fault: list members by their name or id, union tags left out."""
    path, value = ([prefix] if prefix else []), data
    for part in location:
        if isinstance(value, Mapping) and part not in value and value.get("kind") == part:
            continue
        value = _step(value, part)
        if isinstance(part, int) and isinstance(value, Mapping):
            key = next((str(value[k]) for k in KEYS if isinstance(value.get(k), str) and value[k]), None)
            path.append(quoted(key) if key else str(part))
        else:
            path.append(quoted(str(part)))
    return ".".join(path), value


def first_sentence(error: ValidationError, data: Any, prefix: str = "") -> tuple[str, str]:
    """The first mistake as (sentence, path)."""
    first = error.errors(include_url=False)[0]
    kind, ctx = first["type"], first.get("ctx", {})
    if kind == "sentence":
        return str(ctx["text"]), str(ctx["path"])
    path, value = _place(first["loc"], data, prefix)
    if kind == "unknown":
        name = f"{path}.{quoted(ctx['key'])}" if path else quoted(ctx["key"])
        return f"{name}: {ctx['text']}", name
    if kind == "missing":
        return f"{path}: must be given", path
    if kind in ("union_tag_invalid", "union_tag_not_found", "literal_error"):
        return _choice(kind, ctx, path, value)
    text = str(ctx["text"]) if kind == "problem" else _foreign(kind, first["msg"])
    if isinstance(value, Mapping | list | tuple) or hasattr(value, "model_fields"):
        return f"{path}: {text}" if path else text, path
    return stated(path, value_text(value), str(ctx.get("unit") or ""), text), path


def stated(path: str, value: str, unit: str, text: str) -> str:
    """A value at fault in its unit, and what is wrong; of a share it is said last what it is a share of."""
    if unit.startswith("of "):
        return f"{path} = {value}: {text} (share {unit})"
    return f"{path} = {value}{f' {unit}' if unit else ''}: {text}"


def _choice(kind: str, ctx: Mapping[str, Any], path: str, value: Any) -> tuple[str, str]:
    if kind == "literal_error":
        expected = re.findall(r"'([^']*)'", str(ctx["expected"]))
    else:
        expected = re.findall(r"'([^']*)'", str(ctx.get("expected_tags", "")))
        path = f"{path}.kind"
        value = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", value)
    names = ", ".join(expected)
    if kind == "union_tag_not_found":
        return f"{path}: must be given{f': one of {names}' if names else ''}", path
    hint = suggestion(value, expected) if isinstance(value, str) else ""
    hint = hint if hint.startswith("; did") else ""
    return f"{path} = {value_text(value)}: must be one of {names}{hint}", path


def _foreign(kind: str, message: str) -> str:
    """pydantic's own message in our words, for the few kinds that can still come up."""
    known = {
        "string_unicode": "must be text without lone surrogates",
        "dict_type": "must be a table",
        "model_attributes_type": "must be a table of settings",
        "model_type": "must be a table of settings",
        "int_parsing_size": "is too large",
    }
    return known.get(kind, message[:1].lower() + message[1:])
