"""The translator of chapter 21 in a browser: it loads on a click, answers, and can be broken.

The page here holds the component and nothing else; the chapter's own page is visited with all
others by `test_pages.py`.
"""

import json
import shutil
from pathlib import Path

import pytest
from browsing import AXE, Visit
from built import serve
from playwright.sync_api import Page

WEB = Path(__file__).resolve().parents[2] / "book" / "web"
BUDGET = 8_000_000  # bytes that a click loads
JANE = "Jane visite l'Afrique en septembre."
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>Translator</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="favicon.svg"><link rel="stylesheet" href="book.css">
<script src="live/start.js"></script></head><body><main class="bd-article"><h1>Translator</h1>
<h2>In this page</h2><h3>Live</h3><div class="live-translator">…</div></main></body></html>"""

pytestmark = [pytest.mark.site, pytest.mark.usefixtures("live_translator")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small site with the component's own files."""
    folder = tmp_path_factory.mktemp("live")
    for name in ("live", "vendor/live", "vendor/onnxruntime-web"):
        shutil.copytree(WEB / name, folder / name)
    for name in ("book.css", "favicon.svg"):
        shutil.copyfile(WEB / name, folder / name)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def url(folder):
    """That site over http."""
    yield from serve(folder)


def loaded(page: Page, address: str) -> Visit:
    """Open the page, press the button, and wait for the model."""
    visit = Visit(page)
    page.goto(address)
    page.wait_for_selector("[data-state=offered]")
    page.get_by_role("button", name="Load the translator").click()
    page.wait_for_selector("[data-state=ready], [data-state=failed]")
    assert page.get_attribute(".live-translator", "data-state") == "ready", visit.errors
    return visit


def translated(page: Page, text: str | None = None) -> str:
    """Translate and return what the page says."""
    if text is not None:
        page.get_by_label("French sentence").fill(text)
    page.get_by_role("button", name="Translate", exact=True).click()
    page.wait_for_selector("[data-translation]")
    return page.get_attribute(".live-translator", "data-translation") or ""


def test_a_click_loads_at_most_eight_megabytes(folder):
    text = (folder / "vendor" / "live" / "manifest.js").read_text()
    assert json.loads(text.partition("=")[2].strip(" ;\n"))["total"] < BUDGET


def test_it_works_from_a_file_and_asks_no_other_host(page, folder):
    visit = loaded(page, (folder / "index.html").as_uri())
    assert translated(page, JANE) == "Jane visits Africa in September."
    assert (visit.third_party(), visit.errors) == ([], [])


def test_searches_switches_and_unknown_words(page, url):
    visit = loaded(page, url)
    assert translated(page, JANE) == "Jane visits Africa in September."
    page.get_by_label("search").select_option("4")
    assert translated(page) == "Jane visits Africa in September."
    assert page.get_by_role("img", name="Tree of hypotheses").count() == 1
    page.get_by_label("no positions").check()
    page.get_by_label("no scale").check()
    translated(page)
    assert "The model as it was trained says" in page.inner_text(".live-message")
    assert page.locator(".live-looks li").count() == 2
    page.get_by_label("French sentence").fill("Jane visite la maisson the")
    page.get_by_role("button", name="Translate", exact=True).click()
    said = page.inner_text(".live-message")
    assert "does not know the word “maisson”" in said
    assert "English word only" in said
    assert page.get_by_role("button", name="maison", exact=True).count() == 1
    assert (visit.third_party(), visit.errors) == ([], [])


def test_keyboard_axe_and_a_narrow_screen(page, url):
    page.set_viewport_size({"width": 375, "height": 800})
    loaded(page, url)
    page.get_by_label("search").select_option("4")
    translated(page, JANE)
    first = page.locator(".live-token").first
    first.focus()
    page.keyboard.press("Enter")
    assert first.get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.className") == "live-token"
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.add_script_tag(path=str(AXE))
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        found = page.evaluate("axe.run('.live-translator')")
        assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
