"""A trace is refused in words once it holds more than can be read, however small it was packed."""

import gzip
import io
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sched.page.replay import MOST_TO_READ, scenario_of
from sched.scenario import ScenarioError
from sched.trace_size import USUAL, Most
from sched.traces import read_trace

HEAD = "timestamp,prompt_tokens,output_tokens\n"
ROOM = Most(bytes=50_000, rows=100, values=400)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (HEAD.encode() + b"0,1,1\n" * 200_000, "holds more than 50,000 bytes"),
        (gzip.compress(b"0" * 2_000_000), "holds more than 50,000 bytes, unpacked; cut it to its first"),
        (gzip.compress(HEAD.encode() + b"0,1,1\n" * 101), "holds more than 100 rows; cut it to its first"),
        (HEAD.encode() + b"0,1\n" * 101, "holds more than 100 rows"),
        (b"a,b,c,d,e\n" + b"0,1,1,1,1\n" * 81, "holds more than 400 values; .*leave out columns"),
        (b"[" + b"[]," * 400 + b"[]]", "holds more than 400 values"),
        (b"[" + b'{"":{}},' * 300 + b"{}]", "holds more than 400 values"),
        (b'{"prompt":1}\n' * 101, "holds more than 100 rows"),
    ],
)
def test_no_more_is_unpacked_than_can_be_read(data: bytes, words: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ScenarioError, match=f"t: {words}"):
            read_trace(data, "t", most=ROOM)
        assert tracemalloc.get_traced_memory()[1] < 600_000
    finally:
        tracemalloc.stop()


def test_a_file_is_read_no_further_than_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"0" * 10_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ScenarioError, match=r"t\.csv: holds more than 50,000 bytes"):
            read_trace(path, most=ROOM)
        assert tracemalloc.get_traced_memory()[1] < 600_000
    finally:
        tracemalloc.stop()


def test_a_packed_table_is_weighed_before_it_is_unpacked() -> None:
    def packed(**columns: Any) -> bytes:
        file = io.BytesIO()
        pq.write_table(pa.table(columns), file, compression="zstd")
        return file.getvalue()

    lengths = {"prompt": [1] * 90, "output": [1] * 90}
    assert len(read_trace(packed(**lengths, tenant=["x" * 400] * 90), "t", most=ROOM).ids) == 90
    with pytest.raises(ScenarioError, match="t: holds more than 50,000 bytes"):
        # The text is stored once, and stands in every row.
        read_trace(packed(**lengths, tenant=["x" * 4000] * 90), "t", most=ROOM)
    with pytest.raises(ScenarioError, match="t: holds more than 100 rows"):
        read_trace(packed(prompt=[1] * 101, output=[1] * 101), "t", most=ROOM)


def test_the_page_reads_less_than_the_command_line() -> None:
    assert all(page < usual for page, usual in zip(MOST_TO_READ, USUAL, strict=True))
    bomb = gzip.compress(b"0" * (MOST_TO_READ.bytes + 1), 1)
    with pytest.raises(ScenarioError, match=r"b\.gz: holds more than 64,000,000 bytes, unpacked; cut it"):
        scenario_of(bomb, "b.gz")
