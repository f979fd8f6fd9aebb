"""Pages on paper, and for those who hear them or have no mouse.

Where there is no browser, no Playwright or no chart library these tests are not there; the end of
the run says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from browsing import CAN_BROWSE
from served import serving

if CAN_BROWSE:
    from browsing import Browser, Page, Tab, expect, started_browser

    # Of a colour as the browser writes it; "transparent" has four numbers.
    LIGHTNESS = """(element, property) => {
      const [r, g, b] = getComputedStyle(element)[property].match(/[\\d.]+/g).map(Number);
      return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
    }"""
    FOCUSED = """() => {
      const at = document.activeElement;
      const all = [...document.querySelectorAll('*')];
      return at === document.body ? -1 : all.indexOf(at);
    }"""
    # What takes the keyboard and is seen, in the order of the text.
    FOCUSABLE = """() => {
      const all = [...document.querySelectorAll('*')];
      const taken = all.filter(x => x.matches(
        'a[href], button, input, select, textarea, summary, [tabindex]')
        && !x.disabled && x.tabIndex >= 0 && x.checkVisibility({checkVisibilityCSS: true}));
      return taken.map(x => all.indexOf(x));
    }"""

    @pytest.fixture(scope="module")
    def browser() -> Iterator[Browser]:
        with started_browser() as started:
            yield started

    @pytest.fixture()
    def page_file(command, small, tmp_path):
        file = tmp_path / "r.html"
        words = ("--set", "parallelism.pipeline=4", "--set", "run.until.steps=100000000")
        done = command("run", small, *words, "--explain", "--report", file)
        assert done.returncode == 0, done.stderr
        return file

    @pytest.fixture()
    def opened(browser, page_file):
        def open_page(**options: Any) -> Page:
            page = browser.new_context(**options).new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("body[data-drawn]")
            return page

        return open_page

    def heard(page: Page) -> list[dict[str, Any]]:
        """What the browser tells a screen reader: role and name of all that is not left out."""
        session = page.context.new_cdp_session(page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                "role": node["role"]["value"],
                "name": node.get("name", {}).get("value", ""),
                **{each["name"]: each["value"].get("value") for each in node["properties"]},
            }
            for node in nodes
            if not node["ignored"] and "role" in node
        ]

    def test_charts_lie_close_below_one_another(opened):
        page = opened(viewport={"width": 1600, "height": 900})
        page.wait_for_timeout(500)
        lowest: dict[float, float] = {}  # end of what each column has so far
        for figure in page.locator(".charts figure").all():
            title, table = figure.locator("figcaption"), figure.locator("> details")
            begin, end = title.bounding_box(), table.bounding_box()
            assert begin and end
            above = lowest.get(begin["x"], begin["y"])
            assert 0 <= begin["y"] - above <= 40, title.inner_text()
            lowest[begin["x"]] = end["y"] + end["height"]
        assert len(lowest) > 1

    def test_every_chart_is_heard_by_its_name_and_has_a_table(opened):
        page = opened()
        charts = page.locator(".chart").count()
        timelines = page.locator(".timeline").count()
        assert charts >= 9 and timelines >= 2
        images = [node["name"] for node in heard(page) if node["role"] in ("image", "img")]
        assert len(images) == charts + timelines, "what is drawn is one thing each"
        assert all(len(name) > 10 for name in images), images
        assert len(set(images)) == len(images), "and can be told from the others"
        for figure in page.locator("figure:has(.chart)").all():
            title = figure.locator("figcaption").inner_text()
            assert any(name.startswith(title) for name in images), title
            rows = figure.locator("details table tbody tr").count()
            specification = json.loads(str(figure.locator("script.specification").text_content()))
            assert rows > 0, title
            values = specification["data"].get("values")
            assert values is None or rows == len(values), title

    def test_nothing_that_takes_the_keyboard_is_without_a_name(opened):
        controls = ("button", "textbox", "spinbutton", "checkbox", "combobox", "link", "searchbox")
        named = [node for node in heard(opened()) if node["role"] in controls]
        assert len(named) > 5
        assert [node for node in named if not node["name"].strip()] == []

    def test_headings_name_every_part_and_leave_no_level_out(opened):
        page = opened()
        levels = [node["level"] for node in heard(page) if node["role"] == "heading"]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(later - before <= 1 for before, later in zip(levels, levels[1:], strict=False))
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.title().startswith("Small")

    def walked(page: Page) -> tuple[list[int], list[int]]:
        """Where the tab key goes from the top of a page, and where it should: all, in order."""
        expected = page.evaluate(FOCUSABLE)
        seen = []
        for _ in expected:
            page.keyboard.press("Tab")
            seen.append(page.evaluate(FOCUSED))
        return seen, expected

    def test_the_tab_key_goes_through_all_of_a_report_in_its_order(opened):
        page = opened()
        seen, expected = walked(page)
        assert len(expected) > 10
        assert seen == expected
        assert page.locator("[tabindex]:not([tabindex='0'])").count() == 0

    def test_what_the_keyboard_points_at_in_a_timeline_is_told(opened):
        page = opened()
        canvas = page.locator(".timeline canvas").first
        canvas.focus()
        outline = canvas.evaluate("x => getComputedStyle(x).outlineStyle")
        assert outline == "solid", "it is seen where the keyboard is"
        told = page.locator(".timeline .told").first
        assert told.get_attribute("aria-live") == "polite"
        before = told.inner_text()
        page.keyboard.press("+")
        expect(told).not_to_have_text(before)
        assert " s" in told.inner_text() or " ms" in told.inner_text()

    def test_a_timeline_looked_at_closely_tells_its_times_apart(opened):
        page = opened()
        page.locator(".timeline canvas").first.focus()
        told = page.locator(".timeline .told").first
        for _ in range(14):
            page.keyboard.press("+")
        before = told.inner_text()
        page.keyboard.press("ArrowRight")  # by a fifth of what is shown
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        expect(told).not_to_have_text(before)

    def test_spans_of_a_timeline_are_told_by_keys(opened):
        page = opened()
        page.locator(".timeline canvas").first.focus()
        told = page.locator(".timeline .told").first
        heard_spans = []
        for key in (".", ".", "ArrowDown", ","):
            page.keyboard.press(key)
            heard_spans.append(told.inner_text())
        first, second, below, before = heard_spans
        assert first.startswith("stage 0, ") and " from 0 s" in first
        assert second.startswith("stage 0, ")
        assert first != second
        assert below.split(",")[0] in ("stage 0", "stage 1")  # a single stage stays
        assert before != second

    def test_paper_shows_what_is_folded(opened):
        page = opened()
        folded = page.locator("details:not([open])")
        before = folded.count()
        assert before > 3
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert folded.count() == page.locator(".charts details").count()
        page.emulate_media(media="print")
        assert page.locator(".charts details").first.is_hidden()
        assert page.locator(".keys").first.is_hidden()
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert folded.count() == before

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_paper_is_white_with_dark_ink(opened, scheme):
        page = opened(color_scheme=scheme, viewport={"width": 794, "height": 1123})  # A4
        page.emulate_media(media="print", color_scheme=scheme)
        body = page.locator("body")
        assert body.evaluate(LIGHTNESS, "backgroundColor") > 0.99
        assert body.evaluate(LIGHTNESS, "color") < 0.2
        turned = page.locator("svg.marks").first.evaluate("x => getComputedStyle(x).filter")
        assert turned == ("none" if scheme == "light" else "invert(1) hue-rotate(180deg)")
        assert page.locator(".timeline button").first.is_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") <= 794
        for place in page.locator("figure, .timeline canvas, .tiles").all():
            box = place.bounding_box()
            assert box and box["x"] + box["width"] <= 794 + 1

    def test_a_page_of_paper_has_whole_charts(opened, tmp_path):
        page = opened()
        rules = page.locator("figure").evaluate_all(
            "all => all.map(x => getComputedStyle(x).breakInside)"
        )
        assert set(rules) == {"auto"}
        page.emulate_media(media="print")
        rules = page.locator("figure").evaluate_all(
            "all => all.map(x => getComputedStyle(x).breakInside)"
        )
        assert set(rules) == {"avoid"}
        printed = page.pdf(format="A4", print_background=False)
        assert printed.startswith(b"%PDF")
        sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", printed))
        assert 2 <= sheets <= 26  # with all that is folded on a screen

    @pytest.fixture()
    def tab(browser, program, small) -> Iterator[Tab]:
        with serving(program, small) as server:
            opened = Tab(browser, server.address)
            opened.page.wait_for_selector("body[data-simulated]")
            yield opened
            opened.context.close()

    def test_the_live_page_tells_what_happens_to_it(tab):
        """A change is said where nobody looks: in a live region."""
        status = tab.page.locator("#status")
        assert status.get_attribute("role") == "status"
        assert tab.page.locator("#errors").get_attribute("role") == "alert"
        tab.page.evaluate(
            """() => {
              const status = document.getElementById('status');
              window.said = [];
              new MutationObserver(() => window.said.push(status.textContent)).observe(
                status, {childList: true, characterData: true, subtree: true});
            }"""
        )
        tab.change("parallelism.tensor", "4")
        tab.simulated()
        tab.page.wait_for_function("window.said.length > 0")
        said = [text for text in tab.page.evaluate("window.said") if text]
        assert said, "that something is being simulated"

    def test_everything_of_the_live_page_has_a_name(tab):
        nodes = heard(tab.page)
        controls = ("button", "textbox", "spinbutton", "checkbox", "combobox", "searchbox", "tab")
        named = [node for node in nodes if node["role"] in controls]
        assert len(named) > 20
        assert [node for node in named if not node["name"].strip()] == []
        charts = tab.page.locator("#result .chart").count()
        timelines = tab.page.locator("#result .timeline").count()
        images = [node["name"] for node in nodes if node["role"] in ("image", "img")]
        assert len(images) == charts + timelines > 5
        assert all(images)
        assert tab.page.locator("[role=tab]").first.get_attribute("aria-selected") == "true"

    def test_the_tab_key_goes_through_the_live_page_in_its_order(tab):
        tab.page.locator("body").click(position={"x": 1, "y": 1})
        seen, expected = walked(tab.page)
        assert len(expected) > 30
        assert seen == expected
