"""The ready scenarios, one TOML file each; editing one bumps its revision, old revisions stay loadable."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sched.fields import ScenarioError, suggestion
from sched.files import from_plain, toml_data
from sched.plain import Plain
from sched.scenario import Scenario

FOLDER = Path(__file__).resolve().parent.parent / "scenarios"
DEFAULT = "noisy-neighbour"
BLANK = "blank"
"""The preset of a scenario that was made from none: nothing but defaults."""


@dataclass(frozen=True, slots=True)
class Preset:
    """What a list of presets shows."""

    name: str
    revision: int
    title: str
    story: str


def _read(path: Path) -> Plain:
    return toml_data(path.read_text("utf-8"), path.name)


@cache
def _newest() -> dict[str, Plain]:
    files = sorted(FOLDER.glob("*.toml"), key=lambda path: (path.stem != DEFAULT, path.stem))
    return {path.stem: _read(path) for path in files}


def presets() -> list[Preset]:
    """The ready scenarios, the default first."""
    return [
        Preset(name, int(data["revision"]), str(data["title"]), str(data["story"]))
        for name, data in _newest().items()
    ]


def _data(name: str, revision: int | None) -> tuple[Plain, int]:
    if name == BLANK and revision in (None, 1):
        return {}, 1
    newest = _newest()
    if name not in newest:
        raise ScenarioError(f"scenario = {name}: no such preset{suggestion(name, newest)}", "scenario")
    current = int(newest[name]["revision"])
    if revision is None or revision == current:
        return newest[name], current
    old = FOLDER / "old" / f"{name}@{revision}.toml"
    if not old.is_file():
        newer = " by a newer Sched Lab" if revision > current else ""
        raise ScenarioError(
            f"scenario = {name}@{revision}: no such revision{newer and ', it was made' + newer}; "
            f"{name} is at revision {current}",
            "scenario",
        )
    return _read(old), revision


@cache
def preset(name: str, revision: int | None = None) -> Scenario:
    """A ready scenario, in its newest revision unless another is asked for. Raises ScenarioError."""
    data, found = _data(name, revision)
    body = {key: value for key, value in data.items() if key != "revision"}
    return from_plain({**body, "link_base": f"{name}@{found}"})


def named(text: str) -> Scenario:
    """The preset that `name` or `name@revision` names."""
    match = re.fullmatch(r"([^@]+)(?:@([0-9]{1,9}))?", text)
    if not match:
        raise ScenarioError(f"scenario = {text}: must be a preset's name, or name@revision", "scenario")
    return preset(match[1], int(match[2]) if match[2] else None)


def is_known(text: str) -> bool:
    """Whether `name@revision` names a preset, without reading the scenario in it."""
    match = re.fullmatch(r"([^@/\\]+)@([0-9]{1,9})", text)
    if not match:
        return False
    try:
        _data(match[1], int(match[2]))
    except ScenarioError:
        return False
    return True
