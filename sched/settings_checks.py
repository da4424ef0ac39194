"""What the settings of a policy can get wrong together, or with the engine's."""

from typing import TYPE_CHECKING, Any

from sched.fields import number_text, sentence

if TYPE_CHECKING:
    from sched.scenario import Scenario


def check_settings(scenario: "Scenario") -> None:
    """Raise for the first policy whose settings cannot be run."""
    for key, settings in scenario.policies.items():
        if getattr(settings, "slices", None):
            _slices(f"policies.{key}.slices", settings.slices)


def _slices(path: str, shares: Any) -> None:
    """Names are priorities, each once; together they keep no more tokens than there are."""
    seen: dict[int, str] = {}
    for name in shares:
        digits = name.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9:
            raise sentence(f'{path}."{name}": the name must be a priority, a whole number such as 0', path)
        if int(name) in seen:
            raise sentence(
                f'{path}: "{seen[int(name)]}" and "{name}" are one priority; keep one of them', path
            )
        seen[int(name)] = name
    total = sum(shares.values())
    if total > 1 + 1e-9:
        text = "they keep more than all tokens of an iteration; let them sum to at most 1"
        raise sentence(f"{path}: the shares sum to {number_text(round(total, 9))}: {text}", path)
