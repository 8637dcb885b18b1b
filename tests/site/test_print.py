"""A page on paper: nothing cut, nothing to click, what folds open; `test_pages.py` asks of each."""

import io
from itertools import pairwise
from pathlib import Path

import pytest
from browsing import PROBES, open_page
from playwright.sync_api import Page
from pypdf import PdfReader

from conftest import NARROW

pytestmark = pytest.mark.site

# A4 less its margins (book.css), in CSS pixels.
PAPER = {"width": 680, "height": 994}
MOST_PAGES = 75
BUTTONS = ("Search this book", "Skip to main content", "Show code cell", "Copy to clipboard")


def cut_off(page: Page) -> list[str]:
    """What paper would cut of a page that is open."""
    page.evaluate(PROBES.read_text())
    return page.evaluate("(tallest) => probes.cutOff(tallest)", PAPER["height"])


def long_lines(page: Page) -> list[str]:
    return page.evaluate("() => probes.longLines()")


def printed(page: Page) -> PdfReader:
    """The page as its reader would print it."""
    return PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))


def squeezed(text: str) -> str:
    """Without white space, which a line break on paper changes."""
    return "".join(text.split())


def words_of(pdf: PdfReader) -> str:
    return "\n".join(sheet.extract_text() for sheet in pdf.pages)


def is_on(sheets: list[str], line: str) -> bool:
    """Whether a line stands on one sheet, or ends one and goes on in the next, below its head."""
    line = squeezed(line)
    return any(line in sheet for sheet in sheets) or any(
        one.endswith(line[:place]) and line[place:] in other
        for one, other in pairwise(sheets)
        for place in range(1, len(line))
    )


def faults_on_paper(page: Page) -> list[str]:
    """What is wrong with an open page when it is printed; its window is as wide as paper then."""
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    found, lines = cut_off(page), long_lines(page)
    pdf = printed(page)
    if len(pdf.pages) > MOST_PAGES:
        found.append(f"{len(pdf.pages)} pages")
    sheets = [squeezed(sheet.extract_text()) for sheet in pdf.pages]
    found += [button for button in BUTTONS if squeezed(button) in "".join(sheets)]
    return found + [f"lost: {line}" for line in lines if not is_on(sheets, line)]


def test_a_line_over_two_sheets_is_whole_and_a_cut_one_is_not() -> None:
    assert is_on(["headabc"], "a bc")
    assert is_on(["headab", "headcd"], "abcd")
    assert not is_on(["headab|", "headcd"], "abcd")
    assert not is_on(["headab", "headd"], "abcd")


def test_paper_is_light_with_solutions_open_and_predictions_shut(
    page: Page, built_site: Path
) -> None:
    address = (built_site / "book" / "03-masks.html").as_uri()
    page.emulate_media(color_scheme="dark")
    open_page(page, address, read=False)
    shut = "details.sd-dropdown:not([open])"
    assert page.locator(shut).count() == 0  # it is as on paper
    assert page.locator(".prediction").count()
    assert page.locator(".prediction details[open]").count() == 0, "answers stay out of sight"
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    before = page.locator(shut).count()
    assert before
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    hint = page.locator("details.sd-dropdown p").first.text_content()
    solution = page.locator(".solution pre").first.text_content()

    words = squeezed(words_of(printed(page)))
    assert squeezed(str(hint))[:40] in words
    assert squeezed(str(solution))[:40] in words

    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "light"
    assert page.locator(shut).count() == 0
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    assert page.locator(shut).count() == before


def test_the_sheet_is_two_pages_formulas_and_stubs(page: Page, built_site: Path) -> None:
    open_page(page, (built_site / "book" / "sheet.html").as_uri(), read=False)
    first, second = (squeezed(sheet.extract_text()) for sheet in printed(page).pages)
    assert "beamof4" in first, "the last formula"
    assert "Thetenstubs" in second
    assert "leavepaddingout" in second, "the last row"


@pytest.mark.parametrize(
    ("style", "body", "fault"),
    [
        ("pre { overflow: auto }", f"<pre>{'word ' * 80}</pre>", "scrolls"),
        ("", '<table style="width: 900px"><tr><td>wide</td></tr></table>', "cut at the right"),
        ("", '<img alt="" style="height: 1200px; width: 9px">', "taller than a page"),
    ],
)
def test_what_paper_would_cut_is_seen(page: Page, style: str, body: str, fault: str) -> None:
    page.set_viewport_size(PAPER)
    page.set_content(f"<style>{style}</style><article>{body}</article>")
    assert any(fault in line for line in cut_off(page))
    page.set_content("<article><p>word</p><pre>short</pre></article>")
    assert cut_off(page) == []


def test_what_is_not_shown_is_neither_asked_for_nor_found_on_paper(page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.set_content(
        "<style>@page { size: A4 }</style>"
        f"<article><pre>{'x' * 40}</pre><pre style='display: none'>gone</pre></article>"
    )
    page.evaluate(PROBES.read_text())
    assert long_lines(page) == ["x" * 40]
    assert "gone" not in words_of(printed(page))
