"""How quick the page is in a real browser on this machine.

    python -m tests.measure_page frames     two maps of 10,000 blocks and 5,000 requests, played
    python -m tests.measure_page sliders    from a key on a slider to new cards and a new stage
    python -m tests.measure_page first      the first view of a warm server

CPU is that of the page's main thread by the browser's own count (CDP, `threadTicks`): what others do on the
machine slows the clock down, not this. Frames are counted by the browser too.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.browsing import Visit, serving
from tests.conftest import BROWSER_FLAGS, BROWSERS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

LARGE = (
    "v=1&scenario=noisy-neighbour&policies=backfill,rescue&duration_s=520&engine.kv_blocks=10000"
    "&engine.max_num_seqs=160&traffic.chat.rate_per_s=2.6&traffic.api.rate_per_s=7&traffic.docs.rate_per_s=0.1"
)
PLAY_S = 6
FRAMES = """seconds => new Promise((done) => {
    const stage = __stage, spent = [], gaps = []; let last = null, began = null, frames = 0;
    const show = stage.show.bind(stage);
    const now = () => performance.now();
    stage.show = (...given) => { const at = now(); show(...given); spent.push(now() - at); };
    const tick = (now) => {
        if (last !== null) gaps.push(now - last);
        began ??= now; last = now; frames++;
        if (now - began < 1000 * seconds) { requestAnimationFrame(tick); return; }
        delete stage.show;
        const rank = (all, share) => [...all].sort((a, b) => a - b)[Math.floor(share * (all.length - 1))];
        done({ frames, seconds: (now - began) / 1000, script_ms: spent.reduce((a, b) => a + b, 0) / frames,
            script_p99_ms: rank(spent, 0.99), gap_p99_ms: rank(gaps, 0.99) });
    };
    requestAnimationFrame(tick);
})"""
WORLD = """async () => {
    const worlds = __stage.worlds, times = [];
    for (const world of worlds) {
        const run = { head: world.head, requests: world.requests, stays: world.stays, pieces: world.pieces,
            preempted: world.preempted, waits: world.waits, asked: world.asked, stretches: world.stretches };
        const at = performance.now();
        new world.constructor(run);
        times.push(performance.now() - at);
    }
    return times;
}"""


PAINTED = """new Promise((done) => requestAnimationFrame(() =>
    requestAnimationFrame(() => done(performance.now()))))"""


class Counter:
    """Milliseconds of CPU of a page's main thread."""

    def __init__(self, page: "Page") -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def ms(self) -> float:
        told = {one["name"]: one["value"] for one in self.session.send("Performance.getMetrics")["metrics"]}
        return 1000 * float(told["TaskDuration"])


def rank(values: list[float], share: float) -> float:
    """The value that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def frames(browser: "Browser", address: str) -> list[dict[str, Any]]:
    """Plays a large run at the speeds there are, from its start, its middle and where most wait."""
    visit = Visit(browser, address, f"{LARGE}&t=1", reduced_motion="no-preference")
    counter, found = Counter(visit.page), list[dict[str, Any]]()
    about = visit.js("({blocks: __stage.worlds[0].cells, requests: __stage.worlds[0].n, end: __stage.end})")
    for share in (0.1, 0.5):
        for speed in (1, 4):
            visit.js(f"__stage.go({share} * __stage.end, {{rest: false}}); __stage.setSpeed({speed})")
            visit.page.wait_for_timeout(600)
            waiting = visit.js("__stage.views[0].waiting.length")
            visit.js("__stage.play(true)")
            visit.page.wait_for_timeout(1200)
            before = counter.ms()
            told = visit.page.evaluate(FRAMES, PLAY_S)
            cpu = (counter.ms() - before) / told["frames"]
            visit.js("__stage.play(false)")
            visit.idle()
            found.append(
                {
                    **about,
                    "at_s": round(share * about["end"]),
                    "waiting": waiting,
                    "speed": speed,
                    "fps": told["frames"] / told["seconds"],
                    "cpu_ms_per_frame": cpu,
                    **{name: told[name] for name in ("script_ms", "script_p99_ms", "gap_p99_ms")},
                }
            )
    if visit.js("Boolean(__stage.worlds[0].stretches)"):
        found.append({"world_ms": visit.page.evaluate(WORLD)})
    found.append({"payload_kB": visit.js("__stage.raw.length / 1000")})
    return found


def sliders(browser: "Browser", address: str) -> list[dict[str, Any]]:
    """Moves three sliders of the default scenario a step at a time; each value is computed anew."""
    visit = Visit(browser, address, "v=1&t=30", reduced_motion="reduce")
    times, cpu, counter = list[float](), list[float](), Counter(visit.page)
    for name in ("rescue-kv", "traffic-chat-rate_per_s", "engine-kv_blocks"):
        slider = visit.page.locator(f".st-key-{name} input[type=range]")
        slider.focus()
        for _ in range(12):
            visit.js(SETTLED)
            ready, before = visit.js("window.__ready"), counter.ms()
            visit.js("window.__cards = null; window.__pressed = performance.now()")
            visit.page.keyboard.press("ArrowRight")
            visit.page.wait_for_function(f"window.__ready > {ready} && window.__shown_at", timeout=60_000)
            times.append(visit.js("window.__shown_at - window.__pressed"))
            cpu.append(counter.ms() - before)
            visit.idle()
            visit.page.wait_for_timeout(150)
    return [
        {
            "changes": len(times),
            "median_ms": median(times),
            "p95_ms": rank(times, 0.95),
            "worst_ms": max(times),
            "browser_cpu_ms": median(cpu),
        }
    ]


# New cards and a new stage are on the screen two frames after the later of them was drawn.
SETTLED = """(() => {
    window.__shown_at = null;
    const ready = window.__ready, cards = [...document.querySelectorAll('*')].map((one) => one.shadowRoot)
        .find((root) => root?.querySelector('.cards-root')), before = cards?.querySelector('.cards');
    const look = () => {
        if (window.__ready > ready && (!before || cards.querySelector('.cards') !== before))
            requestAnimationFrame(() => requestAnimationFrame((now) => { window.__shown_at = now; }));
        else requestAnimationFrame(look);
    };
    look();
})()"""


def first(browser: "Browser", address: str) -> list[dict[str, Any]]:
    """Opens the page in fresh contexts, after one visit that warms the server."""
    Visit(browser, address, "").context.close()
    times = list[float]()
    for _ in range(7):
        context = browser.new_context(viewport={"width": 1440, "height": 1000})
        page = context.new_page()
        page.goto(address)
        page.wait_for_function("window.__ready > 0", timeout=60_000)
        times.append(page.evaluate(PAINTED))
        context.close()
    return [{"visits": len(times), "median_ms": median(times), "worst_ms": max(times)}]


MEASURES: dict[str, Callable[["Browser", str], list[dict[str, Any]]]] = {
    "frames": frames,
    "sliders": sliders,
    "first": first,
}


def main(names: list[str]) -> None:
    """Measure what is named, or everything, and print a JSON line a row."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with (
        tempfile.TemporaryDirectory() as store,
        serving(Path(store)) as address,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=list(BROWSER_FLAGS)) as browser,
    ):
        for name in names or list(MEASURES):
            for row in MEASURES[name](browser, address):
                said = {
                    key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()
                }
                print(json.dumps({"measure": name} | said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
