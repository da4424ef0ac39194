"""The sentence above every chart: what waiting costs the urgent, why, what another policy brings and costs.

It is made of figures and names the mechanism that really happened; it says nothing that they do not.
"""

from collections.abc import Mapping
from typing import Any

from sched.scenario import Scenario, known_policies
from sched.words import DEEDS, SHARE_WORTH_NAMING, SOME, Run, count, duration, percent

WORTH_A_WORD = 0.005
NOT_SERVED = {
    "refused": "refuses",
    "shed": "sheds",
    "timed_out": "lets time out",
    "unfinished": "leaves unfinished",
}
"""What may become of a request instead of an answer, and what a policy does to it."""


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
    if fates := _fates(summaries[first]):
        runs += [Run(" It "), Run(fates, "bad"), Run(".")]
    if second != first and waits[second] is not None:
        runs += _instead(summaries, name, first, second, titles)
    return runs


def title(policy: str, titles: Mapping[str, str] | None = None) -> str:
    """A policy's name inside a sentence."""
    if titles and policy in titles:
        return titles[policy]
    known = known_policies().get(policy)
    return uncapital(known.title) if known else policy


def uncapital(name: str) -> str:
    """A title inside a sentence; what is all capitals stays so: "DRF of the article", "KV caps"."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def not_served(summary: Mapping[str, Any]) -> int:
    """Requests of a run that got no full answer, whatever became of them."""
    found: int = sum(summary["requests"][kind] for kind in NOT_SERVED)
    return found


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
    lost = not_served(summaries[second]) - not_served(summaries[first])
    runs = [Run(" "), Run(_capital(title(second, titles)), "strong")]
    if duration(late) == duration(goal_late):
        runs += [Run(" leaves it at "), Run(duration(late), "strong")]
    else:
        tone = "bad" if late > goal_late else "good" if lost <= 0 else "strong"
        runs += [Run(" brings "), Run(duration(late), tone)]
    if lost > 0:
        runs.append(Run(" to those it serves, but "))
        runs += _turned_away(summaries[first], summaries[second], title(first, titles))
    return [*runs, Run(_price(summaries[first], summaries[second], lost) + ".")]


def _turned_away(before: Mapping[str, Any], after: Mapping[str, Any], other: str) -> list[Run]:
    """Whom the second policy does not serve, in numbers, beside what the first did with them."""
    left = not_served(before)
    who = f", which {other} serves" if not left else f" ({other} does not serve {left:,})"
    return [Run(_fates(after, before), "bad"), Run(who)]


def _fates(summary: Mapping[str, Any], other: Mapping[str, Any] | None = None) -> str:
    """What became of those without a full answer: "refuses 6 of 240 requests"; where `other` has fewer."""
    of, parts = count(summary["requests"]["arrived"], "request"), list[str]()
    for kind, verb in NOT_SERVED.items():
        mine = summary["requests"][kind]
        if mine > (other["requests"][kind] if other else 0):
            parts.append(f"{verb} {mine:,}{'' if parts else f' of {of}'}")
    return " and ".join(parts)


def _price(before: Mapping[str, Any], after: Mapping[str, Any], lost: int) -> str:
    """What it costs or adds. More tokens from fewer requests are no gain, so none is told of."""
    old, new = (one["throughput"]["output_tokens_per_s"] for one in (before, after))
    if not old or new is None:
        return ""
    change, parts = new / old - 1, [f"serves {count(-lost, 'more request')}"] if lost < 0 else []
    is_same = abs(change) < WORTH_A_WORD
    if change < 0 and not is_same:
        parts.append(f"costs {percent(-change, 1)} throughput")
    elif lost <= 0 and not is_same:
        parts.append(f"adds {percent(change, 1)} throughput")
    evicted = after["preemptions"] - before["preemptions"]
    if evicted > 0:
        has_verb = parts and parts[-1].startswith("costs")
        parts.append(f"{'' if has_verb else 'costs '}{count(evicted, 'eviction')}")
    told = "".join(f" and {one}" for one in parts)
    if is_same and not lost:
        return f" at the same throughput{told}"
    return f",{told}" if lost > 0 and told else told
