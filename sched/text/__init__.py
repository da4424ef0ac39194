"""Texts that are longer than a sentence, as Markdown files."""

from pathlib import Path


def text(name: str) -> str:
    """The Markdown of a text by its name."""
    return (Path(__file__).parent / f"{name}.md").read_text("utf-8")
