"""A run at a glance, for a card: its requests over time above, its KV memory at the worst wait below."""

import numpy as np
from numpy.typing import NDArray

from sched.figures.blocks import LOOKS, memory
from sched.figures.palette import ROLES, palette
from sched.figures.side import Side, side
from sched.figures.svg import Markup, box, document, hatch, joined, tag
from sched.inversion import Inversion
from sched.log import Ints, Log

Shares = NDArray[np.floating]
WIDTH, HEIGHT = 320, 120
COLUMNS = 160
"""Time is counted in as many steps."""
GANTT = 88
"""Height of the upper part."""
MAP_COLUMNS, MAP_ROWS, CELL = 80, 7, 4


def thumbnail(log: Log, inversion: Inversion, *, is_dark: bool = False, label: str = "") -> str:
    """A picture of 320 x 120 as SVG. With a label it is an image of that name, else decoration."""
    seen, p = side(log, inversion), palette(is_dark)
    defs = tag(
        "defs",
        hatch("ti", p["culprit"], p["culpritBg"], 3.4, 1.3),
        hatch("tr", p["urgent"], p["reservedBg"], 4, 1),
        *(hatch(f"tg{role}", p[role], p[f"{role}_granted"], 3.4, 1.2) for role in ROLES),
    )
    parts = [defs, box(0, 0, WIDTH, HEIGHT, p["surface"], rx=6)]
    parts += [_bands(seen, p), _map(seen, p)]
    return document(WIDTH, HEIGHT, parts, title=label)


def _over_time(seen: Side, request: Ints, from_ps: Ints, to_ps: Ints, chosen: Ints) -> Shares:
    """How many of the chosen requests' stretches lie in each step of time, shares of a step counted."""
    rows = np.isin(request, chosen)
    scale = COLUMNS / seen.end_ps
    begin, end = from_ps[rows] * scale, np.maximum(to_ps[rows], from_ps[rows]) * scale
    edges = np.arange(COLUMNS + 1, dtype=np.float64)
    # The integral of the count up to each edge, from which each step takes its share.
    whole = np.array([np.clip(edge - begin, 0, end - begin).sum() for edge in edges])
    return np.diff(whole)


def _area(counts: Shares, base: Shares, floor: float, unit: float, fill: str) -> Markup:
    """The stretch between base and base + counts, as steps; what has no height is left out."""
    if not counts.max(initial=0) > 0:
        return Markup()
    step, path = WIDTH / COLUMNS, list[str]()
    place = 0
    while place < COLUMNS:
        if counts[place] <= 0.01:
            place += 1
            continue
        end = place
        while end < COLUMNS and counts[end] > 0.01:
            end += 1
        tops, bottoms = floor - unit * (base + counts)[place:end], floor - unit * base[place:end]
        there = _steps(tops, np.arange(place, end + 1) * step)
        back = _steps(bottoms[::-1], np.arange(end, place - 1, -1) * step)
        path.append(f"M{place * step:g} {bottoms[0]:.1f}{there}{back}Z")
        place = end
    return tag("path", d="".join(path), fill=fill)


def _steps(heights: Shares, edges: Shares) -> str:
    """A line of steps; neighbours of one height are one step."""
    shown = [f"{height:.1f}" for height in heights]
    parts = [
        f"V{height}H{edges[place + 1]:g}"
        for place, height in enumerate(shown)
        if place + 1 == len(shown) or shown[place + 1] != height
    ]
    return "".join(parts)


def _bands(seen: Side, p: dict[str, str]) -> Markup:
    """One band a look: who is in the batch, above them who waits, of those in inversion hatched."""
    stays, spans, bad = seen.stays, seen.spans, seen.inverted
    none, rows = np.zeros(COLUMNS), []
    for look in range(3):
        mine = np.flatnonzero(seen.role == look)
        if not len(mine):
            continue
        batch = _over_time(seen, stays.request, stays.start_ps, stays.end_ps, mine)
        waits = _over_time(seen, spans.request, spans.from_ps, spans.to_ps, mine)
        pink = _over_time(seen, bad.request, bad.from_ps, bad.to_ps, mine)
        rows.append((look, batch, np.maximum(0, waits - pink), pink))
    heights = [max(1.0, float((batch + waits + pink).max())) for _, batch, waits, pink in rows]
    shares = np.sqrt(heights) if heights else np.zeros(0)
    parts, floor = list[str](), 4.0
    for (look, batch, waits, pink), most, share in zip(rows, heights, shares, strict=True):
        height = (GANTT - 4 - 4 * len(rows)) * float(share / shares.sum())
        floor += height
        unit = height / most
        colour = p[f"{ROLES[look]}_fill"]
        parts += [
            _area(batch, none, floor, unit, colour),
            _area(pink, batch, floor, unit, "url(#ti)"),
            _area(waits, batch + pink, floor, unit, p["waiting"]),
        ]
        floor += 4
    return joined(parts)


def _map(seen: Side, p: dict[str, str]) -> Markup:
    """The memory at the worst wait as a strip, sampled to a fixed number of cells."""
    at_ps = seen.resting_ps()
    now = memory(seen, *seen.moment(at_ps))
    many = MAP_COLUMNS * MAP_ROWS
    looks = now.looks[np.arange(many) * len(now.owner) // many]
    fills = {name: p[f"{name}_fill"] for name in ROLES} | {
        f"{name}_lent": p[f"{name}_pale"] for name in ROLES
    }
    fills |= {f"{name}_granted": f"url(#tg{name})" for name in ROLES}
    fills |= {"free": p["free"], "kept": "url(#tr)"}
    paths: dict[str, list[str]] = {}
    for row in range(MAP_ROWS):
        line = looks[row * MAP_COLUMNS : (row + 1) * MAP_COLUMNS]
        edges = np.flatnonzero(np.diff(line, prepend=-1, append=-1))
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            shape = (
                f"M{begin * CELL} {GANTT + row * CELL}h{(end - begin) * CELL}v{CELL}h-{(end - begin) * CELL}z"
            )
            paths.setdefault(fills[LOOKS[int(line[begin])]], []).append(shape)
    return joined(tag("path", d="".join(shapes), fill=fill) for fill, shapes in paths.items())
