"""The chart of plans and the table of plans of a page: what is picked in one stands out in both.

Where there is no browser, no Playwright or no chart library these tests are not there; the end of
the run says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from browsing import CAN_BROWSE

if CAN_BROWSE:
    from browsing import Page, expect, problems_of

    @pytest.fixture()
    def planned(command, small, tmp_path, browser) -> Iterator[tuple[Page, dict]]:
        """A page of plans that cost something, open, and its result."""
        words = ("--set", "run.prices.use=h100-owned-2024", "--top", "8")
        page = tmp_path / "plans.html"
        done = command("plan", small, *words, "--report", page, "--format", "json")
        assert done.returncode == 0, done.stderr
        tab = browser.new_page()
        problems = problems_of(tab)
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-drawn]")
        yield tab, json.loads(done.stdout)
        assert problems == []
        tab.close()

    def rows(tab: Page, state: str) -> list[int]:
        """Numbers of the plans whose rows are like that."""
        table = '[data-list="plans"] tbody tr'
        classes = tab.locator(table).evaluate_all("rows => rows.map(row => row.className)")
        return [i + 1 for i, names in enumerate(classes) if state in names.split()]

    def place_in_front(layout: dict) -> int:
        """Behind the front, not in the table, on the front: what is drawn later covers the rest."""
        return 2 if layout["pareto"] else 0 if layout["plan"] else 1

    def dollars(plans: list) -> list[float]:
        return [plan["cost"]["total_usd"]["p50"] for plan in plans]

    def test_fields_pick_plans_by_keyboard(planned):
        tab, result = planned
        plans, layouts = result["plans"], result["simulated_plans"]
        assert rows(tab, "in") == rows(tab, "out") == []
        most = sorted(dollars(plans))[2]
        cheap = [i + 1 for i, usd in enumerate(dollars(plans)) if usd <= most]
        field = tab.locator(".brush input[name=dollars-to]")
        field.focus()
        tab.keyboard.type(repr(most))
        assert rows(tab, "in") == cheap
        assert rows(tab, "out") == [i + 1 for i in range(len(plans)) if i + 1 not in cheap]
        told = tab.locator(".brush [role=status]")
        numbers = ", ".join(map(str, cheap))
        chosen = sum(layout["usd"] <= most for layout in layouts)
        expect(told).to_have_text(f"{chosen} of {len(layouts)} layouts; in the table: {numbers}")
        faint = 'svg.marks path[aria-roledescription="point"][opacity="0.15"]'
        expect(tab.locator(faint)).to_have_count(len(layouts) - chosen)
        tab.locator(".brush button").focus()
        tab.keyboard.press("Enter")
        assert rows(tab, "in") == rows(tab, "out") == []
        expect(tab.locator(faint)).to_have_count(0)
        expect(told).to_have_text("")

    def test_the_front_alone_can_be_picked(planned):
        tab, result = planned
        only = tab.locator(".brush input[name=front]")
        only.focus()
        tab.keyboard.press("Space")
        assert rows(tab, "in") == [
            i + 1 for i, plan in enumerate(result["plans"]) if plan["pareto"]
        ]

    def test_a_frame_in_the_chart_picks_plans(planned):
        tab, result = planned
        # In the order in which they are drawn: the front last.
        layouts = sorted(result["simulated_plans"], key=place_in_front)
        chart = tab.locator('[id$="-front"].chart svg')
        chart.scroll_into_view_if_needed()
        points = tab.locator('[id$="-front"].chart path[aria-roledescription="point"]')
        boxes = [points.nth(i).bounding_box() for i in range(points.count())]
        assert len(boxes) == len(layouts)
        middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        x, y = next(at for at, layout in zip(middle, layouts, strict=True) if layout["plan"] == 1)
        tab.mouse.move(x - 7, y - 7)
        tab.mouse.down()
        tab.mouse.move(x + 7, y + 7, steps=4)
        tab.mouse.up()
        framed = [abs(a - x) <= 7 and abs(b - y) <= 7 for a, b in middle]
        near = sorted(
            layout["plan"]
            for layout, inside in zip(layouts, framed, strict=True)
            if inside and layout["plan"]
        )
        assert rows(tab, "in") == near
        usd = tab.locator(".brush input[name=dollars-from]").input_value()
        assert float(usd) < dollars(result["plans"])[0]

    def test_a_phone_shows_layouts_beside_days_and_dollars(planned):
        tab, _ = planned
        tab.set_viewport_size({"width": 400, "height": 900})
        headings = tab.locator('[data-list="plans"] th')
        for heading in ("layout", "step [s]", "days, median", "USD, median"):
            box = headings.filter(has_text=heading).bounding_box()
            assert box, heading
            assert box["x"] + box["width"] <= 400, heading

    def test_a_wide_screen_shows_every_column_of_the_plans(planned):
        tab, _ = planned
        tab.set_viewport_size({"width": 1600, "height": 900})
        table = tab.locator('[data-list="plans"] .table')
        assert table.evaluate("box => box.scrollWidth <= box.clientWidth")
