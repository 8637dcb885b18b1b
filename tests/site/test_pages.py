"""Every page of the built site, opened twice: wide over http, and as a file on a phone.

A page takes seconds to open and to read to its end, so each visit asks all its questions at once.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from browsing import (
    Visit,
    axe_violations,
    chart_pictures,
    cut_formulas,
    dead_inputs,
    elements,
    faint_chart_text,
    input_values,
    layout_shift,
    light_grounds,
    nameless_images,
    open_page,
    overflowing,
    set_theme,
    undrawn_charts,
)
from built import SCREENSHOTS, SITE, TESTED
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from test_pace import NEW_FORM, too_slow
from test_print import faults_on_paper

pytestmark = pytest.mark.site

MOST_BYTES = 600_000  # with every chart drawn
MOST_BYTES_AT_FIRST = 300_000  # before a chart is near
MOST_ELEMENTS = 5_000  # charts apart
MOST_SHIFT = 0.1

# What needs more, and why.
MORE_BYTES_AT_FIRST = {
    "search.html": 440_000,  # the words of the whole book are 200 kB
    "book/laboratory.html": 340_000,  # the cards of all experiments, each for two widths
}


def keep_screenshot(page: Page, page_name: str, kind: str) -> None:
    """Keep a picture of the whole page for a person to look at, where SCREENSHOTS=1 asks for it.

    They take as long as all questions together. Now and then Chromium never answers a request for
    one, which is no fault of the page.
    """
    if not os.environ.get("SCREENSHOTS"):
        return
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    name = page_name.removesuffix(".html").replace("/", "-")
    picture = SCREENSHOTS / f"{name}-{kind}.png"
    picture.unlink(missing_ok=True)  # better none than that of an older build
    with suppress(PlaywrightTimeout):
        page.screenshot(path=picture, full_page=True, timeout=20_000)


def light_at_first(page_name: str) -> Callable[[Page, Visit], None]:
    """What a reader on a phone waits for, before any chart is drawn."""

    def look(page: Page, visit: Visit) -> None:
        most = MORE_BYTES_AT_FIRST.get(page_name, MOST_BYTES_AT_FIRST)
        assert visit.weight(without="/vendor/vega") <= most
        assert elements(page) <= MOST_ELEMENTS
        assert not [url for url in visit.requests if "mathjax" in url.lower() or "webfonts" in url]

    return look


def test_page_over_http_is_quiet_light_accessible_alive_and_prints_whole(
    page: Page, site_url: str, page_name: str
) -> None:
    visit = open_page(page, f"{site_url}/{page_name}", first=light_at_first(page_name))
    assert visit.third_party() == []
    assert visit.errors == []
    assert undrawn_charts(page) == []
    assert layout_shift(page) < MOST_SHIFT
    assert visit.weight() <= MOST_BYTES
    assert nameless_images(page) == []
    if Path(page_name).stem in NEW_FORM:
        assert too_slow(page) == []

    set_theme(page, "light")
    assert axe_violations(page) == []
    assert faint_chart_text(page) == []
    keep_screenshot(page, page_name, "1280-light")

    before = input_values(page)
    set_theme(page, "dark")
    assert axe_violations(page, contrast=True) == []
    assert faint_chart_text(page) == []
    assert light_grounds(page) == []
    assert input_values(page) == before
    keep_screenshot(page, page_name, "1280-dark")

    assert dead_inputs(page) == []
    moved = input_values(page)
    pictures = chart_pictures(page)
    set_theme(page, "light")
    assert input_values(page) == moved
    assert chart_pictures(page) == pictures, "the theme changed what a chart shows"

    if page_name.startswith("book/"):
        assert faults_on_paper(page) == []
    assert visit.errors == []


def wrong_marks(page: Page, page_name: str) -> list[str]:
    """Marks of tested claims that lead to no row of the ledger, and claims without their mark."""
    marks = page.locator(".claim-marks a")
    found = marks.evaluate_all("(links) => links.map((a) => [a.href, a.textContent])")
    ledger = SITE / "book" / "ledger.html"
    rows = set(re.findall(r'id="(claim-[^"]+)"', ledger.read_text("utf-8")))
    wrong = [
        href
        for href, text in found
        if unquote(urlparse(href).path) != str(ledger)
        or urlparse(href).fragment not in rows
        or not re.fullmatch(r"claim of §[\d.]+, tested: .+", text)
    ]
    here = {claim["id"] for claim in TESTED if f"book/{claim['test'][0]}.html" == page_name}
    seen = [urlparse(href).fragment.removeprefix("claim-") for href, _ in found]
    return [*wrong, *sorted(here ^ set(seen)), *(one for one in here if seen.count(one) > 1)]


def test_a_missing_mark_and_one_that_leads_astray_are_seen(page: Page) -> None:
    claim = TESTED[0]
    page.set_content('<p class="claim-marks"><a href="lost.html#claim-0-lost">no claim</a></p>')
    wrong = wrong_marks(page, f"book/{claim['test'][0]}.html")
    assert claim["id"] in wrong
    assert any("lost" in line for line in wrong)


def test_page_opened_as_a_file_is_quiet_and_fits_a_phone(
    phone: Page, built_site: Path, page_name: str
) -> None:
    visit = open_page(phone, (built_site / page_name).as_uri())
    assert visit.third_party() == []
    assert undrawn_charts(phone) == []
    assert overflowing(phone) == []
    assert cut_formulas(phone) == []
    assert layout_shift(phone) < MOST_SHIFT
    assert wrong_marks(phone, page_name) == []
    set_theme(phone, "light")
    assert axe_violations(phone, contrast=False) == []
    keep_screenshot(phone, page_name, "375-light")
    set_theme(phone, "dark")
    assert overflowing(phone) == []
    assert visit.errors == []
