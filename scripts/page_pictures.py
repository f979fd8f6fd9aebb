#!/usr/bin/env python3
"""Takes the pictures of pages that the documents show: docs/images/report.png and serve.png.

usage: .venv/bin/python scripts/page_pictures.py [FOLDER]

With another FOLDER also that of every verb with a page, and pages of the documents where
scripts/site has built them, at widths of 400, 1000 and 1600 pixels, light and dark, to be looked at
before pages are changed. Needs the built program and Debian's chromium.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "bin/headway"
SCENARIO = "configs/scenarios/llama-3.1-405b-16k-h100.yaml"
SMALL = "configs/scenarios/small-llama-8b-64-h100.yaml"
IMAGES = ROOT / "docs/images"
SITE = ROOT / "build/site"
# What each verb is asked for its page.
ASKED = {
    "plan": [SMALL, "--objective", "days,dollars", "--nodes", "8,16"],
    "compare": [SMALL, SCENARIO, "--layers"],
    "drill": [SMALL, "--fault", "nic-down@node1"],
    "validate": ["--only", "sc21", "--quick"],
    "sweep": [SMALL, "--sweep", "parallelism.tensor=1,2,4,8", "--sweep", "cluster.nodes=8,16,32"],
}
# Pages of the documents that differ in what stands in them.
DOCUMENTS = (
    "index",
    "quick_start",
    "validation",
    "models/network",
    "reference/keys/run_failures",
    "reference/keys/table",
    "reference/catalogue/gpus",
    "reference/command_line",
    "tutorials/02_choosing_a_plan",
)


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of `headway serve` while the block runs."""
    words = [str(PROGRAM), "serve", SCENARIO, "--port", "0"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            lines = (process.stdout.readline() for _ in range(3))
            found = next(match for line in lines if (match := re.search(r"http://\S+", line)))
            yield found[0]
        finally:
            process.kill()


def take(browser: Browser, address: str, ready: str, size: tuple[int, int], file: Path) -> None:
    """One picture of so many pixels from the top of a page; a height of 0: all of it."""
    dark = file.stem.endswith("dark")
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height or 900},
        color_scheme="dark" if dark else "light",
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(ready)
    page.wait_for_timeout(1500)
    page.screenshot(path=file, full_page=not height)
    wide = page.evaluate("document.documentElement.scrollWidth")
    print(file if wide <= width else f"{file}: {wide} pixels wide")
    context.close()


def take_all(browser: Browser, address: str, ready: str, file: Path) -> None:
    """All of a page at every width, light and dark."""
    for width in (400, 1000, 1600):
        for scheme in ("light", "dark"):
            picture = file.with_name(f"{file.name}-{width}-{scheme}.png")
            take(browser, address, ready, (width, 0), picture)


def report_of(verb: str, words: list[str], place: Path) -> str:
    """The address of the page that a verb writes."""
    own = place / verb
    own.mkdir()
    (own / "configs").symlink_to(ROOT / "configs")  # the page shows its command
    page = own / "report.html"
    command = [str(PROGRAM), verb, *words, "--report", page.name]
    subprocess.run(command, cwd=own, check=True, capture_output=True)
    return page.as_uri()


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    drawn, simulated = "body[data-drawn]", "body[data-simulated]"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright, served() as live:
        place = Path(name)
        report = report_of("run", [SCENARIO], place)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        take(browser, report, drawn, (1000, 2100), folder / "report.png")
        take(browser, live, simulated, (1280, 1100), folder / "serve.png")
        if folder.resolve() != IMAGES:
            take_all(browser, report, drawn, folder / "run")
            take_all(browser, live, simulated, folder / "serve")
            for verb, words in ASKED.items():
                take_all(browser, report_of(verb, words, place), drawn, folder / verb)
            for page in DOCUMENTS if SITE.is_dir() else ():
                address = (SITE / f"{page}.html").as_uri()
                take_all(browser, address, "article", folder / f"site-{Path(page).name}")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
