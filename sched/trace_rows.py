"""The records of a trace as numbers and names: which can be replayed, when, how long, whose, how urgent."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sched.fields import ScenarioError
from sched.lengths import Ints
from sched.model import PS_PER_S
from sched.scenario import Trace as TraceSettings
from sched.trace_bytes import Table
from sched.trace_formats import Columns, Format, first_filled
from sched.trace_order import Clock
from sched.trace_values import (
    UNIT_PS,
    USUAL_PRIORITY,
    WORDS,
    counted,
    digits_of,
    guessed_unit,
    has_zone,
    is_blank,
    kind_of,
    priority,
    short,
    time_ps,
    tokens,
)

SINCE_1970_PS = 10**9 * PS_PER_S
"""A numeric clock beyond this counts from 1970."""


UNNAMED = "default"
"""The class or tenant of a record that names none."""


@dataclass(slots=True)
class Layout:
    """How a table is read: its format's name, the columns of each field, and what is usual there."""

    format: str
    columns: Columns
    unit: str | None = None
    known: Format | None = None


@dataclass(slots=True)
class Rows:
    """The records that can be replayed: their places in the table, moments and lengths."""

    places: list[int]
    moments: list[int]
    prompt: list[int]
    output: list[int]
    clock: Clock


def readable_rows(
    found: Table, layout: Layout, chosen: TraceSettings, dropped: list[tuple[int, str]], assumed: list[str]
) -> Rows:
    """The records that can be replayed; the others go to `dropped`, each with its reason."""
    comma = found.decimal_comma
    prompts, outputs = (first_filled(found, layout.columns[field]) for field in ("prompt", "output"))
    moment_of, clock = _clock(found, layout, chosen, assumed)
    only = layout.known.only if layout.known else None
    marks = found.columns.get(only[0]) if only else None
    rows = Rows([], [], [], [], clock)
    zeros = 0
    for place, line in enumerate(found.lines):
        if only and marks is not None and str(marks[place]) not in only[1]:
            dropped.append((line, only[2]))
            continue
        moment = moment_of(place)
        prompt, output = tokens(prompts[place], comma), tokens(outputs[place], comma)
        reason = _reason(moment, prompt, output, chosen.zero_output)
        if reason or isinstance(moment, str) or isinstance(prompt, str) or isinstance(output, str):
            dropped.append((line, reason))
            continue
        zeros += output == 0
        rows.places.append(place)
        rows.moments.append(moment)
        rows.prompt.append(prompt)
        rows.output.append(max(1, output))
    if zeros:
        assumed.append(f"{counted(zeros, 'record')} without output tokens count as one token")
    dropped.sort(key=lambda one: one[0])
    return rows


def _clock(
    found: Table, layout: Layout, chosen: TraceSettings, assumed: list[str]
) -> tuple[Callable[[int], int | str], Clock]:
    """How the moment of a record is read, in picoseconds, or why it has none; every guess is said."""
    comma = found.decimal_comma
    titles = tuple(title for title in layout.columns.get("arrival", ()) if title in found.columns)
    if not titles:
        assumed.append("there is no arrival column: the requests are spaced 1 s apart")
        return lambda place: place * PS_PER_S, "relative"
    times = first_filled(found, titles)
    kind = kind_of(times, comma)
    if kind is None:
        raise ScenarioError(
            f"the arrival column {titles[0]} holds no times; say --map arrival=COLUMN", "trace.map"
        )
    if kind == "date":
        if not any(has_zone(value) for value in times[:1000]):
            assumed.append(f"the dates ({titles[0]}) have no zone: taken as UTC")
        return lambda place: time_ps(times[place], "date", PS_PER_S), "absolute"
    if kind == "clock":
        assumed.append(
            f"arrivals ({titles[0]}) are times of a clock without a date, to {1 / 10 ** digits_of(times):g} s"
        )
        return lambda place: time_ps(times[place], "clock", PS_PER_S), "wall"
    unit, why = guessed_unit(times, titles[0], layout.unit)
    if chosen.unit == "auto":
        assumed.append(f"arrivals ({titles[0]}) are in {unit}: {why}")
    unit_ps = UNIT_PS[unit if chosen.unit == "auto" else chosen.unit]
    first = next((one for value in times if not isinstance(one := time_ps(value, kind, unit_ps), str)), 0)
    clock: Clock = "absolute" if first > SINCE_1970_PS else "relative"
    return lambda place: time_ps(times[place], "number", unit_ps, comma), clock


def _reason(moment: int | str, prompt: int | str, output: int | str, zero_output: str) -> str:
    """Why a record cannot be replayed; "" when it can."""
    for what, value in (("arrival", moment), ("prompt", prompt), ("output", output)):
        if isinstance(value, str):
            return f"{what} {value}"
    if prompt == 0:
        return "prompt is 0 tokens"
    return "output is 0 tokens (a failed request)" if output == 0 and zero_output == "drop" else ""


def frozen(values: list[int]) -> Ints:
    column = np.array(values, dtype=np.int64)
    column.flags.writeable = False
    return column


def _numbered(names: list[str]) -> tuple[tuple[str, ...], Ints]:
    numbers: dict[str, int] = {}
    column = [numbers.setdefault(name, len(numbers)) for name in names]
    return tuple(numbers), frozen(column)


def _texts(
    found: Table, layout: Layout, field: str, places: list[int], assumed: list[str]
) -> list[str] | None:
    """A column of names; a blank one is "default". None when the trace has no such column."""
    titles = tuple(title for title in layout.columns.get(field, ()) if title in found.columns)
    if not titles:
        return None
    column = first_filled(found, titles)
    texts = ["" if is_blank(column[place]) else str(column[place]).strip() for place in places]
    blanks = sum(not text for text in texts)
    if blanks == len(texts):
        return None
    if blanks:
        assumed.append(f'{counted(blanks, "record")} without a {field} count as "{UNNAMED}"')
    return [text or UNNAMED for text in texts]


def labels_of(
    found: Table, layout: Layout, places: list[int], chosen: TraceSettings, urgency: str, assumed: list[str]
) -> tuple[tuple[str, ...], Ints, tuple[str, ...], Ints, Ints]:
    """Classes, tenants and priorities. Where only priorities are recorded, each is a class of its own."""
    tenants = _texts(found, layout, "tenant", places, assumed) or [UNNAMED] * len(places)
    classes = _texts(found, layout, "class", places, assumed)
    titles = tuple(title for title in layout.columns.get("priority", ()) if title in found.columns)
    raw = [first_filled(found, titles)[place] for place in places] if titles else None
    numbers = [0] * len(places)
    if raw is not None and not all(is_blank(value) for value in raw):
        numbers, labels = _priorities(raw, urgency, assumed)
        classes = classes or labels
    elif not chosen.priority:
        assumed.append("no priorities are recorded: every request has priority 0")
    classes = classes or [UNNAMED] * len(places)
    if chosen.priority:
        numbers = [chosen.priority.get(name, number) for name, number in zip(classes, numbers, strict=True)]
    class_names, class_index = _numbered(classes)
    tenant_names, tenant_index = _numbered(tenants)
    return class_names, class_index, tenant_names, tenant_index, frozen(numbers)


def _priorities(raw: list[Any], urgency: str, assumed: list[str]) -> tuple[list[int], list[str]]:
    """Numbers in the scenario's direction, and a class name for each. Words count 0 for the most urgent."""
    texts = ["" if is_blank(value) else str(value).strip() for value in raw]
    found = {text: priority(text) for text in set(texts)}
    words = any(text.lower() in WORDS for text in found)
    usual = USUAL_PRIORITY if words else 0
    unknown = Counter(text for text in texts if text and found[text] is None)
    if unknown:
        shown = ", ".join(f"{short(text)} ({count:,})" for text, count in unknown.most_common(5))
        assumed.append(f"unknown priorities count as {usual}: {shown}")
    if "" in found:
        assumed.append(f"{counted(texts.count(''), 'record')} without a priority count as {usual}")
    numbers = [value if (value := found[text]) is not None else usual for text in texts]
    if words:
        listed = ", ".join(f"{text} = {found[text]}" for text in sorted(found) if text.lower() in WORDS)
        assumed.append(f"priorities are words: {listed} (0 is the most urgent)")
    elif len(set(numbers)) > 1:
        which = "larger" if urgency == "high_first" else "smaller"
        assumed.append(f"of two priorities the {which} number is the more urgent (urgency = {urgency})")
    labels = [f"P{number}" if number >= 0 else f"priority {number}" for number in numbers]
    if words and urgency == "high_first":
        numbers = [-number for number in numbers]
    return numbers, labels


def ids_of(
    found: Table, layout: Layout, places: list[int], classes: list[str], assumed: list[str]
) -> tuple[str, ...]:
    """The recorded ids, repeated ones renamed; where none is, class and number of the record: P2-117."""
    titles = tuple(title for title in layout.columns.get("id", ()) if title in found.columns)
    column = first_filled(found, titles) if titles else None
    ids = [
        f"{'request' if name == UNNAMED else name}-{place + 1}"
        if column is None or is_blank(column[place])
        else str(column[place])
        for place, name in zip(places, classes, strict=True)
    ]
    taken, repeats = set(ids), 0
    if len(taken) < len(ids):
        met: Counter[str] = Counter()
        for place, name in enumerate(ids):
            met[name] += 1
            if met[name] > 1:
                repeats += 1
                while (fresh := f"{name}~{met[name]}") in taken:
                    met[name] += 1
                taken.add(fresh)
                ids[place] = fresh
        assumed.append(f"{counted(repeats, 'repeated id')} renamed; the records are all kept")
    return tuple(ids)
