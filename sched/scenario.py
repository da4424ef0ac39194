"""The scenario: all that a simulation depends on, checked once, whichever door it came through."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ValidationError, model_validator

from sched.checks import MOST_REQUESTS, check, notes
from sched.fields import Named, Part, Real, ScenarioError, Table, Text, Whole, knob, problem, sentence
from sched.language import ENGLISH, Language
from sched.laws import Arrivals, Length
from sched.parts import LONGEST_S, SHORTEST_S, Affine, ClassPromise, Engine, Slo, Tenant
from sched.registry import (
    DEFAULT_POLICIES,
    Policies,
    PolicyEntry,
    default_policies,
    known_policies,
    register_policy,
)
from sched.sentences import first_sentence
from sched.sources import Request, Trace, Traffic

if TYPE_CHECKING:
    from sched.presets import Preset

SCHEMA = 1
"""Version of this schema. Older files and links are migrated, newer ones refused in words."""


def _list(value: Any) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise problem("must be a list of tables")
    return tuple(value)


def _named_requests(requests: tuple[Request, ...]) -> tuple[Request, ...]:
    """Requests without an id get `class-n`, n from 0."""
    if all(request.id for request in requests):
        return requests
    made: dict[str, int] = {}
    named: list[Request] = []
    for request in requests:
        if not request.id:
            first = made.get(request.class_name, 0)
            if request.count > 1 and first:
                raise sentence(
                    f"requests: give an id with {{i}} in it to the {request.count} copies of class "
                    f"{request.class_name}; only the first unnamed ones of a class get their ids made",
                    "requests",
                )
            made[request.class_name] = first + request.count
            mark = "{i}" if request.count > 1 else str(first)
            request = request.model_copy(update={"id": f"{request.class_name}-{mark}"})
        named.append(request)
    return tuple(named)


class Scenario(Part):
    """What is simulated: requests (explicit, generated or from a trace), an engine, the policies compared."""

    schema_version: Whole = knob(
        SCHEMA, "Schema", "Version of the schema.", low=1, high=SCHEMA, alias="schema"
    )
    title: Text = knob("", "Title", "One line that names the scenario.", high=300)
    story: Text = knob("", "Story", "What happens here, in plain language.", high=4000)
    link_base: Text = knob(
        "blank@1", "Written against", "name@revision: what a link's changes are written against.", high=200
    )
    seed: Whole = knob(
        1, "Seed", "Another seed draws other arrivals and lengths.", low=0, high=2**63 - 1, step=1
    )
    duration_s: Real = knob(
        60.0,
        "Duration",
        "Arrivals stop here; the run then drains.",
        unit="s",
        low=SHORTEST_S,
        high=float(LONGEST_S),
        step=5.0,
    )
    warmup_s: Real = knob(
        0.0,
        "Warm-up",
        "Requests that arrive before this are simulated and left out of the metrics.",
        unit="s",
        low=0.0,
        high=float(LONGEST_S),
        step=1.0,
        expert=True,
    )
    drain_s: Real | None = knob(
        None,
        "Drain",
        "How long the run goes on after the arrivals; none: until every request has ended.",
        unit="s",
        low=0.0,
        high=float(LONGEST_S),
        step=5.0,
        expert=True,
    )
    urgency: Literal["low_first", "high_first"] = knob(
        "low_first", "Urgency", "low_first: the smaller priority is the more urgent; high_first: the larger."
    )
    annotate_after_s: Real | None = knob(
        None,
        "Explain waits after",
        "A wait longer than this is explained; none: a quarter of the TTFT goal.",
        unit="s",
        low=0.0,
        high=float(LONGEST_S),
        step=0.1,
        expert=True,
    )
    engine: Engine = knob(Engine(), "Engine", "Memory, seats, token budget and the time of an iteration.")
    requests: Annotated[tuple[Request, ...], BeforeValidator(_list), AfterValidator(_named_requests)] = knob(
        (), "Requests", "Explicit requests."
    )
    traffic: Annotated[tuple[Traffic, ...], BeforeValidator(_list)] = knob(
        (), "Traffic", "Generated classes."
    )
    trace: Trace | None = knob(None, "Trace", "Requests from a file.")
    tenants: Named[Tenant] = knob(Table(), "Tenants", "Weights by tenant; a tenant not listed weighs 1.")
    classes: Named[ClassPromise] = knob(Table(), "Classes", "Promises by class.")
    policies: Policies = knob(None, "Policies", "The policies compared, in order, each with its settings.")

    def __init__(self, /, **data: Any) -> None:
        if "policies" not in data:
            data["policies"] = default_policies()
        try:
            super().__init__(**data)
        except ValidationError as error:
            text, path = first_sentence(error, data)
            raise ScenarioError(text, path) from None

    @classmethod
    def model_validate(cls, obj: Any, **_: Any) -> Self:
        """The scenario in plain nested data (what TOML or JSON holds). Raises ScenarioError, one sentence."""
        if isinstance(obj, cls):
            return obj
        if not isinstance(obj, Mapping):
            raise ScenarioError("a scenario must be a table of settings")
        return cls(**{str(key): value for key, value in obj.items()})

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check(self)
        return self

    def notes(self, say: Language = ENGLISH) -> list[tuple[str, str]]:
        """Warnings: (path, sentence) for whatever is allowed but probably not meant."""
        return notes(self, say)

    def class_names(self) -> tuple[str, ...]:
        """Names of the classes in order of first mention; those of a trace are known once it is read."""
        names = [*(one.class_name for one in self.requests), *(one.name for one in self.traffic)]
        return tuple(dict.fromkeys(names))

    def level(self, priority: int) -> int:
        """A priority as requests are ordered by it, the smaller the more urgent; of a level its priority."""
        return -priority if self.urgency == "high_first" else priority

    def most_urgent(self) -> Traffic | None:
        """The most urgent of the classes that are generated, the first of equals; None where none is."""
        return min(self.traffic, key=lambda one: self.level(one.priority), default=None)

    def promise(self, class_name: str) -> ClassPromise:
        """Goals and time-out of a class: what its traffic says, else what [classes] says."""
        general = self.classes.get(class_name, ClassPromise())
        for one in self.traffic:
            if one.name == class_name:
                return ClassPromise(
                    slo=either(one.slo, general.slo),
                    timeout_s=one.timeout_s if one.timeout_s is not None else general.timeout_s,
                )
        return general

    def weight(self, tenant: str) -> float:
        """The tenant's weight; 1 when it is not listed."""
        return self.tenants[tenant].weight if tenant in self.tenants else 1.0


def either(first: Slo, second: Slo) -> Slo:
    """Goals of the first; where it has none, those of the second."""
    return Slo(
        **{
            name: mine if (mine := getattr(first, name)) is not None else getattr(second, name)
            for name in Slo.model_fields
        }
    )


def preset(name: str, revision: int | None = None) -> Scenario:
    """A ready scenario by name, in its newest revision unless another is asked for."""
    from sched import presets as store

    return store.preset(name, revision)


def presets() -> "list[Preset]":
    """The ready scenarios: name, revision, title and story, the default first."""
    from sched import presets as store

    return store.presets()


__all__ = [
    "DEFAULT_POLICIES",
    "LONGEST_S",
    "MOST_REQUESTS",
    "SCHEMA",
    "Affine",
    "Arrivals",
    "ClassPromise",
    "Engine",
    "Length",
    "PolicyEntry",
    "Request",
    "Scenario",
    "ScenarioError",
    "Slo",
    "Table",
    "Tenant",
    "Trace",
    "Traffic",
    "either",
    "known_policies",
    "preset",
    "presets",
    "register_policy",
]
