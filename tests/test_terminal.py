"""Names come from files and links of strangers: none that the command line tells people steers a terminal."""

import ast
import unicodedata
from pathlib import Path

import pytest

from sched.__main__ import main
from sched.command.tables import table
from sched.external import parse_link
from sched.fields import ScenarioError
from sched.files import to_toml
from sched.scenario import Scenario
from sched.sentences import TURNING, visible
from tests.conftest import ROOT

STEERS = "\x07\x1b[31m\x9b2J\r\u202e\u2028"
"""A bell, red, clear the screen (in one sign), back to the start, right to left, a new line."""
PRINTERS = {"tables.py": 1, "arguments.py": 3, "anchors.py": 1}
"""Calls of `print`: text for people, JSON and progress, and one on standard error of policies only."""


def steering(text: str) -> set[str]:
    return {
        sign
        for sign in text
        if sign in TURNING or (sign not in "\n\t" and unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp"))
    }


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """A scenario with such names wherever a name can be, of which one request waits for another."""
    requests = [
        {
            "id": f"{level}{STEERS}",
            "class": f"class {level}{STEERS}",
            "tenant": f"tenant {level}{STEERS}",
            "priority": level,
            "arrival_s": 1.0 - level,
            "prompt": 10,
            "output": 5,
        }
        for level in (0, 1)
    ]
    slo = {"slo": {"ttft_s": 0.1}}
    scenario = Scenario(
        title=f"title{STEERS}",
        story=f"story{STEERS}",
        engine={"hardware": "constant", "iteration_s": 1.0, "max_num_seqs": 1},
        requests=requests,
        classes={f"class 0{STEERS}": slo, f"none{STEERS}": slo},
        tenants={f"none{STEERS}": {"weight": 2.0}},
        annotate_after_s=0.5,
        policies={"fcfs": {}, "priority": {}},
    )
    path = tmp_path / f"file{STEERS}.toml"
    path.write_text(to_toml(scenario), encoding="utf-8")
    return str(path)


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    path = tmp_path / f"trace{STEERS}.csv"
    rows = [f'{i},"{STEERS}{i % 2}","{STEERS}{i % 3}","{i}{STEERS}",{i % 4},3' for i in range(9)]
    path.write_text("\n".join(["arrival,class,tenant,id,prompt,output", *rows]), encoding="utf-8", newline="")
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "FILE"),
        ("run", "FILE", "--policies", f"a{STEERS}"),
        ("explain", "FILE", "--policy", "fcfs", "--request", f"0{STEERS}"),
        ("explain", "FILE", "--policy", "fcfs", "--request", f"x{STEERS}"),
        ("compare", "FILE", "--seeds", "2"),
        ("sweep", "FILE", "--vary", "engine.max_num_seqs=1:2:1"),
        ("trace", "TRACE"),
        ("trace", "TRACE", "--map", f"prompt=x{STEERS}"),
        ("run", f"absent{STEERS}.toml"),
        ("lockstep", "FILE"),
        (f"{STEERS}",),
    ],
)
def test_no_name_reaches_the_terminal_raw(
    words: tuple[str, ...], hostile: str, recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([{"FILE": hostile, "TRACE": recorded}.get(word, word) for word in words])
    told = capsys.readouterr()
    assert r"\x1b[31m" in told.out + told.err
    assert not steering(told.out + told.err)


def test_a_link_of_a_stranger_does_not_either(hostile: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["link", hostile]) == 0
    query = capsys.readouterr().out.strip()
    assert main(["open", query]) == 0
    told = capsys.readouterr().out
    assert r"\x1b[31m" in told and not steering(told)


def test_columns_stand_one_below_the_other_whatever_their_names() -> None:
    lines = table(["a", "b"], [[f"x{STEERS}", "1"], ["y", "2"]]).split("\n")
    assert len({len(line) for line in lines}) == 1


def test_a_sentence_is_one_line_that_can_be_read() -> None:
    assert str(ScenarioError("a\x1b[1m\nb\ud800\u202e")) == r"a\x1b[1m\nb\ud800\u202e"
    assert visible("Ämter 名前 a\u200db\u202f%") == "Ämter 名前 a\u200db\u202f%"


def test_what_is_said_to_people_goes_one_way() -> None:
    found: dict[str, int] = {}
    for path in (ROOT / "sched" / "command").glob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        number = sum(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)
        found |= {path.name: number} if number else {}
    assert found == PRINTERS


NO_TEXT = "\udcff"
"""What Python makes of a byte that is no text, in a word of the command line or in the name of a file."""


@pytest.mark.parametrize(
    "words",
    [
        ("run", "textbook", f"title={NO_TEXT}"),
        ("run", "textbook", f"{NO_TEXT}=1"),
        ("run", "textbook", f'rescue.slices={{"{NO_TEXT}"=0.5}}'),
        ("run", "textbook", "--policies", NO_TEXT),
        ("run", "textbook", "--out", f"FOLDER/{NO_TEXT}"),
        ("run", NO_TEXT),
        ("run", f"FOLDER/{NO_TEXT}.toml"),
        ("open", f"v=1&scenario=textbook@1&focus={NO_TEXT}"),
        ("open", f"v=1&scenario=textbook@1&{NO_TEXT}=1"),
        ("explain", "textbook", "--policy", "fcfs", "--request", NO_TEXT),
        ("trace", f"FOLDER/{NO_TEXT}.csv"),
        ("trace", f"FOLDER/{NO_TEXT}.csv", "--out", "FOLDER/S.toml"),
        ("trace", "FOLDER/t.csv", "--map", f"prompt={NO_TEXT}"),
        ("trace", "FOLDER/t.csv", "--out", f"FOLDER/{NO_TEXT}.toml"),
        ("compare", "textbook", "--baseline", NO_TEXT),
        ("sweep", "textbook", "--vary", f"{NO_TEXT}=1:2:1"),
        ("sweep", "textbook", "--vary", "rescue.kv=0:0.1:0.1", "--csv", f"FOLDER/{NO_TEXT}.csv"),
        ("link", "textbook", f"requests.A.tenant={NO_TEXT}"),
        (NO_TEXT,),
    ],
)
def test_a_word_that_is_no_text_is_refused_in_one_sentence(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("t.csv", f"{NO_TEXT}.csv"):
        (tmp_path / name).write_text("arrival,prompt,output\n0,3,1\n")
    code = main([word.replace("FOLDER", str(tmp_path)) for word in words])
    told = capsys.readouterr().err.rstrip("\n")
    assert code == 2, told
    assert r"\udcff" in told or "must be text" in told
    assert "\n" not in told and "codec" not in told
    told.encode()


@pytest.mark.parametrize("key", ["title", "focus", "of", "vary", "goal", "v", "scenario", NO_TEXT])
def test_a_link_that_came_as_a_table_holds_only_text(key: str) -> None:
    with pytest.raises(ScenarioError, match="must be text that can be written as UTF-8"):
        parse_link({"scenario": "textbook@1", "v": "1", key: "\ud800"})
