"""The switch for code and what is folded: click, keyboard, memory, and no storage at all."""

from pathlib import Path

import pytest
from browsing import layout_shift, open_page, overflowing
from playwright.sync_api import Page
from test_checkers import written

pytestmark = pytest.mark.site

WEB = Path(__file__).resolve().parents[2] / "book" / "web"
CHAPTER = "book/02-scaled-dot-product-attention.html"
INPUT = '<div class="cell_input"><pre>{}</pre></div>'
FOLD = '<details class="hide above-input"><summary>code</summary>{}</details>'
BODY = f"""
<div class="article-header-buttons"></div><article class="bd-article">
<div class="cell" id="open">{INPUT.format("teaches = 1")}</div>
<div class="cell" id="folded">{FOLD.format(INPUT.format("import os"))}</div>
<div class="solution"><div class="cell" id="solution">{INPUT.format("answer = 42")}</div></div>
<div class="cell"><div class="source" id="source">def shown(): …</div></div>
</article>"""
PARTS = {
    "open": "#open .cell_input",
    "folded": "#folded .cell_input",
    "mark": "#folded summary",
    "solution": "#solution .cell_input",
    "source": "#source",
}
SOME = {"open", "mark", "solution", "source"}
ALL = {*SOME, "folded"}
NONE = {"solution"}


def with_switch(folder: Path, before: str = "", body: str = BODY) -> str:
    """A page with an open cell, a folded one, a solution and a source; its address."""
    script = f"<script>{before}{(WEB / 'code.js').read_text(encoding='utf-8')}</script>"
    style = f"<style>{(WEB / 'book.css').read_text(encoding='utf-8')}</style>"
    return written(folder, body, head=script + style + '<link rel="icon" href="data:,">').as_uri()


def seen(page: Page) -> set[str]:
    return {name for name, part in PARTS.items() if page.locator(part).is_visible()}


def test_the_switch_goes_round_by_keyboard(page: Page, tmp_path: Path) -> None:
    visit = open_page(page, with_switch(tmp_path))
    switch = page.get_by_role("button", name="Code")
    switch.focus()
    for pressed, parts in (("mixed", SOME), ("true", ALL), ("false", NONE), ("mixed", SOME)):
        assert switch.get_attribute("aria-pressed") == pressed
        assert seen(page) == parts
        page.keyboard.press("Enter")
    assert visit.errors == []


def test_a_fold_opens_alone_and_the_choice_is_remembered(
    page: Page, tmp_path: Path, served: str
) -> None:
    with_switch(tmp_path)
    open_page(page, f"{served}/page.html")
    page.locator("summary").click()
    assert seen(page) == ALL
    page.reload()
    assert seen(page) == SOME, "a single fold is not remembered"
    switch = page.get_by_role("button", name="Code")
    for parts in (ALL, NONE):
        switch.click()
        page.reload()
        assert seen(page) == parts


@pytest.mark.parametrize(
    "before",
    [
        "Object.defineProperty(window, 'localStorage', {get() {throw new Error('no')}});",
        "localStorage.setItem('code', 'not ours');",
    ],
)
def test_without_storage_the_switch_works(page: Page, tmp_path: Path, before: str) -> None:
    visit = open_page(page, with_switch(tmp_path, before))
    assert seen(page) == SOME
    page.get_by_role("button", name="Code").click()
    assert seen(page) == ALL
    assert visit.errors == []


def test_print_leaves_out_the_marks_and_what_is_folded(page: Page, tmp_path: Path) -> None:
    open_page(page, with_switch(tmp_path))
    page.emulate_media(media="print")
    assert seen(page) == SOME - {"mark"}
    page.emulate_media(media="screen")
    page.locator("summary").click()
    page.emulate_media(media="print")
    assert seen(page) == ALL


def test_a_page_without_code_has_no_switch(page: Page, tmp_path: Path) -> None:
    visit = open_page(page, with_switch(tmp_path, body=BODY.split("<article")[0]))
    assert page.get_by_role("button").count() == 0
    assert visit.errors == []


def test_a_chapter_begins_without_its_imports(page: Page, built_site: Path) -> None:
    """As it is built, in a file: imports folded, the map without an input, in every state."""
    states = ("some", "all", "none")
    page.add_init_script("if (location.hash) localStorage.setItem('code', location.hash.slice(1))")
    for code in states:
        page.goto("about:blank")
        address = (built_site / CHAPTER).as_uri()
        visit = open_page(page, f"{address}#{code}", read=False)
        imports = page.locator("div.cell.tag_hide-input").first
        assert imports.locator(".cell_input").is_visible() == (code == "all")
        assert imports.locator("summary").is_visible() == (code != "none")
        chapter_map = page.locator("div.cell:has(svg.architecture)")
        assert chapter_map.count() == 1
        assert chapter_map.locator(".cell_input").count() == 0
        by_hand = page.locator("#one-word-three-roles .cell_input").first
        assert by_hand.is_visible() == (code != "none")
        assert layout_shift(page) < 0.1
        assert overflowing(page) == []
        assert visit.errors == []
    page.get_by_role("button", name="Code", exact=True).click()
    assert page.locator("#one-word-three-roles .cell_input").first.is_visible()
