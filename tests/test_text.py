"""The long texts: each in every language, and one glossary with the same terms in all of them."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import sched.text
from sched.external import reference
from sched.language import NAMES
from sched.page.glossary import OF_COLUMNS, OF_VALUES, term_of
from sched.scenario import known_policies
from sched.text import entry, glossary, term, text

FOLDER = Path(sched.text.__file__).parent
OTHERS = [lang for lang in NAMES if lang != "en"]


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


@pytest.mark.parametrize("lang", NAMES)
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
    assert entry("preemption", "zh").word == "抢占" and "重新等待" in term("preemption", "zh")
    with pytest.raises(KeyError):
        term("no such word")


ASKED = {"meaning", "explained", "term"}
"""The functions whose first word is looked up in the glossary."""


def asked_for() -> Iterator[str]:
    """Every term that the page asks the glossary for by name."""
    for path in (FOLDER.parent / "page").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKED:
                yield from (str(one.value) for one in node.args[:1] if isinstance(one, ast.Constant))
    yield from (*OF_VALUES.values(), *OF_COLUMNS.values())


@pytest.mark.parametrize("lang", NAMES)
def test_every_term_the_page_asks_for_is_in_the_glossary(lang: str) -> None:
    names = set(asked_for())
    assert len(names) > 20
    assert all(term(name, lang) for name in names)


def test_every_pattern_of_values_fits_a_value_that_there_is() -> None:
    paths = [knob.path.replace("<class>", "x").replace("<name>", "x") for knob in reference()]
    paths += [f"{one.key}.{setting.name}" for one in known_policies().values() for setting in one.settings]
    unused = [one for one in OF_VALUES if not any(fnmatchcase(path, one) for path in paths)]
    assert not unused
    assert term_of("engine.max_num_seqs") == "seat" and term_of("title") is None
    assert term_of("traffic.chat.slo.ttft_s") == "TTFT" and term_of("rescue_cap.kv") == "rescue buffer"


@pytest.mark.parametrize("lang", NAMES)
def test_the_keys_of_the_stage_are_all_told(lang: str) -> None:
    shown = set(re.findall(r"^\| (`.*?) \|", text("reading", lang), re.MULTILINE))
    told = {key for cell in shown for key in re.findall("`(.+?)`", cell)}
    script = (FOLDER.parent / "page" / "canvas" / "help.js").read_text("utf-8")
    lists = "".join(re.findall(r"const (?:MORE_)?KEYS = .*?\];\n", script, re.DOTALL))
    keys = set(re.findall(r'"([^"]*)"', re.sub(r'tr\("[^"]*"\)', "", lists))) - {"", "…"}
    assert keys - {"Tab"} == told
    world = (FOLDER.parent / "page" / "canvas" / "world.js").read_text("utf-8")
    most = int(re.findall(r"MOST_CELLS = (\d+)", world)[0])
    assert f"{most:,}" in text("reading", lang)
