"""Imports go down only, each floor imports only its own libraries, and `sched` is really ours."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Every module has its place: floor, modules, third-party libraries. A package speaks for its files.
# A file that is not placed fails the test below: give it the lowest floor that can hold it.
# NumPy is the data type of the requests and the log, so it is everywhere but where a decision is made.
ROWS = (
    (0, "model version", ""),
    (0, "language", "babel"),
    (0, "fields bounded laws parts sources registry sentences plain", "pydantic pydantic_core"),
    (0, "checks settings_checks", "pydantic pydantic_core"),
    (0, "scenario presets changes knobs", "pydantic"),
    (0, "external files", "pydantic tomli_w"),
    (1, "randomness arrivals lengths cost accuracy alone kv promises workload predictors pieces", "numpy"),
    (1, "horizon traffic", ""),
    (1, "traces trace_bytes trace_size trace_documents trace_formats trace_order", "numpy pandas pyarrow"),
    (1, "view", ""),
    (1, "trace_text", ""),
    (1, "trace_rows trace_store trace_values", "numpy pandas pyarrow"),
    (2, "policies", ""),
    (3, "job choosing queues ledger slices pools books batch foresight needs", ""),
    (3, "displace stops plan admission jump", ""),
    (4, "log record intake pace course server replicas", "numpy"),
    (4, "engine", "numpy simpy"),
    (4, "__init__", ""),  # the front door: Scenario, simulate, POLICIES
    (5, "trust recorded lockstep agreement occupancy waits supply causes evidence shares blame", "numpy"),
    (5, "inversion several moments", "numpy"),
    (5, "sums metrics limits remarks eta explain words verdict story audit theory", "numpy scipy"),
    (5, "percentiles service reading fairness waste warmup steady sizing details whole", "numpy"),
    (
        5,
        "execution overtaking residual forecast forward notes rules drain guide bounds chronicle",
        "numpy",
    ),
    (5, "trajectories counters at_once sizing_words believed bands ahead scored", "numpy"),
    (6, "experiments tasks workers measures intervals", "numpy pandas pyarrow scipy dask distributed"),
    (6, "grids ranges spreadsheet", ""),
    (6, "report exports", "numpy pandas pyarrow"),
    (6, "advice", ""),
    (6, "bench fuzz", "numpy"),
    (6, "papers", "numpy scipy"),
    (7, "figures", "numpy plotly"),
    (7, "text", "numpy"),
    (8, "page", "numpy streamlit segno"),
    (8, "command __main__", ""),
)
PLACES: dict[str, tuple[int, set[str]]] = {"app": (9, {"streamlit"})} | {
    f"sched.{name}".removesuffix(".__init__"): (floor, set(libraries.split()))
    for floor, names, libraries in ROWS
    for name in names.split()
}
PACKAGES = tuple(f"sched.{name}" for name in "policies theory papers figures text page command".split())
FLOORED = sorted([*ROOT.glob("sched/**/*.py"), *ROOT.glob("app.py")])


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def place_of(module: str) -> tuple[int, set[str]] | None:
    """The module's own entry, or that of the package that speaks for it."""
    package = next((name for name in PACKAGES if module.startswith(name + ".")), module)
    return PLACES.get(module, PLACES.get(package))


def is_for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def nodes(tree: ast.AST, at_start: bool) -> Iterator[ast.AST]:
    """Everything in the file; with `at_start` only what runs when the module is first imported."""
    for node in ast.iter_child_nodes(tree):
        if at_start and (is_for_types_only(node) or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            continue
        yield node
        yield from nodes(node, at_start)


def imported_names(tree: ast.AST, package: str, at_start: bool) -> Iterator[str]:
    """Dotted names of what is imported, as they are written."""
    for node in nodes(tree, at_start):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from (f"{base}.{alias.name}" for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module)), *_]
            ):
                yield module


@cache
def imports(path: Path, at_start: bool = False) -> frozenset[str]:
    """Our modules by their full name, others by their first. `from sched import cost` is the module cost."""
    module = name_of(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    ours = {name_of(file) for file in FLOORED}
    found = set()
    for name in imported_names(ast.parse(path.read_text("utf-8"), str(path)), package, at_start):
        if name.split(".")[0] not in ("sched", "app"):
            found.add(name.split(".")[0])
            continue
        while name not in ours and "." in name:
            name = name.rpartition(".")[0]
        found.add(name)
    return frozenset(found - {module} - set(sys.stdlib_module_names - {"sched"}))


def reached(module: str, at_start: bool = False) -> set[str]:
    """What a module imports, directly or through our own modules."""
    files = {name_of(path): path for path in FLOORED}
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        new = imports(files[name], at_start) - seen if name in files else frozenset()
        seen |= new
        todo.extend(new)
    return seen


@pytest.mark.parametrize("path", FLOORED, ids=name_of)
def test_every_module_has_its_floor_and_imports_only_from_there_down(path: Path) -> None:
    place = place_of(name_of(path))
    assert place is not None, f"{name_of(path)} has no floor: place it in PLACES, and in the README's map"
    floor, libraries = place
    for name in sorted(imports(path)):
        if name.split(".")[0] in ("sched", "app"):
            target = place_of(name)
            assert target and target[0] <= floor, (
                f"{name_of(path)} (floor {floor}) imports {name}, which is above it"
            )
        else:
            assert name in libraries, (
                f"{name_of(path)} (floor {floor}) may not import {name}, only {libraries or 'none'}"
            )


def test_no_module_needs_itself_to_be_imported() -> None:
    # The front door is left out: importing any module of the package runs it first in any case.
    modules = {name_of(path) for path in FLOORED} - {"sched"}
    circles = sorted(module for module in modules if module in reached(module, at_start=True))
    assert not circles, f"these wait for each other: {circles}"


def test_the_command_line_never_reaches_streamlit() -> None:
    if not (ROOT / "sched/__main__.py").exists():
        pytest.skip("there is no command line yet")
    assert "streamlit" not in reached("sched.__main__")
    program = (
        "import runpy, sys; sys.argv = ['sched', 'policies']\n"
        "try: runpy.run_module('sched', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(*sorted({'streamlit', 'plotly', 'pandas', 'scipy'} & set(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.split() == [], f"the command line starts slowly: it imported {ended.stderr.split()}"


@pytest.mark.parametrize("before", ["sys", "streamlit.web.bootstrap, pandas, plotly.graph_objects, simpy"])
def test_sched_is_ours_and_not_the_standard_librarys(before: str) -> None:
    # A library that imported the standard one first would leave it in sys.modules, and hide ours.
    program = f"import {before}; import sched; print(sched.__file__)"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ended.stdout.strip() == str(ROOT / "sched" / "__init__.py"), ended.stdout + ended.stderr


def test_nobody_can_install_the_project() -> None:
    # Once in site-packages it would come after the standard library's module of the same name.
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(settings) == {"tool"}
    assert not [name for name in ("setup.py", "setup.cfg") if (ROOT / name).exists()]
