"""HTML as text, by the same rule as the pictures: what a user wrote stays text."""

from collections.abc import Sequence
from html import escape

from sched.figures.measure import Toned
from sched.figures.svg import Markup, clean

VOID = ("meta", "br", "link", "img")


def html(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element. Underscores in the names of attributes stand for hyphens; None leaves one out."""
    given = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(clean(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{given}>")
    inner = "".join(child if isinstance(child, Markup) else escape(clean(child)) for child in children)
    return Markup(f"<{name}{given}>{inner}</{name}>")


def toned(runs: Sequence[Toned]) -> Markup:
    """Pieces of a sentence in their tones."""
    return Markup(
        "".join(
            html("b", text, _class=tone) if tone not in ("", "plain") else escape(clean(text))
            for text, tone in runs
        )
    )


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Markup:
    """A real table with a caption; the first `left` columns are texts, all others figures."""
    sides = ["" if place < left else "n" for place in range(len(heads))]
    head = [
        html("th", text, scope="col", _class=side or None) for text, side in zip(heads, sides, strict=True)
    ]
    body = []
    for row in rows:
        first, *others = row
        cells = [html("th", first, scope="row")]
        cells += [html("td", text, _class=side or None) for text, side in zip(others, sides[1:], strict=True)]
        body.append(html("tr", *cells))
    return html(
        "div",
        html("table", html("caption", caption), html("thead", html("tr", *head)), html("tbody", *body)),
        _class="wide",
    )


def bullets(texts: Sequence[str]) -> Markup:
    """A list."""
    return html("ul", *(html("li", text) for text in texts))


def script_text(code: str) -> Markup:
    """Code for inside a script element: nothing in it may end the element."""
    lowered = code.lower()
    assert "</script" not in lowered and "<!--" not in lowered, "this code would end its own element"
    return Markup(code)
