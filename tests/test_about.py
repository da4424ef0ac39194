"""About the model: every part, its words in every language, and that what it says is what the code does."""

import json
import re
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from sched.agreement import KINDS, on_file
from sched.cost import fitted, hardware, iteration_cost, machine
from sched.external import change
from sched.language import NAMES, language
from sched.page import agreement as agreement_part
from sched.page.about import libraries
from sched.page.equations import MARK, examples, iteration_ps, rows, span
from sched.recorded import Step
from sched.scenario import Scenario, known_policies, preset
from sched.text import glossary, text
from sched.version import MODEL, VERSION
from sched.view import PARTS
from tests.test_page import opened, query

pytestmark = pytest.mark.xdist_group("page")


def about(part: str, **more: str) -> AppTest:
    page = opened(v="1", view="about", part=part, **more)
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return "\n".join(one.value for one in (*page.markdown, *page.caption))


@pytest.fixture(scope="module")
def model() -> Iterator[AppTest]:
    yield about("model")


@pytest.mark.parametrize("lang", NAMES)
@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_drawn_in_every_language_and_nothing_is_left_in_english(part: str, lang: str) -> None:
    say = language(lang)
    say.missing.clear()
    page = about(part, lang=lang)
    assert len(said(page)) > 100 and not page.info
    if part != "published":  # those rows quote English papers
        ours = {one for one in say.missing if one not in _of_others()}
        assert not ours, ours


def _of_others() -> set[str]:
    """Texts of the policies and of the bar, which have catalogues of their own."""
    found = set()
    for entry in known_policies().values():
        found |= {entry.title, entry.help}
        for setting in entry.settings:
            found |= {setting.title, setting.help}
    return found


def test_the_part_that_is_open_is_in_the_link_and_one_that_is_not_there_is_said() -> None:
    page = about("hardware")
    assert query(page)["part"] == ["hardware"] and page.dataframe[0].value is not None
    page = about("nothing")
    assert "must be one of model, limits" in page.info[0].value
    assert "How long an iteration takes" in said(page)
    assert "part" not in page.session_state["completed"].query, "the address is completed without it"


@pytest.mark.parametrize("lang", NAMES)
@pytest.mark.parametrize("name", ["model", "limits"])
def test_every_word_set_bold_is_in_the_glossary(name: str, lang: str) -> None:
    bold = re.findall(r"\*\*(.+?)\*\*", text(name, lang))
    assert len(bold) > 10
    known = {name.lower() for one in glossary(lang).values() for name in (one.word, *one.also)}
    assert not [word for word in bold if word.lower() not in known]


def test_both_languages_have_the_same_equations() -> None:
    def signs(lang: str) -> list[str]:
        shown = re.findall(r"^\$\$\n(.+)\n\$\$$", text("model", lang), re.MULTILINE)
        return [re.sub(r"\\text\{[^}]*\}|_\\rho|[^\x00-\x7f]|\\[ ,;]|\s", "", one) for one in shown]

    assert len(signs("en")) == len(signs("zh")) > 6
    for one, other in zip(signs("en"), signs("zh"), strict=True):
        assert one.count("\\frac") == other.count("\\frac") and one.count("=") == other.count("=")
    assert all(text("model", lang).count(MARK) == 1 for lang in NAMES)
    headings = [len(re.findall("^## ", text("limits", lang), re.MULTILINE)) for lang in NAMES]
    points = [len(re.findall("^- ", text("limits", lang), re.MULTILINE)) for lang in NAMES]
    assert len(set(headings)) == len(set(points)) == 1


def test_the_coefficients_shown_are_those_of_the_chosen_hardware(model: AppTest) -> None:
    scenario = preset("noisy-neighbour")
    row = fitted(scenario.engine.hardware)
    values = {symbol: value for symbol, _, value in rows(scenario)}
    assert values["w"] == span(round(row["w"] * 1e12)) and values["a_K"] == span(round(row["aK"] * 1e12))
    shown = said(model)
    assert all(f"| ${symbol}$ |" in shown and value in shown for symbol, value in values.items())
    assert all(time in shown for _, time in examples(scenario))
    assert f"{machine(scenario).kv_blocks:,} blocks" in shown


def hardware_of(name: str) -> Scenario:
    return change(preset("noisy-neighbour"), {"engine.hardware": json.dumps(name)})


@pytest.mark.parametrize("name", ["constant", "affine", *(row["name"] for row in hardware())])
def test_the_equation_with_the_shown_coefficients_gives_the_examples(name: str) -> None:
    scenario = hardware_of(name)
    cost = iteration_cost(scenario)
    found = cost.coefficients()
    for decodes, chunk in ((1, 0), (32, 0), (0, 2048), (16, 512)):
        new, context, pairs = decodes + chunk, 1000 * decodes, chunk * chunk / 2
        covered = 1 - (1 - found["expert_share"]) ** new if found["expert_share"] else 1.0
        weights, product = found["floor_ps"] * covered, found["matrix_ps"] * new
        read = found["kv_token_mixed_ps"] if chunk else found["kv_token_ps"]
        wanted = (
            found["base_ps"] + (weights**4 + product**4) ** 0.25 + found["token_ps"] * new
            + found["sequence_ps"] * (decodes + bool(chunk)) + found["decode_extra_ps"] * decodes
            + found["attention_ps"] * pairs + read * context
        )  # fmt: skip
        assert iteration_ps(cost, decodes, chunk) == pytest.approx(wanted, rel=1e-9, abs=2)


def test_times_of_any_size_have_three_figures() -> None:
    told = [span(value).replace("\u202f", " ") for value in (0, 1, 43_146, 12_763_700, 6_245_620_000, 10**12)]
    assert told == ["0", "1.00 ps", "43.1 ns", "12.8 µs", "6.25 ms", "1.00 s"]


def test_agreement_tells_the_figures_on_file_and_everything_that_is_compared() -> None:
    page, found = about("vllm"), on_file()
    shown, total = said(page), found["total"]
    assert f"**{total['agreeing']:,} of {total['traces']:,} recorded traces" in shown
    assert found["schedulers"][0]["version"] in shown
    assert list(page.dataframe[0].value["Iterations"]) == [
        row["iterations"] for row in found["kinds"].values()
    ]
    assert found["compared"] == list(Step.__dataclass_fields__)
    assert not set(found["compared"]) & set(agreement_part.compared())  # each has words
    assert set(found["kinds"]) <= {*KINDS, "other"}


def test_hardware_tells_the_error_of_the_chosen_preset_and_of_all_others() -> None:
    page = about("hardware")
    row = fitted(preset("noisy-neighbour").engine.hardware)
    assert row["source"].split()[0] in said(page).replace("\\", "")
    assert len(page.dataframe[0].value) == len(hardware())
    page = about("hardware", scenario="textbook")
    assert "made up for teaching" in said(page)


def test_a_word_is_found_and_the_glossary_is_complete() -> None:
    page = about("words")
    assert all(f"**{one.word}**" in said(page) for one in glossary().values())
    page.text_input(key="find_word").set_value("PREEMPTION").run()
    assert "**preemption**" in said(page) and "**tenant**" not in said(page)
    page.text_input(key="find_word").set_value("no such word at all").run()
    assert "no such word" in said(page) and not page.exception


def test_the_version_the_libraries_and_how_to_cite_are_told() -> None:
    page = about("version")
    assert f"| {VERSION} |" in said(page) and f"| {MODEL} |" in said(page)
    assert all(f"| {name} | {one} |" in said(page) for name, one in libraries().items())
    assert VERSION in page.code[0].value
