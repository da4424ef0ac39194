"""How large a trace may be, and its bytes unpacked no further than that.

What is no table of text is refused in one sentence. Nothing here is ever executed: pickles are refused, not
loaded.
"""

import gzip
import io
import zlib
from pathlib import Path
from typing import NamedTuple

from sched.arrivals import MAX_REQUESTS
from sched.sentences import NO_TEXT, ScenarioError, is_text

_REFUSED = (
    (b"version https://git-lfs", "is a Git LFS pointer, not the data; fetch the file itself"),
    (b"PK\x03\x04", "is a zip archive or an Excel workbook; unpack it, or save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; unpack it, or use gzip"),
    (b"BZh", "is compressed with bzip2; unpack it, or use gzip"),
    (b"\xfd7zXZ", "is compressed with xz; unpack it, or use gzip"),
    (b"\x89PNG", "is a picture"),
    (b"%PDF", "is a PDF"),
)


ADVICE = "cut it to its first requests, or leave out columns that say neither when, how long nor whose"


class Most(NamedTuple):
    """What may be read of a trace, counted while it is read: bytes unpacked, rows, and values in all rows."""

    bytes: int = 128_000_000
    rows: int = MAX_REQUESTS
    values: int = 10_000_000

    def check(self, name: str, bytes: int = 0, rows: int = 0, values: int = 0) -> None:
        """Raises ScenarioError, with the limit and what to do, for more than may be read."""
        told = (
            (bytes, self.bytes, "bytes, unpacked"),
            (rows, self.rows, "rows"),
            (values, self.values, "values"),
        )
        for many, most, what in told:
            if many > most:
                raise ScenarioError(f"{name}: holds more than {most:,} {what}; {ADVICE}")


USUAL = Most()
"""So that reading takes less than about 1.5 GB of memory, whatever the file holds."""


def bytes_of(path: Path, most: Most = USUAL) -> bytes:
    """A file's bytes. Raises ScenarioError for one that cannot be read or is too large."""
    if not is_text(str(path)):
        raise ScenarioError(f"{path}: the name {NO_TEXT}; rename the file or its folder", "trace.file")
    try:
        with path.open("rb") as file:
            data = file.read(most.bytes + 1)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}", "trace.file") from None
    most.check(path.name, bytes=len(data))
    return data


def unpacked(source: bytes, name: str, most: Most = USUAL) -> bytes:
    """The bytes themselves, ungzipped whatever the file is called. Raises ScenarioError for no trace."""
    data = source
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                data = file.read(most.bytes + 1)
        except (OSError, EOFError, zlib.error):
            raise ScenarioError(f"{name}: is gzip, but damaged or cut off; fetch it again") from None
    most.check(name, bytes=len(data))
    if not data.strip():
        raise ScenarioError(f"{name}: is empty")
    if name.lower().endswith((".pkl", ".pickle")) or (data[:1] == b"\x80" and data[-1:] == b"."):
        raise ScenarioError(
            f"{name}: is a Python pickle, which can run code; convert it to CSV or JSON lines"
        )
    for start, what in _REFUSED:
        if data.startswith(start):
            raise ScenarioError(f"{name}: {what}")
    return data
