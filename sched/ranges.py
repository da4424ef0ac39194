"""What a sweep varies: `key=start:stop:step`, counted in decimals so that a point is the number it says."""

from dataclasses import dataclass
from decimal import Decimal, DecimalException

from sched.changes import change
from sched.fields import ScenarioError
from sched.knobs import Knob, field
from sched.plain import is_written_as_number, join_path, split_path, split_setting
from sched.scenario import Scenario
from sched.sentences import stated

MOST_POINTS = 10_000


@dataclass(frozen=True, slots=True)
class Axis:
    """One value of a scenario and what it is set to, point by point, as it is written in a link."""

    key: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if split_path(self.key) == ("seed",):
            raise ScenarioError(
                "vary seed: every point runs on the same seeds; for several use --seeds (seeds in a link)",
                "vary",
            )

    @property
    def numbers(self) -> tuple[float, ...]:
        """The points as numbers."""
        return tuple(map(float, self.values))

    @property
    def knob(self) -> Knob:
        """What the schema says of this value."""
        return field(self.key)


def axis(text: str) -> Axis:
    """The axis that `key=start:stop:step` describes; one number alone is a single point.

    The steps count from the start; the stop is a point where they reach it. Raises ScenarioError.
    """
    key, sign, range_text = split_setting(text)
    key = key.strip()
    if not sign or not key:
        raise ScenarioError(f"vary = {text}: must be written key=start:stop:step", "vary")
    knob = field(key)
    parts = [_number(part, key, range_text) for part in range_text.split(":")]
    if len(parts) == 1:
        return Axis(key, (_text(parts[0]),))
    if len(parts) != 3:
        raise ScenarioError(f"vary {key} = {range_text}: must be written start:stop:step", "vary")
    start, stop, step = parts
    if not step or (stop - start) * step < 0:
        word = "above 0" if stop >= start else "below 0"
        raise ScenarioError(
            f"vary {key} = {range_text}: the step must be {word}, it is {_text(step)}", "vary"
        )
    many = int((stop - start) // step) + 1
    if many > MOST_POINTS:
        raise ScenarioError(
            f"vary {key} = {range_text}: is {many:,} points, must be at most {MOST_POINTS:,}", "vary"
        )
    _in_bounds(knob, key, (start, start + (many - 1) * step))
    return Axis(key, tuple(_text(start + place * step) for place in range(many)))


def _number(text: str, key: str, whole: str) -> Decimal:
    try:
        found = Decimal(text.strip() if is_written_as_number(text) else "")
    except DecimalException:
        raise ScenarioError(
            f"vary {key} = {whole}: {text.strip() or 'nothing'} is no number", "vary"
        ) from None
    if not found.is_finite():
        raise ScenarioError(f"vary {key} = {whole}: {text.strip()} must be a finite number", "vary")
    if abs(found.adjusted()) > 30:
        raise ScenarioError(f"vary {key} = {whole}: {text.strip()} is out of reach", "vary")
    return found


def _text(number: Decimal) -> str:
    """A decimal without needless digits: 0.05, 10, 0, also where it was -0."""
    text = f"{number or Decimal(0):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def _in_bounds(knob: Knob, key: str, ends: tuple[Decimal, Decimal]) -> None:
    """Say of a range what the schema would say of its ends, before anything runs."""
    for end in ends:
        low = knob.low is not None and float(end) < knob.low
        high = knob.high is not None and float(end) > knob.high
        above = knob.above is not None and float(end) <= knob.above
        if low or high or above:
            raise ScenarioError(stated(key, _text(end), knob.unit, f"must be {knob.bounds}"), key)


def at(scenario: Scenario, axes: tuple[Axis, ...], place: tuple[int, ...]) -> Scenario:
    """The scenario at one point of the grid. Raises ScenarioError where there is no such scenario."""
    return change(scenario, {one.key: one.values[number] for one, number in zip(axes, place, strict=True)})


def different(axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes, if they are over different values. Raises ScenarioError where one is varied twice."""
    seen: set[str] = set()
    for one in axes:
        path = split_path(one.key)
        name = join_path(path[1:] if path[0] == "policies" and len(path) > 2 else path)
        if name in seen:
            raise ScenarioError(f"vary {one.key}: is varied twice", "vary")
        seen.add(name)
    return axes
