"""What the settings of a policy can get wrong together, or with the engine's."""

from typing import TYPE_CHECKING, Any

from sched.fields import number_text, sentence
from sched.language import ENGLISH, Language

if TYPE_CHECKING:
    from sched.scenario import Scenario

UNUSED = {
    "slices": "{path} is not used: its slices say what is kept",
    "swap": "{path} has no effect: with prefix caching nothing is swapped; what is preempted stays in the "
    "cache while nobody needs its blocks",
    "predictor": "{path} has no effect on the predictor {predictor}",
    "ttft": "{path} has no effect: a first token needs no predicted length",
    "max_wait_s": "{path} has no effect without max_wait_s or by_slo",
    "max_queue": "{path} has no effect without max_queue",
    "threshold_s": "{path} has no effect: threshold_s says what waiting earns",
    "split": "{path} has no effect without split",
    "lend": "{path} has no effect: nothing is lent",
    "cpu_cores": "{path} has no effect without cpu_cores",
}
"""What is said of a setting that changes nothing, by what makes it so."""


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


def without_effect(scenario: "Scenario", say: Language = ENGLISH) -> list[tuple[str, str]]:
    """Settings that were changed and change nothing, each with its reason, by path."""
    found: list[tuple[str, str]] = []
    for key, settings in scenario.policies.items():
        model = type(settings).model_fields
        changed = {
            name for name, field in model.items() if getattr(settings, name) not in (field.default, None)
        }
        for names, why in _reasons(key, settings, scenario):
            paths = [f"policies.{key}.{name}" for name in names if name in changed]
            predictor = getattr(settings, "predictor", "")
            found += [(path, say(why, path=path, predictor=predictor)) for path in paths]
    return found


def _reasons(key: str, settings: Any, scenario: "Scenario") -> list[tuple[tuple[str, ...], str]]:
    """Names that have no effect under these settings, and the sentence that says why."""

    def of(name: str, otherwise: Any = None) -> Any:
        return getattr(settings, name, otherwise)

    found: list[tuple[tuple[str, ...], str]] = []
    if of("slices"):
        found.append((("tokens",), UNUSED["slices"]))
    if of("mode") == "swap" and scenario.engine.enable_prefix_caching:
        found.append((("mode",), UNUSED["swap"]))
    if of("predictor", "lognormal") not in ("lognormal", "refreshed"):
        found.append((("error",), UNUSED["predictor"]))
    if of("predictor", "rank") != "rank":
        found.append((("tau",), UNUSED["predictor"]))
    if key in ("edf", "slack") and of("deadline") == "ttft":
        found.append((("predictor", "error", "tau"), UNUSED["ttft"]))
    if key == "shed" and of("max_wait_s") is None and not of("by_slo"):
        found.append((("predictor", "error", "tau"), UNUSED["max_wait_s"]))
    if key == "shed" and of("max_queue") is None:
        found.append((("on_full", "per_class"), UNUSED["max_queue"]))
    if of("threshold_s") is not None:
        found.append((("per_s",), UNUSED["threshold_s"]))
    if of("split") is False:
        found.append((("split_prefix",), UNUSED["split"]))
    if of("lend") is False:
        found.append((("lend_share",), UNUSED["lend"]))
    if of("cpu_cores") == 0:
        found.append((("cpu",), UNUSED["cpu_cores"]))
    return found
