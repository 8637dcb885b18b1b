"""Hands: what a keyboard reaches and shows, what a finger meets; and ids are one thing's own."""

from collections import Counter
from pathlib import Path

import pytest
from browsing import open_page
from bs4 import BeautifulSoup
from built import chapters
from playwright.sync_api import Page
from test_checkers import written

pytestmark = pytest.mark.site

CHAPTER = "book/02-scaled-dot-product-attention.html"
FINGERED = (CHAPTER, "book/mistakes.html", "genindex.html", "book/index.html")

SHOWN = """const shown = (one) => one.getClientRects().length
    && getComputedStyle(one).visibility === "visible";"""
UNSEEN_FOCUS = f"""() => {{ {SHOWN}
    const found = [];
    for (const one of document.querySelectorAll("header, .bd-header-article")) {{
        for (const button of one.querySelectorAll("a, button, label")) {{
            if (!shown(button) || button.tabIndex < 0) continue;
            button.focus();
            const {{ outlineStyle, outlineWidth }} = getComputedStyle(button);
            const seen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
            if (document.activeElement === button && !seen) found.push(button.outerHTML);
        }}
    }}
    return found;
}}"""
SMALL = f"""() => {{ {SHOWN}
    const words = (one) => one.textContent.trim();
    const block = (one) => one.parentElement.closest("p, li, td, th, dt, div");
    const inSentence = (one) => one.matches("a") && words(one) !== words(block(one));
    const found = [];
    for (const one of document.querySelectorAll("main :is(a, button, summary, select)")) {{
        if (!shown(one) || inSentence(one) || one.closest(".headerlink, svg")) continue;
        const {{ width, height }} = one.getBoundingClientRect();
        const size = Math.min(width, height);
        if (size < 23.5) found.push(`${{width}} × ${{height}} ${{one.outerHTML}}`);
    }}
    return found;
}}"""


def repeated(text: str) -> list[str]:
    """The ids that stand more than once in a page."""
    found = Counter(one["id"] for one in BeautifulSoup(text, "html.parser").find_all(id=True))
    return [name for name, count in found.items() if count > 1]


def test_the_focus_is_seen_on_every_button_of_the_header(page: Page, site_url: str) -> None:
    open_page(page, f"{site_url}/{CHAPTER}", read=False)
    page.keyboard.press("Tab")
    assert page.evaluate(UNSEEN_FOCUS) == []


def test_a_focus_that_is_taken_away_is_noticed(page: Page, tmp_path: Path) -> None:
    body = "<header><button style='outline: 0'>menu</button></header>"
    page.goto(written(tmp_path, body).as_uri())
    page.keyboard.press("Tab")
    assert len(page.evaluate(UNSEEN_FOCUS)) == 1


def test_the_text_is_three_keys_away(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}/{CHAPTER}")
    for key in ("Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    assert page.evaluate("Boolean(document.activeElement.closest('article'))")


@pytest.mark.parametrize("name", FINGERED)
def test_a_finger_meets_24_px(phone: Page, site_url: str, name: str) -> None:
    open_page(phone, f"{site_url}/{name}", read=False)
    assert phone.evaluate(SMALL) == []


def test_a_small_target_is_noticed(phone: Page, tmp_path: Path) -> None:
    links = "<ul><li><a href='#' style='font-size: 10px'>one</a></li></ul>"
    phone.goto(written(tmp_path, f"<main>{links}<p>In <a href='#'>two</a>.</p></main>").as_uri())
    assert len(phone.evaluate(SMALL)) == 1


def test_every_id_is_one_things_own(built_site: Path) -> None:
    twice = {name: repeated((built_site / name).read_text("utf-8")) for name in chapters()}
    assert {name: ids for name, ids in twice.items() if ids} == {}
    assert repeated("<p id=a><p id=b><p id=a>") == ["a"]
