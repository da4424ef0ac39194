"""What `run` and `explain` say to people."""

from collections.abc import Mapping, Sequence
from typing import Any

from sched.command.tables import number_text, share_text, table, time_text
from sched.moments import NOUNS, RESOURCE_NAMES
from sched.scenario import Scenario
from sched.story import story
from sched.verdict import verdict
from sched.words import DEEDS, count, duration, percent

TOP = 3
MOST_ROWS = 20
"""Of a long table this many rows are shown; `--json` has them all."""

Summaries = Mapping[str, Mapping[str, Any]]


def overview(
    scenario: Scenario, summaries: Summaries, pair: tuple[str | None, str | None] = (None, None)
) -> str:
    """The figures of all policies: what it comes to in a sentence, by class, in all, culprits and notes.

    `pair` are the two policies that the sentence is about; None: those of the longest and the least wait.
    """
    arrived = next(iter(summaries.values()))["requests"]["arrived"]
    heading = f"{scenario.title or scenario.link_base}: {count(arrived, 'request')}, seed {scenario.seed}"
    parts = [
        heading,
        "".join(run.text for run in verdict(summaries, scenario, first=pair[0], second=pair[1])),
    ]
    if any(one["classes"] for one in summaries.values()):
        parts.append(_by_class(summaries))
    parts += [_in_all(summaries), *_culprits(summaries), *_notes(summaries)]
    return "\n\n".join(part for part in parts if part)


def _by_class(summaries: Summaries) -> str:
    heads = ["class", "policy", "n", "TTFT p50", "p99", "TPOT p50", "p99", "wait mean", "p99", "goals met"]
    heads += ["inversion", "of the wait", "passed by"]
    names = list(next(iter(summaries.values()))["classes"])
    rows = []
    for name in names:
        for policy, one in summaries.items():
            figures = one["classes"][name]
            rows.append(
                [
                    *(name, policy, number_text(figures["n"])),
                    *(time_text(figures["ttft_s"][part]) for part in ("p50", "p99")),
                    *(time_text(figures["tpot_s"][part]) for part in ("p50", "p99")),
                    *(time_text(figures["wait_s"][part]) for part in ("mean", "p99")),
                    share_text(figures["slo_attainment"]),
                    time_text(figures["inversion_s"]),
                    share_text(figures["inversion_share"]),
                    number_text(figures["bypasses"]),
                ]
            )
    return table(heads, rows, left=2)


def _in_all(summaries: Summaries) -> str:
    heads = ["policy", "finished", "not", "last finish", "tokens/s", "preemptions", "recomputed", "KV used"]
    heads += ["seats used", "fairness, whole run", "inversion, all classes", "incidents"]
    rows = []
    for policy, one in summaries.items():
        finished, arrived = one["requests"]["finished"], one["requests"]["arrived"]
        rows.append(
            [
                *(policy, number_text(finished), number_text(arrived - finished)),
                time_text(one["makespan_s"]),
                number_text(one["throughput"]["output_tokens_per_s"], 1),
                *(number_text(one[name]) for name in ("preemptions", "recomputed_tokens")),
                *(share_text(one[name]) for name in ("kv_utilisation", "batch_occupancy")),
                number_text(one["jain"], 3),
                time_text(one["inversion"]["total_s"]),
                number_text(one["inversion"]["incidents"]),
            ]
        )
    return table(heads, rows)


def _culprits(summaries: Summaries) -> list[str]:
    """Who made others wait most, by policy."""
    lines = []
    for policy, one in summaries.items():
        who = [
            f"{row['id']} {duration(row['inversion_s'])} ({DEEDS[max(DEEDS, key=row.__getitem__)]})"
            for row in one["inversion"]["top_culprits"][:TOP]
        ]
        if who:
            lines.append(f"Most inversion under {policy}: {', '.join(who)}.")
    return ["\n".join(lines)] if lines else []


def _notes(summaries: Summaries) -> list[str]:
    """Every note, with its policies where it does not hold for all of them."""
    found: dict[str, list[str]] = {}
    for policy, one in summaries.items():
        for note in one["notes"]:
            found.setdefault(f"{note['path']}: {note['text']}", []).append(policy)
    lines = [
        f"Note: {text}" if len(policies) == len(summaries) else f"Note ({', '.join(policies)}): {text}"
        for text, policies in found.items()
    ]
    return ["\n".join(lines)] if lines else []


def explanation(told: Mapping[str, Any]) -> str:
    """The story of one request, then its life, its causes, who is to blame, and its waits in time."""
    parts = [f"{told['request']['id']} under {told['policy']}\n" + "\n".join(story(told))]
    rows = [
        [row["event"], f"{row['from_s']:.3f} s", f"{row['to_s']:.3f} s", row["text"]]
        for row in told["events"]
    ]
    parts.append(_cut(["event", "from", "to", "what"], rows, last_left=True))
    if told["wait_s"]:
        rows = [
            [name.removesuffix("_s"), duration(s), percent(s / told["wait_s"])]
            for name, s in told["causes"].items()
            if s
        ]
        parts.append(table(["cause", "time", "of the wait"], rows))
    if told["blame"]:
        rows = [
            [row["id"], row["class"], row["kind"], row["resource"], duration(row["s"])]
            for row in told["blame"]
        ]
        parts.append(_cut(["who", "class", "how", "what", "time"], rows, left=4))
    if told["intervals"]:
        heads = ["cause", "from", "to", "needs", "free", "may take", "held by"]
        parts.append(_cut(heads, _moments(told), last_left=True))
    notes = [row for row in told["annotation"] if row["waited_s"] is not None]
    if notes:
        heads = [
            "told at",
            "state",
            "waited",
            "cause",
            "lacks",
            "who holds it",
            "fits in",
            "10 to 90 %",
            "passed by",
        ]
        parts.append(_cut(heads, [_note(row) for row in notes], left=2))
        parts.append(f"Each time is {notes[-1]['eta_is']}.")
    return "\n\n".join(parts)


def _note(row: Mapping[str, Any]) -> list[str]:
    """What the request was told while it waited."""
    short = {noun: row[f"{name}_deficit"] for name, noun in zip(RESOURCE_NAMES, NOUNS, strict=True)}
    lacks = [count(many, noun) for noun, many in short.items() if many]
    held = [f"{one['id']} ({one['holds']:,})" for one in row["blockers"]]
    low, middle, high = (row[f"eta_p{part}_s"] for part in (10, 50, 90))
    return [
        *(f"{row['at_s']:.3f} s", row["state"], duration(row["waited_s"]), row["cause"]),
        *(", ".join(lacks) or "nothing", ", ".join(held)),
        *(time_text(middle), f"{time_text(low)} to {time_text(high)}", number_text(row["bypassed_by"])),
    ]


def _moments(told: Mapping[str, Any]) -> list[list[str]]:
    return [
        [
            *(row["cause"], f"{row['from_s']:.3f} s", f"{row['to_s']:.3f} s"),
            *(number_text(row[name]) for name in ("needs", "free", "entitled")),
            ", ".join(f"{one['id']} ({one['holds']:,})" for one in row["culprits"]),
        ]
        for row in told["intervals"]
    ]


def _cut(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, *, last_left: bool = False
) -> str:
    text = table(heads, rows[:MOST_ROWS], left, last_left=last_left)
    more = len(rows) - MOST_ROWS
    return f"{text}\n… and {count(more, 'more row')}; --json has them all" if more > 0 else text
