"""What a policy is called on the page."""

import re

from sched.cost import machine
from sched.scenario import Scenario, known_policies
from sched.verdict import uncapital


def title(scenario: Scenario, key: str) -> str:
    """The policy's title, with the size of its buffer where it has one."""
    name, kept = known_policies()[key].title, kept_share(scenario, key)
    return name if kept is None else f"{name} {percent(kept)}"


def kept_share(scenario: Scenario, key: str) -> float | None:
    """The share of the blocks that a policy keeps; None where it keeps none, or sizes it by itself."""
    settings = scenario.policies.get(key)
    kept = getattr(settings, "kv", None)
    return kept if isinstance(kept, float) and not hasattr(settings, "target_wait_s") else None


def in_sentence(scenario: Scenario, key: str) -> str:
    """The policy inside a sentence: "priority + backfill", "a 12 % rescue buffer"."""
    name, kept = known_policies()[key].title, kept_share(scenario, key)
    words = uncapital(name)
    if kept is None:
        return words
    return f"{'an' if percent(kept)[0] == '8' else 'a'} {percent(kept)} {words}"


def percent(share: float) -> str:
    """A share in per cent, with as many digits as it needs."""
    return f"{100 * share:.3g}\u202f%"


def subtitle(scenario: Scenario, key: str) -> str:
    """One line about the policy: what it keeps, or the first clause of its help."""
    settings, kept = scenario.policies.get(key), kept_share(scenario, key)
    if kept is not None and machine(scenario).kv_blocks < 2**31:
        blocks = int(kept * machine(scenario).kv_blocks + 0.5)
        lent = getattr(settings, "lend", False)
        return f"{blocks:,} blocks kept for urgent, {'lent while idle' if lent else 'closed to others'}"
    first = about(key)
    clause = first.partition(";")[0].rstrip(".")
    clause = clause if " " in clause else first.rstrip(".")
    return clause[:1].lower() + clause[1:]


def about(key: str) -> str:
    """What a policy does: the first sentence of its help, on one line."""
    return " ".join(known_policies()[key].help.partition("\n\n")[0].split())


def plain(text: str) -> str:
    """A user's text in one line, with Markdown's signs taken at their word: a link may carry any text."""
    line = re.sub(r"[ \t\r\n]+", " ", text).strip()
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~$:" else sign for sign in line)
