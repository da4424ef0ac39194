"""A trace is read whatever its layout; each record is kept or dropped with a reason; no guess is silent."""

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sched import trace_store
from sched.files import from_text, to_toml
from sched.model import PS_PER_S
from sched.scenario import Scenario, ScenarioError
from sched.scenario import Trace as Settings
from sched.sums import five
from sched.trace_values import time_ps, tokens
from sched.traces import Trace, read_trace, trace_scenario
from sched.workload import requests

HEAD = "timestamp,prompt_tokens,output_tokens\n"


def read(text: str | bytes, name: str = "t.csv", **more: Any) -> Trace:
    return read_trace(text.encode() if isinstance(text, str) else text, name, **more)


def seconds(trace: Trace) -> list[float]:
    return [moment / PS_PER_S for moment in trace.arrival_ps.tolist()]


def assumed(trace: Trace) -> str:
    return "\n".join(trace.report["assumed"])


# What the public traces and tools write. Rows kept, format, span in seconds, classes.

PUBLIC = [
    ("azure2023_code_busy10min.csv", 2723, "azure-llm", 598.614275, ["default"]),
    ("azure2023_conv_first2000.csv", 2000, "azure-llm", 424.259457, ["default"]),
    ("azure2024_code_head.csv", 5, "azure-llm", 0.07396, ["default"]),
    ("azure2025_lmm_head.csv", 5, "azure-llm", 7.297, ["default"]),
    ("burstgpt1_head.csv", 3, "burstgpt", 113.0, ["Conversation log"]),
    ("composed_p0p1p2_10min.csv", 7533, "generic csv", 599.7284, ["P0", "P1", "P2"]),
    ("mooncake_conversation_first10min.jsonl", 1750, "mooncake", 597.0, ["default"]),
    ("ragpulse_tail_blank_line.jsonl", 100, "ragpulse", 8352.0, ["default"]),
    ("splitwisesim_conv_bom_first2000.csv", 2000, "splitwise", 415.4, ["default"]),
    ("vidur_splitwise_conv_first2000.csv", 2000, "vidur", 424.259457, ["default"]),
    ("vidur_arxiv_summarization_first2000.csv", 2000, "vidur-lengths", 1999.0, ["default"]),
    ("vtc_lmsys_multitenant_1500.csv", 1500, "vtc", 600.0, ["default"]),
    ("vtc_result_overload_300resp.jsonl", 300, "vtc-results", 66.333333, ["default"]),
    ("results/aiperf_profile_export.jsonl", 36, "aiperf", 11.16, ["default"]),
    ("results/guidellm_benchmarks.json", 39, "guidellm", 12.09, ["default"]),
    ("results/langfuse_observations.jsonl", 31, "langfuse", 11.78, ["chat"]),
    ("results/litellm_spend_logs.csv", 39, "litellm", 12.09, ["default"]),
    ("results/openai_usage_completions.json", 1440, "openai-usage", 479.6, ["online", "batch"]),
    ("results/otlp_spans.json", 39, "otel", 12.09, ["P0", "P1"]),
    ("results/otel_simple_chain.json", 3, "otel", 6.0, ["default"]),
    ("results/sglang_bench_serving.jsonl", 78, "sglang-bench", 29.75, ["default"]),
    ("adversarial/ts_epoch_s_float.csv", 300, "generic csv", 84.029102, ["default"]),
    ("adversarial/ts_epoch_us_int.csv", 300, "generic csv", 84.029102, ["default"]),
    ("adversarial/ts_epoch_ns_int.csv", 300, "generic csv", 84.02910208, ["default"]),
    ("adversarial/ts_azure2024_mixed_fraction.csv", 5, "azure-llm", 1.248279, ["default"]),
    ("adversarial/ts_mmss_excel.csv", 407, "splitwise", 70.6, ["default"]),
    ("adversarial/ts_all_identical.csv", 200, "generic csv", 0.0, ["default"]),
    ("adversarial/enc_bom_crlf.csv", 300, "generic csv", 84.029102, ["default"]),
    ("adversarial/enc_latin1_tenant.csv", 2, "generic csv", 1.0, ["default"]),
    ("adversarial/sep_semicolon_decimal_comma.csv", 50, "generic csv", 26.461144, ["default"]),
    ("adversarial/num_over_context.csv", 3, "generic csv", 2.0, ["default"]),
    ("adversarial/col_reordered_extra.csv", 2, "burstgpt", 51.0, ["Conversation log", "API log"]),
    ("adversarial/tenant_hostile.csv", 7, "generic csv", 6.0, ["default"]),
    ("adversarial/jsonl_blank_lines_bom.jsonl", 50, "mooncake", 26.461, ["default"]),
    ("adversarial/jsonl_truncated_last.jsonl", 50, "mooncake", 26.461, ["default"]),
    ("adversarial/json_array_pretty.json", 50, "mooncake", 26.461, ["default"]),
    ("adversarial/json_concatenated.json", 50, "mooncake", 26.461, ["default"]),
    ("adversarial/rows.csv.gz", 300, "generic csv", 84.029102, ["default"]),
    ("adversarial/gz_without_suffix.csv", 300, "generic csv", 84.029102, ["default"]),
    ("adversarial/rows.parquet", 300, "generic parquet", 84.029102, ["default"]),
    ("adversarial/baseten_style.parquet", 100, "generic parquet", 42.685, ["default"]),
    ("adversarial/newline_in_quotes.csv", 2, "generic csv", 1.0, ["default"]),
    ("adversarial/trailing_total_row.csv", 2, "generic csv", 1.0, ["default"]),
    ("adversarial/prio_service_tier.jsonl", 4, "generic jsonl", 3.0, ["P0", "P1", "P2"]),
]


@pytest.mark.parametrize(
    ("file", "rows", "format", "span_s", "classes"), PUBLIC, ids=[row[0] for row in PUBLIC]
)
def test_known_layouts_are_recognised(
    shared: Path, file: str, rows: int, format: str, span_s: float, classes: list[str]
) -> None:
    report = read_trace(shared / "traces" / file).report
    assert (report["rows"], report["format"]) == (rows, format)
    assert report["duration_s"] == pytest.approx(span_s, abs=1e-6)
    assert list(report["classes"]) == classes
    json.dumps(report, allow_nan=False)


REFUSED = [
    ("adversarial/html_saved_as.csv", "web page"),
    ("adversarial/empty.csv", "empty"),
    ("adversarial/binary_as.csv", "binary"),
    ("adversarial/col_no_header.csv", "no header"),
    ("adversarial/col_duplicate_names.csv", "several columns are named tokens"),
    ("adversarial/genai_perf_profile_export.json", "no token counts"),
    ("results/vllm_bench_serve_summary_only.json", "no single requests"),
    ("results/inference_perf_stage_0_lifecycle_metrics.json", "no single requests"),
    ("servegen/reason__deepseek-r1__chunk-15-trace.csv", "no header"),
    ("servegen/reason__deepseek-r1__chunk-15-dataset_first2windows.json", "not requests"),
]


@pytest.mark.parametrize(("file", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_is_no_trace_is_refused_in_one_sentence(shared: Path, file: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as refused:
        read_trace(shared / "traces" / file)
    assert "\n" not in str(refused.value)


def test_every_listed_awkward_file_is_read_or_refused_in_words(shared: Path) -> None:
    folder = shared / "traces" / "adversarial"
    for row in json.loads((folder / "expected.json").read_text(encoding="utf-8")):
        try:
            assert read_trace(folder / row["file"]).report["rows"] > 0
        except ScenarioError as refused:
            assert str(refused)


def test_bad_values_are_dropped_with_their_line_and_reason(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "adversarial" / "num_bad_values.csv")
    assert list(trace.ids) == ["1", "7"]
    assert (trace.prompt_tokens.tolist(), trace.output_tokens.tolist()) == ([512, 1000], [128, 128])
    dropped = {row["line"]: row["reason"] for row in trace.report["dropped"]}
    assert list(dropped) == [3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16]
    assert trace.report["rows"] + len(dropped) == 15
    assert "finite" in dropped[3] and "missing" in dropped[4] and "negative" in dropped[5]
    assert "whole number" in dropped[9] and "3 cells" in dropped[14] and "more than" in dropped[16]


def test_a_clock_that_starts_again_is_a_second_segment(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "adversarial" / "ts_unsorted_restart.jsonl")
    assert trace.report["rows"] == 100
    assert "starts again at line 51: 2 segments" in assumed(trace)
    assert list(trace.ids) == [f"request-{n}" for n in range(1, 101)]


def test_hashes_of_blocks_become_shared_prefixes(shared: Path) -> None:
    trace = read_trace(shared / "traces" / "mooncake_conversation_first10min.jsonl")
    assert trace.segments is not None
    for segments, length in zip(trace.segments, trace.prompt_tokens.tolist(), strict=True):
        assert sum(tokens for _, tokens in segments) == length
        assert segments[0][0] == "#0"


def test_hostile_names_are_kept_as_text(shared: Path) -> None:
    names = read_trace(shared / "traces" / "adversarial" / "tenant_hostile.csv").tenant_names
    assert len(names) == 7 and any(len(name) == 5000 for name in names)
    assert any(name.startswith("=HYPERLINK") for name in names)


# The same, made here


def test_pickles_are_refused_and_never_loaded(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "loaded",))

    for name in ("t.pkl", "t.csv"):
        with pytest.raises(ScenarioError, match="pickle"):
            read(pickle.dumps(Bomb()), name)
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"version https://git-lfs.example/spec/v1\noid sha256:00\n", "pointer"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x1f\x8b\x08damaged", "damaged"),
        (b"   \n \n", "empty"),
        (b"PAR1 is not enough", "Parquet"),
        (b'{"a": [1, 2', "JSON"),
        (b"a,b\n1,2\n", "--map"),
        (HEAD.encode() + b"x,1,1\n", "holds no times"),
        (HEAD.encode() + b"0,0,1\n", "prompt is 0 tokens"),
        (HEAD.encode(), "no records"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_damaged_files_are_refused_in_one_sentence(data: bytes, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as refused:
        read(data)
    assert "\n" not in str(refused.value)


def test_detailed_vllm_results_are_a_trace() -> None:
    run = {
        "request_rate": "inf",
        "start_times": [10.5, 10.25, 11.0],
        "input_lens": [100, 200, 300],
        "output_lens": [1, 2, 3],
        "errors": ["", "", "timed out"],
    }
    trace = read(json.dumps(run), "r.json")
    assert trace.report["format"] == "vllm-bench"
    assert seconds(trace) == [0.0, 0.25] and trace.prompt_tokens.tolist() == [200, 100]
    assert trace.report["dropped"] == [{"line": 3, "reason": "failed in the benchmark"}]


def test_a_benchmark_whose_arrays_differ_in_length_is_refused_with_its_reason() -> None:
    run = {"start_times": [1.0, 2.0], "input_lens": [100, 200], "output_lens": [1]}
    with pytest.raises(ScenarioError) as refused:
        read(json.dumps(run), "r.json")
    assert str(refused.value) == "r.json: its arrays of input and output lengths and times differ in length"


def test_arrivals_are_exact_to_the_picosecond() -> None:
    trace = read(HEAD + "1700158546.680590000001,1,1\n1700158546.680590000003,1,1\n")
    assert trace.arrival_ps.tolist() == [0, 2]
    rows = "2023-11-16 18:15:46.6805901,1,1\n2023-11-16T20:15:46.6805903+02:00,1,1\n"
    assert read(HEAD + rows).arrival_ps.tolist() == [0, 200_000]


def test_a_guessed_unit_is_said_and_can_be_overruled() -> None:
    text = HEAD + "0,1,1\n1500,1,1\n"
    guessed = read(text)
    assert seconds(guessed) == [0.0, 1500.0] and "are in s" in assumed(guessed)
    told = read(text, unit="ms")
    assert seconds(told) == [0.0, 1.5] and "are in" not in assumed(told)


def test_disorder_is_sorted_stably_and_counted() -> None:
    trace = read("id," + HEAD + "a,5,1,1\nb,1,1,1\nc,1,1,1\nd,6,1,1\n")
    assert trace.ids == ("b", "c", "a", "d")
    assert "2 of 4 records were out of order" in assumed(trace)


def test_repeated_ids_are_renamed_and_all_rows_kept() -> None:
    trace = read("request_id," + HEAD + "r,0,1,1\nr,1,1,1\ns,2,1,1\nr,3,1,1\nr~2,4,1,1\n")
    assert len(set(trace.ids)) == len(trace.ids) == 5
    assert "2 repeated ids" in assumed(trace)


def test_columns_can_be_named_or_numbered() -> None:
    named = read(
        "when,a,b,who\n0,7,3,x\n", mapping={"prompt": "a", "output": "b", "arrival": "when", "tenant": "who"}
    )
    assert (named.prompt_tokens.tolist(), named.tenant_names) == ([7], ("x",))
    headless = read("0.0,374,44\n1.0,5,6\n", mapping={"arrival": "1", "prompt": "2", "output": "3"})
    assert headless.prompt_tokens.tolist() == [374, 5]
    twins = read("timestamp,tokens,tokens\n0,512,128\n", mapping={"prompt": "2", "output": "3"})
    assert (twins.prompt_tokens.tolist(), twins.output_tokens.tolist()) == ([512], [128])


@pytest.mark.parametrize(
    ("mapping", "words"),
    [({"prompts": "a"}, "did you mean prompt"), ({"prompt": "promt_tokens"}, "did you mean prompt_tokens")],
)
def test_a_wrong_mapping_is_refused_with_the_nearest_name(mapping: dict[str, str], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        read(HEAD + "0,1,1\n", mapping=mapping)


def test_priorities_are_numbers_or_known_words_and_the_rest_is_reported() -> None:
    rows = "0,1,1,HIGH\n1,1,1,batch\n2,1,1,\n3,1,1,urgent!!\n4,1,1,P1\n"
    trace = read(HEAD.strip() + ",priority\n" + rows)
    assert trace.priority.tolist() == [0, 2, 1, 1, 1]
    assert '"urgent!!" (1)' in assumed(trace) and "1 record without a priority count as 1" in assumed(trace)
    turned = read(HEAD.strip() + ",priority\n" + rows, urgency="high_first")
    assert turned.priority.tolist() == [0, -2, -1, -1, -1]
    numbers = HEAD.strip() + ",priority\n0,1,1,7\n1,1,1,-3\n"
    assert read(numbers).priority.tolist() == [7, -3]
    assert "the smaller number is the more urgent" in assumed(read(numbers))
    assert "the larger number is the more urgent" in assumed(read(numbers, urgency="high_first"))
    assert "more urgent" not in assumed(read(HEAD.strip() + ",priority\n0,1,1,7\n1,1,1,7\n"))


def test_empty_outputs_are_dropped_or_count_as_one() -> None:
    text = HEAD + "0,5,0\n1,6,2\n"
    assert read(text).report["dropped"] == [{"line": 2, "reason": "output is 0 tokens (a failed request)"}]
    kept = read(text, settings=Settings(file="t.csv", zero_output="one"))
    assert kept.output_tokens.tolist() == [1, 2] and "1 record without output" in assumed(kept)


def test_a_lone_gap_of_years_is_cut_in_words_and_a_long_span_refused() -> None:
    cut = read(HEAD + "0,1,1\n1,1,1\n86400000,1,1\n")
    assert seconds(cut) == [0.0, 1.0, 86401.0]
    assert "1,000 days before line 4" in assumed(cut)
    long = HEAD + "".join(f"{day * 86400},1,1\n" for day in range(150))
    with pytest.raises(ScenarioError, match="149 days"):
        read(long)
    assert seconds(read(long, settings=Settings(file="t", speed=2.0)))[-1] == 149 * 43200


def test_a_clock_without_its_hour_goes_on_past_it() -> None:
    trace = read(HEAD + "59:58.5,1,1\n00:01.0,1,1\n00:02.5,1,1\n")
    assert seconds(trace) == [0.0, 2.5, 4.0]
    assert "a clock without a date, to 0.1 s" in assumed(trace)


def test_a_single_row_has_no_rate() -> None:
    assert read(HEAD + "5,1,1\n").report["rate_per_s"] is None


@pytest.mark.parametrize("many", [1, 2, 3, 10, 99, 100, 101])
def test_a_percentile_of_lengths_is_a_length_that_came_by_the_rank_of_every_other_figure(many: int) -> None:
    rows = "".join(f"{place},{100 * (place + 1)},{many - place}\n" for place in range(many))
    report = read(HEAD + rows).report
    for field, unit in (("prompt", 100), ("output", 1)):
        expected = five(np.arange(1, many + 1) * unit * PS_PER_S)
        assert {name: report[field][name] for name in expected} == expected


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-2, 300), st.integers(-2, 300)), min_size=1))
def test_records_are_kept_or_dropped_and_never_lost(rows: list[tuple[int, int, int]]) -> None:
    good = [row for row in rows if row[1] > 0 and row[2] > 0]
    text = HEAD + "".join(f"{at},{prompt},{output}\n" for at, prompt, output in rows)
    if not good:
        with pytest.raises(ScenarioError):
            read(text)
        return
    trace = read(text)
    assert len(trace.ids) == len(good)
    assert len(trace.report["dropped"]) == len(rows) - len(good)
    assert (np.diff(trace.arrival_ps) >= 0).all() and trace.arrival_ps[0] == 0
    assert sorted(trace.prompt_tokens.tolist()) == sorted(row[1] for row in good)


@given(st.text(max_size=30))
def test_any_text_is_a_number_of_tokens_or_a_reason(text: str) -> None:
    found = tokens(text)
    assert isinstance(found, str) or 0 <= found <= 10_000_000
    assert isinstance(time_ps(text, "date", 1), int | str) and isinstance(
        time_ps(text, "clock", 1), int | str
    )


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    try:
        read(data)
    except ScenarioError as refused:
        assert str(refused)


# Storing and replaying


def test_a_stored_trace_comes_back_by_its_digest(tmp_path: Path) -> None:
    data = gzip.compress((HEAD + "0,1,1\n").encode())
    digest = trace_store.store(data, str(tmp_path / "store"))
    assert trace_store.store(data, str(tmp_path / "store")) == digest == read(data).digest
    assert trace_store.load(digest, str(tmp_path / "store")) == data
    with pytest.raises(ScenarioError, match="not in the store"):
        trace_store.load("0" * 64, str(tmp_path / "store"))
    (tmp_path / "store" / digest).write_bytes(b"changed")
    with pytest.raises(ScenarioError, match="damaged"):
        trace_store.load(digest, str(tmp_path / "store"))
    for bad in ("../../etc/passwd", "A" * 64, ""):
        with pytest.raises(ScenarioError, match="64 hexadecimal"):
            trace_store.load(bad, str(tmp_path / "store"))


def test_a_replay_is_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,tenant,priority," + HEAD + "x,a,P2,10.5,7,3\ny,b,P0,10.0,8,4\n", encoding="utf-8")
    scenario = from_text(
        to_toml(trace_scenario(read_trace(path), file=str(path), classes={"P0": {"timeout_s": 5.0}}))
    )
    listed = requests(scenario)
    assert listed.ids == ("y", "x")
    assert listed.arrival_ps.tolist() == [0, PS_PER_S // 2]
    assert listed.prompt_tokens.tolist() == [8, 7] and listed.output_tokens.tolist() == [4, 3]
    assert listed.priority.tolist() == [0, 2] and listed.class_names == ("P0", "P2")
    assert listed.tenant_names == ("b", "a") and listed.timeout_ps.tolist() == [5 * PS_PER_S, -1]
    assert scenario.duration_s == 1.0


def test_a_stored_replay_is_the_same_as_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_store, "_store", str(tmp_path))
    data = (HEAD + "0,7,3\n2,8,4\n").encode()
    trace_store.store(data)
    listed = requests(trace_scenario(read(data)))
    assert listed.prompt_tokens.tolist() == [7, 8] and listed.ids == ("request-1", "request-2")


def test_a_replay_that_cannot_be_had_says_so(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        requests(Scenario(trace={"file": str(tmp_path / "none.csv")}))
    with pytest.raises(ScenarioError, match=r"no store|not in the store"):
        requests(Scenario(trace={"digest": "0" * 64}))
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "0,1,1\n100,1,1\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="1 of 2 rows arrive after duration_s = 60 s"):
        requests(Scenario(trace={"file": str(path)}))
    assert len(requests(Scenario(trace={"file": str(path), "limit": 1}))) == 1
    with pytest.raises(ScenarioError, match="not the file whose digest"):
        requests(Scenario(trace={"file": str(path), "digest": "0" * 64}))
