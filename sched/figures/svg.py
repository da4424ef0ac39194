"""SVG as text. What a user wrote is escaped and stays text; nothing else can come of it."""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold."""
NAMESPACE = "http://www.w3.org/2000/svg"


class Markup(str):
    """Text that is markup already; every other text is escaped when it is put into an element."""

    __slots__ = ()


def clean(text: object) -> str:
    """A value as text that XML can hold; numbers with at most two decimals."""
    if isinstance(text, float):
        return f"{text:.2f}".rstrip("0").rstrip(".") if "." in f"{text:.2f}" else f"{text:.2f}"
    return UNFIT.sub("\ufffd", str(text))


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element. Underscores in the names of attributes stand for hyphens; None leaves one out."""
    given = (
        f" {key.strip('_').replace('_', '-')}={quoteattr(clean(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(child if isinstance(child, Markup) else escape(clean(child)) for child in children)
    return Markup(f"<{name}{''.join(given)}>{inner}</{name}>" if inner else f"<{name}{''.join(given)}/>")


def joined(parts: Iterable[str]) -> Markup:
    """Elements one after the other."""
    return Markup("".join(part if isinstance(part, Markup) else escape(clean(part)) for part in parts))


def words(text: str, x: float, y: float, **attributes: object) -> Markup:
    """A line of text whose baseline begins at x, y."""
    return tag("text", text, x=x, y=y, **attributes)


def box(x: float, y: float, width: float, height: float, fill: str, **attributes: object) -> Markup:
    """A filled rectangle."""
    return tag("rect", x=x, y=y, width=width, height=height, fill=fill, **attributes)


ICONS = {
    "good": "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18a8 8 0 1 1 0-16 8 8 0 0 1 0 16zm4.6-12.4L10 14.2"
    "l-2.6-2.6L6 13l4 4 8-8z",
    "missed": "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18a8 8 0 1 1 0-16 8 8 0 0 1 0 16zm3.6-13L12 10.6 "
    "8.4 7 7 8.4 10.6 12 7 15.6 8.4 17 12 13.4 15.6 17 17 15.6 13.4 12 17 8.4z",
    "wait": "M6 2v6l4 4-4 4v6h12v-6l-4-4 4-4V2zm10 14.5V20H8v-3.5l4-4z",
}


def icon(name: str, x: float, y: float, size: float, fill: str) -> Markup:
    """A sign that says the same as the colour beside it."""
    return tag("path", d=ICONS[name], fill=fill, transform=f"translate({x:g} {y:g}) scale({size / 24:.3g})")


def hatch(
    name: str, fg: str, bg: str | None, gap: float = 5, width: float = 1.15, down: bool = False
) -> Markup:
    """A pattern of slanted lines, used as `url(#name)`; it still tells its meaning where colours do not."""
    ground = box(0, 0, gap, gap, bg) if bg else ""
    line = tag("path", d=f"M{gap / 2:g} 0V{gap:g}", stroke=fg, stroke_width=width)
    turn = f"rotate({-45 if down else 45})"
    return tag(
        "pattern",
        ground,
        line,
        id=name,
        width=gap,
        height=gap,
        patternUnits="userSpaceOnUse",
        patternTransform=turn,
    )


def document(
    width: float,
    height: float,
    parts: Iterable[str],
    *,
    title: str = "",
    about: str = "",
    **attributes: object,
) -> str:
    """A whole picture. With a title it is an image of that name, else decoration."""
    named = [tag("title", title)] if title else []
    if about:
        named.append(tag("desc", about))
    return tag(
        "svg",
        *named,
        joined(parts),
        xmlns=NAMESPACE,
        width=width,
        height=height,
        viewBox=f"0 0 {clean(width)} {clean(height)}",
        role="img" if title else None,
        aria_hidden=None if title else "true",
        **attributes,
    )
