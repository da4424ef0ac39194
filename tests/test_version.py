"""The version stands in one place, and the model's revision rises with the figures."""

import re
from hashlib import sha256

import pytest

from sched import POLICIES, simulate
from sched.__main__ import main
from sched.scenario import preset
from sched.version import MODEL, VERSION, citation
from tests.conftest import ROOT

FIGURES = {1: "00f03f850e2a1d04"}
"""Digest of when every request of the default scenario ends under each policy, by revision of the model."""


def test_the_version_is_semantic_and_the_changelog_speaks_of_it() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    _, heading, rest = re.split(r"^## (.*)$", changes, maxsplit=1, flags=re.MULTILINE)
    assert heading.startswith(VERSION) or f"version {VERSION}." in rest.partition("###")[0]
    assert f"Version {VERSION}" in citation() and f"revision {MODEL}" in citation()


def test_the_command_line_says_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{citation()}\n"


def test_other_figures_are_another_revision_of_the_model() -> None:
    scenario, found = preset("noisy-neighbour", 1), sha256()
    for key in POLICIES:
        log = simulate(scenario.changed(policies={key: {}}), key)
        found.update(f"{key} {log.first_token_ps.tolist()} {log.ended_ps.tolist()}".encode())
    assert found.hexdigest()[:16] == FIGURES[MODEL]
