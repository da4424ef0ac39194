"""The page in a real browser, as the browser tests visit it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
ANSWERED = """(() => {
    const Socket = window.WebSocket;
    window.WebSocket = class extends Socket {
        constructor(...given) {
            super(...given);
            this.addEventListener("message", () => { window.__asked = false; });
        }
        send(data) { window.__asked = true; super.send(data); }
    };
})()"""
"""Notes whether the server owes an answer: only when that comes does the page say that a script runs."""
QUIET = """(idle) => {
    const rests = !window.__asked && document.querySelector(idle);
    window.__quiet_frames = rests ? (window.__quiet_frames || 0) + 1 : 0;
    return window.__quiet_frames > 4;
}"""
STILL = """(idle) => {
    const moves = document.getAnimations().some((one) =>
        one.playState === "running" && one.effect.getComputedTiming().endTime < Infinity);
    const rests = !moves && !window.__asked && document.querySelector(idle);
    window.__still_frames = rests ? (window.__still_frames || 0) + 1 : 0;
    return window.__still_frames > 20;
}"""
WAIT_MS = 60_000
STAGE_READY = "window.__ready > 0"
NAMED = "document.title.endsWith(' · Sched Lab')"  # until a view is drawn, the title is the page's name alone


@contextmanager
def serving(store: Path) -> Iterator[str]:
    """The dashboard on a free port of this machine, with uploaded traces in `store`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCHED_STORE": str(store)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                if urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).read() == b"ok":
                    break
            except OSError:
                time.sleep(0.25)
        yield address
    finally:
        process.terminate()
        process.wait(20)


class Visit:
    """One visit to the page, with all that went wrong in it.

    `ready` is what the script of the view says when it has drawn; "" where the page has no such script.
    """

    def __init__(
        self, browser: "Browser", address: str, query: str = "", ready: str = STAGE_READY, **context: Any
    ) -> None:
        size, is_idle = context.pop("size", (1440, 1000)), context.pop("idle", True)
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **context)
        self.context.add_init_script(ANSWERED)
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.sent = 0
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("websocket", lambda socket: socket.on("framesent", self._count))
        self.page.goto(f"{address}/?{query}" if query else address)
        if ready:
            self.until(ready)
        self.until(NAMED)
        if is_idle:
            self.idle()

    def _count(self, _: Any) -> None:
        self.sent += 1

    def idle(self) -> None:
        """Until the server has answered and no script runs in several frames on end: what was just sent is
        still being put in place.
        """
        self.page.evaluate("window.__quiet_frames = 0")
        self.page.wait_for_function(QUIET, arg=IDLE, timeout=WAIT_MS, polling="raf")

    def still(self) -> None:
        """Until nothing is asked, runs or moves in many frames on end: what fades in has done so."""
        self.page.evaluate("window.__still_frames = 0")
        self.page.wait_for_function(STILL, arg=IDLE, timeout=WAIT_MS, polling="raf")

    def js(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def says(self, where: str, text: str) -> None:
        """Wait for `text` in what the selector `where` finds: a part is there before its words are."""
        self.page.locator(where, has_text=text).first.wait_for(timeout=WAIT_MS)

    def key(self, name: str) -> None:
        """A key, with the stage in focus."""
        self.js("__stage.root.focus({preventScroll: true})")
        self.page.keyboard.press(name)

    def until(self, expression: str) -> None:
        self.page.wait_for_function(expression, timeout=WAIT_MS)

    def fresh_data_after(self, act: Any) -> None:
        before = self.js("window.__ready")
        act()
        self.until(f"window.__ready > {before}")
        self.idle()
