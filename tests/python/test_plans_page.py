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
    def planned(command, small, tmp_path, browser) -> Iterator[tuple[Page, list]]:
        """A page of plans that cost something, open, and the plans."""
        words = ("--set", "run.prices.use=h100-owned-2024", "--top", "8")
        page = tmp_path / "plans.html"
        done = command("plan", small, *words, "--report", page, "--format", "json")
        assert done.returncode == 0, done.stderr
        tab = browser.new_page()
        problems = problems_of(tab)
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-drawn]")
        yield tab, json.loads(done.stdout)["plans"]
        assert problems == []
        tab.close()

    def rows(tab: Page, state: str) -> list[int]:
        """Numbers of the plans whose rows are like that."""
        table = '[data-list="plans"] tbody tr'
        classes = tab.locator(table).evaluate_all("rows => rows.map(row => row.className)")
        return [i + 1 for i, names in enumerate(classes) if state in names.split()]

    def dollars(plans: list) -> list[float]:
        return [plan["cost"]["total_usd"]["p50"] for plan in plans]

    def test_fields_pick_plans_by_keyboard(planned):
        tab, plans = planned
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
        expect(told).to_have_text(f"{len(cheap)} of {len(plans)} plans: {numbers}")
        faint = 'svg.marks path[aria-roledescription="point"][opacity="0.15"]'
        expect(tab.locator(faint)).to_have_count(len(plans) - len(cheap))
        tab.locator(".brush button").focus()
        tab.keyboard.press("Enter")
        assert rows(tab, "in") == rows(tab, "out") == []
        expect(tab.locator(faint)).to_have_count(0)
        expect(told).to_have_text("")

    def test_the_front_alone_can_be_picked(planned):
        tab, plans = planned
        only = tab.locator(".brush input[name=front]")
        only.focus()
        tab.keyboard.press("Space")
        assert rows(tab, "in") == [i + 1 for i, plan in enumerate(plans) if plan["pareto"]]

    def test_a_frame_in_the_chart_picks_plans(planned):
        tab, plans = planned
        chart = tab.locator('[id$="-front"].chart svg')
        chart.scroll_into_view_if_needed()
        points = tab.locator('[id$="-front"].chart path[aria-roledescription="point"]')
        boxes = [points.nth(i).bounding_box() for i in range(points.count())]
        assert len(boxes) == len(plans)
        middle = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        x, y = middle[0]
        tab.mouse.move(x - 7, y - 7)
        tab.mouse.down()
        tab.mouse.move(x + 7, y + 7, steps=4)
        tab.mouse.up()
        near = [i + 1 for i, (a, b) in enumerate(middle) if abs(a - x) <= 7 and abs(b - y) <= 7]
        assert rows(tab, "in") == near
        usd = tab.locator(".brush input[name=dollars-from]").input_value()
        assert float(usd) < dollars(plans)[0]
