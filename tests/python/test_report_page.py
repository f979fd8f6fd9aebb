"""Pages of results in a browser: every chart is drawn, nothing goes wrong.

Where there is no browser or no chart library these tests are not there; the end of the run says so.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from conftest import BROWSER, LIBRARY


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


if BROWSER and LIBRARY.is_file():

    def test_every_chart_is_drawn_without_a_problem(command, small, tmp_path):
        page = tmp_path / "r.html"
        changes = (
            "cluster.nodes=8",
            "cluster.fabric={use: fat-tree-2-tier, routing: ecmp, ports_per_leaf: 16}",
            "run.until.steps=100000000",  # years, so that something fails
        )
        words = [word for change in changes for word in ("--set", change)]
        done = command("run", small, *words, "--report", page)
        assert done.returncode == 0, done.stderr
        charts = page.read_text().count('class="specification"')
        timelines = page.read_text().count('class="timeline"')
        assert charts >= 9
        assert timelines == 4, "of stages, of other replicas, of streams and of a trial"
        for options in ([], ["--window-size=400,900"], ["--blink-settings=preferredColorScheme=0"]):
            body, dom = drawn(page, tmp_path / "profile", *options)
            assert f'data-drawn="{charts + timelines}"' in body, body
            assert 'data-problems=""' in body, body
            assert len(re.findall(r'<svg[^>]* class="marks"', dom)) == charts
            assert len(re.findall(r'data-spans="[1-9]', dom)) == timelines, "they have spans"

    def test_a_name_that_is_html_does_nothing(command, small, tmp_path):
        page = tmp_path / "r.html"
        name = "<img src=x onerror=document.body.dataset.evil=1></script><script>"
        assert command("run", small, "--set", f"name={name!r}", "--report", page).returncode == 0
        body, _ = drawn(page, tmp_path / "profile")
        assert "evil" not in body
        assert 'data-problems=""' in body


if LIBRARY.is_file():

    def test_the_licences_of_the_charts_are_in_the_page(command, small, tmp_path):
        page = tmp_path / "r.html"
        assert command("run", small, "--report", page).returncode == 0
        licences = LIBRARY.with_name("charts.LICENSE").read_text()
        for holder in ("Interactive Data Lab", "Mike Bostock", "Mapbox", "Cynthia Brewer"):
            assert holder in licences
        assert licences in page.read_text()
