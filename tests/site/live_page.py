"""The translator of chapter 21, loaded in a page."""

from browsing import Visit
from playwright.sync_api import Page


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
    return visit
