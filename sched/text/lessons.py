"""The lessons: what is played, what can be tried after it, and their texts with the run's own numbers.

A text is `lesson_NAME.md` in each language: title and lead, then parts headed by a key (`## question`). The
part of an option is its label and, after it, why it is right or wrong. Every number in it is a placeholder.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sched.text import facts_choices, facts_memory, text
from sched.text.facts_memory import Facts, Value
from sched.text.lesson_runs import Changes
from sched.words import duration, percent

NARROW = "\u202f"
PLAYED_S = 2.0
"""So long the replay plays from the moment of the question."""


class Show(NamedTuple):
    """A policy over the lesson's scenario, with what is changed in it."""

    policy: str
    changes: Changes = ()


class Try(NamedTuple):
    """A variation to open in the Lab: its key in the text, the two policies on the stage, the changes."""

    key: str
    a: str
    b: str
    changes: Changes = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson: `shown` is asked about and played; `against` stands beside it, where there is one."""

    key: str
    scenario: str
    shown: Show
    against: Show | None
    work_out: Callable[[], Facts]
    options: tuple[str, ...]
    tries: tuple[Try, ...]


class Option(NamedTuple):
    """An option as it is read: what it says, and why it is right or wrong."""

    key: str
    label: str
    why: str


class Told(NamedTuple):
    """The texts of a lesson with its numbers filled in. `beside` is "" where nothing is told of it."""

    title: str
    lead: str
    question: str
    rule: str
    options: tuple[Option, ...]
    beside: str
    take: str
    tries: Mapping[str, str]


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        "batching",
        "batching",
        Show("fcfs"),
        Show("static"),
        facts_memory.batching,
        ("seat", "now", "batch", "next"),
        (
            Try("seats", "fcfs", "static", (("engine.max_num_seqs", "4"),)),
            Try("long", "fcfs", "static", (("requests.chat-4.output", "1200"),)),
        ),
    ),
    Lesson(
        "blocks",
        "blocks",
        Show("fcfs"),
        None,
        facts_memory.blocks,
        ("bits", "asked", "end"),
        (
            Try("preempt", "fcfs", "preemptive"),
            Try("memory", "fcfs", "preemptive", (("engine.kv_blocks", "240"),)),
        ),
    ),
    Lesson(
        "lock",
        "lock",
        Show("backfill"),
        None,
        facts_memory.lock,
        ("high", "medium", "low"),
        (Try("inheritance", "backfill", "inheritance"), Try("gate", "backfill", "hol")),
    ),
    Lesson(
        "bounded",
        "stream",
        Show("backfill"),
        Show("hol"),
        facts_memory.bounded,
        ("oldest", "passer", "small", "nobody"),
        (
            Try("longer", "backfill", "hol", (("requests.api-{i}.count", "48"),)),
            Try("limit", "backfill", "skip_limit", (("policies", "backfill,skip_limit"),)),
        ),
    ),
    Lesson(
        "inheritance",
        "stream",
        Show("inheritance"),
        Show("backfill"),
        facts_memory.inheritance,
        ("sooner", "later", "same"),
        (Try("gate", "inheritance", "hol"), Try("buffer", "inheritance", "rescue")),
    ),
    Lesson(
        "rescue",
        "stream",
        Show("rescue"),
        Show("backfill"),
        facts_choices.rescue,
        ("nobody", "holder", "oldest", "newest"),
        (
            Try("strict", "rescue", "backfill", facts_choices.STRICT),
            Try("small", "rescue", "backfill", (("rescue.kv", "0.3"),)),
        ),
    ),
    Lesson(
        "ageing",
        "ageing",
        Show("aging"),
        Show("aging", facts_choices.STOPS),
        facts_choices.ageing,
        ("passer", "head", "nobody"),
        (
            Try("stops", "aging", "backfill", facts_choices.STOPS),
            Try("seats", "aging", "backfill", facts_choices.SEATS_SHORT),
        ),
    ),
    Lesson(
        "tenants",
        "tenants",
        Show("vtc"),
        Show("fcfs"),
        facts_choices.tenants,
        ("oldest", "least", "newest"),
        (
            Try("weight", "vtc", "fcfs", (("tenants.script.weight", "4"),)),
            Try("burst", "vtc", "fcfs", (("requests.script-{i}.count", "24"),)),
        ),
    ),
    Lesson(
        "everyone",
        "everyone",
        Show("priority"),
        Show("fcfs"),
        facts_choices.everyone,
        ("oldest", "other", "newest"),
        (
            Try("half", "priority", "fcfs", facts_choices.HALF_URGENT),
            Try("room", "priority", "fcfs", facts_choices.MORE_SEATS),
        ),
    ),
)
BY_KEY: Mapping[str, Lesson] = {one.key: one for one in LESSONS}


@cache
def facts_of(key: str) -> Facts:
    """What the run says to a lesson, worked out once."""
    return BY_KEY[key].work_out()


def written(name: str, value: Value) -> str:
    """A value as it stands in the text, by the end of its name: `_s` seconds, `_share` a percentage."""
    if isinstance(value, str):
        return value
    if name.endswith("_s"):
        return duration(float(value)).replace(" ", NARROW)
    if name.endswith("_share"):
        return percent(float(value)).replace(" ", NARROW)
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def parts(key: str, lang: str) -> dict[str, str]:
    """The parts of a lesson's text by their keys, with the placeholders in them, `title` and `lead` first."""
    title, _, rest = text(f"lesson_{key}", lang).partition("\n")
    lead, *others = rest.split("\n## ")
    found = {"title": title.removeprefix("# ").strip(), "lead": lead.strip()}
    for part in others:
        name, _, body = part.partition("\n")
        found[name.strip()] = body.strip()
    return found


@cache
def told(key: str, lang: str = "en") -> Told:
    """A lesson's texts in a language, with the numbers of its run."""
    lesson, values = BY_KEY[key], facts_of(key).values
    shown = {name: written(name, value) for name, value in values.items()}
    filled = {name: body.format_map(shown) for name, body in parts(key, lang).items()}
    options = []
    for name in lesson.options:
        label, _, why = filled[name].partition("\n\n")
        options.append(Option(name, label.strip(), why.strip()))
    return Told(
        filled["title"],
        filled["lead"],
        filled["question"],
        filled["rule"],
        tuple(options),
        filled.get("beside", ""),
        filled["take"],
        {one.key: filled[f"try:{one.key}"] for one in lesson.tries},
    )
