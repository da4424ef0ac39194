"""One HTML file with everything that is shown: it opens offline, plays, and prints on paper in grey."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sched.figures.html import bullets, html, script_text, table, toned
from sched.figures.picture import Scene, picture, spoken
from sched.figures.svg import Markup, joined
from sched.language import Language
from sched.words import percent

FOLDER = Path(__file__).parent
NOTHING = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
"""What the file may load: nothing. A browser holds it to that."""
DASH = "–"


@dataclass(frozen=True)
class Report:
    """What a report says besides its scene. `code` is the script of the stage, `payload` what it is sent.

    `rows` are summaries by the policy's title, in their order; `incidents` rows of texts; `changed` what
    differs from the ready scenario: name, its value there, its value here.
    """

    scene: Scene
    code: str
    payload: bytes
    rows: Sequence[tuple[str, Any]]
    weaknesses: Sequence[str]
    facts: Sequence[str]
    incidents: Sequence[Sequence[str]]
    changed: Sequence[tuple[str, str, str]]
    base: str
    notes: Sequence[str]
    toml: str
    link: str
    about: Sequence[str]


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def report(told: Report) -> str:
    """The whole file."""
    scene, say = told.scene, told.scene.say
    head = html(
        "head",
        html("meta", charset="utf-8"),
        html("meta", name="viewport", content="width=device-width, initial-scale=1"),
        html("meta", http_equiv="Content-Security-Policy", content=NOTHING),
        html("meta", name="generator", content="Sched Lab"),
        html("title", f"{scene.title} · Sched Lab"),
        html("style", Markup(_text("report.css"))),
    )
    body = html(
        "body",
        html("main", _opening(told, say), _replay(told, say), _tables(told, say), _scenario(told, say)),
        html("footer", *(html("p", text, _class="quiet") for text in told.about), _back(told, say)),
        html("script", script_text(told.code + _text("report.js")), type="module"),
    )
    code = "zh-Hans" if say.code == "zh" else say.code
    return f"<!DOCTYPE html>\n{html('html', head, body, lang=code)}\n"


def _opening(told: Report, say: Language) -> Markup:
    scene = told.scene
    heads = [say("Policy"), say("p99 to first token"), say("Goal"), say("Inversion"), say("Throughput")]
    rows = [
        (
            f"{row['title']} ({row['side']})" if row.get("side") else str(row["title"]),
            str(row["value"]),
            str(row.get("told") or DASH),
            str(row["inversion"]),
            str(row["right"]),
        )
        for row in scene.cards
    ]
    parts = [
        html("h1", scene.title),
        html("p", toned(scene.verdict), _class="verdict"),
        html("p", scene.trust, _class="quiet"),
        bullets(told.weaknesses) if told.weaknesses else "",
        table(say("What the urgent requests get under each policy"), heads, rows),
    ]
    return joined(parts)


def _replay(told: Report, say: Language) -> Markup:
    scene = told.scene
    words = html("figcaption", *(html("p", text) for text in spoken(scene)))
    drawing = Markup(picture(scene, has_head=False))
    keys = say(
        "Space plays, the arrows step, n and p go to the next and previous inversion, ? shows all keys."
    )
    without = say("Without scripts there is no replay; print the file to see its picture.")
    return joined(
        [
            html("div", id="stage", _class="replay"),
            html("p", keys, _class="quiet screen"),
            html("figure", drawing, words, _class="picture"),
            html("script", base64.b64encode(told.payload).decode(), id="payload", type="text/plain"),
            html("noscript", html("p", without)),
        ]
    )


def _tables(told: Report, say: Language) -> Markup:
    parts: list[str] = [html("h2", say("Policies compared")), _comparison(told, say)]
    if told.incidents:
        heads = [
            say("Request"),
            say("From"),
            say("Waited"),
            say("Inversion"),
            say("Short of"),
            say("Because of"),
        ]
        parts.append(html("h2", say("Incidents")))
        caption = say(
            "Urgent requests that waited for less urgent ones under {title}",
            title=told.scene.sides[0].title,
        )
        parts.append(table(caption, heads, told.incidents))
    if told.notes:
        parts += [html("h2", say("Notes")), bullets(told.notes)]
    if told.facts:
        parts += [html("h2", say("What it rests on")), bullets(told.facts)]
    return joined(parts)


def figure(value: float | None, digits: int = 3) -> str:
    """A number with so many figures; a dash where there is none."""
    if value is None:
        return DASH
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _comparison(told: Report, say: Language) -> Markup:
    """Each class under each policy, in seconds."""
    heads = [
        say("Policy"),
        say("Class"),
        say("Requests"),
        "TTFT p50",
        "p90",
        "p99",
        "TPOT p50",
        "p99",
        "E2E p99",
    ]
    heads += [say("In goal"), say("Inversion")]
    rows: list[list[str]] = []
    for title, summary in told.rows:
        for name, one in summary["classes"].items():
            share = one["slo_attainment"]
            rows.append(
                [
                    title,
                    name,
                    f"{one['n']:,}",
                    *(figure(one["ttft_s"][key]) for key in ("p50", "p90", "p99")),
                    *(figure(one["tpot_s"][key]) for key in ("p50", "p99")),
                    figure(one["e2e_s"]["p99"]),
                    DASH if share is None else percent(share),
                    figure(one["inversion_s"]),
                ]
            )
    classes = table(
        say("Times of each class, in seconds; in goal: the share that met every goal"), heads, rows, left=2
    )
    heads = [
        say("Policy"),
        say("Finished"),
        say("Tokens per second"),
        say("Preemptions"),
        say("Recomputed tokens"),
    ]
    heads += [say("Fairness (Jain)"), say("KV memory used")]
    rows = [
        [
            title,
            f"{one['requests']['finished']:,} / {one['requests']['arrived']:,}",
            figure(one["throughput"]["output_tokens_per_s"]),
            f"{one['preemptions']:,}",
            f"{one['recomputed_tokens']:,}",
            figure(one["jain"]),
            DASH if one["kv_utilisation"] is None else percent(one["kv_utilisation"]),
        ]
        for title, one in told.rows
    ]
    return joined([classes, html("p", ""), table(say("The whole run under each policy"), heads, rows)])


def _scenario(told: Report, say: Language) -> Markup:
    parts: list[str] = [html("h2", say("The scenario"))]
    if told.changed:
        heads = [say("Setting"), say("There"), say("Here")]
        parts.append(table(say("What differs from {base}", base=told.base), heads, told.changed, left=3))
        parts.append(html("p", ""))
    else:
        parts.append(html("p", say("Nothing differs from {base}.", base=told.base)))
    parts.append(html("p", say("As a file for the command line:"), _class="quiet"))
    parts.append(html("pre", told.toml, tabindex="0"))
    return joined(parts)


def _back(told: Report, say: Language) -> Markup:
    link = (
        html("a", told.link, href=told.link) if told.link.startswith(("http://", "https://")) else told.link
    )
    return html("p", say("It opens again at:"), " ", link, _class="quiet")
