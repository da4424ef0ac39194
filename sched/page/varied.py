"""The knobs that the page can vary, and the range of each that is looked at when nobody names one."""

from decimal import ROUND_CEILING, Decimal

from sched.fields import ScenarioError
from sched.knobs import Knob, field, reference
from sched.model import UNLIMITED_BLOCKS
from sched.page.controls import nice, value_at
from sched.page.language import tr
from sched.page.titles import percent
from sched.plain import join_path, split_path
from sched.ranges import Axis, axis
from sched.scenario import Scenario, known_policies

BUFFER = "rescue.kv"
CURVE, MAP = 17, 5
"""Points of a curve, and of each side of a map, when nobody says how many."""
ENGINE = ("kv_blocks", "max_num_seqs", "max_num_batched_tokens", "long_prefill_token_threshold")


def with_policy(scenario: Scenario, policy: str) -> Scenario:
    """The scenario with this policy among those compared."""
    if policy in scenario.policies:
        return scenario
    return scenario.changed(policies={**scenario.policies, policy: known_policies()[policy].model()})


def policy_of(key: str) -> str | None:
    """The policy whose setting this is; None for the engine's and the traffic's."""
    first = split_path(key)
    name = first[1] if first[0] == "policies" and len(first) > 2 else first[0]
    return name if name in known_policies() else None


def knobs(scenario: Scenario) -> list[str]:
    """What can be varied: the buffer, what each class sends, the engine, the settings of the policies."""
    found = [BUFFER]
    for one in scenario.traffic:
        for part in (("rate_per_s",), ("prompt", "mean"), ("output", "mean")):
            found.append(join_path(("traffic", one.name, *part)))
    found += [f"engine.{name}" for name in ENGINE]
    if scenario.trace:
        found.append("trace.speed")
    for row in reference():
        if policy_of(row.path) in scenario.policies and "number" in row.type and row.path != BUFFER:
            found.append(row.path)
    return [key for key in found if value_of(scenario, key) is not None or key == BUFFER]


def value_of(scenario: Scenario, key: str) -> float | None:
    """What the knob stands at; None where it has no number."""
    try:
        value = value_at(scenario, split_path(key))
    except (AttributeError, StopIteration, KeyError, ScenarioError):
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and value < UNLIMITED_BLOCKS else None


def is_share(knob: Knob) -> bool:
    """Whether it is said in per cent."""
    return knob.unit.startswith("of ") and knob.high == 1


def usual_range(scenario: Scenario, key: str, points: int) -> Axis:
    """From half to twice what it stands at, in round steps; of a share from nothing to 40 or 100 %.

    The speed of a trace begins where it stands.
    """
    knob, now = field(key), value_of(scenario, key)
    if is_share(knob):
        top = Decimal("0.4") if (now or 0.0) <= 0.4 else Decimal(1)
        start, step = Decimal(str(knob.low or 0)), top / (20 if points > 9 else 4)
        step = Decimal("0.025") if top < 1 and points > 9 else step
        return axis(f"{key}={start}:{top}:{step}")
    step = Decimal(f"{nice((now or 4 * float(knob.step or 1)) * 1.5 / points):.6g}")
    if knob.type.startswith("whole"):
        step = max(Decimal(1), step.to_integral_value())
    start = max((Decimal(repr(now or 0.0)) / 2 / step).to_integral_value() * step, Decimal(0))
    if knob.above is not None or knob.low:
        start = max(start, step)
    if key == "trace.speed":  # played slower, its last rows would come after the end of the run
        start = max(start, (Decimal(repr(now)) / step).to_integral_value(ROUND_CEILING) * step)
    stop = start + (points - 1) * step
    if knob.high is not None and float(stop) > knob.high:
        stop = Decimal(repr(float(knob.high)))
    return axis(f"{key}={start:f}:{max(stop, start):f}:{step:f}")


def range_text(one: Axis) -> str:
    """An axis as a link writes it."""
    if len(one.values) == 1:
        return f"{one.key}={one.values[0]}"
    step = Decimal(one.values[1]) - Decimal(one.values[0])
    return f"{one.key}={one.values[0]}:{one.values[-1]}:{step:f}"


def knob_title(key: str) -> str:
    """What a knob is called, with the class or the policy it belongs to."""
    path, knob = split_path(key), field(key)
    policy = policy_of(key)
    if policy is not None and key != BUFFER:
        return tr("{of}: {title}", of=tr(known_policies()[policy].title), title=tr(knob.title))
    if path[0] == "traffic":
        part = {"prompt": tr("prompt"), "output": tr("answer")}.get(path[2], "")
        title = f"{part} {tr(knob.title).lower()}" if part else tr(knob.title)
        return tr("{of}: {title}", of=path[1], title=title)
    return tr(knob.title)


def value_text(key: str, text: str) -> str:
    """A value of a knob as people read it: shares in per cent, others with their unit."""
    knob = field(key)
    if is_share(knob):
        return percent(float(text))
    number = f"{float(text):,.10g}"
    return f"{number}\u202f{tr(knob.unit)}" if knob.unit and not knob.unit.startswith("of ") else number
