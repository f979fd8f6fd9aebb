#!/usr/bin/env python3
"""Takes the pictures of pages that the documents show: docs/images/report.png and serve.png.

usage: .venv/bin/python scripts/page_pictures.py [FOLDER]

With another FOLDER also at widths of 400, 1000 and 1600 pixels, light and dark, to be looked at
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
IMAGES = ROOT / "docs/images"


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
    print(file)
    context.close()


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright, served() as live:
        report = Path(place) / "report.html"
        (Path(place) / "configs").symlink_to(ROOT / "configs")  # the page shows its command
        words = [str(PROGRAM), "run", SCENARIO, "--report", report.name]
        subprocess.run(words, cwd=place, check=True, capture_output=True)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        drawn = ((report.as_uri(), "body[data-drawn]"), (live, "body[data-simulated]"))
        for name, (address, ready) in zip(("report", "serve"), drawn, strict=True):
            size = (1000, 2100) if name == "report" else (1280, 1100)
            take(browser, address, ready, size, folder / f"{name}.png")
            for width in (400, 1000, 1600) if folder.resolve() != IMAGES else ():
                for scheme in ("light", "dark"):
                    take(
                        browser, address, ready, (width, 0), folder / f"{name}-{width}-{scheme}.png"
                    )
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
