"""A link says the whole scenario and changes nothing; what it does not understand is refused in words."""

from urllib.parse import parse_qs, quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sched import Scenario
from sched.external import (
    LONGEST_LINK,
    assignments,
    change,
    changes,
    from_text,
    link,
    parse_link,
    read,
    to_json,
    to_toml,
)
from sched.plain import join_path, names_text, read_names, read_value, split_path, value_text
from sched.scenario import ScenarioError, preset, presets
from tests.strategies import NASTY, any_scenarios, texts

BASES = ("blank@1", *(f"{one.name}@{one.revision}" for one in presets()))
DEFAULT = preset("noisy-neighbour")


def opened(query: str) -> Scenario:
    return parse_link(query)[0]


@given(any_scenarios(BASES))
def test_reading_the_changes_gives_the_scenario_back(scenario: Scenario) -> None:
    assert read(changes(scenario)) == scenario


@given(any_scenarios(BASES))
def test_opening_the_link_gives_the_scenario_back(scenario: Scenario) -> None:
    assert opened(link(scenario)) == scenario


@given(any_scenarios(BASES))
@settings(max_examples=50)
def test_a_link_that_was_decoded_reordered_and_encoded_otherwise_is_the_same(scenario: Scenario) -> None:
    pairs = [
        (key, text)
        for key, texts in parse_qs(link(scenario), keep_blank_values=True).items()
        for text in texts
    ]
    assert parse_link(dict(reversed(pairs)))[0] == scenario
    escaped = "&".join(
        f"{quote(key, safe='')}={quote(text, safe='').replace('%20', '+')}" for key, text in pairs
    )
    assert opened(escaped.replace("&", "&amp;")) == scenario


@given(any_scenarios(BASES))
def test_a_file_gives_the_scenario_back(scenario: Scenario) -> None:
    assert from_text(to_toml(scenario)) == scenario
    assert from_text(to_json(scenario)) == scenario
    assert from_text(to_json(scenario, full=True)) == scenario


@given(any_scenarios(), any_scenarios())
@settings(max_examples=50)
def test_any_scenario_can_be_changed_into_any_other(one: Scenario, other: Scenario) -> None:
    wanted = {**changes(other)}
    del wanted["scenario"]
    blank = preset("blank")
    assert change(blank, wanted) == other
    assert change(one, {}) == one


@given(texts)
def test_a_text_survives_as_a_value_and_as_a_part_of_a_path(text: str) -> None:
    assert read_value(value_text(text)) == text
    if text:
        assert split_path(join_path(["a", text, text])) == ("a", text, text)


@given(st.lists(texts.filter(bool), unique=True, max_size=5))
def test_a_list_of_names_survives(names: list[str]) -> None:
    assert read_names(names_text(names), "policies") == names


@pytest.mark.parametrize("name", NASTY)
def test_every_nasty_tenant_reaches_the_other_side(name: str) -> None:
    request = {"id": name.replace("{i}", "i"), "class": name, "tenant": name, "prompt": 1, "output": 1}
    scenario = Scenario(requests=[request], title=name, tenants={name: {"weight": 2.0}})
    assert opened(link(scenario)) == scenario
    assert from_text(to_toml(scenario)) == scenario
    heavier = change(scenario, {join_path(["tenants", name, "weight"]): "3"})
    assert heavier.tenants[name].weight == 3.0
    assert opened(link(heavier)) == heavier


def test_a_typical_link_is_short_and_readable() -> None:
    changed = change(
        DEFAULT,
        {"traffic.docs.rate_per_s": "0.3", "rescue.kv": "0.35", "engine.max_num_seqs": "64", "seed": "4"},
    )
    query = link(changed, view="replay", t=12.4)
    assert len(query) < 500
    assert query.startswith("v=1&scenario=noisy-neighbour@")
    for said in (
        "traffic.docs.rate_per_s=0.3",
        "rescue.kv=0.35",
        "engine.max_num_seqs=64",
        "seed=4",
        "view=replay",
        "t=12.4",
    ):
        assert said in query.split("&")
    assert len(link(DEFAULT)) < 60


def test_the_view_comes_back_beside_the_scenario() -> None:
    scenario, view, notes = parse_link(link(DEFAULT, view="replay", t=12.4, focus="chat-23"))
    assert (scenario, view, notes) == (DEFAULT, {"view": "replay", "t": "12.4", "focus": "chat-23"}, [])


def test_an_empty_link_opens_the_default_scenario() -> None:
    assert opened("") == opened("?v=1") == DEFAULT


def test_a_class_and_a_policy_can_be_left_out_moved_and_brought_back() -> None:
    fewer = opened("scenario=noisy-neighbour@1&traffic=docs,chat&policies=rescue,hol")
    assert [one.name for one in fewer.traffic] == ["docs", "chat"]
    assert list(fewer.policies) == ["rescue", "hol"]
    assert fewer.policies["rescue"] == DEFAULT.policies["rescue"]
    assert opened(link(fewer)) == fewer
    brought = change(fewer, {"policies": "fcfs,rescue,hol"})
    assert list(brought.policies) == ["fcfs", "rescue", "hol"]


def test_the_order_of_the_policies_is_part_of_the_scenario() -> None:
    assert opened("policies=fcfs,rescue") != opened("policies=rescue,fcfs")


def test_a_table_can_be_given_whole_or_part_by_part_in_any_order() -> None:
    whole = opened('traffic.api.arrivals={kind="onoff",on_s=5,off_s=7}')
    parts = opened("traffic.api.arrivals.off_s=7&traffic.api.arrivals.on_s=5&traffic.api.arrivals.kind=onoff")
    assert whole == parts != DEFAULT


def test_an_explicit_request_can_be_changed_by_its_id() -> None:
    textbook = preset("textbook")
    longer = change(textbook, {"requests.A.prompt": "401"})
    assert next(one.prompt for one in longer.requests if one.id == "A") == 401
    assert "requests.A.prompt=401" in link(longer)
    assert opened(link(longer)) == longer


def test_none_takes_back_what_the_preset_says() -> None:
    assert opened("engine.kv_blocks=none").engine.kv_blocks is None
    assert opened("engine.kv_blocks=unlimited").engine.kv_blocks == "unlimited"


REFUSED = {
    "v=2": "v = 2: made by a newer Sched Lab; this one reads up to 1, so update it",
    "v=0": "v = 0: must be a whole number from 1 to 1",
    "v=one": "v = one: must be a whole number from 1 to 1",
    "seed=1&seed=2": "seed: given twice in the link",
    "rescue.kv=0.1&policies.rescue.kv=0.2": "policies.rescue.kv: given twice",
    "seeed=1": "seeed: no such setting; did you mean seed?",
    "resque.kv=0.1": "resque.kv: no such setting; did you mean rescue?",
    "rescue.kvv=0.1": "rescue.kvv: no such setting; did you mean kv?",
    "hol.x=1&policies=fcfs": "hol.x: this policy is not among those compared; add it with policies=fcfs,hol",
    "policies=": "policies: name at least one policy to run",
    "policies=fcfs,fcfs": "policies = fcfs,fcfs: fcfs is named twice",
    "policies=fcsf": "policy = fcsf: no such policy; did you mean fcfs?",
    "engine.kv_blocks=-3": 'engine.kv_blocks = -3 blocks: must be at least 1 block, or "unlimited"',
    "engine.kv_blocks=many": 'engine.kv_blocks = "many": must be a whole number,'
    ' at least 1 and at most 100,000,000 blocks, or "unlimited"',
    "engine.max_num_seqs=2.5": "engine.max_num_seqs = 2.5: must be a whole number,"
    " at least 1 and at most 65,536 seats",
    "traffic.docs.rate_per_s=nan": "traffic.docs.rate_per_s = nan: must be a finite number",
    "traffic.docs.rate_per_s=-inf": "traffic.docs.rate_per_s = -inf: must be a finite number",
    "traffic.docs.rate_per_s=0": "traffic.docs.rate_per_s = 0 requests/s: must be more than 0 requests/s",
    "traffic.docs.rate_per_s=fast": 'traffic.docs.rate_per_s = "fast": must be a number,'
    " more than 0 and at most 1,000,000 requests/s",
    "traffic.doc.rate_per_s=1": "traffic.doc: traffic has nothing of this name; did you mean docs?",
    "traffic.docs.rate_per_s.x=1": "traffic.docs.rate_per_s.x: rate_per_s is one value and has no parts",
    "scenario=noisy-neighbor": "scenario = noisy-neighbor: no such preset; did you mean noisy-neighbour?",
    "urgency=low": 'urgency = "low": must be one of low_first, high_first',
    "t=nan": "t = nan: must be a finite number of seconds",
    "title=%ff": "this link is damaged: it holds bytes that are not UTF-8 text",
    "trace.file=x.csv": "trace.file: a link names a trace by its digest only",
    'trace={file="x.csv"}': "trace: a link names a trace by its digest only",
    "engine..x=1": "engine..x: not a name; write names joined by dots, unusual ones in double quotes",
    "seed=1%232": 'seed = "1#2": must be a whole number, at least 0 and at most 9,223,372,036,854,775,807',
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_is_not_understood_is_refused_in_one_sentence(query: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        parse_link(query)
    assert str(refusal.value) == REFUSED[query]


def test_a_wrong_revision_is_refused_with_the_one_there_is() -> None:
    with pytest.raises(ScenarioError, match="noisy-neighbour is at revision"):
        parse_link("scenario=noisy-neighbour@999")


@given(st.text(max_size=60))
@settings(max_examples=300)
def test_a_damaged_link_is_refused_in_words_or_understood(query: str) -> None:
    try:
        scenario = opened(query)
    except ScenarioError as refusal:
        assert str(refusal).splitlines() == [str(refusal)]
        assert "pydantic" not in str(refusal) and "validation error" not in str(refusal)
    else:
        assert opened(link(scenario)) == scenario


@given(st.data())
@settings(max_examples=200)
def test_a_link_cut_short_never_opens_something_else_in_silence(data: st.DataObject) -> None:
    query = link(
        opened(
            "title=x&traffic.docs.rate_per_s=0.25&engine.gate=first_chunk&traffic=docs,chat&rescue.kv=0.125"
        )
    )
    cut = query[: data.draw(st.integers(0, len(query) - 1))]
    try:
        scenario = opened(cut)
    except ScenarioError:
        return
    # What is left must be exactly what the rest of the link says: cutting takes values off the end, no more.
    said = {key: texts[0] for key, texts in parse_qs(cut, keep_blank_values=True).items()}
    assert set(changes(scenario)) <= {*said, "scenario"}


def test_what_mailers_add_is_said_and_left_out() -> None:
    scenario, _, notes = parse_link("seed=5&utm_source=mail&fbclid=abc")
    assert scenario.seed == 5
    assert [path for path, _ in notes] == ["utm_source", "fbclid"]


def test_a_link_cannot_carry_a_file_but_carries_its_digest() -> None:
    digest = "ab" * 32
    with pytest.raises(ScenarioError, match="a link cannot carry a file"):
        link(Scenario(trace={"file": "x.csv"}))
    scenario = opened(link(Scenario(trace={"file": "x.csv", "digest": digest})))
    assert scenario.trace is not None
    assert (scenario.trace.file, scenario.trace.digest) == ("", digest)


def test_an_unknown_view_setting_cannot_be_put_into_a_link() -> None:
    with pytest.raises(ScenarioError, match="vieww: no such view setting; did you mean view"):
        link(DEFAULT, vieww="replay")


def test_the_same_mistake_has_the_same_sentence_through_every_door() -> None:
    sentence = 'engine.kv_blocks = -3 blocks: must be at least 1 block, or "unlimited"'
    doors = (
        lambda: parse_link("engine.kv_blocks=-3"),
        lambda: change(DEFAULT, assignments(["engine.kv_blocks=-3"])),
        lambda: from_text("[engine]\nkv_blocks = -3\n"),
        lambda: from_text('{"engine": {"kv_blocks": -3}}'),
        lambda: Scenario(engine={"kv_blocks": -3}),
        lambda: DEFAULT.changed(engine={"kv_blocks": -3}),
    )
    for door in doors:
        with pytest.raises(ScenarioError) as refusal:
            door()
        assert str(refusal.value) == sentence


def test_words_of_a_command_line_need_a_key_and_a_value() -> None:
    assert assignments(["a=b=c", "x="]) == {"a": "b=c", "x": ""}
    for words, sentence in (
        (["seed"], "seed: must be written key=value"),
        (["a=1", "a=2"], "a: given twice"),
    ):
        with pytest.raises(ScenarioError) as refusal:
            assignments(words)
        assert str(refusal.value) == sentence


def test_every_preset_has_a_link_that_fits() -> None:
    for one in presets():
        assert len(link(preset(one.name))) < LONGEST_LINK


def test_a_link_encoded_as_a_whole_is_read_as_it_was_meant_and_that_is_said() -> None:
    query = link(change(DEFAULT, {"title": "a & b = c", "policies": "fcfs,rescue"}), a="rescue")
    for wrapped in (quote(query, safe=""), {query: ""}, "%3F" + quote(query, safe="")):
        scenario, view, notes = parse_link(wrapped)
        assert (scenario, view) == parse_link(query)[:2]
        assert notes[0] == ("v", "the link was encoded twice on its way; it is read as it was before")


def test_a_value_encoded_twice_is_refused_with_the_reason() -> None:
    with pytest.raises(ScenarioError, match=r"the link seems to be encoded twice$"):
        parse_link("v=1&policies=fcfs%252Crescue")
    with pytest.raises(ScenarioError, match=r"the link seems to be encoded twice$"):
        parse_link("v=1&rescue.kv=0%252E2")


def test_a_text_may_look_as_if_it_were_encoded() -> None:
    odd = change(DEFAULT, {"title": "%41 a+b %7C"})
    assert opened(link(odd)) == odd


@pytest.mark.parametrize(
    "query", ["policies=fcfs%2Crescue", "policies=fcfs,rescue", "policies=fcfs%2crescue"]
)
def test_separators_may_be_encoded_or_not(query: str) -> None:
    assert list(opened(query).policies) == ["fcfs", "rescue"]


def test_a_space_may_be_a_plus_or_encoded() -> None:
    assert opened("title=a+b").title == opened("title=a%20b").title == "a b"
    assert opened("title=a%2Bb").title == "a+b"
