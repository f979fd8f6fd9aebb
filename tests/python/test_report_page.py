"""Pages of results in a browser: every chart is drawn, nothing goes wrong.

Where there is no browser or no chart library these tests are not there; the end of the run says so.
"""

from __future__ import annotations

import re
from pathlib import Path

from browsing import CAN_BROWSE
from conftest import LIBRARY

if CAN_BROWSE:
    from browsing import problems_of

    def drawn(browser, page: Path, **options: object) -> tuple[str, str]:
        """The body's element after the page's script, and all of the document."""
        context = browser.new_context(**options)
        tab = context.new_page()
        problems = problems_of(tab)
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-drawn]", timeout=60_000)
        dom = tab.content()
        context.close()
        assert problems == []
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        body = re.search(r"<body[^>]*>", dom)
        assert body, dom[:300]
        return body.group(), dom

    def test_every_chart_is_drawn_without_a_problem(browser, command, small, tmp_path):
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
        narrow = {"viewport": {"width": 400, "height": 900}}
        for options in ({}, narrow, {"color_scheme": "dark"}):
            body, dom = drawn(browser, page, **options)
            assert f'data-drawn="{charts + timelines}"' in body, body
            assert 'data-problems=""' in body, body
            assert len(re.findall(r'<svg[^>]* class="marks"', dom)) == charts
            assert len(re.findall(r'data-spans="[1-9]', dom)) == timelines, "they have spans"

    def test_a_browser_that_cannot_unpack_the_charts_says_so(browser, command, small, tmp_path):
        page = tmp_path / "r.html"
        assert command("run", small, "--report", page).returncode == 0
        tab = browser.new_page()
        tab.add_init_script("delete window.DecompressionStream")
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-drawn]")
        assert tab.locator("p.warning").first.inner_text().startswith("This browser cannot unpack")
        assert tab.locator(".charts details:not([open])").count() == 0
        assert tab.locator(".charts details[open] table").count() > 5
        tab.close()

    def test_a_name_that_is_html_does_nothing(browser, command, small, tmp_path):
        page = tmp_path / "r.html"
        name = "<img src=x onerror=document.body.dataset.evil=1></script><script>"
        assert command("run", small, "--set", f"name={name!r}", "--report", page).returncode == 0
        body, _ = drawn(browser, page)
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
