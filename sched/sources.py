"""Where requests come from: written one by one, generated as a class of traffic, or read from a trace."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from sched.fields import Named, Part, Real, Table, Text, Whole, knob, problem, whole
from sched.laws import MOST_TOKENS, Arrivals, Length, Poisson
from sched.parts import LONGEST_S, Slo, timeout

MOST_SHARE = 1e12
"""Shares of tenants may be counts of tokens; their sum is a number."""


def _segments(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise problem("must be a list of pairs [segment, tokens]")
    pairs: list[tuple[str, int]] = []
    for pair in value:
        if (
            not isinstance(pair, list | tuple)
            or len(pair) != 2
            or not isinstance(pair[0], str)
            or not pair[0]
        ):
            raise problem('must be a list of pairs [segment, tokens], such as [["system", 400]]')
        tokens = whole(pair[1])
        if not 1 <= tokens <= MOST_TOKENS:
            raise problem(f"segment {pair[0]} has {tokens} tokens: must be from 1 to {MOST_TOKENS}")
        pairs.append((pair[0], tokens))
    return tuple(pairs)


Segments = Annotated[tuple[tuple[str, int], ...], BeforeValidator(_segments)]


def _priority() -> Any:
    return knob(
        0,
        "Priority",
        "Urgency; the scenario says whether the smaller or the larger number is the more urgent.",
        low=-(2**31),
        high=2**31,
        step=1,
    )


class Request(Part):
    """One explicit request, or `count` of them `every_s` apart with `{i}` (from 0) in the id."""

    id: Text = knob(
        "", "Id", "Unique; {i} stands for the number of the copy; made as class-n when empty.", high=200
    )
    class_name: Text = knob("default", "Class", "The class it belongs to.", low=1, high=200, alias="class")
    tenant: Text = knob("default", "Tenant", "Whose request it is.", low=1, high=200)
    priority: Whole = _priority()
    arrival_s: Real = knob(
        0.0, "Arrival", "When it arrives.", unit="s", low=0.0, high=float(LONGEST_S), step=0.1
    )
    prompt: Whole = knob(
        ..., "Prompt", "Length of the prompt.", unit="tokens", low=1, high=MOST_TOKENS, step=1
    )
    output: Whole = knob(
        ..., "Output", "Tokens it generates.", unit="tokens", low=1, high=MOST_TOKENS, step=1
    )
    prefix: Segments = knob(
        (), "Prefix", "The prompt begins with these shared segments: pairs [segment, tokens].", expert=True
    )
    slo: Slo = knob(Slo(), "Promises", "Goals of this request; what is absent here is taken from its class.")
    timeout_s: Real | None = timeout()
    count: Whole = knob(1, "Copies", "How many alike.", unit="requests", low=1, high=1_000_000, step=1)
    every_s: Real = knob(
        0.0,
        "Every",
        "Time between copies; 0: all at once.",
        unit="s",
        low=0.0,
        high=float(LONGEST_S),
        step=0.1,
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Request":
        shared = sum(tokens for _, tokens in self.prefix)
        if shared > self.prompt:
            raise problem(f"prompt = {self.prompt} tokens: its prefix segments alone have {shared}")
        if self.count > 1 and self.id and "{i}" not in self.id:
            raise problem(
                f"count = {self.count} requests: the id {self.id} needs {{i}} in it, so that each is unique"
            )
        return self

    def copies(self) -> Iterator[tuple[str, float]]:
        """Id and arrival (seconds) of each copy."""
        for i in range(self.count):
            yield self.id.replace("{i}", str(i)), self.arrival_s + i * self.every_s


class Traffic(Part):
    """A class of generated requests: who sends them, how often, and how long they are."""

    name: Text = knob(..., "Class", "Name of the class.", low=1, high=200)
    priority: Whole = _priority()
    tenant: Text = knob("", "Tenant", "Whose requests they are; empty: named like the class.", high=200)
    tenants: Named[Real] = knob(
        Table(), "Tenant mix", "Shares of several tenants instead of one; scaled to a sum of 1.", expert=True
    )
    rate_per_s: Real = knob(
        ..., "Rate", "Mean number of requests per second.", unit="requests/s", above=0.0, high=1e6, step=0.05
    )
    arrivals: Arrivals = knob(Poisson(), "Arrivals", "The law of the gaps between requests.")
    prompt: Length = knob(..., "Prompt length", "The law of the prompt lengths.")
    output: Length = knob(..., "Output length", "The law of the output lengths.")
    prefix: Segments = knob(
        (), "Prefix", "Every prompt begins with these shared segments: pairs [segment, tokens].", expert=True
    )
    slo: Slo = knob(Slo(), "Promises", "Goals of this class.")
    timeout_s: Real | None = timeout()
    max_requests: Whole | None = knob(
        None,
        "Most requests",
        "The class stops after this many; none: at the end of the arrivals.",
        unit="requests",
        low=1,
        high=10_000_000,
        step=10,
        expert=True,
    )

    @model_validator(mode="after")
    def _one_owner(self) -> "Traffic":
        if self.tenant and self.tenants:
            raise problem("tenant and tenants are both given; keep one of them")
        for tenant, share in self.tenants.items():
            if share <= 0:
                raise problem(f"tenants.{tenant} = {share:g}: must be more than 0")
            if share > MOST_SHARE:
                raise problem(f"tenants.{tenant} = {share:g}: must be at most {MOST_SHARE:g}")
        return self

    def shares(self) -> dict[str, float]:
        """Share of each tenant, summing to 1."""
        if not self.tenants:
            return {self.tenant or self.name: 1.0}
        total = sum(self.tenants.values())
        return {tenant: share / total for tenant, share in self.tenants.items()}


class Trace(Part):
    """Requests read from a file. A link cannot carry a file: it carries the digest of the stored bytes."""

    file: Text = knob("", "File", "Path of the trace.", high=4096)
    digest: Text = knob("", "Digest", "SHA-256 of the stored bytes, in hex.", high=64)
    format: Text = knob("auto", "Format", "How the file is laid out; auto: found out.", low=1, high=100)
    map: Named[Text] = knob(
        Table(), "Columns", "Our field = the file's column, where they cannot be guessed.", expert=True
    )
    unit: Literal["auto", "s", "ms", "us", "ns"] = knob("auto", "Time unit", "Unit of the arrival column.")
    priority: Named[Whole] = knob(
        Table(),
        "Priorities",
        "Class = priority, for a trace that carries classes and no priority.",
        expert=True,
    )
    zero_output: Literal["drop", "one"] = knob(
        "drop",
        "Empty outputs",
        "A row without output tokens is dropped, or counts as one token.",
        expert=True,
    )
    speed: Real = knob(1.0, "Speed", "2 plays the arrivals twice as fast.", above=0.0, high=1e6, step=0.1)
    limit: Whole | None = knob(
        None,
        "Most rows",
        "Only this many rows are used; none: all.",
        unit="rows",
        low=1,
        high=100_000_000,
        step=100,
    )

    @model_validator(mode="after")
    def _has_source(self) -> "Trace":
        if not self.file and not self.digest:
            raise problem("needs a file, or the digest of a stored one")
        if self.digest and (len(self.digest) != 64 or set(self.digest) - set("0123456789abcdef")):
            raise problem(f'digest = "{self.digest}": must be 64 hexadecimal digits in lower case')
        return self
