"""The sentence above every chart: what waiting costs the urgent, why, what another policy brings and costs.

It is made of figures and names the mechanism that really happened; it says nothing that they do not.
"""

from collections.abc import Mapping
from typing import Any

from sched.language import ENGLISH, Language
from sched.scenario import Scenario, known_policies
from sched.words import (
    DEEDS,
    SHARE_WORTH_NAMING,
    SOME,
    Run,
    capital,
    count,
    duration,
    listed,
    marked,
    percent,
)

WORTH_A_WORD = 0.005
"""A smaller share, or a smaller change of one, is not spoken of."""
NOT_SERVED = {
    "refused": ("refuses {n} of {requests}", "refuses {n}"),
    "shed": ("sheds {n} of {requests}", "sheds {n}"),
    "timed_out": ("lets time out {n} of {requests}", "lets time out {n}"),
    "unfinished": ("leaves unfinished {n} of {requests}", "leaves unfinished {n}"),
}
"""What may become of a request instead of an answer, and what a policy does to it: said first, said after."""
Summary = Mapping[str, Any]


def urgent_class(summary: Mapping[str, Any], scenario: Scenario) -> str | None:
    """The class of the most urgent requests, or None where there are none; of a trace, as its rows say."""
    if scenario.trace is not None:
        recorded: str | None = summary["inversion"].get("urgent_class")
        return recorded
    priority = {one.name: scenario.level(one.priority) for one in scenario.traffic}
    for request in scenario.requests:
        level = scenario.level(request.priority)
        priority[request.class_name] = min(priority.get(request.class_name, level), level)
    known = [name for name in priority if name in summary["classes"]]
    return min(known, key=priority.__getitem__, default=None)


def verdict(
    summaries: Mapping[str, Summary],
    scenario: Scenario,
    first: str | None = None,
    second: str | None = None,
    titles: Mapping[str, str] | None = None,
    say: Language = ENGLISH,
) -> list[Run]:
    """What waiting costs the urgent under one policy and why, and what another brings and costs.

    `summaries` are those of `metrics.summary` by policy. Without a choice the first is the one under which
    the urgent wait longest, the second the one under which they wait least, of equals the one with the most
    tokens a second. `titles` replaces names, such as "rescue 12 %".
    """
    name = urgent_class(next(iter(summaries.values())), scenario)
    waits = {key: _late(one, name) for key, one in summaries.items()}
    told = [key for key, late in waits.items() if late is not None]
    if name is None or not told:
        return marked("No urgent request got a token, so there is nothing to compare.", say)
    first = first or max(told, key=lambda key: waits[key] or 0.0)
    second = second or min(told, key=lambda key: (waits[key] or 0.0, -_tokens_per_s(summaries[key])))
    policy = title(first, titles, say)
    if waits[first] is None:
        return marked("Under **{policy}**, no {name} request got a token.", say, policy=policy, name=name)
    runs = _waits(summaries[first], name, policy, scenario.promise(name).slo.ttft_s, say)
    if fates := _fates(summaries[first], say):
        runs = marked("{said} It **bad: {fates}**.", say, said=runs, fates=fates)
    if second != first and waits[second] is not None:
        other = title(second, titles, say)
        goal_s = scenario.promise(name).slo.ttft_s
        then = _instead(summaries[first], summaries[second], name, goal_s, (policy, other), say)
        runs = marked("{said} {then}", say, said=runs, then=then)
    return runs


def title(policy: str, titles: Mapping[str, str] | None = None, say: Language = ENGLISH) -> str:
    """A policy's name inside a sentence."""
    if titles and policy in titles:
        return titles[policy]
    known = known_policies().get(policy)
    return uncapital(say(known.title)) if known else policy


def uncapital(name: str) -> str:
    """A title inside a sentence; what is all capitals stays so: "DRF of the article", "KV caps"."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def not_served(summary: Summary) -> int:
    """Requests of a run that got no full answer, whatever became of them."""
    found: int = sum(summary["requests"][kind] for kind in NOT_SERVED)
    return found


def _late(summary: Summary, name: str | None) -> float | None:
    found: float | None = summary["classes"][name]["ttft_s"]["p99"] if name in summary["classes"] else None
    return found


def _tokens_per_s(summary: Summary) -> float:
    found: float | None = summary["throughput"]["output_tokens_per_s"]
    return found or 0.0


def _waits(summary: Summary, name: str, policy: str, goal_s: float | None, say: Language) -> list[Run]:
    """How long the urgent wait under a policy, and why."""
    late = _late(summary, name)
    assert late is not None
    values = {"policy": policy, "name": name, "span": duration(late)}
    if goal_s is None:
        wait = marked(
            "Under **{policy}**, {name} requests wait **{span}** for their first token at p99", say, **values
        )
    else:
        wait = marked(
            "Under **{policy}**, {name} requests wait **{span}** for their first token at p99 (goal {goal})",
            say,
            **values,
            goal=duration(goal_s),
        )
    return marked("{wait}; {why}.", say, wait=wait, why=why(summary, name, say))


def why(summary: Summary, name: str, say: Language) -> list[Run]:
    """What made the urgent wait: how much of it was inversion, by whom, and by which mechanism."""
    share = summary["classes"][name]["inversion_share"]
    if share is None:
        return marked("none of them had to wait to be admitted", say)
    if not share:
        return marked("**good: none of the waiting is inversion**", say)
    if share < WORTH_A_WORD:
        return marked("**good: less than 1 % of the waiting is inversion**", say)
    much = marked("**bad: {share} of the waiting is inversion**", say, share=percent(share))
    urgent = summary["inversion"].get("urgent")
    if not urgent or not urgent["total_s"]:
        return much
    return marked("{share}, {culprits}", say, share=much, culprits=_culprits(urgent, say))


def _culprits(urgent: Mapping[str, Any], say: Language) -> list[Run]:
    """Who it was, in the words of what they did."""
    whole, top = urgent["total_s"], urgent["top_culprits"][0]
    if top["inversion_s"] <= SHARE_WORTH_NAMING * whole:
        deeds = [
            say("some {deed}", deed=say(SOME[kind]))
            for kind in DEEDS
            if urgent[kind] >= SHARE_WORTH_NAMING * whole
        ]
        who = count(urgent["culprits"], "less urgent request", say)
        return marked("shared among {who}: {deeds}", say, who=who, deeds=listed(deeds, say))
    did = say(DEEDS[max(DEEDS, key=lambda kind: top[kind])])
    most = top["inversion_s"] > whole / 2
    if urgent["bypass_s"] - top["bypass_s"] >= SHARE_WORTH_NAMING * whole:
        template = (
            "mostly **{id}**, which {did}, and others admitted past it"
            if most
            else "above all **{id}**, which {did}, and others admitted past it"
        )
    else:
        template = "mostly **{id}**, which {did}" if most else "above all **{id}**, which {did}"
    return marked(template, say, id=top["id"], did=did)


def _instead(
    before: Summary,
    after: Summary,
    name: str,
    goal_s: float | None,
    policies: tuple[str, str],
    say: Language,
) -> list[Run]:
    """What the other policy brings, and its price; good is only what keeps the goal."""
    late, old_late = _late(after, name), _late(before, name)
    assert late is not None and old_late is not None
    other, lost = policies[0], not_served(after) - not_served(before)
    values = {"policy": capital(policies[1]), "span": duration(late)}
    if duration(late) == duration(old_late):
        said = marked("**{policy}** leaves it at **{span}**", say, **values)
    elif late > old_late:
        said = marked("**{policy}** brings **bad: {span}**", say, **values)
    elif lost <= 0 and (goal_s is None or late <= goal_s):
        said = marked("**{policy}** brings **good: {span}**", say, **values)
    else:
        said = marked("**{policy}** brings **{span}**", say, **values)
    if lost > 0:
        left, fates = not_served(before), _fates(after, say, before)
        template = (
            "{said} to those it serves, but **bad: {fates}** ({other} does not serve {left})"
            if left
            else "{said} to those it serves, but **bad: {fates}**, which {other} serves"
        )
        said = marked(template, say, said=said, fates=fates, other=other, left=f"{left:,}")
    return marked("{said}.", say, said=_price(said, before, after, lost, say))


def _fates(summary: Summary, say: Language, other: Summary | None = None) -> str:
    """What became of those without a full answer: "refuses 6 of 240 requests"; where `other` has fewer."""
    of, parts = count(summary["requests"]["arrived"], "request", say), list[str]()
    for kind, (begin, more) in NOT_SERVED.items():
        mine = summary["requests"][kind]
        if mine > (other["requests"][kind] if other else 0):
            parts.append(say(more if parts else begin, n=f"{mine:,}", requests=of))
    found = parts[0] if parts else ""
    for one in parts[1:]:
        found = say("{first} and {next}", first=found, next=one)
    return found


def _price(said: list[Run], before: Summary, after: Summary, lost: int, say: Language) -> list[Run]:
    """What it costs or adds. More tokens from fewer requests are no gain, so none is told of."""
    old, new = (one["throughput"]["output_tokens_per_s"] for one in (before, after))
    if not old or new is None:
        return said
    change, preempted = new / old - 1, after["preemptions"] - before["preemptions"]
    is_same = abs(change) < WORTH_A_WORD
    is_dearer = change < 0 and not is_same
    if lost > 0 and (is_dearer or preempted > 0):
        said = marked("{said},", say, said=said)
    elif is_same and not lost:
        said = marked("{said} at the same throughput", say, said=said)
    if lost < 0:
        more = count(-lost, "more request", say)
        said = marked("{said} and serves {requests}", say, said=said, requests=more)
    if is_dearer:
        said = marked("{said} and costs {share} throughput", say, said=said, share=percent(-change, 1))
    elif lost <= 0 and not is_same:
        said = marked("{said} and adds {share} throughput", say, said=said, share=percent(change, 1))
    if preempted > 0:
        template = "{said} and {preemptions}" if is_dearer else "{said} and costs {preemptions}"
        said = marked(template, say, said=said, preemptions=count(preempted, "preemption", say))
    return said
