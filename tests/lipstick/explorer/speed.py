"""How fast the explorer is: `python -m tests.lipstick.explorer.speed PATH...`.

Each PATH is served by a process of its own and opened in a Chromium. Measured are the seconds from
the start of the command to its address and from the address to the first useful picture, the
milliseconds of clicks from pressing to what they show, the bytes of the page, and the memory of
server and page.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import Page, sync_playwright

CLICKS = 60


def measure(path: Path, clicks: int = CLICKS) -> dict[str, Any]:
    """The figures of one path."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "lipstick", "explore", "--no-browser", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        ready = time.perf_counter() - started
        try:
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium")
                browser = playwright.chromium.launch(executable_path=chromium)
                page = browser.new_page(viewport={"width": 1360, "height": 820})
                told = _looked_at(page, url, clicks)
                told["server_mb"] = round(psutil.Process(server.pid).memory_info().rss / 2**20)
                browser.close()
        finally:
            server.terminate()
    return {"path": path.name, "address_s": round(ready, 2), **told}


def _looked_at(page: Page, url: str, clicks: int) -> dict[str, Any]:
    weight = 0

    def received(response: Any) -> None:
        nonlocal weight
        if response.request.resource_type == "document":
            weight = len(response.body())

    page.on("response", received)
    started = time.perf_counter()
    page.goto(url)
    page.wait_for_selector(".row .cell, .picture .box")
    first = time.perf_counter() - started
    random = np.random.default_rng(0)
    click = _rows if page.locator(".row .cell").count() else _boxes
    # The first answers wait for what is read once: they are not clicks of somebody who looks.
    warm = [click(page, random) for _ in range(4)]
    times = [click(page, random) for _ in range(clicks)]
    answer_times = page.evaluate("() => lipstick.asker.times.map((one) => one.milliseconds)")
    heap = page.evaluate("() => performance.memory.usedJSHeapSize")
    return {
        "first_picture_s": round(first, 2),
        "first_clicks_ms": [round(each) for each in warm],
        "click_p50_ms": round(float(np.percentile(times, 50))),
        "click_p95_ms": round(float(np.percentile(times, 95))),
        "answer_p95_ms": round(float(np.percentile(answer_times, 95))),
        "page_bytes": weight,
        "page_mb": round(heap / 2**20),
    }


def _settled(page: Page, before: int) -> None:
    """Wait until what was asked is shown."""
    page.evaluate(
        """(before) => new Promise((done) => {
            const look = () => {
                const busy = document.querySelector("[aria-busy], .working");
                const fresh = lipstick.asker.times.length + lipstick.asker.kept.size > before;
                if (fresh && !busy) requestAnimationFrame(() => done());
                else setTimeout(look, 2);
            };
            look();
        })""",
        before,
    )


def _asked(page: Page) -> int:
    return int(page.evaluate("() => lipstick.asker.times.length + lipstick.asker.kept.size"))


def _rows(page: Page, random: np.random.Generator) -> float:
    """Open a row, or a value of one."""
    cells = page.locator(".row .cell.linked" if random.random() < 0.5 else ".row .cell")
    if not cells.count():
        cells = page.locator(".row .cell")
    cell = cells.nth(int(random.integers(min(cells.count(), 40))))
    page.evaluate("() => lipstick.asker.kept.clear()")
    page.evaluate("() => lipstick.place.go({ row: undefined, col: undefined }, true)")
    before = _asked(page)
    started = time.perf_counter()
    cell.dispatch_event("click")
    _settled(page, before)
    return 1000 * (time.perf_counter() - started)


def _boxes(page: Page, random: np.random.Generator) -> float:
    """Into a box, or back out where there is none to go into."""
    boxes = page.locator(".picture .box[role=button]")
    page.evaluate("() => lipstick.asker.kept.clear()")
    before = _asked(page)
    out = random.random() < 0.25
    started = time.perf_counter()
    if out:
        page.evaluate("() => lipstick.place.go({ focus: {}, node: undefined })")
        if page.locator(".crumbs li").count() == 1:
            return _boxes(page, random)
    else:
        boxes.nth(int(random.integers(boxes.count()))).dispatch_event("click")
    _settled(page, before)
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print(json.dumps(measure(Path(given))), flush=True)
