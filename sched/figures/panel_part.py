"""One side of the picture: its policy, its memory map, who holds how much, and its queue."""

from collections.abc import Iterable

import numpy as np

from sched.figures.glance import Glance, status
from sched.figures.map_part import MAP_HEIGHT, MAP_WIDTH, memory_map
from sched.figures.measure import apart, shortened, width
from sched.figures.palette import ROLES, palette
from sched.figures.svg import Markup, box, icon, joined, tag, words
from sched.language import Language

HEIGHT = 290.0
MARKS = (
    "M0 -5.2 5.6 4.5 -5.6 4.5Z",
    "M-4.8 0a4.8 4.8 0 1 0 9.6 0a4.8 4.8 0 1 0 -9.6 0Z",
    "M-4.4 -4.4H4.4V4.4H-4.4Z",
)
P = palette()


def mark(look: int, x: float, y: float, size: float = 8) -> Markup:
    """The mark of a class: triangle, disc, square."""
    return tag(
        "path", d=MARKS[look], fill=P[ROLES[look]], transform=f"translate({x:g} {y:g}) scale({size / 11:.3g})"
    )


def panel(
    view: Glance, side: int, title: str, sub: str, focus: int | None, room: float, say: Language
) -> Markup:
    """The part of one policy, `room` wide and HEIGHT high, from 0, 0 on."""
    letter, (told, kind) = "AB"[side], status(view, say)
    wide = width(told, 13, is_bold=True)
    head = shortened(title, room - wide - 70, 16, is_bold=True)
    used = 30 + width(head, 16, is_bold=True) + 10
    colour = {"good": P["good"], "bad": P["culprit"], "plain": P["ink2"]}[kind]
    parts = [
        badge(letter, 0, 0),
        words(head, 28, 15, font_size=16, font_weight=650, fill=P["ink"]),
        words(shortened(sub, room - used - wide - 36, 12.5), used, 15, font_size=12.5, fill=P["ink3"]),
        icon("good" if kind == "good" else "wait", room - wide - 22, 2, 16, colour),
        words(told, room, 15, font_size=13, font_weight=650, fill=colour, text_anchor="end"),
    ]
    machine, kept = view.side.log.machine, view.memory.buffer
    blocks = say.count(view.memory.capacity, "KV memory, {n} block", "KV memory, {n} blocks")
    if machine.kv_blocks > 2**30:
        blocks = say("KV memory, unlimited")
    free = say("{n} free", n=f"{view.free:,}")
    if kept:
        free = say("{n} free, {kept} of it kept", n=f"{view.free:,}", kept=f"{min(kept.idle, view.free):,}")
    small = {"font_size": 12.5, "fill": P["ink2"]}
    parts += [words(blocks, 0, 38, **small), words(free, MAP_WIDTH, 38, text_anchor="end", **small)]
    parts.append(tag("g", memory_map(view, focus), transform="translate(0 44)"))
    parts.append(
        tag("g", holders(view, room - MAP_WIDTH - 18, say), transform=f"translate({MAP_WIDTH + 18:g} 44)")
    )
    parts.append(tag("g", queue(view, room, say), transform=f"translate(0 {HEIGHT - 48:g})"))
    return joined(parts)


def badge(letter: str, x: float, y: float) -> Markup:
    """The letter of a side on the accent colour."""
    back = box(x, y, 20, 20, P["accent"], rx=5)
    letters = words(
        letter, x + 10, y + 14.5, font_size=13, font_weight=700, fill="#fff", text_anchor="middle"
    )
    return joined([back, letters])


def holders(view: Glance, room: float, say: Language) -> Markup:
    """Who holds how many blocks, by class, and what the iteration does: the legend is the account itself."""
    side = view.side
    names, y = side.log.requests.class_names, 12.0
    held = np.zeros(len(names), np.int64)
    seats = np.zeros(len(names), np.int64)
    index = side.log.requests.class_index[side.stays.request]
    np.add.at(held, index, view.memory.held)
    np.add.at(seats, index[view.running], 1)
    order = sorted(range(len(names)), key=lambda one: (side.level_of_class[one], one))
    parts = list[str]()
    big, small = {"font_size": 13, "font_weight": 650, "fill": P["ink"]}, {"font_size": 12, "fill": P["ink2"]}
    for one in order[:5]:
        blocks = say.count(int(held[one]), "{n} block", "{n} blocks")
        place = say.count(int(seats[one]), "{n} seat", "{n} seats")
        parts.append(mark(side.role_of_class[one], 6, y - 4, 10))
        parts.append(words(shortened(apart(names[one]), room - 20, 13, is_bold=True), 18, y, **big))
        parts.append(words(shortened(f"{blocks} · {place}", room - 18, 12), 18, y + 15, **small))
        y += 33
    machine, lines = side.log.machine, side.log.stretches
    iteration, is_busy = view.moment
    if is_busy:
        row = int(side.log.stretch_of_iteration[iteration])
        made = int(lines.prefill_tokens[row] + lines.decode_tokens[row])
        told = {"n": f"{made:,}", "budget": f"{machine.max_num_batched_tokens:,}"}
        last = say("{n} of {budget} tokens now", **told)
    else:
        last = say("The engine is idle.")
    return joined([*parts, words(shortened(last, room, 12), 0, MAP_HEIGHT - 3, **small)])


def queue(view: Glance, room: float, say: Language) -> Markup:
    """The urgent ones that wait by name, as many as leave room for all others by class."""
    ink = {"font_size": 12.5, "fill": P["ink"]}
    head = say("Queue")
    parts, x = [words(head, 0, 14, font_size=12.5, fill=P["ink3"])], width(head, 12.5) + 14
    rows = (_chips(view, named, say) for named in range(MOST_NAMED, -1, -1))
    chips = next((row for row in rows if x + sum(_long(text) + 6 for _, text, _ in row) <= room + 6), None)
    chips = _chips(view, 0, say) if chips is None else chips
    if not chips:
        parts.append(words(say("empty"), x, 14, font_size=12.5, fill=P["ink2"]))
    for look, text, is_bad in chips:
        long = _long(text)
        if x + long > room:
            break
        parts.append(box(x, 0, long, 20, P["culpritBg"] if is_bad else P["surface"], rx=7))
        parts += [mark(look, x + 11, 10, 8), words(text, x + 20, 14.2, **ink)]
        x += long + 6
    return joined(parts)


MOST_NAMED = 3
"""Of those that wait so many are named."""


def _long(text: str) -> float:
    return width(text, 12.5) + 30


def _chips(view: Glance, named: int, say: Language) -> list[tuple[int, str, bool]]:
    """Look, text, and whether it waits in inversion: so many urgent ones by name, the rest by class."""
    side = view.side
    urgent = [] if side.is_flat else [one for one in view.waiting if not side.level[one.request]]
    chips = [
        (0, f"{view.name(one.request)} {say('needs {n}', n=f'{one.needs:,}')}", one.code < 8)
        for one in urgent[:named]
    ]
    return [(look, shortened(text, 220, 12.5), bad) for look, text, bad in (*chips, *_rest(view, len(chips)))]


def _rest(view: Glance, named: int) -> Iterable[tuple[int, str, bool]]:
    """Of those who are not named: how many of each class."""
    side, counts = view.side, dict[int, int]()
    skipped = 0
    for one in view.waiting:
        if not side.is_flat and not side.level[one.request] and skipped < named:
            skipped += 1
            continue
        place = int(side.log.requests.class_index[one.request])
        counts[place] = counts.get(place, 0) + 1
    for place, many in counts.items():
        yield side.role_of_class[place], f"{many:,} {apart(side.log.requests.class_names[place])}", False
