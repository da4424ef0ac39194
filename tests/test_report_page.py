"""The report is one file that fetches nothing, and in which what a user wrote stays text."""

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from sched import simulate
from sched.external import link
from sched.figures.html import html, script_text, table
from sched.figures.payload import pack_run, pack_stage
from sched.figures.picture import Drawn, Scene
from sched.figures.report_page import Report, report
from sched.files import from_text, to_toml
from sched.inversion import analyse
from sched.language import language
from sched.metrics import summary
from sched.page.component import script
from sched.scenario import Scenario

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)> &lt; \x00 <!-- ]]>"


def nasty() -> Scenario:
    requests = [
        {
            "id": f"{NASTY}-{place}",
            "class": NASTY,
            "tenant": NASTY,
            "prompt": 99,
            "output": 9,
            "priority": place % 2,
        }
        for place in range(6)
    ]
    return Scenario.model_validate(
        {"title": NASTY, "requests": requests, "policies": {"fcfs": {}, "priority": {}}}
    )


@pytest.fixture(scope="module")
def told() -> Report:
    scenario = nasty()
    runs = {key: simulate(scenario, key) for key in scenario.policies}
    found = {key: analyse(log) for key, log in runs.items()}
    card = {"title": NASTY, "value": "1 s", "told": NASTY, "left": NASTY, "inversion": "0", "right": NASTY}
    scene = Scene(
        title=NASTY,
        verdict=[(NASTY, "bad")],
        trust=NASTY,
        cards=[card, card],
        sides=[Drawn(runs[key], found[key], NASTY, NASTY) for key in runs],
        footer=[NASTY, NASTY],
    )
    packed = [pack_run(runs[key], found[key]) for key in runs]
    return Report(
        scene=scene,
        code=script(),
        payload=pack_stage(packed, titles=[NASTY, NASTY], subs=[NASTY, NASTY], number=0, t=None, play=False),
        rows=[(NASTY, summary(runs[key], scenario, found[key])) for key in runs],
        weaknesses=[NASTY],
        facts=[NASTY],
        incidents=[[NASTY] * 6],
        changed=[(NASTY, NASTY, NASTY)],
        base=NASTY,
        notes=[NASTY],
        toml=to_toml(scenario),
        link="https://lab.example/?" + link(scenario),
        about=[NASTY],
    )


class Reader(HTMLParser):
    """Every element with its attributes, and the text in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_what_a_user_wrote_stays_text_everywhere(told: Report) -> None:
    read = Reader(report(told))
    assert not read.open
    assert len(read.named("script")) == 2 and not read.named("img")
    handlers = [name for _, attributes in read.found for name in attributes if name.startswith("on")]
    assert handlers == []
    fit = NASTY.replace("\x00", "\ufffd")
    assert read.texts["h1"] == [fit] and fit in read.texts["td"] and fit in read.texts["li"]
    assert "".join(read.texts["title"]).startswith(fit)


def test_the_file_names_nothing_to_fetch(told: Report) -> None:
    text = report(told)
    read = Reader(text)
    for _, attributes in read.found:
        assert not {"src", "srcset", "data", "action"} & set(attributes)
        assert not re.search(r"url\((?!['\"]?#)", " ".join(filter(None, attributes.values())))
    assert [one["href"] for one in read.named("a")] == [told.link]
    policy = next(one for one in read.named("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert (policy["content"] or "").startswith("default-src 'none'")
    assert "@import" not in text and "@font-face" not in text


def test_a_link_that_is_no_web_address_is_only_text(told: Report) -> None:
    read = Reader(report(replace(told, link="javascript:alert(1)")))
    assert not read.named("a")


def test_the_scenario_in_it_is_the_scenario(told: Report) -> None:
    read = Reader(report(told))
    again = from_text("".join(read.texts["pre"]))
    assert again == nasty()


def test_the_stage_gets_the_very_bytes_of_the_page(told: Report) -> None:
    text = report(told)
    inside = re.search(r'id="payload" type="text/plain">([^<]*)<', text)
    assert inside is not None and base64.b64decode(inside.group(1)) == told.payload
    assert told.code in text


def test_it_says_its_language_and_speaks_it(told: Report) -> None:
    assert Reader(report(told)).named("html") == [{"lang": "en"}]
    say = language("zh")
    read = Reader(report(replace(told, scene=replace(told.scene, say=say))))
    assert read.named("html") == [{"lang": "zh-Hans"}]
    assert say("The scenario") in read.texts["h2"]
    assert not say.missing


def test_code_that_would_end_its_element_is_never_put_in() -> None:
    with pytest.raises(AssertionError):
        script_text("const a = '</SCRIPT>';")
    assert "</script" not in script().lower()


def test_a_table_is_a_table() -> None:
    made = table("About <b>", ["a", "b"], [["<1>", "2"]])
    read = Reader(made)
    assert [name for name, _ in read.found][:3] == ["div", "table", "caption"]
    assert [one.get("scope") for one in read.named("th")] == ["col", "col", "row"]
    assert read.texts["caption"] == ["About <b>"] and html("br") == "<br>"
