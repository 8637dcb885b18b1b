"""The translator of chapter 21 alone on a page, and loaded there."""

import shutil
from pathlib import Path

from browsing import ROOT, Visit
from playwright.sync_api import Page

WEB = ROOT / "book" / "web"
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>Translator</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="favicon.svg"><link rel="stylesheet" href="book.css">
<style>body { background: var(--pst-color-background) } /* as the theme has it */</style>
<script src="live/start.js"></script></head><body><main class="bd-article"><h1>Translator</h1>
<h2>In this page</h2><h3>Live</h3><div class="live-translator">…</div></main></body></html>"""


def write_page(folder: Path) -> Path:
    """Make a page in `folder` that holds the translator and nothing else; return its path."""
    for name in ("live", "vendor/live", "vendor/onnxruntime-web"):
        shutil.copytree(WEB / name, folder / name)
    for name in ("book.css", "favicon.svg"):
        shutil.copyfile(WEB / name, folder / name)
    page = folder / "index.html"
    page.write_text(PAGE, encoding="utf-8")
    return page


def offered(page: Page, address: str) -> Visit:
    """Open the page; the translator waits for a click."""
    visit = Visit(page)
    page.goto(address)
    page.wait_for_selector("[data-state=offered]")
    return visit


def loaded(page: Page, address: str) -> Visit:
    """Open the page, press the button, and wait for the model."""
    visit = offered(page, address)
    page.get_by_role("button", name="Load the translator").click()
    page.wait_for_selector("[data-state=ready], [data-state=failed]")
    assert page.get_attribute(".live-translator", "data-state") == "ready", visit.errors
    page.wait_for_selector("[data-translation]")  # a reader arrives at something to see
    return visit
