"""How the page of `dispatchgen report` does in a browser where it has very many rows.

`python benchmarks/report_in_browser.py` makes up two result files of 100,000 rows, has them compared and reported,
opens the page in Debian's chromium and uses it: a filter, a sort, a scroll from top to bottom, a link to a row. It
writes `benchmarks/results/report_in_browser.json`, and fails where something takes longer than it may.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from dispatchgen import __version__
from many_rows import write_results

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_RESULTS = Path(__file__).resolve().parent / "results" / "report_in_browser.json"
#: Most seconds from what one does until the next frame shows it; `open`: from the start of loading on.
LIMITS = {"open": 10.0, "filter": 0.5, "facet": 0.5, "sort": 1.0, "deep_link": 0.5}
#: Most milliseconds of the slower frames (95 of 100 are faster) while scrolling as with a wheel.
MOST_FRAME = 100.0
#: Pixels of a turn of the wheel.
_WHEEL = 120
_FRAMES = 200
#: Runs a function of the page, and gives seconds until what it did is painted.
_TIMED = """async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  await painted();
  const start = performance.now();
  ACT
  await painted();
  return (performance.now() - start) / 1000;
}"""
#: Scrolls by some pixels per frame, or in all of the frames to the bottom; gives milliseconds of each frame.
_SCROLL = """async ([frames_wanted, pixels]) => {
  const scroller = document.getElementById("scroller");
  scroller.scrollTop = 0;
  const frames = [];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < frames_wanted; frame++) {
    scroller.scrollTop += pixels ?? scroller.scrollHeight / frames_wanted;
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""
_TYPE = (
    """const box = document.getElementById("filter"); box.value = {words!r}; box.dispatchEvent(new Event("input"));"""
)


def main() -> None:
    """Measures and writes the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("-o", "--output", type=Path, default=_RESULTS, help="default: %(default)s")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="report-in-browser-") as folder:
        page = _report(Path(folder), arguments.rows)
        found, browser = _use(page)
        size = page.stat().st_size
    figures = {
        "dispatchgen": __version__,
        "python": platform.python_version(),
        "chromium": browser,
        "processors": os.cpu_count(),
        "load_average": [round(each, 1) for each in os.getloadavg()],
        "rows": arguments.rows,
        "page_bytes": size,
        **found,
    }
    arguments.output.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))
    wrong = list(_wrong(found))
    if wrong:
        sys.exit("\n".join(f"error: {each}" for each in wrong))


def _report(folder: Path, rows: int) -> Path:
    base, new, page = folder / "base.json", folder / "new.json", folder / "report.html"
    write_results(base, rows, "base", slower=0.0)
    write_results(new, rows, "new", slower=0.02)
    command = [sys.executable, "-m", "dispatchgen", "report", str(new), "--base", str(base), "-o", str(page)]
    subprocess.run(command, check=True)
    return page


def _use(path: Path) -> tuple[dict[str, Any], str]:
    """What is measured, and the browser's version."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("#table.windowed tbody a")
        opened = time.perf_counter() - start
        seconds = {"open": round(opened, 3), **_acts(page)}
        scroll = {name: _frames(page, pixels) for name, pixels in (("wheel", _WHEEL), ("to_the_bottom", None))}
        memory = page.evaluate("performance.memory.usedJSHeapSize")
        elements = page.evaluate("document.getElementById('table').rows.length")
        version = browser.version
        browser.close()
    found = {"seconds": seconds, "frame_milliseconds": scroll, "heap_bytes": memory, "table_rows_in_document": elements}
    return found, version


def _frames(page: Page, pixels: int | None) -> dict[str, float]:
    """Milliseconds of the frames while one scrolls; `pixels` per frame, or None: from top to bottom."""
    frames = sorted(page.evaluate(_SCROLL, [_FRAMES, pixels]))
    return {"median": round(statistics.median(frames), 1), "of_95_percent": round(frames[int(0.95 * len(frames))], 1)}


def _acts(page: Page) -> dict[str, float]:
    """Median seconds of what one does."""
    sort = 'document.querySelector("[data-column={}] button").click();'
    facet = 'const s = document.querySelector("[name=model]"); s.value = "{}"; s.dispatchEvent(new Event("change"));'
    link = page.evaluate("document.querySelector('#table tbody a').hash")
    acts = {
        "filter": [_TYPE.format(words=words) for words in ("B777", "slower", "model_4 x128", "matmul_like 99", "")],
        "facet": [facet.format(value) for value in ("model_1", "model_2", "", "model_30", "")],
        "sort": [sort.format(column) for column in ("ratio", "seconds", "benchmark", "model", "total")],
        "deep_link": [f"location.hash = '{link}'", "location.hash = '#q='"] * 2,
    }
    return {
        name: round(statistics.median(page.evaluate(_TIMED.replace("ACT", act)) for act in each), 3)
        for name, each in acts.items()
    }


def _wrong(found: dict[str, Any]) -> Iterator[str]:
    for name, most in LIMITS.items():
        if found["seconds"][name] > most:
            yield f"{name} took {found['seconds'][name]} s, and may take {most:g} s"
    slower = found["frame_milliseconds"]["wheel"]["of_95_percent"]
    if slower > MOST_FRAME:
        yield f"frames took up to {slower} ms, and may take {MOST_FRAME:g} ms"


if __name__ == "__main__":
    main()
