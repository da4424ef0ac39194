"""What a policy is called on the page, in the language of the session."""

import re

from sched.cost import machine
from sched.page.language import tr
from sched.scenario import Scenario, known_policies, presets
from sched.verdict import uncapital

SHORTEST_CLAUSE = 12
"""A first clause of fewer characters says too little where words are not set apart."""

VIEWS = {
    "lab": "Lab",
    "compare": "Compare",
    "tradeoffs": "Trade-offs",
    "learn": "Learn",
    "about": "About the model",
}
"""What each view is called, in the order of the bar."""


def title(scenario: Scenario, key: str) -> str:
    """The policy's title, with the size of its buffer where it has one."""
    name, kept = name_of(key), kept_share(scenario, key)
    return name if kept is None else f"{name} {percent(kept)}"


def name_of(key: str) -> str:
    """The policy's title alone."""
    return tr(known_policies()[key].title)


def kept_share(scenario: Scenario, key: str) -> float | None:
    """The share of the blocks that a policy keeps; None where it keeps none, or sizes it by itself."""
    settings = scenario.policies.get(key)
    kept = getattr(settings, "kv", None)
    return kept if isinstance(kept, float) and not hasattr(settings, "target_wait_s") else None


def in_sentence(scenario: Scenario, key: str) -> str:
    """The policy inside a sentence: "priority + backfill", "a 12 % rescue buffer"."""
    words, kept = uncapital(name_of(key)), kept_share(scenario, key)
    if kept is None:
        return words
    share = percent(kept)
    template = "an {share} {policy}" if share[0] == "8" else "a {share} {policy}"
    return tr(template, share=share, policy=words)


def percent(share: float) -> str:
    """A share in per cent, with as many digits as it needs."""
    return f"{100 * share:.3g}\u202f%"


def subtitle(scenario: Scenario, key: str) -> str:
    """One line about the policy: what it keeps, or the first clause of its help."""
    settings, kept = scenario.policies.get(key), kept_share(scenario, key)
    if kept is not None and machine(scenario).kv_blocks < 2**31:
        blocks = f"{int(kept * machine(scenario).kv_blocks + 0.5):,}"
        if getattr(settings, "lend", False):
            return tr("{blocks} blocks kept for urgent, lent while idle", blocks=blocks)
        return tr("{blocks} blocks kept for urgent, closed to others", blocks=blocks)
    first = about(key)
    clause = re.split("[;；]", first)[0].rstrip(".。")
    clause = clause if " " in clause or len(clause) > SHORTEST_CLAUSE else first.rstrip(".。")
    return clause[:1].lower() + clause[1:]


def about(key: str) -> str:
    """What a policy does: the first sentence of its help, on one line."""
    return paragraphs(key)[0]


def paragraphs(key: str) -> list[str]:
    """The help of a policy by paragraphs, each on one line: the rule, then whom it helps and hurts."""
    return [tr(" ".join(part.split())) for part in known_policies()[key].help.split("\n\n") if part.strip()]


def scenario_title(scenario: Scenario) -> str:
    """The scenario's title; that of a ready scenario in the language of the session."""
    title = scenario.title or "Untitled"
    is_ready = not scenario.title or title in {one.title for one in presets()}
    return tr(title) if is_ready else title


def scenario_story(scenario: Scenario) -> str:
    """The scenario's story; that of a ready scenario in the language of the session."""
    story = scenario.story
    return tr(story) if story in {one.story for one in presets()} else story


def heading(scenario: Scenario, about: str) -> str:
    """The view's heading: the scenario's title in bold and, beside it in grey, what is said of it."""
    return f"# **{plain(scenario_title(scenario))}**" + (f" :gray[{about}]" if about else "")


def scenario_line(scenario: Scenario) -> str:
    """The title and the first sentence of the story as the view's heading."""
    story = re.split(r"\. |。", plain(scenario_story(scenario)))[0].rstrip(".")
    return heading(scenario, tr("{said}.", said=story) if story else "")


def plain(text: str) -> str:
    """A user's text in one line, with Markdown's signs taken at their word: a link may carry any text."""
    line = re.sub(r"[ \t\r\n]+", " ", text).strip()
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~$:" else sign for sign in line)


def unbroken(text: str) -> str:
    """The text with its numbers and their units held on one line."""
    return re.sub(r"(?<=\d) (?=(?:s|ms|µs)\b|%)", "\u202f", text)
