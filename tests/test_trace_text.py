"""A trace in any encoding, and with texts and numbers that are none, is read or refused in words."""

import io
import json
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sched.external import link
from sched.files import to_toml
from sched.scenario import ScenarioError
from sched.traces import read_trace, trace_scenario

ROWS = "arrival_s,prompt,output\n0,10,5\n1,20,5\n"
HALVES = [
    {"arrival_s": 0, "prompt": 3, "output": 1, "id": "\ud800", "tenant": "a\udfff", "class": "\U0001f600"}
]


@pytest.mark.parametrize("code", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_a_file_of_wide_signs_is_read_and_said(code: str) -> None:
    mark = "" if code in ("utf-16", "utf-32") else "\ufeff"
    trace = read_trace((mark + ROWS).encode(code), "t.csv")
    assert trace.prompt_tokens.tolist() == [10, 20]
    assert trace.report["assumed"][0] == f"the file is {code.upper()[:6]}"


@pytest.mark.parametrize("mark", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_excels_line_that_names_the_separator_is_no_row(mark: str) -> None:
    rows = mark + ROWS.replace(",", ";").replace("20;5", "20;x")
    trace = read_trace(rows.encode(), "t.csv")
    assert trace.prompt_tokens.tolist() == [10]
    assert trace.report["dropped"] == [{"line": 4, "reason": 'output "x" is not a number'}]


@pytest.mark.parametrize("layout", ["document", "lines", "nested"])
def test_halves_of_letters_are_replaced_and_said(layout: str) -> None:
    record = {**HALVES[0], "more": [{"\udc00": "\ud800"}]} if layout == "nested" else HALVES[0]
    text = json.dumps(record) if layout == "lines" else json.dumps([record])
    trace = read_trace(text.encode(), "t.json")
    assert (trace.ids, trace.tenant_names, trace.class_names) == (("\ufffd",), ("a\ufffd",), ("\U0001f600",))
    said = "halves of letters (lone surrogates) are no text: \ufffd stands for each"
    assert trace.report["assumed"][0] == said


def test_such_a_trace_is_replayed_exported_and_linked() -> None:
    trace = read_trace(json.dumps(HALVES).encode(), "t.json")
    scenario = trace_scenario(trace)
    (to_toml(scenario) + link(scenario) + json.dumps(trace.report, ensure_ascii=False)).encode()


def test_a_column_whose_name_is_no_text_is_named_all_the_same() -> None:
    text = json.dumps([{"\ud800": 1, "b": 2}])
    with pytest.raises(ScenarioError, match=r"\(columns: \ufffd, b\)"):
        read_trace(text.encode(), "t.json")


def test_a_number_of_too_many_digits_is_named_in_its_record() -> None:
    digits = "9" * 5000
    for text in (
        f'[{{"arrival_s":0,"prompt":{digits},"output":1}},{{"arrival_s":1,"prompt":3,"output":1}}]',
        f'{{"arrival_s":0,"prompt":{digits},"output":1}}\n{{"arrival_s":1,"prompt":3,"output":1}}\n',
    ):
        trace = read_trace(text.encode(), "t.json")
        assert trace.prompt_tokens.tolist() == [3]
        assert len(trace.report["dropped"]) == 1
        assert trace.report["dropped"][0]["reason"].endswith('9…" is more than 10,000,000 tokens')


@pytest.mark.parametrize("text", ["[]", "{}", "[{}]", "[[]]", "[1, 2]", "{}\n{}\n"])
def test_a_file_without_records_is_said_to_have_none(text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_trace(text.encode(), "t.json")
    assert str(caught.value).startswith("t.json: holds no records")


def test_a_parquet_text_that_is_none_is_refused_in_words() -> None:
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    columns = {"arrival_s": pa.array([0]), "prompt": pa.array([3]), "output": pa.array([1]), "class": bad}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    with pytest.raises(ScenarioError, match="is Parquet, but"):
        read_trace(file.getvalue(), "t.parquet")


def test_twenty_thousand_columns_are_read_at_once() -> None:
    titles = [f"c{i}" for i in range(20_000)]
    text = ",".join(["arrival_s", "prompt", "output", *titles]) + "\n" + ",".join(["0", "3", "1", *titles])
    began = time.process_time()
    assert read_trace(text.encode(), "t.csv").prompt_tokens.tolist() == [3]
    assert time.process_time() - began < 2.0
