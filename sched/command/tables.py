"""Tables and figures for people: plain text in columns."""

from collections.abc import Sequence
from textwrap import wrap

from sched.sentences import visible
from sched.words import duration, percent

WIDTH = 110
NOTHING = "–"


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, *, last_left: bool = False
) -> str:
    """Rows under their heads: the first `left` columns flush left, the others right; the last as asked."""
    flush_left = {*range(left), len(heads) - 1} if last_left else {*range(left)}
    lines = [[visible(cell) for cell in line] for line in (heads, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]

    def text(line: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if column in flush_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([text(lines[0]), "  ".join("-" * width for width in widths), *map(text, lines[1:])])


def print_text(text: str, end: str = "\n") -> None:
    """Print for people: names from files and links cannot steer the terminal."""
    print(visible(text, keep="\n\t"), end=end, flush=True)


def described(rows: Sequence[tuple[str, str]]) -> str:
    """Names with what they are, wrapped beside them."""
    indent = max(len(name) for name, _ in rows) + 2
    lines = []
    for name, text in rows:
        first, *rest = wrap(text, WIDTH - indent) or [""]
        lines += [f"{name.ljust(indent)}{first}".rstrip(), *(" " * indent + line for line in rest)]
    return "\n".join(lines)


def time_text(s: float | None) -> str:
    """A time, or a dash where there is none."""
    return NOTHING if s is None else duration(s)


def share_text(share: float | None, digits: int = 0, *, of: float = 1.0) -> str:
    """A share of a whole in per cent, or a dash."""
    return NOTHING if share is None else percent(share / of, digits)


def number_text(value: float | None, digits: int = 0) -> str:
    """A number with separators, or a dash."""
    return NOTHING if value is None else f"{value:,.{digits}f}"
