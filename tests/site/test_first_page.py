"""The first page in one screen: what it is, the ways in, something to touch, and the map."""

import pytest
from browsing import chart_pictures, eventually, open_page
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
        "h1 ~ ul a": 3,
        ".chart svg.marks": 1,
        ".vega-bindings select": 2,
        "svg.architecture": 1,
    }
    for part, count in parts.items():
        found = page.locator(part)
        assert found.count() == count, part
        assert below(found, 800) == [], part
    assert below(page.locator("article table").first, 800) != [], "the tables come after"
    assert page.locator("article div.cell_input").count() == 0
    assert visit.errors == []


def test_another_head_shows_another_map(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/{FIRST}", read=False)
    before = chart_pictures(page)
    page.locator("select[name=head]").select_option("2")
    assert eventually(page, lambda: chart_pictures(page) != before)
