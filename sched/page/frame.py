"""The frame on the stage: the window of time that the replay shows, as a link says it."""

from collections.abc import Mapping

from sched.fields import ScenarioError

SHORTEST_S = 0.001
"""A link counts a frame in milliseconds."""


def short(seconds: float, decimals: int) -> str:
    """A time with so many decimals, without zeros that say nothing."""
    text = f"{seconds:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def ends(window: tuple[float, float] | None) -> dict[str, str]:
    """Begin and end of the frame as a link names them."""
    return {} if window is None else {"from": short(window[0], 3), "to": short(window[1], 3)}


def window_of(view: Mapping[str, str]) -> tuple[float, float] | None:
    """The frame of a link. Raises ScenarioError where it has one end only, or ends before it begins."""
    if "from" not in view and "to" not in view:
        return None
    for key, other in (("from", "to"), ("to", "from")):
        if key not in view:
            raise ScenarioError(f"{other} = {view[other]} s: needs {key} beside it", other)
    begin, end = float(view["from"]), float(view["to"])
    if begin < 0:
        raise ScenarioError(f"from = {view['from']} s: must be at least 0", "from")
    if end - begin < SHORTEST_S:
        raise ScenarioError(f"from = {view['from']} s: must be before to = {view['to']} s", "from")
    return begin, end
