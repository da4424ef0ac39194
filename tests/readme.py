"""Puts what the program says about itself into the README: `python -m tests.readme`."""

import re
from pathlib import Path

from sched.knobs import markdown

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"(<!-- reference: .*? -->\n).*?(<!-- end of reference -->)", re.DOTALL)


def current(text: str) -> str:
    """The README's text with the reference table as the schema has it now."""
    assert BLOCK.search(text), "the README has lost the place of its reference table"
    return BLOCK.sub(lambda match: f"{match[1]}\n{markdown()}\n{match[2]}", text)


if __name__ == "__main__":
    README.write_text(current(README.read_text("utf-8")), encoding="utf-8")
