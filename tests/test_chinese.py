"""Every sentence of the page has its Chinese, and it is whole: same figures, same marks, no English."""

import ast
import io
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from sched import chronicle, rules, settings_checks, story, verdict, words
from sched.external import reference
from sched.language import ENGLISH, FOLDER, language
from sched.moments import CAUSE_NAMES, NOUNS, RESOURCE_NAMES, RESOURCE_WORDS
from sched.page.published_words import NOT_ALLOWED
from sched.papers import rows_on_file
from sched.presets import presets
from sched.scenario import known_policies

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((FOLDER / "zh").glob("*.po"))
NAME, WORD, CHINESE = re.compile(r"\{(\w*)\}"), re.compile(r"[A-Za-z_]+"), re.compile(r"[\u4e00-\u9fff]")
ENGLISH_WORDS = set("the of and is are was to in for with by at from that which it they has have not".split())
WIDE = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff05]")
"""Digits, letters and the per cent sign of full width, which look like mistakes beside ours."""


@cache
def entries(path: Path) -> list[tuple[str, str, bool]]:
    with path.open("rb") as file:
        return [(str(one.id), str(one.string), one.fuzzy) for one in read_po(file) if one.id]


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, each on one line, as the page shows them."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def schema_strings() -> Iterator[str]:
    """What the controls of the page say of a scenario, its policies and the ready scenarios."""
    for row in reference():
        yield from (row.title, row.help, row.unit, *(f"choice: {one}" for one in row.choices))
    for policy in known_policies().values():
        yield from (policy.title, *paragraphs(policy.help))
    for preset in presets():
        yield from (preset.title, preset.story)


def constants() -> Iterator[str]:
    """Sentences that are chosen from a table before they are said."""
    yield from (*words.DEEDS.values(), *words.SOME.values())
    yield from (template for pair in verdict.NOT_SERVED.values() for template in pair)
    yield from (*story.OTHERS.values(), *(f"{{n}} {noun}s" for noun in NOUNS))
    yield from (*chronicle.ENDS.values(), *CAUSE_NAMES.values(), *RESOURCE_NAMES, *RESOURCE_WORDS)
    yield from settings_checks.UNUSED.values()
    yield from ("shot noise", "arrivals", "largest request")
    for row in rows_on_file():
        yield from (row["setting"], row["published"], row["ran"], row["why"].rpartition(NOT_ALLOWED)[2])
        for figure in row["figures"]:
            yield figure["says"]
            if figure["unit"]:
                yield f"unit: {figure['unit']}"
    tree = ast.parse(Path(rules.__file__).read_text("utf-8"))
    reasons = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "why_not_bounded"
    )
    for node in ast.walk(reasons):
        if isinstance(node, ast.Return):
            yield from literals(node.value)


def literals(node: ast.expr | None) -> Iterator[str]:
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))


def templates(path: Path) -> Iterator[str]:
    """The sentences that a module says: the first argument of `say`, `tr` and the like, or a `template`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "template":
            yield from literals(node.value)
        if not isinstance(node, ast.Call):
            continue
        name, arguments = ast.unparse(node.func), node.args
        if name in ("say", "tr", "marked") and arguments:
            yield from literals(arguments[0])
        elif name in ("say.count", "tr_count") and len(arguments) > 2:
            yield from literals(arguments[2])
        elif name == "count" and len(arguments) > 2:
            yield from (f"{{n}} {noun}s" for noun in literals(arguments[1]))


MODULES = sorted(path for path in (ROOT / "sched").glob("**/*.py") if any(templates(path)))


def test_every_text_of_the_schema_is_translated() -> None:
    known = language("zh").messages
    missing = sorted({one for one in (*schema_strings(), *constants()) if one and one not in known})
    assert not missing, f"add these to a file in sched/text/zh: {missing}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_sentence_of_a_module_is_translated(path: Path) -> None:
    known = language("zh").messages
    missing = sorted({one for one in templates(path) if one and one not in known})
    assert not missing, f"add these to a file in sched/text/zh: {missing}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_translation_says_the_same_figures_with_the_same_marks(path: Path) -> None:
    for english, chinese, fuzzy in entries(path):
        assert chinese and not fuzzy, english
        assert set(NAME.findall(chinese)) == set(NAME.findall(english)), (english, chinese)
        for mark in ("**bad: ", "**good: ", "**", "`"):
            assert chinese.count(mark) == english.count(mark), (mark, english, chinese)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_translation_is_chinese(path: Path) -> None:
    for english, chinese, _ in entries(path):
        said = NAME.sub("", chinese).partition("来源：")[0]
        left = ENGLISH_WORDS & {word.lower() for word in WORD.findall(said)}
        assert not left and not WIDE.search(chinese), (left, chinese)
        if len([word for word in WORD.findall(NAME.sub("", english)) if word.islower()]) > 3:
            assert CHINESE.search(chinese), (english, chinese)
        assert not re.search(r"[\u4e00-\u9fff](?:[;:?!]|,(?! token))", said), (
            f"half-width punctuation: {chinese}"
        )


def test_the_manual_translates_all_that_its_example_of_a_policy_says() -> None:
    manual = (ROOT / "README.md").read_text("utf-8").partition("## Adding a policy")[2]
    module, chinese = (
        textwrap.dedent(manual.partition(f"   ```{kind}\n")[2].partition("   ```\n")[0])
        for kind in ("python", "po")
    )
    policy = next(node for node in ast.parse(module).body if isinstance(node, ast.ClassDef))
    title = next(
        node.value.value
        for node in policy.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "title"
        if isinstance(node.value, ast.Constant)
    )
    said = {title, *paragraphs(ast.get_docstring(policy) or "")}
    assert {one.id for one in read_po(io.StringIO(chinese)) if one.id} == said


def test_nothing_is_translated_twice_in_two_ways() -> None:
    found: dict[str, str] = {}
    for path in FILES:
        ids = [english for english, _, _ in entries(path)]
        assert len(ids) == len(set(ids)), path.name
        for english, chinese, _ in entries(path):
            assert found.setdefault(english, chinese) == chinese, (english, found[english], chinese)


def test_a_sentence_is_put_together_without_taking_a_name_for_a_mark() -> None:
    runs = words.marked("Under **{policy}**, **bad: {name} requests** wait.", policy="a **b** c", name="{x}")
    assert runs == [
        words.Run("Under "),
        words.Run("a **b** c", "strong"),
        words.Run(", "),
        words.Run("{x} requests", "bad"),
        words.Run(" wait."),
    ]
    inner = words.marked("**good: {share}**", share="4 %")
    assert words.marked("{said}.", said=inner) == [words.Run("4 %", "good"), words.Run(".")]


def test_another_language_has_its_own_order_of_words() -> None:
    zh = language("zh")
    assert words.count(1, "block", zh) == "1 个块" and words.count(1, "block", ENGLISH) == "1 block"
    assert words.joined(["一。", "二。"], zh) == "一。二。" and words.joined(["A.", "B."]) == "A. B."
    assert words.listed(["甲", "乙", "丙"], zh) == "甲，乙，丙" and words.listed(["a", "b"]) == "a, b"
