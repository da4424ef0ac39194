"""The policies the schema knows, and the models of their settings, made from what each policy declares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, ValidationError, create_model

from sched.fields import (
    Flag,
    Named,
    Part,
    Real,
    Table,
    Text,
    Whole,
    knob,
    numbers,
    problem,
    sentence,
    suggestion,
)
from sched.model import Setting
from sched.sentences import first_sentence

DEFAULT_POLICIES = ("fcfs", "priority", "preemptive", "rescue")
"""What is compared when a scenario does not say."""


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """A policy as the schema knows it: its key, its texts and the model of its settings."""

    key: str
    title: str
    help: str
    settings: tuple[Setting, ...]
    model: type["PolicySettings"]


_policies: dict[str, PolicyEntry] = {}


class PolicySettings(Part):
    """The settings of one policy. The class is made at registration, so it is pickled by the policy's key."""

    policy: ClassVar[str]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuilt, (self.policy, {name: getattr(self, name) for name in type(self).model_fields}))


def _rebuilt(key: str, values: dict[str, Any]) -> Part:
    return _policies[key].model.model_validate(values)


def _setting_type(setting: Setting) -> Any:
    if setting.table:
        return Named[Real]
    kind: Any = Real
    if isinstance(setting.default, tuple):
        return Annotated[tuple[Real, ...], BeforeValidator(numbers)]
    if setting.choices:
        kind = Literal[setting.choices]
    elif isinstance(setting.default, bool):
        kind = Flag
    elif isinstance(setting.default, int) or (setting.default is None and isinstance(setting.step, int)):
        kind = Whole
    elif isinstance(setting.default, str):
        kind = Text
    return kind | None if setting.default is None else kind


def register_policy(key: str, title: str, help: str, settings: tuple[Setting, ...]) -> None:
    """Make a policy known to the schema, so that scenarios may name it and its settings are checked.

    A default of None is a number or none, a whole one if its step is one; a table holds numbers by name, a
    tuple is a list of numbers, each within the bounds.
    """
    fields: dict[str, Any] = {}
    for one in settings:
        default = Table[Any]() if one.table else one.default
        kind = _setting_type(one)
        described = knob(
            default, one.title, one.help, unit=one.unit, low=one.low, high=one.high, step=one.step
        )
        fields[one.name] = (kind, described)
    name = f"{key.title().replace('_', '')}Settings"
    model = create_model(name, __base__=PolicySettings, __module__=__name__, **fields)
    model.policy = key
    model.__doc__ = help
    _policies[key] = PolicyEntry(key, title, help, settings, model)


def known_policies() -> Mapping[str, PolicyEntry]:
    """Every registered policy by key, in order of registration."""
    return dict(_policies)


def no_such_policy(key: str) -> str:
    """What is said of a policy that there is not, wherever it is named."""
    return f"policy = {key}: no such policy{suggestion(key, _policies, most=len(_policies))}"


def _settings(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list | tuple):
        value = {key: {} for key in value if isinstance(key, str)}
    if not isinstance(value, Mapping):
        raise problem("must be a table of policies and their settings")
    if not value:
        raise sentence("policies: name at least one policy to run", "policies")
    found: dict[str, Any] = {}
    for key, given in value.items():
        if key not in _policies:
            raise sentence(no_such_policy(str(key)), f"policies.{key}")
        model = _policies[key].model
        try:
            found[key] = given if isinstance(given, model) else model.model_validate(given)
        except ValidationError as error:
            text, path = first_sentence(error, given, str(key))
            raise sentence(text, path) from None
    return Table(found)


def default_policies() -> Mapping[str, Any]:
    """What is compared when a scenario does not say: those of DEFAULT_POLICIES that exist."""
    return Table({key: _policies[key].model() for key in DEFAULT_POLICIES if key in _policies})


Policies = Annotated[
    Mapping[str, Any],
    BeforeValidator(_settings),
    AfterValidator(Table),
    PlainSerializer(lambda table: {key: one.model_dump() for key, one in table.items()}),
]
"""Policies in order, each with its checked settings (attributes by name)."""
