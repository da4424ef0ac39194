"""The house stays tidy: what stands at the top, how long a piece may be, and nothing of anyone's machine."""

import ast
import json
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
TOP = {
    *("app.py", "sched", "scenarios", "tests", "requirements.txt", "Dockerfile"),
    *("README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md", "Makefile", "pyproject.toml", "deploy"),
    *("requirements-dev.txt", "constraints.txt", "packages.txt"),
    *(".streamlit", ".ci", ".gitignore", ".dockerignore"),
}
FUNCTION_LINES, MODULE_LINES, POLICY_LINES = 60, 250, 60
# What stands among the policies but is none: the registry, what they inherit, the waiting line they share.
NOT_POLICIES = {f"sched/policies/{name}.py" for name in ("__init__", "base", "common", "levels")} | {
    f"sched/policies/{name}.py" for name in ("hooks", "tenants", "usage", "caps", "reserve", "queue_wait")
}

# What may be longer, how long, and why. An entry that is no longer needed fails the test: take it out.
LONGER: dict[str, tuple[int, str]] = {
    "sched/policies/aging.py": (83, "credit, threshold, floor and margin are one rule, and so is until when"),
}

# In a style sheet a number after # is a colour, and what a source line cites is not ours.
PATHS = re.compile(r"(?<![\w.~-])/(?:root|work|home/\w+|Users/\w+)/|\b[A-Z]:\\+Users\\")
ISSUES = re.compile(r"^(?!.*Source:).*((?<![\w\"'&/#])(?<!\]\()#\d{1,5}\b|\bissue \d)", re.IGNORECASE)
TEXTS = {".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".sh", ""}
NOT_FOR_OTHERS = {
    "a path of someone's machine": (PATHS, TEXTS | {".js", ".css", ".json", ".svg"}),
    "an issue number": (ISSUES, TEXTS),
}


@cache
def files() -> tuple[str, ...]:
    """What git tracks or would track, relative to the root."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this folder is not a git clone")
    return tuple(sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file()))


def lengths() -> dict[str, tuple[int, int]]:
    """Lines and limit of every module but the tests, and of every function, those of the tests included."""
    found = {}
    for name in files():
        if not name.endswith(".py"):
            continue
        source = (ROOT / name).read_text("utf-8")
        if not name.startswith("tests/"):
            is_policy = name.startswith("sched/policies/") and name not in NOT_POLICIES
            found[name] = (len(source.splitlines()), POLICY_LINES if is_policy else MODULE_LINES)
        for node in ast.walk(ast.parse(source, name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                key = f"{name}::{node.name}"
                found[key] = (max(lines, found.get(key, (0, 0))[0]), FUNCTION_LINES)
    return found


def test_only_what_belongs_there_stands_at_the_top() -> None:
    strangers = {name.split("/")[0] for name in files()} - TOP
    assert not strangers, f"does not belong at the top (an ignored folder such as out/ does): {strangers}"


def test_every_function_and_module_reads_on_one_screen() -> None:
    long = {
        what: lines for what, (lines, limit) in lengths().items() if lines > LONGER.get(what, (limit, ""))[0]
    }
    assert not long, (
        f"longer than {FUNCTION_LINES} (function), {MODULE_LINES} (module), {POLICY_LINES} (policy): {long}"
    )


def test_nothing_is_excused_that_needs_no_excuse() -> None:
    found = lengths()
    assert not [what for what in LONGER if what not in found or found[what][0] <= found[what][1]]


@pytest.mark.parametrize("what", NOT_FOR_OTHERS)
def test_no_file_holds(what: str) -> None:
    pattern, suffixes = NOT_FOR_OTHERS[what]
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in files()
        if Path(name).suffix in suffixes and name != "LICENSE"
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


def requirements(name: str) -> list[Requirement]:
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text("utf-8").splitlines()]
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def test_every_requirement_is_pinned_within_its_range() -> None:
    pins = {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in requirements("constraints.txt")
    }
    for wanted in requirements("requirements.txt") + requirements("requirements-dev.txt"):
        pin = pins.get(canonicalize_name(wanted.name))
        assert pin, f"{wanted.name} is not in constraints.txt"
        assert wanted.specifier.contains(pin), f"{wanted.name} is pinned at {pin}, outside {wanted.specifier}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_uses_the_design_tokens(scheme: str, shared: Path) -> None:
    tokens = json.loads((shared / "ui/tokens.json").read_text("utf-8"))["palette"][scheme]
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"][scheme]
    colours = re.findall(r"#[0-9A-Fa-f]{6}", json.dumps(theme))
    assert colours and set(colours) <= set(tokens.values())


def test_the_readme_maps_every_module() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    modules = {name.split("/")[1] for name in files() if re.fullmatch(r"sched/(\w+\.py|\w+/.*\.py)", name)}
    named = {module if module.endswith(".py") else f"{module}/" for module in modules - {"__init__.py"}}
    assert not {name for name in named if name not in text}


def test_the_scenario_in_the_readme_is_valid() -> None:
    from sched.scenario import Scenario

    text = (ROOT / "README.md").read_text("utf-8")
    written = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert written
    for scenario in written:
        Scenario.model_validate(tomllib.loads(scenario))


def test_no_file_carries_the_marks_of_a_merge() -> None:
    for path in [*ROOT.glob("*.*"), *ROOT.glob("sched/**/*"), *ROOT.glob("tests/**/*")]:
        if path.is_file() and path.suffix in (".py", ".css", ".js", ".md", ".po", ".toml", ".json"):
            lines = path.read_text("utf-8").splitlines()
            assert not [line for line in lines if line.startswith((7 * "<", 7 * ">"))], path
