"""Pages in a browser, for tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from conftest import BROWSER, LIBRARY
from served import Served

try:
    from playwright.sync_api import Browser, Page, expect, sync_playwright

    CAN_BROWSE = bool(BROWSER) and LIBRARY.is_file()
except ImportError:
    CAN_BROWSE = False

if CAN_BROWSE:
    __all__ = ["CAN_BROWSE", "Browser", "Page", "Tab", "expect", "problems_of", "started_browser"]

    @contextlib.contextmanager
    def started_browser() -> Iterator[Browser]:
        """Chromium without a window."""
        with sync_playwright() as playwright:
            started = playwright.chromium.launch(
                executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"]
            )
            yield started
            started.close()

    def problems_of(page: Page) -> list[str]:
        """What goes wrong in a page from now on."""
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        return problems

    class Tab:
        """A page that is open, and what went wrong in it."""

        def __init__(self, browser: Browser, address: str, **options: object) -> None:
            self.context = browser.new_context(accept_downloads=True, **options)  # type: ignore[arg-type]
            self.page: Page = self.context.new_page()
            self.problems = problems_of(self.page)
            self.asked: list[str] = []
            self.before: str | None = None  # the simulation shown when the last answer was asked
            self.page.on("request", lambda request: self.asked.append(request.url))
            self.page.goto(address)
            self.page.wait_for_selector("body[data-ready]")

        def end(self, server: Served) -> None:
            """Closes it: nothing went wrong, and nobody else was asked."""
            assert self.problems == []
            assert self.data("problems") == ""
            there = (f"http://127.0.0.1:{server.port}/", "data:", "blob:")
            assert [url for url in self.asked if not url.startswith(there)] == []
            self.context.close()

        def data(self, name: str) -> str:
            return str(self.page.evaluate(f"document.body.dataset.{name} ?? ''"))

        def field(self, path: str):
            return self.page.locator(f'#fields [data-path="{path}"] :is(input, select)').first

        def figure(self, row: str, column: int) -> str:
            """Text of the table: column 1 at once, 2 simulated, 3 pinned, 4 change."""
            rows = self.page.locator("#figures tbody tr", has_text=row).first
            return rows.locator("td").nth(column - 1).inner_text()

        def simulated(self) -> None:
            """Waits for the simulation behind the last answer, which may be there already."""
            before = self.data("simulated") if self.before is None else self.before
            self.page.wait_for_function(
                "n => (document.body.dataset.simulated ?? '') !== n", arg=before
            )
            self.before = None

        @contextlib.contextmanager
        def answered(self) -> Iterator[None]:
            """What is done inside brings new figures, which are waited for. The time that they took
            is wiped before, not compared: two answers may take the same."""
            self.before = self.data("simulated")
            self.page.evaluate("delete document.body.dataset.ms")
            yield
            self.page.wait_for_function("document.body.dataset.ms !== undefined")

        def change(self, path: str, value: str) -> None:
            """Types or picks, and waits for the figures."""
            field = self.field(path)
            with self.answered():
                if field.evaluate("x => x.tagName") == "SELECT":
                    field.select_option(value)
                else:
                    field.fill(value)
