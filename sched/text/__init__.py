"""Texts longer than a sentence, as Markdown files in each language of the page, and the one glossary.

The glossary says what each word means that the page uses in a sense of its own. It is written in
`en/glossary.md` and `zh/glossary.md`, tables of the same terms in the same order; a term is asked for by its
English name or by another English name of it, whatever the language of the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


def text(name: str, lang: str = "en") -> str:
    """The Markdown of a text by its name and language."""
    return (Path(__file__).parent / lang / f"{name}.md").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Term:
    """A word in one language: under `key` it is asked for, `also` are its other names."""

    key: str
    word: str
    meaning: str
    also: tuple[str, ...]
    part: str


@cache
def glossary(lang: str = "en") -> Mapping[str, Term]:
    """All terms by key, in the order in which they are shown."""
    found: dict[str, Term] = {}
    part = ""
    for line in text("glossary", lang).splitlines():
        if line.startswith("## "):
            part = line.removeprefix("## ")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "term" or cells[0].startswith("---"):
            continue
        key, word, meaning, also = cells if len(cells) == 4 else (cells[0], *cells)
        names = tuple(name.strip() for name in also.split(", ") if name.strip())
        assert key not in found, f"{key} stands twice in the glossary"
        found[key] = Term(key, word, meaning, names, part)
    return found


@cache
def _names() -> Mapping[str, str]:
    """The key of every English name, small letters."""
    found = {name.lower(): one.key for one in glossary().values() for name in one.also}
    return found | {key.lower(): key for key in glossary()}


def entry(name: str, lang: str = "en") -> Term:
    """The entry of a word. Raises KeyError for one that the glossary does not have."""
    return glossary(lang)[_names()[name.lower()]]


def term(name: str, lang: str = "en") -> str:
    """What a word means, as the text of a help bubble."""
    return entry(name, lang).meaning
