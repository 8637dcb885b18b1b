"""Chapter 21 as built: the first page offers it, the button says its size, a file will do."""

from pathlib import Path

import pytest
from browsing import Visit
from playwright.sync_api import Page

pytestmark = [pytest.mark.site, pytest.mark.usefixtures("live_translator")]

CHAPTER = "book/21-translate-in-your-browser.html"
SOURCE, TRANSLATION = "Paul rend le voyage plus difficile.", "Paul makes the trip more difficult."


def load(page: Page) -> int:
    """Press the button; return the bytes that it names."""
    page.wait_for_selector("[data-state=offered]")
    button = page.get_by_role("button", name="Load the translator")
    said = float(button.inner_text().partition("(")[2].partition(" MB")[0])
    button.click()
    page.wait_for_selector("[data-state=ready], [data-state=failed]")
    return round(said * 1e6)


def translated(page: Page) -> str | None:
    """Translate what stands there."""
    page.get_by_role("button", name="Translate", exact=True).click()
    page.wait_for_selector("[data-translation]")
    return page.get_attribute(".live-translator", "data-translation")


def test_the_first_pages_sentence_arrives_and_the_button_states_what_a_click_loads(
    page: Page, site_url: str
) -> None:
    visit = Visit(page)
    page.goto(f"{site_url}/book/index.html")
    page.get_by_role("link", name=SOURCE).click()
    page.wait_for_selector("[data-state=offered]")
    arrived: list[str] = []
    page.on("requestfinished", lambda request: arrived.append(request.url))
    said = load(page)
    loaded = {url for url in arrived if url.startswith(f"{site_url}/_static/")}
    n_bytes = sum(int(page.request.head(url).headers["content-length"]) for url in loaded)
    assert n_bytes == pytest.approx(said, rel=0.02)
    assert page.input_value("#live-source") == SOURCE
    assert translated(page) == TRANSLATION
    assert (visit.third_party(), visit.errors) == ([], [])


def test_the_chapter_opened_as_a_file_translates(page: Page, built_site: Path) -> None:
    visit = Visit(page)
    page.goto((built_site / CHAPTER).as_uri())
    load(page)
    assert translated(page) == "The neighbours think that this mouse is white."
    assert (visit.third_party(), visit.errors) == ([], [])


def test_the_page_says_which_file_the_translator_lacks(page: Page, site_url: str) -> None:
    page.route("**/vendor/live/manifest.js", lambda route: route.abort())
    page.goto(f"{site_url}/{CHAPTER}")
    assert "manifest.js" in page.inner_text(".live-translator")
    page.get_by_role("radio", name="1 · 2").check()  # recorded when the page was built
    assert page.locator("#scene-recorded .cells").count() == 3
