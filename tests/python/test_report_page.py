"""Pages of results in a browser: every chart is drawn, nothing goes wrong.

Where there is no browser or no chart library these tests are not there; the last one says which.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
BROWSER = shutil.which("chromium")
LIBRARY = (ROOT / "build/release/share/headway/charts.js").is_file()


def drawn(page: Path, profile: Path, *options: str) -> tuple[str, str]:
    """The body's element after the page's script, and what the browser said."""
    assert BROWSER
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={profile}",
            "--virtual-time-budget=10000",
            *options,
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    body = re.search(r"<body[^>]*>", done.stdout)
    assert body, done.stdout[:300]
    return body.group(), done.stdout


if BROWSER and LIBRARY:

    def test_every_chart_is_drawn_without_a_problem(command, small, tmp_path):
        page = tmp_path / "r.html"
        assert command("run", small, "--report", page).returncode == 0
        charts = page.read_text().count('class="specification"')
        assert charts >= 6
        for options in ([], ["--window-size=400,900"], ["--blink-settings=preferredColorScheme=0"]):
            body, dom = drawn(page, tmp_path / "profile", *options)
            assert f'data-drawn="{charts + 1}"' in body, body
            assert 'data-problems=""' in body, body
            assert len(re.findall(r'<svg[^>]* class="marks"', dom)) == charts
            assert re.search(r'data-spans="[1-9]', dom), "the timeline has spans"

    def test_a_name_that_is_html_does_nothing(command, small, tmp_path):
        page = tmp_path / "r.html"
        name = "<img src=x onerror=document.body.dataset.evil=1></script><script>"
        assert command("run", small, "--set", f"name={name!r}", "--report", page).returncode == 0
        body, _ = drawn(page, tmp_path / "profile")
        assert "evil" not in body
        assert 'data-problems=""' in body


def test_what_is_missing_to_look_at_pages():
    """Says in the log which of the two this machine lacks; the pages' text is tested without."""
    for found, what in ((BROWSER, "a browser (chromium)"), (LIBRARY, "the chart library")):
        print(f"{'found' if found else 'not found'}: {what}")
