"""The picture of what is shown at the playhead, as SVG: light, readable in grey, nothing to fetch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sched.figures.captions import caption
from sched.figures.gantt_part import gantt
from sched.figures.glance import Glance, status, subject
from sched.figures.map_part import defs
from sched.figures.measure import FONT, Toned, apart, lines, shortened, width
from sched.figures.palette import palette
from sched.figures.panel_part import HEIGHT, badge, panel
from sched.figures.side import side
from sched.figures.svg import Markup, box, document, icon, joined, tag, words
from sched.inversion import Inversion
from sched.language import BOLD, ENGLISH, Language
from sched.log import Log
from sched.model import PS_PER_S

WIDTH, MARGIN, GAP = 1184.0, 26.0, 28.0
ROOM = WIDTH - 2 * MARGIN
PANEL = (ROOM - GAP) / 2
GANTT = 268.0
CARDS = 5
"""Cards in a row, at most."""
P = palette()
TONES = {"bad": P["culprit"], "good": P["urgent"], "strong": P["ink"]}


@dataclass(frozen=True)
class Drawn:
    """One policy on the stage."""

    log: Log
    inversion: Inversion
    title: str
    sub: str = ""
    notes: Sequence[tuple[str, float, float]] = ()
    """Estimates of when waits end: request, moment, from then on, in seconds; in order of time."""


@dataclass(frozen=True)
class Scene:
    """What a picture is made of. `t_s` None rests late in the worst wait; `cards` are rows of texts; `window`
    is the stretch of time of the Gantt chart in seconds, None the one around the playhead.
    """

    title: str
    verdict: Sequence[Toned]
    trust: str
    cards: Sequence[Mapping[str, Any]]
    sides: Sequence[Drawn]
    t_s: float | None = None
    focus: str | None = None
    window: tuple[float, float] | None = None
    footer: Sequence[str] = ()
    say: Language = field(default=ENGLISH)


def glances(scene: Scene) -> list[Glance]:
    """Both sides at the playhead."""
    seen = [side(one.log, one.inversion) for one in scene.sides]
    at_ps = seen[0].resting_ps() if scene.t_s is None else round(scene.t_s * PS_PER_S)
    at_ps = min(max(0, at_ps), max(one.end_ps for one in seen))
    return [Glance(one, at_ps, drawn.notes) for one, drawn in zip(seen, scene.sides, strict=True)]


def picture(scene: Scene, *, has_head: bool = True) -> str:
    """The whole picture; without a head only what the stage shows, for a page that says the rest itself."""
    views = glances(scene)
    about = subject(views, scene.focus)
    captions = [caption(view, one, scene.say) for view, one in zip(views, about, strict=True)]
    parts, y = [defs(), box(0, 0, WIDTH, 10_000, P["bg"])], 40.0
    y = _head(parts, scene, y) + 10 if has_head else 10.0
    for number, (view, one) in enumerate(zip(views, about, strict=True)):
        drawn, x = scene.sides[number], MARGIN + number * (PANEL + GAP)
        made = panel(view, number, apart(drawn.title), apart(drawn.sub), one, PANEL, scene.say)
        parts.append(tag("g", made, transform=f"translate({x:g} {y:g})"))
    y += HEIGHT
    y = max(_caption(parts, text, number, y) for number, text in enumerate(captions))
    chart, high = gantt(views, about[0], ROOM, GANTT, scene.say, scene.window)
    parts.append(tag("g", chart, transform=f"translate({MARGIN:g} {y:g})"))
    y += high + 8
    parts.append(_legend(y + 12, scene.say))
    y += 30
    parts.append(box(MARGIN, y - 8, ROOM, 1, P["line"]))
    for line in scene.footer if has_head else ():
        y = _paragraph(parts, [(line, "quiet")], y + 10, 11.5, 15) - 6
    spoken = f"{''.join(text for text, _ in scene.verdict)} {' '.join(map(bare, captions))}"
    return document(WIDTH, y + 12, parts, title=f"{scene.title} · Sched Lab", about=spoken, font_family=FONT)


def _head(parts: list[Markup], scene: Scene, y: float) -> float:
    """Title, verdict, trust and cards; returns where the panels may begin."""
    head = shortened(apart(scene.title), ROOM - 120, 19, is_bold=True)
    parts.append(words(head, MARGIN, y, font_size=19, font_weight=650, fill=P["ink"]))
    parts.append(words("Sched Lab", WIDTH - MARGIN, y, font_size=14, fill=P["ink3"], text_anchor="end"))
    y = _paragraph(parts, list(scene.verdict), y + 31, 20, 27)
    y = _paragraph(parts, [(scene.trust, "quiet")], y - 4, 12.5, 17) + 4
    for place in range(0, len(scene.cards), CARDS):
        parts.append(_cards(scene.cards[place : place + CARDS], y, max(3, min(CARDS, len(scene.cards)))))
        y += 96
    return y


def _paragraph(parts: list[Markup], runs: list[Toned], y: float, size: float, leading: float) -> float:
    """Lines of text in tones; returns where the next ones may stand."""
    for line in lines(runs, ROOM, size):
        spans = [
            tag(
                "tspan",
                text,
                fill=P["ink2"] if tone == "quiet" else TONES.get(tone, P["ink"]),
                font_weight=650 if tone in TONES else None,
            )
            for text, tone in line
        ]
        parts.append(tag("text", *spans, x=MARGIN, y=y, font_size=size, style="white-space:pre"))
        y += leading
    return y


def _cards(rows: Sequence[Mapping[str, Any]], y: float, columns: int) -> Markup:
    """One row of cards, of which so many fill the width."""
    wide, parts = (ROOM - 10 * (columns - 1)) / columns, list[Markup]()
    for place, row in enumerate(rows):
        x, chosen = MARGIN + place * (wide + 10), row.get("side")
        frame = {"stroke": P["accent"], "stroke_width": 2} if chosen else {}
        parts.append(box(x + 1, y + 1, wide - 2, 84, P["bg"] if chosen else P["surface"], rx=12, **frame))
        title = shortened(apart(str(row["title"])), wide - 50, 13, is_bold=True)
        parts.append(words(title, x + 12, y + 21, font_size=13, font_weight=650, fill=P["ink"]))
        if chosen:
            parts.append(badge(str(chosen), x + wide - 30, y + 8))
        value = str(row["value"])
        parts.append(words(value, x + 12, y + 49, font_size=23, font_weight=600, fill=P["ink"]))
        after = x + 20 + width(value, 23, is_bold=True)
        told = shortened(str(row.get("told", "")), x + wide - 26 - after, 12)
        colour = P["good"] if row.get("met") else P["culprit"]
        if told:
            parts.append(icon("good" if row.get("met") else "missed", after, y + 36, 15, colour))
            parts.append(words(told, after + 19, y + 48, font_size=12, fill=colour))
        small = {"font_size": 11.5, "fill": P["ink2"]}
        left = shortened(str(row["left"]), wide * 0.55, 11.5)
        rest = wide - 32 - width(left, 11.5)
        parts.append(words(left, x + 12, y + 73, **small))
        right = shortened(str(row["right"]), rest, 11.5)
        parts.append(words(right, x + wide - 12, y + 73, text_anchor="end", **small))
    return joined(parts)


def _caption(parts: list[Markup], text: str, number: int, y: float) -> float:
    """What happens on a side, under its panel."""
    x = MARGIN + number * (PANEL + GAP)
    parts.append(badge("AB"[number], x, y - 4))
    runs = [(part, "strong" if place % 2 else "") for place, part in enumerate(text.split(BOLD))]
    for line in lines(runs, PANEL - 30, 14)[:4]:
        spans = [tag("tspan", piece, font_weight=650 if tone else None) for piece, tone in line]
        look = {"font_size": 14, "fill": P["ink"], "style": "white-space:pre"}
        parts.append(words(joined(spans), x + 28, y + 11, **look))
        y += 19
    return y + 14


def bare(text: str) -> str:
    """A sentence without what sets its parts in bold."""
    return text.replace(BOLD, "")


def _legend(y: float, say: Language) -> Markup:
    """What the fills mean, for whoever has the picture and not the page."""
    entries = (
        (P["waiting"], say("waiting")),
        ("url(#inversion)", say("waiting in inversion: for less urgent requests")),
        (P["ink2"], say("dark: prefill")),
        (P["line"], say("pale: decode")),
        ("url(#regular-granted)", say("granted, not written yet")),
        ("url(#kept)", say("kept for urgent")),
    )
    parts, x = list[Markup](), MARGIN
    for fill, text in entries:
        parts.append(box(x, y - 9, 14, 10, fill, stroke=P["edge"], stroke_width=0.6))
        parts.append(words(text, x + 19, y, font_size=11.5, fill=P["ink2"]))
        x += 19 + width(text, 11.5) + 16
    return joined(parts)


def spoken(scene: Scene) -> list[str]:
    """What the picture says in words, side by side: for a reader who does not see it."""
    views = glances(scene)
    about = subject(views, scene.focus)
    told = []
    for number, (view, one) in enumerate(zip(views, about, strict=True)):
        told.append(f"{'AB'[number]} {scene.sides[number].title}: {status(view, scene.say)[0]}.")
        told.append(bare(caption(view, one, scene.say)))
    return told
