"""Chromium for the tests of pages: found or skipped, and everything that it says written down."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = ("file:", "blob:", "data:", "chrome:", "chrome-extension:")
"""Requests that do not leave the machine; the last two are of Chromium's own viewer of PDF files."""


def executable() -> str:
    """Chromium's place; without one the test is skipped, or fails if ``REQUIRE_CHROMIUM`` is set.

    The shell is Chromium without the windows around pages, and opens one in a third of the time.
    """
    found = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not found:
        reason = "pages left out: there is no Chromium (set CHROMIUM to its place)"
        (pytest.fail if os.environ.get("REQUIRE_CHROMIUM") else pytest.skip)(reason)
    return str(found)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One Chromium for all tests of a process, as a start takes longer than most of them."""
    place = executable()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page, and what it wrote to the console, threw and asked for."""

    page: Page
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Demand that nothing went wrong and nothing was asked of another machine."""
        assert self.console == []
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith(LOCAL)] == []


@contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Visit]:
    """Open a page in a context of its own, made with Playwright's ``options``; it must stay clean."""
    context = browser.new_context(**options)
    try:
        opened = Visit(context.new_page())
        opened.page.on("console", lambda message: opened.console.append(message.text))
        opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(url)
        yield opened
        opened.check()
    finally:
        context.close()
