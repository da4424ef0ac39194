"""The languages of the page: an English sentence is the key under which the others are found.

Catalogues are gettext's `.po` files in `sched/text/<code>/`, which translators and their tools know; all
files of a folder are one catalogue. English needs none: the command line never reads one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

NAMES = {"en": "English", "zh": "简体中文"}
"""The languages by their code in a link, each by its own name."""
FOLDER = Path(__file__).parent / "text"


@dataclass(frozen=True, slots=True)
class Language:
    """Says a sentence in one language. `missing` collects what the catalogue does not have, for the tests."""

    code: str
    messages: Mapping[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set, compare=False)

    def __call__(self, template: str, /, **values: Any) -> str:
        """The sentence with its values: "{name} waits {span}". Values are put in as they are."""
        found = self._found(template)
        if not values:
            return found
        return found.format(**values) if self.code == "en" else filled(found, values)

    def count(self, number: int, one: str, many: str, /, **values: Any) -> str:
        """A sentence about `n` things: "{n} block" or "{n} blocks". A language with one form has `many`."""
        template = one if number == 1 and self.code == "en" else many
        return self(template, n=f"{number:,}", **values)

    def _found(self, template: str) -> str:
        if self.code == "en" or not template:
            return template
        found = self.messages.get(template)
        if found is None:
            self.missing.add(template)
            return template
        return found


def filled(template: str, values: Mapping[str, Any]) -> str:
    """The template with its values, with a space where Chinese meets another script and none within it."""
    text = ""
    for literal, name, _, _ in Formatter().parse(template):
        for part in (literal, "" if name is None else str(values[name])):
            before, after = met(text, part)
            text = before + after
    return text


def met(before: str, after: str) -> tuple[str, str]:
    """Two pieces of a sentence as they stand side by side; the stars of what is bold do not part them."""
    is_open = before.count(BOLD) % 2 == 1
    left, right = before.removesuffix(BOLD), after.removeprefix(BOLD)
    if not left or not right:
        return before, after
    if (_is_chinese(left[-1]) and _is_word(right[0])) or (_is_word(left[-1]) and _is_chinese(right[0])):
        if left != before and is_open:
            return f"{left} {BOLD}", after
        return (before, f"{BOLD} {right}") if right != after and is_open else (f"{before} ", after)
    if before[-1] == " " and _is_chinese(right[0]) and _is_chinese(before[-2:-1]):
        return before[:-1], after
    if after[0] == " " and (left[-1] in STOPS or (_is_chinese(left[-1]) and _is_chinese(after[1:2]))):
        return before, after[1:]
    return before, after


def _is_chinese(letter: str) -> bool:
    return "\u4e00" <= letter <= "\u9fff"


def _is_word(letter: str) -> bool:
    return letter == "%" or (letter.isascii() and letter.isalnum())


BOLD = "**"
STOPS = "。；，：！？）"
"""After these nothing is spaced: they are wide enough."""
ENGLISH = Language("en")


@cache
def language(code: str) -> Language:
    """The language of a code. Raises KeyError for one that is not in NAMES."""
    NAMES[code]
    return ENGLISH if code == "en" else Language(code, catalogue(code))


def catalogue(code: str, name: str = "*") -> dict[str, str]:
    """English sentences with their translations, from one file of a language's folder or all of them."""
    from babel.messages.pofile import read_po  # only where another language is spoken

    found: dict[str, str] = {}
    for path in sorted((FOLDER / code).glob(f"{name}.po")):
        with path.open("rb") as file:
            for message in read_po(file, abort_invalid=True):
                if isinstance(message.id, str) and message.id and message.string:
                    found[message.id] = str(message.string)
    return found
