"""One browser and one server for all pages; without a browser, one clear line."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from built import SITE, serve, site_pages
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from tools.book.pdf import BROWSERS

PATIENCE_MS = 60_000  # two busy cores draw a long page slowly
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 375, "height": 800}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `page_name` once for each page."""
    if "page_name" in metafunc.fixturenames:
        pages = site_pages() or ["(no built site: run `make book`)"]
        metafunc.parametrize("page_name", pages)


@pytest.fixture(scope="session")
def built_site() -> Path:
    """The site that `make book` made."""
    if not (SITE / "index.html").exists():
        pytest.fail(f"no built site at {SITE}: run `make book` first", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def site_url(built_site: Path) -> Iterator[str]:
    """The site over http."""
    yield from serve(built_site)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The test's own folder over http."""
    yield from serve(tmp_path)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; a user without one skips these tests, CI fails."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        line = f"no browser found (looked for {', '.join(BROWSERS)}): the site was not checked"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(line, pytrace=False)
        pytest.skip(line)
    arguments = [
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


def opened(browser: Browser, size: ViewportSize) -> Iterator[Page]:
    """A page with nothing remembered."""
    context = browser.new_context(viewport=size, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page, 1280 px wide."""
    yield from opened(browser, WIDE)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A fresh page, 375 px wide."""
    yield from opened(browser, NARROW)
