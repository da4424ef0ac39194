"""The long texts: each in every language, and one glossary with the same terms in all of them."""

from pathlib import Path

import pytest

import sched.text
from sched.text import LANGUAGES, entry, glossary, named, term, text

FOLDER = Path(sched.text.__file__).parent
OTHERS = [lang for lang in LANGUAGES if lang != "en"]


@pytest.mark.parametrize("lang", OTHERS)
def test_every_text_of_the_model_is_there_in_every_language(lang: str) -> None:
    names = {path.stem for path in (FOLDER / "en").glob("*.md")}
    assert {"glossary", "reading"} <= names
    assert all(text(name, lang).strip() != text(name).strip() for name in names)


@pytest.mark.parametrize("lang", OTHERS)
def test_the_glossary_has_the_same_terms_in_the_same_order(lang: str) -> None:
    assert list(glossary(lang)) == list(glossary())
    parts = [[one.part for one in glossary(which).values()] for which in ("en", lang)]
    cuts = [[place for place in range(1, len(part)) if part[place] != part[place - 1]] for part in parts]
    assert cuts[0] == cuts[1]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_entry_says_something_in_a_sentence(lang: str) -> None:
    for one in glossary(lang).values():
        assert one.word and one.part and one.meaning[-1] in ".。", one
    words = [one.word for one in glossary(lang).values()]
    assert len(set(words)) == len(words)


def test_no_name_stands_for_two_terms() -> None:
    names = [name.lower() for one in glossary().values() for name in (one.key, *one.also)]
    assert sorted(set(names)) == sorted(names)


def test_a_term_is_found_by_any_name_of_it_and_told_in_the_language_asked_for() -> None:
    assert term("Rescue buffer") == term("reserve") == glossary()["rescue buffer"].meaning
    assert entry("eviction", "zh").word == "抢占" and "重新等待" in term("preemption", "zh")
    found = named("回填", "zh")
    assert found and found.key == "backfill" and named("no such word") is None
    with pytest.raises(KeyError):
        term("no such word")
