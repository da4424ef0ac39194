"""The sentence above every chart: what waiting costs the urgent, why, what another policy brings and costs.

It is made of figures and names the mechanism that really happened; it says nothing that they do not.
"""

from collections.abc import Mapping
from typing import Any

from sched.scenario import Scenario, known_policies
from sched.words import DEEDS, SHARE_WORTH_NAMING, SOME, Run, count, duration, percent

WORTH_A_WORD = 0.005


def urgent_class(summary: Mapping[str, Any], scenario: Scenario) -> str | None:
    """The class of the most urgent requests, or None where there are none; of a trace, as its rows say."""
    if scenario.trace is not None:
        recorded: str | None = summary["inversion"].get("urgent_class")
        return recorded
    sign = -1 if scenario.urgency == "high_first" else 1
    priority = {one.name: sign * one.priority for one in scenario.traffic}
    for request in scenario.requests:
        level = sign * request.priority
        priority[request.class_name] = min(priority.get(request.class_name, level), level)
    known = [name for name in priority if name in summary["classes"]]
    return min(known, key=priority.__getitem__, default=None)


def verdict(
    summaries: Mapping[str, Mapping[str, Any]],
    scenario: Scenario,
    first: str | None = None,
    second: str | None = None,
    titles: Mapping[str, str] | None = None,
) -> list[Run]:
    """What waiting costs the urgent under one policy and why, and what another brings and costs.

    `summaries` are those of `metrics.summary` by policy. Without a choice the first is the one under which
    the urgent wait longest, the second the one under which they wait least. `titles` replaces names, such as
    "rescue 12 %".
    """
    name = urgent_class(next(iter(summaries.values())), scenario)
    waits = {key: _late(one, name) for key, one in summaries.items()}
    told = [key for key, late in waits.items() if late is not None]
    if name is None or not told:
        return [Run("No urgent request got a token, so there is nothing to compare.")]
    first = first or max(told, key=lambda key: waits[key] or 0.0)
    second = second or min(told, key=lambda key: waits[key] or 0.0)
    late = waits[first]
    if late is None:
        return [Run("Under "), Run(title(first, titles), "strong"), Run(f", no {name} request got a token.")]
    goal = scenario.promise(name).slo.ttft_s
    told_goal = f" (goal {duration(goal)})" if goal is not None else ""
    runs = [
        Run("Under "),
        Run(title(first, titles), "strong"),
        Run(f", {name} requests wait "),
        Run(duration(late), "strong"),
    ]
    runs.append(Run(f" for their first token at p99{told_goal}"))
    runs += _why(summaries[first], name)
    if second != first and waits[second] is not None:
        runs += _instead(summaries, name, first, second, titles)
    return runs


def title(policy: str, titles: Mapping[str, str] | None = None) -> str:
    """A policy's name inside a sentence."""
    if titles and policy in titles:
        return titles[policy]
    known = known_policies().get(policy)
    return known.title.lower() if known else policy


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _late(summary: Mapping[str, Any], name: str | None) -> float | None:
    found: float | None = summary["classes"][name]["ttft_s"]["p99"] if name in summary["classes"] else None
    return found


def _why(summary: Mapping[str, Any], name: str) -> list[Run]:
    """What made the urgent wait: how much of it was inversion, by whom, and by which mechanism."""
    share = summary["classes"][name]["inversion_share"]
    if share is None:
        return [Run("; none of them had to wait to be admitted.")]
    if share < WORTH_A_WORD:
        little = "less than 1 %" if share else "none"
        return [Run("; "), Run(f"{little} of the waiting is inversion", "good"), Run(".")]
    runs = [Run("; "), Run(f"{percent(share)} of the waiting is inversion", "bad")]
    urgent = summary["inversion"].get("urgent")
    if not urgent or not urgent["total_s"]:
        return [*runs, Run(".")]
    return [*runs, Run(", "), *_culprits(urgent), Run(".")]


def _culprits(urgent: Mapping[str, Any]) -> list[Run]:
    """Who it was, in the words of what they did."""
    whole, top = urgent["total_s"], urgent["top_culprits"][0]
    if top["inversion_s"] > SHARE_WORTH_NAMING * whole:
        did = max(DEEDS, key=lambda kind: top[kind])
        others = urgent["bypass_s"] - top["bypass_s"] >= SHARE_WORTH_NAMING * whole
        more = ", and others admitted past it" if others else ""
        how_much = "mostly " if top["inversion_s"] > whole / 2 else "above all "
        return [Run(how_much), Run(top["id"], "strong"), Run(f", which {DEEDS[did]}{more}")]
    deeds = [f"some {SOME[kind]}" for kind in DEEDS if urgent[kind] >= SHARE_WORTH_NAMING * whole]
    return [Run(f"shared among {count(urgent['culprits'], 'lower request')}: {', '.join(deeds)}")]


def _instead(
    summaries: Mapping[str, Mapping[str, Any]],
    name: str,
    first: str,
    second: str,
    titles: Mapping[str, str] | None,
) -> list[Run]:
    """What the other policy brings, and its price."""
    late, goal_late = _late(summaries[second], name), _late(summaries[first], name)
    assert late is not None and goal_late is not None
    runs = [Run(" "), Run(_capital(title(second, titles)), "strong")]
    if duration(late) == duration(goal_late):
        runs += [Run(" leaves it at "), Run(duration(late), "strong")]
    else:
        runs += [Run(" brings "), Run(duration(late), "good" if late < goal_late else "bad")]
    before, after = (summaries[key]["throughput"]["output_tokens_per_s"] for key in (first, second))
    if not before or after is None:
        return [*runs, Run(".")]
    change = after / before - 1
    if abs(change) < WORTH_A_WORD:
        price = " at the same throughput"
    else:
        price = (
            f" and costs {percent(-change, 1)} throughput"
            if change < 0
            else f" and adds {percent(change, 1)} throughput"
        )
    evicted = summaries[second]["preemptions"] - summaries[first]["preemptions"]
    return [*runs, Run(price + (f" and {count(evicted, 'eviction')}" if evicted > 0 else "") + ".")]
