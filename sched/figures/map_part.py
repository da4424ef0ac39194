"""The memory map of the picture: cells that keep their place, coloured and hatched by what they are."""

import numpy as np
from numpy.typing import NDArray

from sched.figures.blocks import FREE, LOOKS
from sched.figures.glance import Glance
from sched.figures.measure import shortened, width
from sched.figures.palette import ROLES, palette
from sched.figures.svg import Markup, box, hatch, joined, tag, words
from sched.log import Ints

COLUMNS = 60
LINES_ABOVE = 3.0
"""Height of a cell below which owners are not told apart by lines."""
MAP_WIDTH, MAP_HEIGHT = 360.0, 186.0
P = palette()


def defs(cell: float = 6) -> Markup:
    """The hatches, which say in grey what the colours say: each kind has its own angle and distance."""
    dot = max(1.2, cell * 0.3)
    made = [
        hatch("inversion", P["culprit"], P["culpritBg"], 4, 1.3),
        hatch("kept", P["urgent"], P["reservedBg"], 5, 1),
        hatch("prefill", P["bg"], None, 3, 0.7),
    ]
    for look, role in enumerate(ROLES):
        made.append(hatch(f"{role}-granted", P[role], P[f"{role}_granted"], 4, 1.3, down=look == 1))
        made.append(hatch(f"{role}-lent", P["bg"], P[f"{role}_fill"], 5, 1.4))
    inner = box(0, 0, cell, cell, P["batch_fill"])
    inner = joined([inner, box((cell - dot) / 2, (cell - dot) / 2, dot, dot, "#6b4a10")])
    made.append(tag("pattern", inner, id="batch", width=cell, height=cell, patternUnits="userSpaceOnUse"))
    return tag("defs", joined(made))


def fill_of(look: int) -> str:
    """The fill of a cell's look."""
    name = LOOKS[look]
    plain = {
        "urgent": P["urgent_fill"],
        "regular": P["regular_fill"],
        "batch": "url(#batch)",
        "free": P["free"],
    }
    return plain.get(name, f"url(#{name.replace('_', '-')})")


def _runs(values: Ints) -> list[tuple[int, int]]:
    """Stretches of equal neighbours: begin and end."""
    edges = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1, [len(values)]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def shape(cells: int) -> tuple[int, int, float, float]:
    """Columns, rows, and the width and height of a cell of the map."""
    columns = COLUMNS if cells >= 600 else max(1, min(COLUMNS, int(np.ceil(np.sqrt(cells * 1.7)))))
    if cells > 4000:  # sixty would be flat: so many that a cell is about as wide as high
        columns = int(np.sqrt(cells * MAP_WIDTH / MAP_HEIGHT) + 0.5)
    rows = -(-cells // columns)
    wide = MAP_WIDTH / columns
    return columns, rows, wide, min(MAP_HEIGHT / rows, wide * 1.3)


def memory_map(view: Glance, focus: int | None) -> Markup:
    """Cells by their look, a line wherever the owner changes, and outlines of culprit and focus."""
    now = view.memory
    owner, looks = now.owner, now.looks
    columns, rows, wide, high = shape(len(owner))
    paths: dict[int, list[str]] = {}
    for row in range(rows):
        line = looks[row * columns : (row + 1) * columns]
        for begin, end in _runs(line):
            x, long = begin * wide, (end - begin) * wide
            paths.setdefault(int(line[begin]), []).append(
                f"M{x:.2f} {row * high:.2f}h{long:.2f}v{high:.2f}h-{long:.2f}z"
            )
    parts = [tag("path", d="".join(shapes), fill=fill_of(look)) for look, shapes in sorted(paths.items())]
    beyond = np.full(rows * columns - len(owner), FREE - 1, np.int64)
    grid = np.concatenate((owner, beyond)).reshape(rows, columns)
    if high >= LINES_ABOVE:
        parts.append(_edges(grid, wide, high))
    if now.kept_cells:
        parts.append(_bound(len(owner) - now.kept_cells, columns, wide, high))
    stays = view.side.stays
    mine = next((one for one in view.running if stays.request[one] == focus), None)
    for stay, colour in ((mine, P["ink"]), (view.culprit, P["culprit"])):
        if stay is not None:
            parts.append(_outline(grid == stay, wide, high, colour))
    if view.culprit is not None:
        parts.append(_flag(view, grid == view.culprit, wide, high))
    return joined(parts)


def _edges(grid: Ints, wide: float, high: float) -> Markup:
    """Lines where the owner changes, neighbours drawn as one."""
    lines = list[str]()
    below = np.diff(grid, axis=0) != 0
    beside = np.diff(grid, axis=1) != 0
    for row, changes in enumerate(below, 1):
        lines += [f"M{a * wide:.2f} {row * high:.2f}H{b * wide:.2f}" for a, b in _runs(changes) if changes[a]]
    for column, changes in enumerate(beside.T, 1):
        lines += [
            f"M{column * wide:.2f} {a * high:.2f}V{b * high:.2f}" for a, b in _runs(changes) if changes[a]
        ]
    return tag("path", d="".join(lines), stroke=P["edge"], stroke_width=0.8, stroke_opacity=0.8, fill="none")


def _bound(edge: int, columns: int, wide: float, high: float) -> Markup:
    """The dashed line above the buffer."""
    row, column = divmod(edge, columns)
    line = (
        f"M0 {(row + 1) * high:.2f}H{column * wide:.2f}V{row * high:.2f}"
        if column
        else f"M0 {row * high:.2f}"
    )
    return tag(
        "path",
        d=f"{line}H{columns * wide:.2f}",
        stroke=P["ink"],
        stroke_width=1.4,
        stroke_dasharray="4 3",
        fill="none",
    )


def _outline(mine: NDArray[np.bool_], wide: float, high: float, colour: str) -> Markup:
    """A strong line around the cells of one stay; thin where they are scattered."""
    padded = np.pad(mine, 1)
    lines = list[str]()
    below = padded[1:, 1:-1] != padded[:-1, 1:-1]
    beside = padded[1:-1, 1:] != padded[1:-1, :-1]
    for row, changes in enumerate(below):
        lines += [f"M{a * wide:.2f} {row * high:.2f}H{b * wide:.2f}" for a, b in _runs(changes) if changes[a]]
    for column, changes in enumerate(beside.T):
        lines += [
            f"M{column * wide:.2f} {a * high:.2f}V{b * high:.2f}" for a, b in _runs(changes) if changes[a]
        ]
    scattered = below.sum() + beside.sum() > 0.55 * mine.sum() and mine.sum() > 60
    thick = 1.1 if scattered else 2.2
    return tag(
        "path", d="".join(lines), stroke=colour, stroke_width=thick, fill="none", stroke_linecap="square"
    )


def _flag(view: Glance, mine: NDArray[np.bool_], wide: float, high: float) -> Markup:
    """The culprit's name on its cells, with what it holds."""
    assert view.culprit is not None
    rows, columns = np.nonzero(mine)
    if not len(rows):
        return Markup()
    name = view.name(int(view.side.stays.request[view.culprit]))
    text = shortened(f"{name} {view.memory.held[view.culprit]:,}", 200, 12, is_bold=True)
    long = width(text, 12, is_bold=True) + 14
    x = min(max((columns.mean() + 0.5) * wide - long / 2, 0), MAP_WIDTH - long)
    y = min(max((rows.mean() + 0.5) * high - 10, 0), MAP_HEIGHT - 20)
    label = words(
        text, x + long / 2, y + 14, font_size=12, font_weight=650, fill="#fff", text_anchor="middle"
    )
    return joined([box(x, y, long, 20, P["culprit"], rx=5), label])
