"""The first page in one screen: what it is, a figure to touch, and the way into chapter 00."""

import pytest
from browsing import eventually, open_page
from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.site

FIRST = "book/index.html"


def below(part: Locator, height: int) -> list[str]:
    """What of these elements is not seen in a window of this height."""
    boxes = [one.bounding_box() for one in part.all()]
    return [f"{box}" for box in boxes if box is None or box["y"] + box["height"] > height]


def test_all_that_sells_the_book_fits_one_screen(page: Page, site_url: str) -> None:
    visit = open_page(page, f"{site_url}/{FIRST}", read=False)
    parts = {
        "article h1": 1,
        "figure.scene svg": 1,
        "figure.scene label": 6,
        "strong > a[href='00-one-sentence.html']": 1,
    }
    for part, count in parts.items():
        found = page.locator(part)
        assert found.count() == count, part
        assert below(found, 800) == [], part
    assert below(page.locator("article table").first, 800) != [], "the tables come after"
    assert page.locator("article div.cell_input").count() == 0
    assert visit.errors == []


def test_another_word_shows_other_curves(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/{FIRST}", read=False)
    shown = """() => [...document.querySelectorAll(".scene svg g")]
      .map((curves) => getComputedStyle(curves).opacity)"""
    before = page.evaluate(shown)
    page.locator("figure.scene label").first.click()
    assert eventually(page, lambda: page.evaluate(shown) != before)
