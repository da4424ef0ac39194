"""What a policy is called on the page."""

import re

from sched.cost import machine
from sched.scenario import Scenario, known_policies


def title(scenario: Scenario, key: str) -> str:
    """The policy's title, with the size of its buffer where it has one."""
    name, settings = known_policies()[key].title, scenario.policies.get(key)
    kept = getattr(settings, "kv", None)
    return f"{name} {percent(kept)}" if isinstance(kept, float) else name


def in_sentence(scenario: Scenario, key: str) -> str:
    """The policy inside a sentence: "priority + backfill", "a 12 % rescue buffer"."""
    name, kept = known_policies()[key].title, getattr(scenario.policies.get(key), "kv", None)
    words = name if name[1:2].isupper() else name[:1].lower() + name[1:]
    if not isinstance(kept, float):
        return words
    return f"{'an' if percent(kept)[0] == '8' else 'a'} {percent(kept)} {words}"


def percent(share: float) -> str:
    """A share in per cent, with as many digits as it needs."""
    return f"{100 * share:.3g}\u202f%"


def subtitle(scenario: Scenario, key: str) -> str:
    """One line about the policy: what it keeps, or the first clause of its help."""
    settings = scenario.policies.get(key)
    kept = getattr(settings, "kv", None)
    if isinstance(kept, float) and machine(scenario).kv_blocks < 2**31:
        blocks = int(kept * machine(scenario).kv_blocks + 0.5)
        lent = getattr(settings, "lend", False)
        return f"{blocks:,} blocks kept for urgent, {'lent while idle' if lent else 'closed to others'}"
    first = known_policies()[key].help.partition("\n")[0].partition(";")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def plain(text: str) -> str:
    """A user's text in one line, with Markdown's signs taken at their word: a link may carry any text."""
    line = re.sub(r"[ \t\r\n]+", " ", text).strip()
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+!|<>~$:" else sign for sign in line)
