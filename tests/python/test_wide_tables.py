"""Pages of a sweep and of a comparison on screens of every width.

Where there is no browser, no Playwright or no chart library these tests are not there; the end of
the run says so.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import CAN_BROWSE

if CAN_BROWSE:
    from browsing import Browser, Page, problems_of

    @pytest.fixture()
    def swept(command, small, tmp_path) -> Path:
        """The page of a sweep whose table is wider than small screens; a point of it is refused."""
        page = tmp_path / "sweep.html"
        axes = ("parallelism.tensor=1,2,3", "cluster.nodes=2,4", "training.sequence_length=4096")
        more = ("training.global_batch=32", "parallelism.micro_batch=1")
        words = [word for axis in (*axes, *more) for word in ("--sweep", axis)]
        done = command("sweep", small, *words, "--report", page)
        assert page.exists(), done.stderr
        return page

    @pytest.fixture()
    def compared(command, small, tmp_path) -> Path:
        other = tmp_path / "other.yaml"
        text = small.read_text().replace("name: Small", "name: Other")
        other.write_text(text.replace("tensor: 2", "tensor: 4"))
        page = tmp_path / "compared.html"
        done = command("compare", small, other, "--report", page)
        assert page.exists(), done.stderr
        return page

    def opened(browser: Browser, file: Path, width: int, scheme: str = "light") -> Page:
        viewport = {"width": width, "height": 900}
        page = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()
        problems = problems_of(page)
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-drawn]")
        assert problems == []
        assert page.locator("body").get_attribute("data-problems") == ""
        return page

    @pytest.mark.parametrize("width", [400, 1000])
    def test_a_wide_table_scrolls_in_its_own_box_by_keys(browser, swept, width):
        page = opened(browser, swept, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("h2:has-text('Points') + .table")
        assert box.evaluate("x => x.scrollWidth > x.clientWidth"), "it is a test of a wide table"
        page.wait_for_function("document.querySelector('.table[tabindex]') !== null")
        assert box.get_attribute("tabindex") == "0"
        assert (box.get_attribute("aria-label") or "").startswith("Table, scrolls sideways")
        for _ in range(20):
            page.keyboard.press("Tab")
            if box.evaluate("x => x === document.activeElement"):
                break
        assert box.evaluate("x => x === document.activeElement"), "the tab key comes to it"
        assert box.evaluate("x => getComputedStyle(x).outlineStyle") == "solid"
        cell = box.locator("tbody tr").first.locator("td").first
        before = cell.bounding_box()
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.wait_for_function("document.querySelector('.table[tabindex]').scrollLeft > 0")
        assert cell.bounding_box() == before, "the number of the point stays in sight"

    def test_a_table_that_fits_takes_no_keys(browser, compared):
        page = opened(browser, compared, 1600)
        page.wait_for_timeout(200)
        assert page.locator("h2:has-text('Side by side') + .table").count() == 1
        assert page.locator(".table[tabindex]").count() == 0

    def test_points_say_why_they_do_not_work_beside_no_empty_rows(browser, swept):
        page = opened(browser, swept, 1000)
        reasons = page.locator("details:has(summary:text('Why points do not work')) li")
        assert reasons.count() == 1, "tensor 3 on 2 nodes and on 4 fails alike"
        assert reasons.first.inner_text().startswith("points 4, ")
        heights = page.locator("h2:has-text('Points') + .table tbody tr").evaluate_all(
            "rows => rows.map(row => row.offsetHeight)"
        )
        assert max(heights) < 1.5 * min(heights)

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [400, 1000])
    def test_words_of_a_comparison_are_read_and_fit(browser, compared, width, scheme):
        page = opened(browser, compared, width, scheme)
        chart = page.locator('[id$="-step_parts"].chart')
        words = chart.locator("svg text", has_text="% of A's")
        assert words.count() >= 3, "a line of words a part"
        fill = words.first.evaluate("x => getComputedStyle(x).fill")
        assert fill == ("rgb(0, 0, 0)" if scheme == "light" else "rgb(255, 255, 255)")
        edge = chart.bounding_box()
        for box in (each.bounding_box() for each in words.all()):
            assert edge["x"] <= box["x"]
            assert box["x"] + box["width"] <= edge["x"] + edge["width"] + 1
