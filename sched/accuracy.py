"""How far a scenario's iteration times are from measurements, in figures and in words."""

from typing import Any

from sched.cost import OWN, fitted
from sched.language import ENGLISH, Language
from sched.scenario import Scenario


def figure(value: float) -> str:
    """A number of per cent with two figures: 1.7, 13."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def preset_of(scenario: Scenario) -> dict[str, Any] | None:
    """The hardware preset that the scenario names, with all that is known of it; None if it has its own."""
    name = scenario.engine.hardware
    return None if name in OWN else fitted(name)


def is_made_up(scenario: Scenario) -> bool:
    """Whether no machine was measured for these times, or not this one."""
    row = preset_of(scenario)
    return row is None or row["fit"] is None


def in_short(scenario: Scenario, say: Language = ENGLISH) -> str:
    """One sentence for beside a result."""
    row = preset_of(scenario)
    if row is None:
        return say("Times are made up for teaching.")
    if row["fit"] is None:
        return say("Iteration times are an estimate: nobody measured this hardware.")
    return say(
        "Iteration times within {median} % of published measurements at the median.",
        median=figure(row["fit"]["median_percent"]),
    )


def in_full(scenario: Scenario, say: Language = ENGLISH) -> list[str]:
    """What the times rest on, a few sentences."""
    row = preset_of(scenario)
    if row is None:
        if scenario.engine.hardware == "constant":
            return [
                say(
                    "Every iteration takes the same time, made up for teaching: the order of things means "
                    "something, the seconds do not."
                )
            ]
        return [
            say(
                "The coefficients are the scenario's own and nothing was measured here, so the seconds are "
                "as good as they are."
            )
        ]
    named = {"model": row["model"], "gpu": row["gpu"], "tp": row["tp"]}
    texts = [say("Hardware preset: {model} on {tp} × {gpu}.", **named)]
    if row["fit"] is None:
        texts.append(say("It is an estimate from the data sheet and similar GPUs: no error is known for it."))
        return texts
    texts.append(
        say(
            "Fitted to {points} published measurements of kernels, put together; on points left out of "
            "the fit it is off by {median} % at the median, {mean} % on average and {p95} % at p95.",
            points=f"{row['fit']['points']:,}",
            median=figure(row["fit"]["median_percent"]),
            mean=figure(row["error_percent"]),
            p95=figure(row["error_p95_percent"]),
        )
    )
    return [*texts, live(row, say)]


def live(row: dict[str, Any], say: Language = ENGLISH) -> str:
    """What a live engine said of a preset."""
    found = row["live"]
    if found is None:
        return say("It was not held against a live engine.")
    known = {"error": figure(found["percent"]), "worst": figure(found["worst_percent"])}
    if found["of"] == "requests":
        return say.count(
            found["count"],
            "Against a live engine ({n} request, each workload left out in turn): {error} % off on average, "
            "{worst} % at p95.",
            "Against a live engine ({n} requests, each workload left out in turn): {error} % off on average, "
            "{worst} % at p95.",
            **known,
        )
    return say.count(
        found["count"],
        "Against a live engine ({n} stage of a load test, which also set its overhead): {error} % off on "
        "average, {worst} % at worst.",
        "Against a live engine ({n} stages of a load test, which also set its overhead): {error} % off on "
        "average, {worst} % at worst.",
        **known,
    )
