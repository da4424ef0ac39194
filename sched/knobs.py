"""Every knob of the schema with its texts and bounds, for forms, help and the reference table."""

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from sched.fields import Part, Table, bound_text, number_text, refuse, suggestion
from sched.plain import inline, key_of, plain, split_path
from sched.registry import known_policies
from sched.scenario import Scenario

MEMBERS = {"traffic": "<class>", "requests": "<id>", "tenants": "<tenant>", "classes": "<class>"}
"""Collections whose members go by name, and how the table writes that name."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One value that can be set: what it is, what it may be, and what it is when nobody says.

    `path` is dotted, with `<class>` and the like for a name; `when` says for which kind of law it holds, if
    not for all. `low` and `high` are inclusive, `above` is exclusive. `default` None: there is none.
    """

    path: str
    title: str
    help: str
    type: str
    default: Any
    required: bool
    low: float | None
    high: float | None
    above: float | None
    unit: str
    step: float | None
    choices: tuple[str, ...]
    optional: bool
    expert: bool
    when: str = ""

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        return (
            bound_text({"low": self.low, "above": self.above, "high": self.high})
            if self.type != "text"
            else ""
        )

    @property
    def default_text(self) -> str:
        """The default as it is written; `must be given` or `none` where there is no value."""
        if self.required:
            return "must be given"
        return "none" if self.default is None else inline(self.default)


def _options(annotation: Any) -> list[Any]:
    """The types a value may have, None left out."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [one for option in get_args(annotation) for one in _options(option)]
    return [] if annotation is type(None) else [annotation]


def _models(annotation: Any) -> list[type[Part]]:
    return [one for one in _options(annotation) if isinstance(one, type) and issubclass(one, Part)]


def _optional(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _optional(get_args(annotation)[0])
    return type(None) in get_args(annotation)


def _kind(annotation: Any) -> tuple[str, tuple[str, ...]]:
    options = _options(annotation)
    choices = tuple(str(choice) for one in options if get_origin(one) is Literal for choice in get_args(one))
    names = {bool: "true or false", int: "whole number", float: "number", str: "text"}
    words = [names[one] for one in options if one in names]
    if choices:
        return " or ".join([*words, "choice"]), choices
    if words:
        return words[0], ()
    return ("table" if any(get_origin(one) is not tuple for one in options) else "list"), ()


def _row(path: str, model: type[Part], name: str, when: str) -> Knob:
    info: FieldInfo = model.model_fields[name]
    extra: Mapping[str, Any] = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    kind, choices = _kind(info.annotation)
    default = None if info.is_required() else plain(info.default)
    if isinstance(info.default, Part) or (isinstance(info.default, Table) and not info.default):
        default = None
    return Knob(
        path=path,
        title=info.title or name,
        help=info.description or "",
        type=kind,
        default=default,
        required=info.is_required(),
        low=extra.get("low"),
        high=extra.get("high"),
        above=extra.get("above"),
        unit=str(extra.get("unit") or ""),
        step=extra.get("step"),
        choices=choices,
        optional=_optional(info.annotation),
        expert=bool(extra.get("expert")),
        when=when,
    )


def _law(path: str, laws: list[type[Part]]) -> Iterator[Knob]:
    kinds = tuple(str(law.model_fields["kind"].default) for law in laws)
    about = [(law.__doc__ or "").partition(".")[0] for law in laws]
    words = "; ".join(f"{kind}: {one}" for kind, one in zip(kinds, about, strict=True))
    yield Knob(
        f"{path}.kind", "Law", words, "choice", None, True, None, None, None, "", None, kinds, False, False
    )
    for kind, law in zip(kinds, laws, strict=True):
        yield from (row for row in _rows(path, law, f"kind = {kind}") if not row.path.endswith(".kind"))


def _rows(path: str, model: type[Part], when: str = "") -> Iterator[Knob]:
    for name, info in model.model_fields.items():
        here = f"{path}.{key_of(name, model)}" if path else key_of(name, model)
        inner = _models(info.annotation)
        members = _members(info.annotation)
        if members and here in MEMBERS:
            yield from _rows(f"{here}.{MEMBERS[here]}", members[0])
        elif len(inner) > 1:
            yield from _law(here, inner)
        elif inner:
            yield from _rows(here, inner[0], when)
        elif here != "policies":
            yield _row(here, model, name, when)


def _members(annotation: Any) -> list[type[Part]]:
    for option in _options(annotation):
        if get_origin(option) is not None:
            found = [model for one in get_args(option) for model in _models(one)]
            if found:
                return found
    return []


@cache
def _all(policies: tuple[tuple[str, type[Part]], ...]) -> dict[str, tuple[Knob, ...]]:
    """Every knob by its path; several where laws share a name."""
    found: dict[str, tuple[Knob, ...]] = {}
    schema: tuple[str, type[Part]] = ("", Scenario)
    for path, model in (schema, *policies):
        for row in _rows(path, model):
            found[row.path] = (*found.get(row.path, ()), row)
    return found


def _by_path() -> dict[str, tuple[Knob, ...]]:
    return _all(tuple((key, entry.model) for key, entry in known_policies().items()))


def reference() -> list[Knob]:
    """Every knob, in the schema's order, the settings of the policies last (`rescue.kv`)."""
    return [row for rows in _by_path().values() for row in rows]


def field(path: str, kind: str | None = None) -> Knob:
    """The knob at a dotted path, such as `traffic.docs.rate_per_s` or `rescue.kv`.

    `kind` chooses among the laws where one name has several. Raises ScenarioError for an unknown path.
    """
    parts = split_path(path)
    if parts[0] == "policies" and len(parts) > 2:
        parts = parts[1:]
    if parts[0] in MEMBERS and len(parts) > 2:
        parts = (parts[0], MEMBERS[parts[0]], *parts[2:])
    wanted = ".".join(parts)
    known = _by_path()
    for row in known.get(wanted, ()):
        if kind is None or row.when in ("", f"kind = {kind}"):
            return row
    refuse(f"no such setting{suggestion(wanted, known)}", path)


def markdown() -> str:
    """The reference table in Markdown."""
    lines = ["| name | default | bounds | unit | what it is |", "|---|---|---|---|---|"]
    for row in reference():
        allowed = ", ".join(row.choices) or row.bounds or row.type
        help = f"{row.help} ({row.when})" if row.when else row.help
        cells = [f"`{row.path}`", row.default_text, allowed, row.unit, help]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


__all__ = ["Knob", "field", "markdown", "number_text", "reference"]
