"""Scenario files: TOML or JSON text in, a checked scenario out, and back."""

import json
import tomllib
from collections.abc import Callable, Mapping
from os.path import relpath
from pathlib import Path
from typing import Any

import tomli_w

from sched.fields import ScenarioError
from sched.plain import Plain, plain
from sched.scenario import SCHEMA, Scenario
from sched.sentences import NOT_UTF8, TOO_DEEP, Written, value_text

MIGRATIONS: dict[int, Callable[[Plain], Plain]] = {}
"""From a schema version to the next; the first version has nothing before it."""

MOST_BYTES = 50_000_000
TOO_MANY_DIGITS = "a number in it has too many digits to be read"


def migrated(data: Mapping[str, Any], version: Any, what: str) -> Plain:
    """The data in today's schema. Raises in words when it is of a newer one."""
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ScenarioError(
            f"{what} = {value_text(version)}: must be a whole number from 1 to {SCHEMA}", what
        )
    if version > SCHEMA:
        raise ScenarioError(
            f"{what} = {version}: made by a newer Sched Lab; this one reads up to {SCHEMA}, so update it",
            what,
        )
    found = dict(data)
    for step in range(version, SCHEMA):
        found = MIGRATIONS[step](found)
    return found


def from_plain(data: Any) -> Scenario:
    """A scenario from plain nested data."""
    if not isinstance(data, Mapping):
        raise ScenarioError("a scenario must be a table of settings")
    current = migrated(data, data.get("schema", SCHEMA), "schema")
    current["schema"] = SCHEMA
    return Scenario.model_validate(current)


def toml_data(text: str, name: str = "the text") -> Plain:
    """Plain data from TOML. Raises ScenarioError with the line when it is no TOML."""
    try:
        return tomllib.loads(text, parse_float=Written)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{name} is not valid TOML: {error}") from None
    except ValueError:
        raise ScenarioError(f"{name}: {TOO_MANY_DIGITS}") from None
    except RecursionError:
        raise ScenarioError(f"{name} is not valid TOML: it {TOO_DEEP}") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> Plain:
    found: Plain = {}
    for key, value in pairs:
        if key in found:
            raise ScenarioError(f"{key}: given twice in the same table", key)
        found[key] = value
    return found


def json_data(text: str, name: str = "the text") -> Any:
    """Plain data from JSON. Raises ScenarioError with the line when it is no JSON."""
    try:
        return json.loads(text, object_pairs_hook=_without_twins, parse_float=Written)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{name} is not valid JSON: {error}") from None
    except ScenarioError:
        raise
    except ValueError:
        raise ScenarioError(f"{name}: {TOO_MANY_DIGITS}") from None
    except RecursionError:
        raise ScenarioError(f"{name} is not valid JSON: it {TOO_DEEP}") from None


def from_text(text: str, name: str = "the text") -> Scenario:
    """A scenario from TOML or JSON text; JSON begins with a brace or comes from a file that is named so."""
    text = text.removeprefix("\ufeff")
    is_json = text.lstrip().startswith("{") or name.lower().endswith(".json")
    data = json_data(text, name) if is_json else toml_data(text, name)
    if isinstance(data, dict):
        data.pop("revision", None)
    return from_plain(data)


def to_toml(scenario: Scenario) -> str:
    """The scenario as TOML; values that equal their default are left out."""
    return tomli_w.dumps(plain(scenario))


def to_json(scenario: Scenario, *, full: bool = False) -> str:
    """The scenario as JSON; with `full`, defaults are written too."""
    return json.dumps(plain(scenario, full=full), ensure_ascii=False, allow_nan=False, indent=1)


def read_file(path: Path) -> Scenario:
    """A scenario file. A relative trace in it is looked for beside the file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(raw) > MOST_BYTES:
        raise ScenarioError(
            f"{path}: {len(raw):,} bytes: must be at most {MOST_BYTES:,}; give its requests as a trace"
        )
    try:
        scenario = from_text(raw.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: {NOT_UTF8}") from None
    trace = scenario.trace
    if trace is None or not trace.file or Path(trace.file).is_absolute():
        return scenario
    return scenario.changed(trace=trace.changed(file=(path.parent / trace.file).as_posix()))


def write_file(path: Path, scenario: Scenario) -> None:
    """Write a scenario file. A relative trace is named from there: the two can be moved together."""
    trace = scenario.trace
    if trace is not None and trace.file and not Path(trace.file).is_absolute():
        file = Path(trace.file).resolve()
        try:
            name = Path(relpath(file, path.parent.resolve()))
        except ValueError:  # on another drive
            name = file
        scenario = scenario.changed(trace=trace.changed(file=name.as_posix()))
    path.write_text(to_toml(scenario), encoding="utf-8")


def load(name: str) -> Scenario:
    """A preset by name or name@revision, or a TOML or JSON file by path."""
    from sched.presets import named

    if name.lower().endswith((".toml", ".json")) or Path(name).is_file():
        return read_file(Path(name))
    return named(name)
