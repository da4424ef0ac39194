"""The colours of pictures and charts: those of the stage, and the fills mixed from them."""

import json
from functools import cache
from pathlib import Path

ROLES = ("urgent", "regular", "batch")
TOKENS = Path(__file__).resolve().parents[1] / "page" / "canvas" / "tokens.json"
"""The design's colours, which the stage in the browser reads too."""


def mix(colour: str, other: str, share: float) -> str:
    """A colour with a share of another in it."""
    pairs = ((int(colour[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{int(a + (b - a) * share + 0.5):02x}" for a, b in pairs)


@cache
def palette(is_dark: bool = False) -> dict[str, str]:
    """The colours by name; `urgent_fill` and the like are those of blocks, `_pale` and `_granted` paler."""
    base: dict[str, str] = json.loads(TOKENS.read_text("utf-8"))["palette"]["dark" if is_dark else "light"]
    found = dict(base)
    for role in ROLES:
        found[f"{role}_fill"] = mix(base[role], base["bg"], 0 if role == "urgent" else 0.18)
        found[f"{role}_pale"] = mix(base[role], base["bg"], 0.42)
        found[f"{role}_granted"] = mix(base[role], base["bg"], 0.72)
    found["waiting"] = mix(base["ink3"], base["bg"], 0.72)
    found["edge"] = mix(base["ink"], base["bg"], 0.28)
    return found
