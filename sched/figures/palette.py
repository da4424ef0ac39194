"""The colours of the drawn pictures: those of the stage, and the fills mixed from them."""

from functools import cache

ROLES = ("urgent", "regular", "batch")
LIGHT = {
    "bg": "#FFFFFF",
    "surface": "#F5F6F9",
    "line": "#E3E6ED",
    "ink": "#151A26",
    "ink2": "#454D5F",
    "ink3": "#636B7D",
    "accent": "#2B3A67",
    "urgent": "#1A56B8",
    "regular": "#24998A",
    "batch": "#BD7D0E",
    "free": "#E6E9EF",
    "reservedBg": "#E4EDFB",
    "culprit": "#B5114F",
    "culpritBg": "#FBE6EE",
    "good": "#1F6F4A",
}
DARK = {
    "bg": "#0E1117",
    "surface": "#161B24",
    "line": "#2A313E",
    "ink": "#EDF0F6",
    "ink2": "#B6BDCB",
    "ink3": "#8F97A8",
    "accent": "#AEBBEA",
    "urgent": "#5C97F7",
    "regular": "#7AD3BF",
    "batch": "#D79A33",
    "free": "#252C38",
    "reservedBg": "#1A2A44",
    "culprit": "#F0478C",
    "culpritBg": "#3B1A28",
    "good": "#6FCF9B",
}


def mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another in it."""
    pairs = ((int(colour[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{int(a + (b - a) * share + 0.5):02x}" for a, b in pairs)


@cache
def palette(is_dark: bool = False) -> dict[str, str]:
    """The colours by name; `urgent_fill` and the like are those of blocks, `_pale` and `_granted` paler."""
    base = DARK if is_dark else LIGHT
    found = dict(base)
    for role in ROLES:
        found[f"{role}_fill"] = mix(base[role], base["bg"], 0 if role == "urgent" else 0.18)
        found[f"{role}_pale"] = mix(base[role], base["bg"], 0.42)
        found[f"{role}_granted"] = mix(base[role], base["bg"], 0.72)
    found["waiting"] = mix(base["ink3"], base["bg"], 0.72)
    found["edge"] = mix(base["ink"], base["bg"], 0.28)
    return found
