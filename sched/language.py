"""The languages of the page: an English sentence is the key under which the others are found.

Catalogues are gettext's `.po` files in `sched/text/<code>/`, which translators and their tools know; all
files of a folder are one catalogue. English needs none: the command line never reads one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
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
        return found.format(**values) if values else found

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
