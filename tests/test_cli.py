"""The command line: what it prints, what it exits with, and one sentence for every mistake."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from sched import POLICIES, Scenario, simulate, trace_store
from sched.__main__ import COMMANDS, LATER, main
from sched.files import read_file, to_json, to_toml
from sched.presets import presets
from sched.traces import read_trace, trace_scenario
from tests.conftest import ROOT, Told
from tests.readme import README, current

FIVE = ["mean", "p50", "p90", "p99", "max"]
SMALL = {
    "seed": 5,
    "duration_s": 20.0,
    "title": "Small, in any script: мир 漢字",
    "engine": {"hardware": "constant", "iteration_s": 0.5, "kv_blocks": 8, "block_size": 10},
    "traffic": [
        {
            **{"name": "chat", "tenant": "web", "rate_per_s": 0.4, "slo": {"ttft_s": 2.0}},
            **{"prompt": {"kind": "constant", "tokens": 21}, "output": {"kind": "constant", "tokens": 4}},
        },
        {
            **{"name": "docs", "tenant": "lab", "rate_per_s": 0.3, "priority": 1},
            **{"prompt": {"kind": "constant", "tokens": 45}, "output": {"kind": "constant", "tokens": 9}},
        },
    ],
    "policies": {"backfill": {}, "rescue": {"kv": 0.3}},
}


@pytest.fixture
def small(tmp_path: Path) -> str:
    """A scenario file that takes no time."""
    path = tmp_path / "small.toml"
    path.write_text(to_toml(Scenario(**SMALL)), encoding="utf-8")
    return str(path)


def finite(text: str) -> Any:
    """The JSON value of a text that holds nothing but JSON."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_run_prints_the_object_that_scripts_rely_on(told: Told, small: str) -> None:
    found = finite(told("run", small, "--json"))
    assert list(found) == ["scenario", "policies"] and list(found["policies"]) == ["backfill", "rescue"]
    assert Scenario.model_validate(found["scenario"]) == read_file(Path(small))
    one = found["policies"]["rescue"]
    # Further figures stand behind those that were promised.
    assert list(one)[:12] == [
        *("requests", "makespan_s", "throughput", "preemptions", "recomputed_tokens", "kv_utilisation"),
        *("batch_occupancy", "jain", "classes", "tenants", "inversion", "notes"),
    ]
    assert list(one["requests"]) == ["arrived", "finished", "refused", "timed_out", "shed", "unfinished"]
    assert list(one["throughput"])[:2] == ["output_tokens_per_s", "requests_per_s"]
    assert list(one["classes"]) == ["chat", "docs"] and list(one["tenants"]) == ["web", "lab"]
    chat = one["classes"]["chat"]
    assert list(chat)[:10] == [
        *("n", "ttft_s", "tpot_s", "e2e_s", "wait_s", "slo_attainment", "goodput_per_s"),
        *("inversion_s", "inversion_share", "bypasses"),
    ]
    assert all(list(chat[name])[:5] == FIVE for name in ("ttft_s", "tpot_s", "e2e_s", "wait_s"))
    assert list(one["tenants"]["web"]) == ["n", "output_tokens", "wait_s", "inversion_s"]
    inversion = one["inversion"]
    assert set(inversion) >= {"total_s", "incidents", "direct_s", "growth_s", "bypass_s", "top_culprits"}
    culprit = found["policies"]["backfill"]["inversion"]["top_culprits"][0]
    assert list(culprit) == ["id", "class", "tenant", "inversion_s", "direct_s", "growth_s", "bypass_s"]
    assert {"path", "text"} == {key for note in one["notes"] for key in note}


def test_what_does_not_exist_is_null_and_has_a_note(told: Told, tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("[policies.fcfs]\n")
    one = finite(told("run", str(empty), "--json"))["policies"]["fcfs"]
    missing = {
        name for name in ("makespan_s", "kv_utilisation", "batch_occupancy", "jain") if one[name] is None
    }
    assert len(missing) == 4 and missing <= {note["path"] for note in one["notes"]}
    assert "Note: " in told("run", str(empty))


def test_words_change_the_scenario_wherever_they_stand(told: Told, small: str) -> None:
    words = ("run", "--seed", "9", small, "engine.kv_blocks=12", "--policies", "rescue,fcfs")
    scenario = Scenario.model_validate(finite(told(*words, "rescue.kv=0.15", "--json"))["scenario"])
    assert (scenario.seed, scenario.engine.kv_blocks) == (9, 12)
    assert list(scenario.policies) == ["rescue", "fcfs"] and scenario.policies["rescue"].kv == 0.15


def test_a_table_for_people_names_every_class_and_policy(told: Told, small: str) -> None:
    text = told("run", small)
    assert text.startswith("Small, in any script: мир 漢字: ")
    for word in ("chat", "docs", "backfill", "rescue", "inversion", "Most inversion under backfill"):
        assert word in text
    lines = text.splitlines()
    ruler = next(number for number, line in enumerate(lines) if line.startswith("---"))
    assert len(lines[ruler]) == max(len(line) for line in lines[ruler - 1 : ruler + 5])
    assert "nan" not in text.lower().replace("tenant", "")


def test_a_scenario_comes_from_standard_input(
    told: Told, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path(small).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert told("run", "-") == told("run", small)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(to_json(Scenario(**SMALL)).encode())))
    assert told("run", "-", "--json") == told("run", small, "--json")


def test_explain_prints_the_object_that_scripts_rely_on(told: Told, small: str) -> None:
    found = finite(told("explain", small, "--policy", "backfill", "--request", "chat-2", "--json"))
    wanted = ["request", "wait_s", "causes", "blame", "intervals", "counterfactual", "annotation"]
    assert [key for key in found if key in wanted] == wanted
    assert list(found["causes"]) == [
        *("quantum_s", "legitimate_s", "reserved_s", "kv_s", "tokens_s", "seats_s", "infeasible_s")
    ]
    assert sum(found["causes"].values()) == pytest.approx(found["wait_s"])
    assert set(found["counterfactual"]) >= {"no_bypass_wait_s", "no_lower_wait_s"}


def test_explain_says_the_textbooks_story(told: Told) -> None:
    words = ("explain", "textbook", "--policy", "backfill", "--request", "A")
    found = finite(told(*words, "--json"))
    assert found["wait_s"] == pytest.approx(6.0) and found["counterfactual"]["no_lower_wait_s"] == 0.0
    assert all(set(row) >= {"id", "kind", "resource", "s"} for row in found["blame"])
    assert {row["kind"] for row in found["blame"]} == {"direct", "bypass"}
    assert set(found["intervals"][0]) >= {"from_s", "to_s", "cause", "needs", "free", "culprits"}
    text = told(*words)
    assert "A under backfill" in text and "M4" in text and "held by" in text


def test_explain_takes_a_policy_that_the_scenario_does_not_compare(told: Told) -> None:
    words = (
        "explain",
        "textbook",
        "--policy",
        "skip_limit",
        "--request",
        "A",
        "skip_limit.limit=1",
        "--json",
    )
    assert finite(told(*words))["policy"] == "skip_limit"


def test_link_and_open_are_each_others_inverse(told: Told) -> None:
    query = told("link", "textbook", "rescue.kv=0.15", "policies=rescue,hol").strip()
    assert query.startswith("v=1&scenario=textbook@1") and "?" not in query
    assert parse_qs(query)["rescue.kv"] == ["0.15"]
    changed = ("run", "textbook", "policies=rescue,hol", "rescue.kv=0.15", "--json")
    assert told("open", query, "--json") == told(*changed)
    seen = "view=queue&t=3&focus=A&a=hol&seeds=3&vary=rescue.kv=0:1:0.5&lang=zh"
    assert told("open", f"https://lab.example/x?{query}&{seen}", "--json") == told(*changed)


def test_of_two_that_wait_as_little_the_sentence_praises_the_one_with_more_tokens(told: Told) -> None:
    assert "Rescue buffer brings 1.0 s and adds 20.0 % throughput" in told("run", "textbook")


def test_open_tells_of_the_two_policies_that_the_link_shows(told: Told) -> None:
    query = told("link", "textbook").strip()
    usual = told("open", query).splitlines()[2]
    assert usual.startswith("Under priority + backfill, ") and "Rescue buffer brings" in usual
    chosen = told("open", f"{query}&a=hol&b=preemptive").splitlines()[2]
    assert chosen.startswith("Under head of line, ") and "Preemptive brings" in chosen


def test_what_a_link_says_beside_the_scenario_is_a_note(told: Told) -> None:
    query = told("link", "textbook").strip() + "&utm_source=mail"
    for one in finite(told("open", query, "--json"))["policies"].values():
        assert one["notes"][0]["path"] == "utm_source"


def test_a_trace_becomes_a_scenario_and_a_link(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "arrival,in,output,urgent\n0,10,3,1\n1500,20,4,0\n2500,x,4,0\n"
    (tmp_path / "rows.csv").write_text(rows)
    made = tmp_path / "deep" / "scenario.toml"
    made.parent.mkdir()
    words = ("trace", str(tmp_path / "rows.csv"), "--map", "prompt=in", "priority=urgent", "--unit", "ms")
    report = finite(told(*words, "--urgency", "high_first", "--out", str(made), "--json"))
    assert list(report)[:9] == [
        *("format", "rows", "dropped", "assumed", "rate_per_s", "duration_s", "classes", "tenants", "prompt")
    ]
    assert report["rows"] == 2 and report["dropped"][0]["line"] == 4 and report["duration_s"] == 1.5
    assert "line 4" in told(*words)
    monkeypatch.chdir(tmp_path)
    assert finite(told("run", "deep/scenario.toml", "--json"))["scenario"]["urgency"] == "high_first"
    monkeypatch.setenv("SCHED_STORE", str(tmp_path / "store"))
    query = told("link", "deep/scenario.toml").strip()
    (tmp_path / "rows.csv").unlink()
    assert finite(told("open", query, "--json"))["policies"]["fcfs"]["requests"]["finished"] == 2


def test_the_scenario_that_the_page_exports_for_a_trace_runs_as_it_comes(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCHED_STORE", raising=False)
    monkeypatch.setattr(trace_store, "DEFAULT", tmp_path / "store")
    trace = read_trace(b"arrival,prompt,output\n0,10,3\n1,20,4\n", "mine.csv")
    (tmp_path / "mine.toml").write_text(to_toml(trace_scenario(trace)), "utf-8")
    told("run", str(tmp_path / "mine.toml"), code=2)
    trace_store.store(b"arrival,prompt,output\n0,10,3\n1,20,4\n", str(tmp_path / "store"))
    done = finite(told("run", str(tmp_path / "mine.toml"), "--json"))
    assert done["policies"]["fcfs"]["requests"]["finished"] == 2


def test_an_unknown_digest_names_the_store_and_never_its_keys(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = f"v=1&scenario=blank&trace.digest={'0' * 64}"
    monkeypatch.setenv("SCHED_STORE", str(tmp_path))
    assert main(["open", query]) == 2
    assert f"not in the store {tmp_path}; upload the file" in capsys.readouterr().err
    assert trace_store.named(str(trace_store.DEFAULT)) == "out/traces"
    assert trace_store.named("s3://key:secret@bucket/folder?region=x") == "s3://bucket/folder"


@pytest.mark.parametrize("name", ["policies", "scenarios", "hardware"])
def test_lists_name_everything_there_is(told: Told, name: str) -> None:
    found = finite(told(name, "--json"))
    text = told(name)
    assert all((one.get("key") or one["name"]) in text for one in found)


def test_the_lists_are_those_of_the_registries(told: Told) -> None:
    assert [one["key"] for one in finite(told("policies", "--json"))] == list(POLICIES)
    assert [one["name"] for one in finite(told("scenarios", "--json"))] == [one.name for one in presets()]


TRACE = {
    "format": "vllm-oracle-trace/1",
    "config": {
        **{"num_gpu_blocks": 9, "block_size": 4, "max_num_seqs": 2, "max_num_batched_tokens": 16},
        **{"long_prefill_token_threshold": 0, "long_prefill_token_threshold_adaptive": False},
        **{
            "enable_chunked_prefill": True,
            "enable_prefix_caching": False,
            "watermark": 0.0,
            "policy": "fcfs",
        },
        **{"max_model_len": 0, "scheduler_reserve_full_isl": True},
    },
    "request_columns": [
        *("id", "arrival_step", "arrival_time", "prompt_tokens", "output_tokens", "priority")
    ],
    "requests": [["a", 0, 0.0, 5, 2, 0]],
    "steps": [
        {"a": [0], "s": [[0, 5]], "n": [0], "b": 6},
        {"s": [0], "f": [0], "b": [6, 8]},
    ],
    "summary": {"rejected": []},
}
"""One request of five tokens and two answers, by hand: 8 blocks, of which it holds two."""


def test_lockstep_says_ok_or_where_it_differs(told: Told, tmp_path: Path) -> None:
    right, wrong, index = (tmp_path / name for name in ("right.json", "wrong.json", "INDEX.json"))
    right.write_text(json.dumps(TRACE))
    index.write_text("[]")
    text = told("lockstep", str(right), str(index))
    assert text.splitlines() == ["right.json: ok", "1 passed, 0 failed"]
    wrong.write_text(json.dumps(TRACE).replace("[6, 8]", "[5, 8]"))
    text = told("lockstep", str(tmp_path), code=1)
    assert "wrong.json: iteration 1: free_scheduled is 6, recorded 5" in text
    assert text.splitlines()[-1] == "1 passed, 1 failed"


@pytest.mark.parametrize("content", ["", "[]", "{}", "{", "\x00\xff", json.dumps({**TRACE, "steps": 3})])
def test_what_is_no_trace_fails_its_file_only(told: Told, tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.json").write_bytes(content.encode("latin-1"))
    (tmp_path / "good.json").write_text(json.dumps(TRACE))
    assert told("lockstep", str(tmp_path), code=1).splitlines()[-1] == "1 passed, 1 failed"


def test_the_engine_keeps_step_with_the_recorded_scheduler(told: Told, shared: Path) -> None:
    files = sorted((shared / "golden").glob("*.json"))
    lines = told("lockstep", *map(str, files)).splitlines()
    assert lines[-1] == f"{len(files) - 1} passed, 0 failed" and len(files) > 100


MISTAKES: dict[str, tuple[str, ...]] = {
    "name a command": (),
    "rnu: no such command; did you mean run?": ("rnu",),
    "the following arguments are required: SCENARIO;": ("run",),
    "scenario: name a preset": ("run", ""),
    f"{'x' * 80}…: no such setting": ("run", "textbook", f"{'x' * 9000}=1"),
    "no such preset; did you mean noisy-neighbour?": ("run", "noisy-neighbor"),
    "--sed: no such option; did you mean --seed?": ("run", "textbook", "--sed", "3"),
    "expected one argument": ("run", "textbook", "--seed"),
    "seed = nan: must be a finite number": ("run", "textbook", "--seed", "nan"),
    "seed = -1: must be at least 0": ("run", "textbook", "--seed", "-1"),
    "seed: given twice": ("run", "textbook", "seed=1", "--seed", "2"),
    "policies: name at least one policy": ("run", "textbook", "--policies", ""),
    "policy = resque: no such policy; did you mean rescue?": ("run", "textbook", "--policies", "resque"),
    "fcfs is named twice": ("run", "textbook", "--policies", "fcfs,fcfs"),
    "rescue.kv = nan": ("run", "textbook", "rescue.kv=nan"),
    "rescue.kv = -0.1: must be at least 0 (share of KV)": ("run", "textbook", "rescue.kv=-0.1"),
    "rescue.kv = inf": ("run", "textbook", "rescue.kv=inf"),
    "rescue.kw: no such setting; known are kv": ("run", "textbook", "rescue.kw=1"),
    "engine.kv_block: no such setting; did you mean": ("run", "textbook", "engine.kv_block=1"),
    "must be written key=value": ("run", "textbook", "rescue"),
    "duration_s = 1e9 s: must be at most 8,640,000 s": ("run", "textbook", "duration_s=1e9"),
    'rescue.kv = "abc": must be a number, at least 0 and at most 1 (share of KV)': (
        *("run", "textbook", "rescue.kv=abc"),
    ),
    "policy = foo: no such policy; known are static, fcfs, priority": ("run", "textbook", "policies=foo"),
    "policy = foo: no such policy; known are static, fcfs": (
        *("explain", "textbook", "--policy", "foo", "--request", "A"),
    ),
    "request = zzz: none of the 240 has this id; ids look like chat-1, api-1, docs-1": (
        *("explain", "noisy-neighbour", "--policy", "fcfs", "--request", "zzz"),
    ),
    "no such hardware": ("run", "textbook", "engine.hardware=h999"),
    "request = Z: none of the 8 has this id": ("explain", "textbook", "--policy", "hol", "--request", "Z"),
    "policy = hoi: no such policy; did you mean hol?": (
        "explain",
        "textbook",
        "--policy",
        "hoi",
        "--request",
        "A",
    ),
    "required: --policy": ("explain", "textbook", "--request", "A"),
    "there is no such file": ("lockstep", "nowhere.json"),
    "there is no trace among": ("lockstep", "INDEX.json"),
    "cannot be read": ("trace", "nowhere.csv"),
    "invalid choice: 'min'": ("trace", "nowhere.csv", "--unit", "min"),
    'seeds = "x"': ("fuzz", "--seeds", "x"),
    "seeds = 0: must be at least 1": ("fuzz", "--seeds", "0"),
    "--show needs --seed": ("fuzz", "--show"),
    "requests = 1: must be at least": ("bench", "--requests", "1"),
    "v = 99": ("open", "v=99"),
    "this link is damaged": ("open", "title=%FF"),
    "resque.kv: no such setting; did you mean rescue?": ("open", "v=1&resque.kv=1"),
    "t = -3 s: must be at least 0": ("open", "v=1&t=-3"),
    "from = 9 s: must be before to = 2 s": ("open", "v=1&from=9&to=2"),
    "a = nope: must be one of fcfs": ("open", "v=1&a=nope"),
    "seeds = 5: must be one of 1, 3, 9, 20": ("open", "v=1&seeds=5"),
    "baseline = zzz: must be one of fcfs": ("open", "v=1&baseline=zzz"),
    "view = foo: must be one of lab": ("open", "v=1&view=foo"),
    "expert = 7: must be one of 0, 1": ("open", "v=1&expert=7"),
    "lang = fr: must be one of en, zh": ("open", "v=1&lang=fr"),
    "metric = ttft: must be one of ttft.p50": ("open", "https://lab.example/?v=1&metric=ttft"),
    "sort = colour: must be one of policy": ("open", "v=1&sort=colour"),
    "lesson = ten: must be one of batching": ("open", "v=1&lesson=ten"),
    "part = nothing: must be one of model": ("open", "v=1&part=nothing"),
    "vary = rescue.kv: must be written key=start:stop:step": ("open", "v=1&vary=rescue.kv"),
    "goal = soon: must be written like": ("open", "v=1&goal=soon"),
    "of = nobody: must be one of": ("open", "v=1&scenario=textbook&of=nobody"),
    "focus = Z: none of the 8 has this id": ("open", "v=1&scenario=textbook&focus=Z"),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_mistake_is_one_sentence_and_exit_2(
    sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "INDEX.json").write_text("[]")
    assert main(MISTAKES[sentence]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and sentence in captured.err


BAD_FILES = {
    "empty.toml": (b"policies = 3", "policies = 3: must be a table of policies and their settings"),
    "broken.toml": (b"seed = ", "is not valid TOML"),
    "large.toml": (b"duration_s = 1_000.5e6", "duration_s = 1_000.5e6 s: must be at most 8,640,000 s"),
    "large.json": (b'{"duration_s": 1.0e9}', "duration_s = 1.0e9 s: must be at most 8,640,000 s"),
    "deep.json": (b"[" * 100_000, "is nested too deeply; write it with fewer than 100 levels"),
    "nan.toml": (b"duration_s = nan", "duration_s = nan: must be a finite number"),
    "unknown.toml": (b"sed = 3", "sed: no such setting; did you mean seed?"),
    "negative.toml": (b"[engine]\nkv_blocks = -3", "engine.kv_blocks = -3"),
    "binary.toml": (bytes(range(256)), "must be UTF-8 text"),
    "broken.json": (b"{", "is not valid JSON"),
    "list.json": (b"[1]", "a scenario must be a table of settings"),
    "null.json": (b"null", "a scenario must be a table of settings"),
    "long.json": (b'{"seed": ' + b"9" * 5000 + b"}", "a number in it has too many digits"),
    "long.toml": (b"seed = " + b"9" * 5000, "a number in it has too many digits"),
    "text.toml": (b'schema = "1"', 'schema = "1": must be a whole number'),
    "newer.toml": (b"schema = 99", "made by a newer Sched Lab"),
    "binary": (b"\x00\xff\xfe", "must be UTF-8 text"),
}


@pytest.mark.parametrize("name", [*BAD_FILES, "folder", "nowhere.toml", "no/where", "x" * 5000, "a\x00b"])
@pytest.mark.parametrize("command", ["run", "link"])
def test_a_bad_scenario_is_one_sentence_and_exit_2(
    command: str,
    name: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    content, sentence = BAD_FILES.get(name, (None, ""))
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert main([command, name]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and sentence in captured.err


def test_an_empty_file_is_the_default_scenario_without_requests(told: Told, tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_bytes(b"")
    assert "there are no requests" in told("run", str(tmp_path / "empty.toml"))


@pytest.mark.parametrize("name", ["taken", "taken/deeper"])
def test_a_folder_that_cannot_be_made_is_said_before_the_run(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    assert main(["run", "textbook", "--out", str(tmp_path / name)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and "taken" in captured.err


@pytest.mark.parametrize("name", LATER)
def test_what_is_not_there_yet_says_so(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "textbook", "--json"]) == 2
    assert capsys.readouterr().err == f"{name}: this version does not have this command yet\n"


def test_help_names_every_command(told: Told) -> None:
    text = told("--help")
    assert all(f"  {name} " in text for name in COMMANDS)
    for name in COMMANDS:
        assert f"python -m sched {name}" in told(name, "--help")


def test_a_bug_is_not_called_the_users_mistake(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(words: Any) -> int:
        raise AssertionError("free = -1 blocks")

    monkeypatch.setitem(COMMANDS, "run", (broken, ""))
    assert main(["run"]) == 1
    assert "free = -1 blocks" in capsys.readouterr().err


def test_ctrl_c_ends_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(words: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "run", (interrupted, ""))
    assert main(["run"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def started(*words: str, **more: Any) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "sched", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, **more)


def test_the_program_exits_as_it_says() -> None:
    ended = started("link", "textbook")
    assert (ended.returncode, ended.stderr) == (0, b"") and ended.stdout.startswith(
        b"v=1&scenario=textbook@1"
    )
    ended = started("run", "-", input=b"seed = nan\xff")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode().splitlines() == ["standard input: must be UTF-8 text; save it as UTF-8"]


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    shell = f"{sys.executable} -m sched hardware --json | head -n 1"
    ended = subprocess.run(["/bin/sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("[\n", "")


def test_json_is_json_whatever_the_terminals_encoding() -> None:
    words = ("run", "-", "--json")
    text = to_toml(Scenario(**SMALL)).encode()
    ended = started(*words, input=text, env={"PYTHONIOENCODING": "ascii", "PATH": ""})
    assert ended.returncode == 0, ended.stderr
    assert finite(ended.stdout.decode("ascii"))["scenario"]["title"] == SMALL["title"]


def test_the_same_words_give_the_same_bytes(told: Told, small: str) -> None:
    assert told("run", small, "--json") == told("run", small, "--json")
    assert len(simulate(read_file(Path(small)), "rescue").requests) > 5


def test_the_readmes_reference_table_is_the_schemas() -> None:
    text = README.read_text("utf-8")
    assert text == current(text), "the schema has changed: `python -m tests.readme` puts it into the README"


def test_the_readme_names_every_command_and_option(told: Told) -> None:
    text = README.read_text("utf-8")
    section = text.partition("## The command line")[2].partition("\n## ")[0]
    for name in (*COMMANDS, *LATER):
        assert f"`{name}" in section
    for name in COMMANDS:
        options = set(re.findall(r"--[a-z]+", told(name, "--help"))) - {"--help", "--json"}
        assert not {option for option in options if option not in section}, name


def test_a_request_that_was_cut_is_named_by_its_pieces(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["explain", "textbook", "kv_cap.per_request=150", "kv_cap.split=true", "--policy", "kv_cap"]
    assert main([*given, "--request", "C"]) == 2
    said = capsys.readouterr().err
    assert "cuts it into C/1 to C/" in said and "name one of them" in said
    assert main([*given, "--request", "C/1"]) == 0
