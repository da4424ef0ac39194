"""What the tests share: hypothesis' manners, the folder of recorded traces and cases, and a browser."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from sched import Scenario
from sched.__main__ import main
from sched.fields import ScenarioError
from tests.browsing import STAGE_READY, Visit, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
Told = Callable[..., str]
"""Runs a command: its words, and the code with which it must end."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A page without a graphics card, a sandbox or anything to fetch.
BROWSER_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")

# Machines differ in speed, so no example has a deadline; continuous integration repeats the same examples.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the project with recorded traces, cases and costs; skips where it is not there."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared with recorded traces and cases is not here")
    return SHARED


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Runs a command and gives what it printed, of a failure the sentence; a success has none."""

    def run(*words: str, code: int = 0) -> str:
        assert main(words) == code
        captured = capsys.readouterr()
        assert not captured.err or code
        return captured.err or captured.out

    return run


@pytest.fixture
def without_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Lab with its controls only: nothing is simulated."""

    from sched.page import lab  # takes a second, and only the page's tests need it

    def nothing(_: Scenario) -> None:
        raise ScenarioError("not run")

    monkeypatch.setattr(lab, "results", nothing)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """One real browser for the whole run; skips in words where there is none. `make browser` installs one."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_api.sync_playwright() as playwright:
        executable = found or playwright.chromium.executable_path
        if not os.path.exists(executable):
            pytest.skip("no browser found: `make browser` installs one")
        opened = playwright.chromium.launch(executable_path=executable, args=list(BROWSER_FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The dashboard on a free port of this machine, one for all browser tests."""
    with serving(tmp_path_factory.mktemp("traces")) as address:
        yield address


@pytest.fixture
def visit(browser: "Browser", server: str) -> Iterator[Any]:
    """Visits to the page; after the test none of them may have met an error."""
    made: list[Visit] = []

    def go(query: str = "", ready: str = STAGE_READY, **context: Any) -> Visit:
        made.append(Visit(browser, server, query, ready, **context))
        return made[-1]

    yield go
    for one in made:
        assert not one.errors
        one.context.close()
