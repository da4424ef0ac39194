"""What the scenario schema is made of: the knob, its bounds, and the sentence that says what is wrong."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, NoReturn, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sched.bounded import bound_text, bounded, check_bounds
from sched.sentences import (
    NO_TEXT,
    ScenarioError,
    first_sentence,
    is_text,
    number_text,
    problem,
    refuse,
    sentence,
    suggestion,
    visible,
)

V = TypeVar("V")


class Table(dict[str, V]):
    """An ordered mapping that cannot change; two are equal only if their order is the same too."""

    def _frozen(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a scenario's tables cannot be changed; make a changed scenario instead")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _frozen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and list(self.items()) == list(other.items())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


def _freeze(value: Mapping[str, Any]) -> Table[Any]:
    return Table(value)


def _table(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise problem("must be a table of names")
    for name in value:
        if not isinstance(name, str) or not name:
            raise problem("every name in it must be a text of at least one character")
        _text(name)
    return dict(value)


Named = Annotated[
    Mapping[str, V],
    BeforeValidator(_table),
    AfterValidator(_freeze),
    PlainSerializer(lambda table: dict(table)),
]
"""A frozen, ordered mapping from a name to a value."""


def _number(value: Any, words: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem(f"must be {words}")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise problem("is too large: a whole number has at most 63 bits")
    if not math.isfinite(value):
        raise problem("must be a finite number")


def _real(value: Any) -> float:
    _number(value, "a number")
    return float(value) + 0.0  # -0.0 and 0.0 would be equal scenarios with different texts


def whole(value: Any) -> int:
    """The value as an int; a float without a fraction counts as one. Raises in words otherwise."""
    _number(value, "a whole number")
    if value != int(value):
        raise problem("must be a whole number")
    if abs(value) >= 2**63:
        raise problem("is too large: a whole number has at most 63 bits")
    return int(value)


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise problem("must be true or false")
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise problem("must be a text; put it in quotes")
    if not is_text(value):
        raise problem(NO_TEXT)
    return value


Whole = Annotated[int, BeforeValidator(whole)]
Real = Annotated[float, BeforeValidator(_real)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Text = Annotated[str, BeforeValidator(_text)]


def knob(
    default: Any,
    title: str,
    help: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    step: float | None = None,
    expert: bool = False,
    alias: str | None = None,
    also: str = "",
) -> Any:
    """One value of the schema, described once: form, link, file, command line and reference table read this.

    `low` and `high` are inclusive, `above` is exclusive; of a text they bound the length. The default `...`
    means that the value must be given. `also` is a word that may stand for the number.
    """
    extra: dict[str, Any] = {
        "unit": unit,
        "low": low,
        "high": high,
        "above": above,
        "step": step,
        "expert": expert,
        "also": also,
    }
    return Field(default, title=title, description=help, json_schema_extra=extra, alias=alias)


def numbers(value: Any) -> Any:
    """The value as a list of numbers. Raises in words otherwise."""
    if not isinstance(value, list | tuple):
        raise problem("must be a list of numbers, such as [0.5, 2, 10]")
    return tuple(value)


def extras(model: type[BaseModel], name: str) -> Mapping[str, Any]:
    """The knob's own description: unit, low, high, above, step, expert."""
    found = model.model_fields[name].json_schema_extra
    return found if isinstance(found, dict) else {}


class Part(BaseModel):
    """A frozen part of a scenario. Unknown names are refused with the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    @model_validator(mode="before")
    @classmethod
    def _known_names(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if not isinstance(data, Mapping):
            raise problem("must be a table of settings")
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in data:
            if key not in known:
                raise PydanticCustomError(
                    "unknown",
                    "{text}",
                    {"key": visible(str(key)), "text": "no such setting" + suggestion(str(key), known)},
                )
        return data

    @model_validator(mode="wrap")
    @classmethod
    def _what_it_may_be(cls, data: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Say of a value that is no number what its bounds are."""
        try:
            return read(data)
        except ValidationError as error:
            names = {field.alias or name: name for name, field in cls.model_fields.items()}
            raise bounded(error, {key: extras(cls, name) for key, name in names.items()}) from None

    @field_validator("*", mode="after")
    @classmethod
    def _within_bounds(cls, value: Any, info: ValidationInfo) -> Any:
        check_bounds(value, extras(cls, str(info.field_name)))
        return value

    def changed(self, **values: Any) -> Self:
        """A checked copy with some values replaced. Raises ScenarioError for one that cannot be."""
        given = {field.alias or name: getattr(self, name) for name, field in type(self).model_fields.items()}
        try:
            return type(self).model_validate({**given, **values})
        except ValidationError as error:
            text, path = first_sentence(error, {**given, **values})
            raise ScenarioError(text, path) from None


__all__ = [
    "Flag",
    "Named",
    "Part",
    "Real",
    "ScenarioError",
    "Table",
    "Text",
    "Whole",
    "bound_text",
    "check_bounds",
    "extras",
    "knob",
    "number_text",
    "problem",
    "refuse",
    "sentence",
    "suggestion",
    "whole",
]
