"""A scenario is checked once, and each mistake is one sentence: name, value, unit, bound, and what to do."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from sched import Scenario
from sched.external import field, from_text, load, reference, to_json, to_toml
from sched.fields import Part, Table
from sched.knobs import markdown
from sched.model import Setting
from sched.registry import PolicySettings
from sched.scenario import SCHEMA, ScenarioError, Slo, known_policies, preset, register_policy
from tests.strategies import NASTY, any_scenarios, small_scenarios

TOKENS = {"kind": "constant", "tokens": 100}
CHAT = {"name": "chat", "rate_per_s": 1.0, "prompt": TOKENS, "output": TOKENS}
A = {"id": "A", "prompt": 100, "output": 10}


def refusal(**data: Any) -> str:
    """The sentence with which this scenario is refused."""
    with pytest.raises(ScenarioError) as found:
        Scenario(**data)
    return str(found.value)


def traffic(**values: Any) -> dict[str, Any]:
    return {"traffic": [{**CHAT, **values}]}


def request(**values: Any) -> dict[str, Any]:
    return {"requests": [{**A, **values}]}


REFUSED: list[tuple[dict[str, Any], str]] = [
    (request(prompt=0), "requests.A.prompt = 0 tokens: must be at least 1 token"),
    (request(output=0), "requests.A.output = 0 tokens: must be at least 1 token"),
    (
        request(prompt=1.5),
        "requests.A.prompt = 1.5: must be a whole number, at least 1 and at most 10,000,000 tokens",
    ),
    (
        request(priority="high"),
        'requests.A.priority = "high": must be a whole number,'
        " at least -2,147,483,648 and at most 2,147,483,648",
    ),
    (
        request(priority=[1]),
        "requests.A.priority: must be a whole number, at least -2,147,483,648 and at most 2,147,483,648",
    ),
    (
        request(priority=True),
        "requests.A.priority = true: must be a whole number,"
        " at least -2,147,483,648 and at most 2,147,483,648",
    ),
    (request(arrival_s=-1), "requests.A.arrival_s = -1 s: must be at least 0 s"),
    (
        request(arrival_s=61),
        "requests.A.arrival_s = 61 s: must be at most duration_s = 60 s; arrivals stop there",
    ),
    (
        request(id="A{i}", count=10, every_s=7, arrival_s=1),
        "requests.A{i}.arrival_s = 1 s: must be at most duration_s = 60 s for its last copy (64 s);"
        " arrivals stop there",
    ),
    (
        request(count=2),
        "requests.A: count = 2 requests: the id A needs {i} in it, so that each is unique",
    ),
    (
        request(prefix=[["system", 101]]),
        "requests.A: prompt = 100 tokens: its prefix segments alone have 101",
    ),
    (
        request(prefix=[["system"]]),
        'requests.A.prefix: must be a list of pairs [segment, tokens], such as [["system", 400]]',
    ),
    ({"requests": [A, A]}, "requests.A: two requests have this id; rename one"),
    (
        {"requests": [{**A, "id": "x-2"}, {**A, "id": "x-{i}", "count": 3}]},
        "requests.x-2: two requests have this id; rename one",
    ),
    ({"requests": [{"id": "A", "prompt": 1}]}, "requests.A.output: must be given"),
    ({"requests": A}, "requests: must be a list of tables"),
    (traffic(rate_per_s=0), "traffic.chat.rate_per_s = 0 requests/s: must be more than 0 requests/s"),
    (
        traffic(rate_per_s=1e9),
        "traffic.chat.rate_per_s = 1000000000.0 requests/s: must be at most 1,000,000 requests/s",
    ),
    (traffic(rate_per_s=float("nan")), "traffic.chat.rate_per_s = nan: must be a finite number"),
    (traffic(rate_per_s=float("inf")), "traffic.chat.rate_per_s = inf: must be a finite number"),
    (
        traffic(rate_per_s="fast"),
        'traffic.chat.rate_per_s = "fast": must be a number, more than 0 and at most 1,000,000 requests/s',
    ),
    (
        traffic(rate_per_s=1e5),
        "traffic: this makes about 6,000,000 requests: must be at most 2,000,000;"
        " lower a rate or duration_s, or set max_requests",
    ),
    (
        traffic(arrivals={"kind": "poison"}),
        'traffic.chat.arrivals.kind = "poison": must be one of poisson, gamma, onoff, diurnal, dump, bursts;'
        " did you mean poisson?",
    ),
    (traffic(arrivals={"kind": "gamma", "cv": -1}), "traffic.chat.arrivals.cv = -1: must be at least 0"),
    (
        traffic(prompt={"kind": "lognormal", "mean": 9, "min": 7, "max": 3}),
        "traffic.chat.prompt: max = 3 tokens: must be at least min = 7",
    ),
    (
        traffic(prompt={"kind": "quantiles", "points": [[0, 5], [1, 4]]}),
        "traffic.chat.prompt.points: must rise: every share at least 1e-09 above the one before it,"
        " no length below the one before it",
    ),
    (traffic(tenants={"a": 0.5, "b": 0}), "traffic.chat: tenants.b = 0: must be more than 0"),
    (
        traffic(tenant="a", tenants={"b": 1}),
        "traffic.chat: tenant and tenants are both given; keep one of them",
    ),
    ({"traffic": [CHAT, CHAT]}, "traffic.chat: two classes have this name; rename one"),
    (
        {**traffic(), "trace": {"file": "x.csv"}},
        "trace and traffic are given together: [[requests]] and [[traffic]] may be mixed,"
        " a [trace] stands alone; keep one of the two",
    ),
    (
        {**traffic(), **request(id="chat-7")},
        "requests.chat-7: the traffic of class chat makes ids of this form; rename this one",
    ),
    ({"trace": {}}, "trace: needs a file, or the digest of a stored one"),
    ({"trace": {"digest": "abc"}}, 'trace: digest = "abc": must be 64 hexadecimal digits in lower case'),
    ({"tenants": {"web": {"weight": 0}}}, "tenants.web.weight = 0: must be more than 0"),
    ({"tenants": {"web": {"weight": -2}}}, "tenants.web.weight = -2: must be more than 0"),
    ({"tenants": {"a.b": {"weight": -2}}}, 'tenants."a.b".weight = -2: must be more than 0'),
    ({"engine": {"kv_blocks": -3}}, 'engine.kv_blocks = -3 blocks: must be at least 1 block, or "unlimited"'),
    ({"engine": {"kv_block": 3}}, "engine.kv_block: no such setting; did you mean kv_blocks?"),
    (
        {"engine": {"kv_blocks": "some"}},
        'engine.kv_blocks = "some": must be a whole number,'
        ' at least 1 and at most 100,000,000 blocks, or "unlimited"',
    ),
    (
        {"engine": {"gate": "expected", "enable_prefix_caching": True}},
        'engine.gate = "expected": this gate counts each request\'s blocks as its own; turn '
        "engine.enable_prefix_caching off, or choose full_prompt, first_chunk or peak",
    ),
    (
        {"policies": {"rescue": {"slices": {"high": 0.2}}}},
        'policies.rescue.slices."high": the name must be a priority, a whole number such as 0',
    ),
    (
        {"policies": {"rescue_cap": {"slices": {"0": 0.5, "00": 0.1}}}},
        'policies.rescue_cap.slices: "0" and "00" are one priority; keep one of them',
    ),
    (
        {"policies": {"rescue": {"slices": {"0": 0.5, "1": 0.7}}}},
        "policies.rescue.slices: the shares sum to 1.2: they keep more than all tokens of an iteration; let "
        "them sum to at most 1",
    ),
    (
        {"policies": {"rescue": {"slices": {"0": -1}}}},
        "rescue.slices: each number in it must be at least 0 and at most 1",
    ),
    (
        {"policies": {"mlfq": {"quanta": [2.5, 0]}}},
        "mlfq.quanta: each number in it must be at least 0.001 and at most 8,640,000 s",
    ),
    (
        {"policies": {"mlfq": {"quanta": 5}}},
        "mlfq.quanta = 5: must be a list of numbers, such as [0.5, 2, 10]",
    ),
    ({"engine": {"replicas": 2}}, "engine.replicas = 2: must be at most 1"),
    ({"engine": 5}, "engine = 5: must be a table of settings"),
    (
        {"engine": {"enable_chunked_prefill": False, "max_num_batched_tokens": 99}, **request()},
        "engine.max_num_batched_tokens = 99 tokens: requests.A.prompt = 100 tokens, which could never be"
        " scheduled whole; raise the budget or set engine.enable_chunked_prefill = true",
    ),
    (
        {
            "engine": {"enable_chunked_prefill": False},
            **traffic(prompt={"kind": "exponential", "mean": 9}),
        },
        "engine.max_num_batched_tokens = 2048 tokens: traffic.chat.prompt has prompts without an upper end"
        " (max), which could never be scheduled whole; raise the budget or set"
        " engine.enable_chunked_prefill = true",
    ),
    ({"urgency": "low"}, 'urgency = "low": must be one of low_first, high_first'),
    ({"urgency": 1}, "urgency = 1: must be one of low_first, high_first"),
    ({"duration_s": 8640001}, "duration_s = 8640001 s: must be at most 8,640,000 s"),
    (
        {"duration_s": 8640000, "drain_s": 1},
        "drain_s = 1 s: with duration_s = 8640000 s the run is longer than 100 days; shorten one",
    ),
    ({"warmup_s": 60}, "warmup_s = 60 s: must be less than duration_s = 60 s, or nothing is measured"),
    ({"seed": -1}, "seed = -1: must be at least 0"),
    ({"seed": 2**63}, "seed = 9223372036854775808: is too large: a whole number has at most 63 bits"),
    ({"seed": 10**400}, f"seed = 1{'0' * 76}…: is too large: a whole number has at most 63 bits"),
    ({"title": "\ud800"}, 'title = "\\ud800": must be text that can be written as UTF-8'),
    ({"title": 5}, "title = 5: must be a text; put it in quotes"),
    ({"policies": {}}, "policies: name at least one policy to run"),
    ({"policies": {"resque": {}}}, "policy = resque: no such policy; did you mean rescue?"),
    ({"policies": {"rescue": {"kv": 1.5}}}, "rescue.kv = 1.5: must be at most 1 (share of KV)"),
    (
        {"policies": {"rescue": {"kv": None}}},
        "rescue.kv = none: must be a number, at least 0 and at most 1 (share of KV)",
    ),
    ({"policies": {"rescue": {"lend": 1}}}, "rescue.lend = 1: must be true or false"),
    ({"sede": 1}, "sede: no such setting; did you mean seed?"),
    (
        {"link_base": "nothing@1"},
        'link_base = "nothing@1": no such preset; leave it out, and links carry the whole scenario',
    ),
]


@pytest.mark.parametrize(("data", "sentence"), REFUSED, ids=[sentence[:60] for _, sentence in REFUSED])
def test_a_mistake_is_refused_in_one_sentence(data: dict[str, Any], sentence: str) -> None:
    assert refusal(**data) == sentence


def test_the_error_names_the_field_for_a_form() -> None:
    with pytest.raises(ScenarioError) as found:
        Scenario(engine={"kv_blocks": 0})
    assert found.value.path == "engine.kv_blocks"
    assert pickle.loads(pickle.dumps(found.value)).path == "engine.kv_blocks"


ACCEPTED: list[dict[str, Any]] = [
    {**traffic(), **request()},
    traffic(rate_per_s=0.4, prompt={"kind": "lognormal", "mean": 9, "cv": 0}),
    request(priority=-5),
    request(prompt=100.0),
    {"duration_s": 8640000, "drain_s": 0},
    {"engine": {"kv_blocks": "unlimited"}},
    {"policies": ["fcfs", "rescue"]},
    {"policies": {"aging": {"per_s": 0}}},
    {},
]


@pytest.mark.parametrize("data", ACCEPTED, ids=str)
def test_what_is_odd_but_meaningful_is_accepted(data: dict[str, Any]) -> None:
    Scenario(**data)


NOTED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "requests", "there are no requests"),
    (
        {**request(), "engine": {"max_num_seqs": 64, "max_num_batched_tokens": 64}},
        "engine.max_num_batched_tokens",
        "not above the 64 seats",
    ),
    (
        {
            **request(prompt=65),
            "engine": {
                **{"enable_chunked_prefill": False, "long_prefill_token_threshold": 8},
                **{"max_num_batched_tokens": 64, "max_num_seqs": 4},
            },
        },
        "engine.enable_chunked_prefill",
        "alone it can never be scheduled",
    ),
    ({**request(), "tenants": {"web": {"weight": 2}}}, "tenants.web", "no request belongs to this tenant"),
    ({**request(), "classes": {"web": {}}}, "classes.web", "no request belongs to this class"),
    (traffic(tenants={"a": 0.6, "b": 0.8}), "traffic.chat.tenants", "scaled to a 0.429, b 0.571"),
    (
        {**request(), "policies": {"rescue": {"tokens": 0.1, "slices": {"0": 0.2}}}},
        "policies.rescue.tokens",
        "its slices say what is kept",
    ),
    (
        {**request(), "engine": {"enable_prefix_caching": True}, "policies": {"srpt": {"mode": "swap"}}},
        "policies.srpt.mode",
        "nothing is swapped",
    ),
    (
        {**request(), "policies": {"sjf": {"error": 1.5}}},
        "policies.sjf.error",
        "no effect on the predictor oracle",
    ),
    (
        {**request(), "policies": {"edf": {"predictor": "rank"}}},
        "policies.edf.predictor",
        "a first token needs no predicted length",
    ),
    (
        {**request(), "policies": {"shed": {"on_full": "lowest"}}},
        "policies.shed.on_full",
        "without max_queue",
    ),
    (
        {**request(), "policies": {"aging": {"per_s": 1, "threshold_s": 5}}},
        "policies.aging.per_s",
        "threshold_s says what waiting earns",
    ),
    (
        {**request(), "policies": {"kv_cap": {"split_prefix": 5}}},
        "policies.kv_cap.split_prefix",
        "without split",
    ),
    (
        {**request(), "policies": {"rescue": {"lend": False, "lend_share": 0.5}}},
        "policies.rescue.lend_share",
        "nothing is lent",
    ),
    ({**request(), "policies": {"drf": {"cpu": {"a": 2}}}}, "policies.drf.cpu", "without cpu_cores"),
]


@pytest.mark.parametrize(("data", "path", "words"), NOTED, ids=[path for _, path, _ in NOTED])
def test_what_is_probably_not_meant_is_noted(data: dict[str, Any], path: str, words: str) -> None:
    found = dict(Scenario(**data).notes())
    assert words in found[path]


def test_a_sound_scenario_has_no_notes() -> None:
    assert Scenario(**request()).notes() == []
    whole = {
        "enable_chunked_prefill": False,
        "long_prefill_token_threshold": 8,
        "max_num_batched_tokens": 512,
    }
    assert Scenario(**request(prompt=512), engine=whole).notes() == []


def test_a_scenario_cannot_be_changed_in_place() -> None:
    scenario = Scenario(**traffic(), tenants={"web": {"weight": 2}})
    with pytest.raises(ValueError, match="frozen"):
        scenario.seed = 5
    with pytest.raises(TypeError, match="cannot be changed"):
        scenario.tenants["web"] = None  # type: ignore[index]
    with pytest.raises(TypeError, match="cannot be changed"):
        scenario.policies.clear()  # type: ignore[attr-defined]
    tenants = scenario.tenants
    with pytest.raises(TypeError, match="cannot be changed"):
        tenants |= {}  # type: ignore[operator]


@given(any_scenarios())
@settings(max_examples=50)
def test_copies_are_equal_and_hash_alike(scenario: Scenario) -> None:
    for twin in (pickle.loads(pickle.dumps(scenario)), copy.deepcopy(scenario), scenario.changed()):
        assert twin == scenario
        assert hash(twin) == hash(scenario)


def test_the_order_of_a_table_counts() -> None:
    one, other = Table({"a": 1, "b": 2}), Table({"b": 2, "a": 1})
    assert one != other
    assert Scenario(policies=["fcfs", "priority"]) != Scenario(policies=["priority", "fcfs"])


def test_ids_are_made_by_class_from_zero() -> None:
    rows = [{"prompt": 1, "output": 1, "class": "chat"}, {"prompt": 1, "output": 1, "class": "chat"}]
    copies = {"prompt": 1, "output": 1, "class": "api", "count": 3}
    scenario = Scenario(requests=[*rows, copies])
    assert [id for one in scenario.requests for id, _ in one.copies()] == [
        *("chat-0", "chat-1", "api-0", "api-1", "api-2")
    ]


def test_copies_arrive_one_after_the_other() -> None:
    scenario = Scenario(**request(id="M{i}", count=3, arrival_s=1, every_s=2))
    assert list(scenario.requests[0].copies()) == [("M0", 1.0), ("M1", 3.0), ("M2", 5.0)]


def test_a_promise_inlined_in_traffic_wins_over_that_of_the_class() -> None:
    classes = {"chat": {"slo": {"ttft_s": 9, "tpot_s": 0.1}, "timeout_s": 30}}
    scenario = Scenario(**traffic(slo={"ttft_s": 1}), classes=classes)
    promise = scenario.promise("chat")
    assert promise.slo == Slo(ttft_s=1, tpot_s=0.1)
    assert promise.timeout_s == 30
    assert scenario.promise("other").slo == Slo()


def test_tenant_shares_sum_to_one() -> None:
    (mixed,) = Scenario(**traffic(tenants={"a": 3, "b": 1})).traffic
    assert mixed.shares() == {"a": 0.75, "b": 0.25}
    assert Scenario(**traffic()).traffic[0].shares() == {"chat": 1.0}


def test_a_newer_schema_is_refused_in_words() -> None:
    with pytest.raises(ScenarioError, match="schema = 2: made by a newer Sched Lab"):
        from_text("schema = 2")
    assert from_text(f"schema = {SCHEMA}") == Scenario()


def test_a_damaged_file_is_refused_with_its_place() -> None:
    for text, words in (
        ("seed = \n", "is not valid TOML"),
        ("seed = 1\nseed = 2\n", "is not valid TOML"),
        ('{"seed": }', "is not valid JSON"),
        ('{"seed": 1, "seed": 2}', "seed: given twice in the same table"),
        ('{"seed": NaN}', "seed = nan: must be a finite number"),
        ('{"seed": Infinity}', "seed = inf: must be a finite number"),
        ("[" * 100_000, "is not valid TOML"),
        ('{"a":' * 100_000, "is not valid JSON"),
        ("seed = 2024-01-01", "seed = "),
    ):
        with pytest.raises(ScenarioError) as found:
            from_text(text, "x.toml")
        assert words in str(found.value)
        assert len(str(found.value).splitlines()) == 1


def test_a_file_is_found_by_path_and_a_preset_by_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbfseed = 5\r\n[trace]\r\nfile = 'rows.csv'\r\n")
    found = load(str(path))
    assert found.seed == 5
    assert found.trace is not None and found.trace.file == (tmp_path / "rows.csv").as_posix()
    assert load("textbook@1") == load("textbook") == preset("textbook")
    for name, words in (
        (str(tmp_path / "none.toml"), "cannot be read"),
        ("textbok", "did you mean textbook?"),
    ):
        with pytest.raises(ScenarioError) as refused:
            load(name)
        assert words in str(refused.value)
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(ScenarioError, match="must be UTF-8 text"):
        load(str(path))


def test_json_holds_no_nan_and_no_absent_value() -> None:
    data = json.loads(to_json(Scenario(), full=True))
    assert "kv_blocks" not in data["engine"]
    assert data["engine"]["block_size"] == 16
    assert json.loads(to_json(Scenario())) == {
        "schema": SCHEMA,
        "policies": {key: {} for key in data["policies"]},
    }


def test_a_file_leaves_out_what_is_the_default() -> None:
    text = to_toml(Scenario(seed=9))
    assert "seed = 9" in text
    assert "block_size" not in text


def test_a_policy_declares_its_settings_once() -> None:
    knobs = (
        Setting("share", 0.5, "Share", "How much.", unit="of it", low=0, high=1, step=0.1),
        Setting("level", None, "Level", "Which.", low=0, step=1),
        Setting("mode", "soft", "Mode", "How.", choices=("soft", "hard")),
        Setting("slices", None, "Slices", "By priority.", table=True),
    )
    register_policy("trial", "Trial", "Only for this test.", knobs)
    try:
        scenario = Scenario(policies={"trial": {"level": 2, "slices": {"0": 0.5}}})
        chosen = scenario.policies["trial"]
        assert (chosen.share, chosen.level, chosen.mode, chosen.slices) == (0.5, 2, "soft", {"0": 0.5})
        assert isinstance(chosen, PolicySettings) and pickle.loads(pickle.dumps(chosen)) == chosen
        assert (
            refusal(policies={"trial": {"level": 1.5}})
            == "trial.level = 1.5: must be a whole number, at least 0"
        )
        assert refusal(policies={"trial": {"mode": "sof"}}).startswith(
            'trial.mode = "sof": must be one of soft, hard'
        )
        assert field("trial.share").unit == "of it"
    finally:
        from sched import registry

        del registry._policies["trial"]


def models(of: type[Part]) -> set[type[Part]]:
    return {of, *(deep for below in of.__subclasses__() for deep in models(below))}


def test_every_value_of_the_schema_has_a_title_and_help() -> None:
    parts = [model for model in models(Part) if model is not Part and model.__module__.startswith("sched")]
    assert len(parts) > 20
    for model in parts:
        for name, info in model.model_fields.items():
            if name != "kind":
                assert info.title and info.description, f"{model.__name__}.{name}"
                assert isinstance(info.json_schema_extra, dict), f"{model.__name__}.{name}"


def test_every_number_has_a_lower_bound() -> None:
    for row in reference():
        if row.type in ("number", "whole number"):
            assert row.low is not None or row.above is not None, row.path
        if row.low is not None and isinstance(row.default, int | float):
            assert row.low <= row.default <= (row.high if row.high is not None else row.default), row.path


def test_every_row_of_the_reference_is_found_by_its_path() -> None:
    for row in reference():
        kind = row.when.removeprefix("kind = ") or None
        assert field(row.path, kind) == row
    assert field("traffic.docs.rate_per_s") == field("traffic.<class>.rate_per_s")
    assert field("policies.rescue.kv") == field("rescue.kv")
    assert {row.path.partition(".")[0] for row in reference()} >= {
        key for key, entry in known_policies().items() if entry.settings
    }
    with pytest.raises(
        ScenarioError, match=r"engine.kv_block: no such setting; did you mean engine.kv_blocks\?"
    ):
        field("engine.kv_block")


def test_the_bounds_that_a_form_shows_are_those_that_are_checked() -> None:
    for row in reference():
        if not row.path.startswith("engine.") or row.type not in ("number", "whole number"):
            continue
        *outer, name = row.path.removeprefix("engine.").split(".")
        beyond = (row.low - 1) if row.low is not None else row.above
        values: dict[str, Any] = {name: beyond}
        for part in reversed(outer):
            values = {part: values}
        assert refusal(engine=values).startswith(f"{row.path} = "), row.path


def test_the_reference_table_has_a_line_for_every_knob() -> None:
    lines = markdown().splitlines()
    assert len(lines) == len(reference()) + 2
    assert all(line.count(" | ") == 4 for line in lines if "\\|" not in line and "---" not in line)


@given(small_scenarios())
@settings(max_examples=30)
def test_small_scenarios_are_sound(scenario: Scenario) -> None:
    assert 2 <= len(scenario.requests) <= 12
    assert from_text(to_toml(scenario)) == scenario


@pytest.mark.parametrize("name", NASTY)
def test_a_sentence_is_one_line_whatever_it_quotes(name: str) -> None:
    sentence = refusal(tenants={name: {"weight": -1}})
    assert len(sentence.splitlines()) == 1
    assert sentence.endswith("must be more than 0")


BY_HAND = """
schema = 1
title = "By hand"
urgency = "low_first"

[engine]
hardware = "constant"
kv_blocks = 10

[[requests]]
id = "C"
class = "batch"
tenant = "docs"
priority = 2
prompt = 201
output = 5

[[traffic]]
name = "chat"
tenant = "web"
rate_per_s = 5.5
arrivals = { kind = "gamma", cv = 1.05 }
prompt = { kind = "lognormal", mean = 500, cv = 1.0, max = 8000 }
output = { kind = "lognormal", mean = 200, cv = 0.8, max = 1000 }
slo = { ttft_s = 0.5, tpot_s = 0.05 }

[tenants.web]
weight = 3.0

[classes.batch]
slo = { ttft_s = 30.0 }
timeout_s = 600.0

[policies.rescue]
kv = 0.12
"""


def test_a_file_written_by_hand_says_what_it_looks_like() -> None:
    scenario = from_text(BY_HAND)
    assert scenario.class_names() == ("batch", "chat")
    assert scenario.promise("batch").timeout_s == 600.0
    assert scenario.promise("chat").slo == Slo(ttft_s=0.5, tpot_s=0.05)
    assert (scenario.weight("web"), scenario.weight("docs")) == (3.0, 1.0)
    assert list(scenario.policies) == ["rescue"]
    assert scenario.policies["rescue"].kv == 0.12


@pytest.mark.parametrize(("urgency", "first"), [("low_first", "chat"), ("high_first", "docs")])
def test_urgency_says_which_class_is_the_most_urgent(urgency: str, first: str) -> None:
    classes = [CHAT, {**CHAT, "name": "api"}, {**CHAT, "name": "docs", "priority": 2}]
    scenario = Scenario(urgency=urgency, traffic=classes)
    found = scenario.most_urgent()
    assert found is not None and found.name == first
    assert scenario.level(scenario.level(found.priority)) == found.priority
    assert Scenario(**request()).most_urgent() is None


def test_every_worked_example_is_a_scenario(shared: Path) -> None:
    examples = json.loads((shared / "cases/policy_examples.json").read_text("utf-8"))
    known = [one["scenario"] for one in examples if set(one["scenario"]["policies"]) <= set(known_policies())]
    assert len(known) > 100
    for data in known:
        scenario = from_text(json.dumps(data))
        assert [id for one in scenario.requests for id, _ in one.copies()] == [
            row["id"] for row in data["requests"]
        ]
