"""The request list of a scenario: explicit requests, generated traffic and traces, in order of arrival.

The same scenario gives the same list on every machine. Arrivals, prompts, outputs and tenants of each class
have streams of their own, so changing one of them leaves the others as they were.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sched.arrivals import MAX_REQUESTS
from sched.cost import picoseconds
from sched.fields import refuse
from sched.lengths import Ints, lengths
from sched.model import NEVER, PS_PER_S
from sched.promises import Goals, promises
from sched.scenario import Scenario, Traffic
from sched.traffic import arrival_times, stream_of

Segments = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RequestList:
    """Every request of a run, one entry a request, in order of arrival and, at equal times, of the file.

    Columns are read-only int64 of shape (n,): times in picoseconds, lengths in tokens, NEVER where nothing
    was promised. `priority` is turned so that the smaller is the more urgent. `segments` are the named pieces
    a prompt begins with; `parents` the requests that were cut into these, "" for whole ones; None: nowhere.
    """

    ids: tuple[str, ...]
    arrival_ps: Ints
    prompt_tokens: Ints
    output_tokens: Ints
    priority: Ints
    class_index: Ints
    tenant_index: Ints
    ttft_goal_ps: Ints
    tpot_goal_ps: Ints
    timeout_ps: Ints
    class_names: tuple[str, ...]
    tenant_names: tuple[str, ...]
    weights: tuple[Fraction, ...]
    segments: tuple[Segments, ...] | None = None
    e2e_goal_ps: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    parents: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if len(self.e2e_goal_ps) != len(self.ids):
            object.__setattr__(self, "e2e_goal_ps", np.full(len(self.ids), NEVER, np.int64))

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class _Source:
    """Requests of one origin, not yet merged: numbers, or one number for all of them."""

    ids: list[str]
    arrival: Ints
    prompt: Ints | int
    output: Ints | int
    priority: Ints | int
    class_index: Ints | int
    tenant_index: Ints | int
    goals: tuple[Goals, ...]
    """By class index where there are several, else one for all."""
    segments: list[Segments] | Segments = ()


class _Names(dict[str, int]):
    """Numbers names in the order in which they are first met."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def requests(scenario: Scenario) -> RequestList:
    """Every request of the scenario. Raises ScenarioError when there are more than 2,000,000 of them."""
    classes, tenants = _Names(), _Names()
    promised = promises(scenario)
    sources = list(_explicit(scenario, promised, classes, tenants))
    sources += [_generated(scenario, one, promised[one.name], classes, tenants) for one in scenario.traffic]
    if scenario.trace is not None:
        sources.append(_replayed(scenario, promised, classes, tenants))
    total = sum(len(source.ids) for source in sources)
    if total > MAX_REQUESTS:
        refuse(f"the scenario makes {total:,} requests: at most {MAX_REQUESTS:,}")
    return _merged(scenario, sources, classes, tenants)


def _explicit(
    scenario: Scenario, promised: dict[str, Goals], classes: _Names, tenants: _Names
) -> Iterator[_Source]:
    """The requests that the scenario lists one by one; it has checked their ids and their last arrival."""
    for one in scenario.requests:
        goals = promised.get(one.class_name, Goals())
        first, step = picoseconds(one.arrival_s), picoseconds(one.every_s)
        yield _Source(
            ids=[one.id.replace("{i}", str(i)) for i in range(one.count)],
            arrival=np.arange(one.count, dtype=np.int64) * step + first,
            prompt=one.prompt,
            output=one.output,
            priority=one.priority,
            class_index=classes[one.class_name],
            tenant_index=tenants[one.tenant],
            goals=(goals.over(one.slo, one.timeout_s),),
            segments=one.prefix,
        )


def _generated(
    scenario: Scenario, traffic: Traffic, goals: Goals, classes: _Names, tenants: _Names
) -> _Source:
    """The requests of one traffic class."""
    times = arrival_times(scenario, traffic)
    count = len(times)
    prompt = lengths(traffic.prompt, stream_of(scenario, traffic, "prompts"), count)
    shared = sum(tokens for _, tokens in traffic.prefix)
    shares = traffic.shares()
    owners: Ints | int = tenants[next(iter(shares))]
    if len(shares) > 1:
        numbers = np.array([tenants[name] for name in shares], dtype=np.int64)
        edges = np.cumsum(np.array(list(shares.values())))[:-1]
        drawn = stream_of(scenario, traffic, "tenants").uniforms(count)
        owners = numbers[np.searchsorted(edges, drawn, side="right")]
    return _Source(
        ids=[f"{traffic.name}-{n}" for n in range(1, count + 1)],
        arrival=np.rint(times * float(PS_PER_S)).astype(np.int64),
        prompt=np.maximum(prompt, shared) if shared else prompt,
        output=np.maximum(lengths(traffic.output, stream_of(scenario, traffic, "outputs"), count), 1),
        priority=traffic.priority,
        class_index=classes[traffic.name],
        tenant_index=owners,
        goals=(goals,),
        segments=traffic.prefix,
    )


def _replayed(scenario: Scenario, promised: dict[str, Goals], classes: _Names, tenants: _Names) -> _Source:
    """The requests of the scenario's trace."""
    from sched.traces import of_scenario  # reads files and Parquet: only a replay should wait for its imports

    assert scenario.trace is not None
    trace = of_scenario(scenario.trace, scenario.urgency)
    late = int(np.count_nonzero(trace.arrival_ps > picoseconds(scenario.duration_s)))
    if late:
        last = int(trace.arrival_ps.max()) / PS_PER_S
        refuse(
            f"{late:,} of {len(trace.ids):,} rows arrive after duration_s = {scenario.duration_s:g} s; "
            f"make it at least {last:.6g} s, or set trace.limit",
            "trace",
        )
    class_numbers = np.array([classes[name] for name in trace.class_names], dtype=np.int64)
    tenant_numbers = np.array([tenants[name] for name in trace.tenant_names], dtype=np.int64)
    by_class = tuple(promised.get(name, Goals()) for name in classes)
    return _Source(
        ids=list(trace.ids),
        arrival=trace.arrival_ps,
        prompt=trace.prompt_tokens,
        output=trace.output_tokens,
        priority=trace.priority,
        class_index=class_numbers[trace.class_index],
        tenant_index=tenant_numbers[trace.tenant_index],
        goals=by_class,
        segments=list(trace.segments) if trace.segments is not None else (),
    )


def _merged(scenario: Scenario, sources: list[_Source], classes: _Names, tenants: _Names) -> RequestList:
    """One list in order of arrival, equal times in file order."""
    arrival = np.concatenate([source.arrival for source in sources] or [np.empty(0, np.int64)])
    order = np.argsort(arrival, kind="stable")
    ids = [name for source in sources for name in source.ids]

    def column(values: list[Ints]) -> Ints:
        joined = np.concatenate(values)[order] if values else np.empty(0, np.int64)
        joined.flags.writeable = False
        return joined

    def numbers(name: str, factor: int = 1) -> Ints:
        return column([_spread(getattr(one, name), len(one.ids)) * factor for one in sources])

    def goal(name: str) -> Ints:
        return column([_goal_column(one, name) for one in sources])

    places = order.tolist()
    segments = None
    if any(source.segments for source in sources):
        each: list[Segments] = []
        for source in sources:
            shared = source.segments
            each += shared if isinstance(shared, list) else [shared] * len(source.ids)
        segments = tuple([each[place] for place in places])
    return RequestList(
        ids=tuple([ids[place] for place in places]),
        arrival_ps=numbers("arrival"),
        prompt_tokens=numbers("prompt"),
        output_tokens=numbers("output"),
        priority=numbers("priority", scenario.level(1)),
        class_index=numbers("class_index"),
        tenant_index=numbers("tenant_index"),
        ttft_goal_ps=goal("ttft"),
        tpot_goal_ps=goal("tpot"),
        timeout_ps=goal("timeout"),
        class_names=tuple(classes),
        tenant_names=tuple(tenants),
        weights=tuple(Fraction(repr(scenario.weight(name))) for name in tenants),
        segments=segments,
        e2e_goal_ps=goal("e2e"),
    )


def _spread(values: Ints | int, count: int) -> Ints:
    return np.full(count, values, np.int64) if isinstance(values, int) else values


def _goal_column(source: _Source, name: str) -> Ints:
    if len(source.goals) == 1:
        return np.full(len(source.ids), getattr(source.goals[0], name), np.int64)
    by_class = np.array([getattr(goals, name) for goals in source.goals], np.int64)
    return by_class[_spread(source.class_index, len(source.ids))]
