"""Values as people write them: plain nested data, one value as text, a dotted path and its parts."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from sched.fields import Part, ScenarioError, number_text
from sched.sentences import Written, quoted

Plain = dict[str, Any]
NONE = "none"
"""Says that a value which a preset has is absent here."""


def key_of(name: str, part: Part | type[Part]) -> str:
    """The name of an attribute as it is written: `class` for class_name."""
    model = part if isinstance(part, type) else type(part)
    return model.model_fields[name].alias or name


def plain(value: Any, *, full: bool = False) -> Any:
    """A scenario, or a part of it, as what TOML and JSON hold.

    Absent values (None) are left out; so are values that equal their default, unless `full`.
    """
    if isinstance(value, Part):
        found: Plain = {}
        for name, field in type(value).model_fields.items():
            one = getattr(value, name)
            is_default = (
                not field.is_required() and one == field.default and name not in ("kind", "schema_version")
            )
            if one is None or (is_default and not full):
                continue
            found[key_of(name, value)] = plain(one, full=full)
        return found
    if isinstance(value, Mapping):
        return {str(key): plain(one, full=full) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one, full=full) for one in value]
    return value


def string_text(text: str) -> str:
    """A text in double quotes, valid in TOML, in JSON and in a dotted path."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    """A plain value as TOML on one line, without spaces."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, Mapping):
        pairs = (f"{_toml_key(key)}={inline(one)}" for key, one in value.items())
        return "{" + ",".join(pairs) + "}"
    return "[" + ",".join(inline(one) for one in value) + "]"


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else string_text(name)


def value_text(value: Any) -> str:
    """A plain value as it stands after `=`: a TOML value, or a bare text where that cannot be misread."""
    if value is None:
        return NONE
    if isinstance(value, str) and value and value == value.strip() and read_value(value) == value:
        return value
    return inline(value)


def read_value(text: str) -> Any:
    """What a text after `=` means: a TOML value, None for `none`, else the text itself."""
    if text == NONE:
        return None
    try:
        # Inside a table on one line neither a comment nor a second key can slip in unseen.
        found = tomllib.loads(f"x={{v={text}}}", parse_float=Written)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return text
    if set(found) != {"x"} or set(found["x"]) != {"v"}:
        return text
    value = found["x"]["v"]
    return value if isinstance(value, bool | int | float | str | list | dict) else text


PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^."\s][^."]*')
SETTING = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^"=])*)=(.*)', re.DOTALL)


def is_written_as_number(text: str) -> bool:
    """Whether a text can be a number outside TOML: no underscores, and only the digits 0 to 9."""
    return text.isascii() and "_" not in text


def split_path(path: str) -> tuple[str, ...]:
    """Parts of a dotted path; a part with a dot, a space or another sign in it stands in double quotes."""
    parts: list[str] = []
    place = 0
    while place <= len(path):
        match = PART.match(path, place)
        if not match:
            raise ScenarioError(
                f"{path}: not a name; write names joined by dots, unusual ones in double quotes", path
            )
        parts.append(_unquoted(match.group(), path))
        place = match.end()
        if place < len(path) and path[place] != ".":
            raise ScenarioError(f"{path}: not a name; a quoted part must end at a dot", path)
        place += 1
    return tuple(parts)


def _unquoted(part: str, whole: str) -> str:
    if not part.startswith('"'):
        return part
    try:
        return str(json.loads(part))
    except ValueError:
        raise ScenarioError(f"{whole}: the quoted part {part} is not a text", whole) from None


def split_setting(text: str) -> tuple[str, str, str]:
    """Key, sign and value of `key=value`, parted at the first `=` outside quoted parts of the key."""
    match = SETTING.fullmatch(text)
    return (match[1], "=", match[2]) if match else (text, "", "")


def join_path(parts: Iterable[str]) -> str:
    """The dotted path of these parts, quoted where needed."""
    return ".".join(quoted(part) for part in parts)


def names_text(names: Iterable[str]) -> str:
    """An ordered list of names: `chat,docs`."""
    return ",".join(quoted(name) for name in names)


def read_names(text: str, path: str) -> list[str]:
    """Names separated by commas, unusual ones in double quotes. Raises in words for a name given twice."""
    names: list[str] = []
    rest = text.strip()
    while rest:
        match = re.match(r'\s*("(?:[^"\\]|\\.)*"|[^",]+?)\s*(?:,|$)', rest)
        if not match:
            raise ScenarioError(
                f"{path} = {text}: must be names separated by commas, unusual ones in double quotes", path
            )
        name = _unquoted(match.group(1), path)
        if name in names:
            raise ScenarioError(f"{path} = {text}: {name} is named twice", path)
        names.append(name)
        rest = rest[match.end() :]
    return names
