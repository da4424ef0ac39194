"""What the browser says itself: every sentence of its scripts is translated, with the same values in it."""

import re

import pytest

from sched.language import NAMES, catalogue
from sched.page.component import FOLDER, SCRIPTS, script

TEXT = r'"((?:[^"\\]|\\.)*)"'
ONE = re.compile(rf"\btr\({TEXT}")
MANY = re.compile(rf"\btrCount\((?:[^()\"]|\([^()]*\))*?, {TEXT}, {TEXT}")
VALUE = re.compile(r"\{(\w+)\}")
CODES = [code for code in NAMES if code != "en"]


def said() -> dict[str, str]:
    """Every template of the scripts with the file that says it; of two for one and many, the second."""
    found = dict[str, str]()
    for name in SCRIPTS.split():
        source = (FOLDER / f"{name}.js").read_text("utf-8")
        found |= dict.fromkeys(ONE.findall(source), name) | {many: name for _, many in MANY.findall(source)}
    return found


def test_a_template_for_one_thing_has_the_values_of_that_for_many() -> None:
    for name in SCRIPTS.split():
        for one, many in MANY.findall((FOLDER / f"{name}.js").read_text("utf-8")):
            assert set(VALUE.findall(one)) == set(VALUE.findall(many)), many


@pytest.mark.parametrize("code", CODES)
def test_every_sentence_of_the_scripts_is_translated_with_its_values(code: str) -> None:
    known, texts = catalogue(code, "stage"), said()
    assert len(texts) > 100
    assert {text: name for text, name in texts.items() if text not in known} == {}
    assert set(known) <= set(texts), "a translation of what no script says"
    for text in texts:
        assert sorted(VALUE.findall(known[text])) == sorted(VALUE.findall(text)), text
        assert known[text].count("**") == text.count("**"), text


def test_the_translations_travel_with_the_script() -> None:
    assert all(f'"{code}":{{' in script() for code in CODES)
