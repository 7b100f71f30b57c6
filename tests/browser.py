"""A browser for tests: the system's Chromium, without any network."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def chromium():
    """The path of a Chromium or Chrome, or a skip that says what is missing."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        sentence = "no Chromium or Chrome is installed, so the report's page is not tested in a browser"
        if os.environ.get("FDMIX_SKIP_NOTHING"):
            pytest.fail(sentence)
        pytest.skip(sentence)
    return found


@contextmanager
def launched():
    """A running browser."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Page:
    """A report that is open in the browser, with a record of what went wrong.

    requests : addresses outside of the file that the page asked for; each was refused
    errors : errors on the console and uncaught ones
    """

    def __init__(self, browser, path, *, fragment="", width=1280, height=900, scheme="light"):
        self.requests, self.errors = [], []
        self.path = Path(path)
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.context.route("**/*", self._route)
        # Some errors reach the window but not the console, such as a picture that changes its size while it is drawn.
        self.context.add_init_script("addEventListener('error', (event) => console.error(event.message))")
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self._note(message.type, message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(self.path.resolve().as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready]", timeout=20_000)

    def _route(self, route):
        if route.request.url.startswith("file:") and Path(route.request.url.split("#")[0]).name == self.path.name:
            route.continue_()
        else:
            self.requests.append(route.request.url)
            route.abort()

    def _note(self, kind, text):
        if kind in ("error", "warning"):
            self.errors.append(text)

    def go(self, fragment):
        """Follow a link inside of the page."""
        self.page.evaluate("fragment => { location.hash = fragment; }", fragment)
        self.page.wait_for_timeout(150)
        return self

    def text(self, selector="main"):
        """What can be read."""
        return self.page.inner_text(selector)

    def heading(self):
        """The title of the view."""
        return self.page.inner_text("main h1")

    def shows(self, title):
        """Whether the view has this title, at once or soon."""
        from playwright.sync_api import expect

        expect(self.page.locator("main h1")).to_have_text(title)
        return True

    def close(self):
        """Close it; nothing may have gone wrong."""
        self.context.close()
        assert self.requests == []
        assert self.errors == []


@contextmanager
def opened(browser, path, **settings):
    """`with opened(browser, path) as page`: the page, which must not ask for the network or report errors."""
    page = Page(browser, path, **settings)
    try:
        yield page
    finally:
        page.close()
