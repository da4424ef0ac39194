"""The text of a trace: how it is encoded, and what in it is no text or no number that can be read."""

import json
import re
from typing import Any

from sched.sentences import HALF, ScenarioError

MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
"""What a file begins with whose signs have more than one byte each; the longer marks first."""
SEPARATOR = re.compile(r'\s*"?sep=[^\r\n]"?(?=\r?\n)', re.IGNORECASE)
"""Excel's own first line, which names the separator that the next one shows."""
ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def text_of(data: bytes, name: str) -> tuple[str, list[str]]:
    """The text of these bytes, and what was assumed of it. Raises ScenarioError for bytes that are none."""
    for mark, code in MARKS:
        if data.startswith(mark):
            return _marked(data.decode(code, errors="replace")), [f"the file is {code.upper()}"]
    if b"\0" in data[:65536]:
        raise ScenarioError(f"{name}: is binary, not text; give it as CSV, JSON lines or Parquet")
    try:
        return _marked(data.decode("utf-8-sig")), []
    except UnicodeDecodeError:
        assumed = ["the text is not UTF-8 and was read as Windows Latin"]
        return _marked(data.decode("cp1252", errors="replace")), assumed


def _marked(text: str) -> str:
    """Without the separator's own line, whose number stays."""
    found = SEPARATOR.match(text)
    return text[found.end() :] if found else text


class Decoder(json.JSONDecoder):
    """JSON whose decimals stay as written, and so does a whole number of too many digits to be one.

    Halves of letters are replaced; `assumed` says so.
    """

    def __init__(self, text: str) -> None:
        super().__init__(parse_float=str, parse_constant=str)
        self._as_written = json.JSONDecoder(parse_float=str, parse_constant=str, parse_int=str)
        self._may_hold_halves = ESCAPED_HALF.search(text) is not None
        self._found_halves = False

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        """The value that begins there, and where it ends."""
        try:
            value, end = super().raw_decode(s, idx)
        except json.JSONDecodeError:
            raise
        except ValueError:  # Python reads no whole number of more than some thousand digits
            value, end = self._as_written.raw_decode(s, idx)
        return (self._whole(value) if self._may_hold_halves else value), end

    @property
    def assumed(self) -> list[str]:
        """What was made of the file, in words."""
        said = "halves of letters (lone surrogates) are no text: \ufffd stands for each"
        return [said] if self._found_halves else []

    def _whole(self, value: Any) -> Any:
        """The value with every text in it such as can be written."""
        if isinstance(value, str):
            text = HALF.sub("\ufffd", value)
            self._found_halves |= text != value
            return text
        if isinstance(value, dict):
            return {self._whole(key): self._whole(one) for key, one in value.items()}
        return [self._whole(one) for one in value] if isinstance(value, list) else value
