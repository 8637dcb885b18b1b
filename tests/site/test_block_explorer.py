"""Figure 1 to click on, as a page of its own: mouse, keyboard, phone, both themes, no script."""

from pathlib import Path

import pytest
import torch
from browsing import ROOT, axe_violations, open_page, overflowing
from playwright.sync_api import Page

from transformer import Transformer, TransformerConfig
from walkthrough.ch09_encoder_and_decoder.experiments.blocks import (
    block_parameters,
    record_shapes,
    symbols,
)
from walkthrough.ch09_encoder_and_decoder.figures.blocks import block_explorer
from walkthrough.page.architecture import BLOCKS

pytestmark = pytest.mark.site

SHOWN = "(all) => all.filter((e) => e.offsetParent).map((e) => e.dataset.panel)"
OVER_ITS_BLOCK = """() => [...document.querySelectorAll('.blocks-pick')].filter((label) => {
  const name = label.querySelector('input').value;
  const box = document.querySelector(`g[data-block='${name}'] rect`).getBoundingClientRect();
  const mine = label.getBoundingClientRect();
  return Math.abs(box.x - mine.x) > 2 || Math.abs(box.bottom - mine.bottom) > 2;
}).length"""


@pytest.fixture(scope="module")
def explorer() -> str:
    config = TransformerConfig(
        vocab_size=90, d_model=24, n_heads=3, n_layers=4, d_ff=40, max_len=50
    )
    model, source, target = Transformer(config), torch.full((2, 7), 5), torch.full((2, 6), 5)
    shapes = record_shapes(model, source, target)
    return block_explorer(
        shapes, block_parameters(model), symbols(config, source, target)
    )._repr_html_()


def written(folder: Path, explorer: str, theme: str = "light") -> str:
    style = (ROOT / "book" / "web" / "book.css").read_text()
    colours = "background:var(--pst-color-background);color:var(--pst-color-text-base)"
    path = folder / f"{theme}.html"
    path.write_text(
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><title>A page</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
        f'<body style="{colours}"><main><h1>Title</h1><article class="bd-article">{explorer}'
        "</article></main></body></html>"
    )
    return path.as_uri()


def shown(page: Page) -> set[str]:
    return set(page.eval_on_selector_all(".blocks-panel", SHOWN))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_click_shows_one_block_and_nothing_else(
    page: Page, tmp_path: Path, explorer: str, theme: str
) -> None:
    visit = open_page(page, written(tmp_path, explorer, theme))
    assert shown(page) == {"cross-attention"}
    for block in BLOCKS:
        page.click(f'.blocks-pick:has([value="{block}"])')
        assert shown(page) == {block}
        assert page.evaluate(OVER_ITS_BLOCK) == 0
    assert axe_violations(page) == []
    assert visit.errors == []


def test_the_keyboard_reaches_every_block(page: Page, tmp_path: Path, explorer: str) -> None:
    open_page(page, written(tmp_path, explorer))
    page.keyboard.press("Tab")
    reached = set()
    for _ in BLOCKS:
        page.keyboard.press("ArrowDown")
        reached |= shown(page)
    assert reached == set(BLOCKS)


def test_it_fits_a_phone(phone: Page, tmp_path: Path, explorer: str) -> None:
    open_page(phone, written(tmp_path, explorer))
    phone.click('.blocks-pick:has([value="encoder-attention"])')
    assert shown(phone) == {"encoder-attention"}
    assert overflowing(phone) == []
    assert phone.evaluate(OVER_ITS_BLOCK) == 0
    assert axe_violations(phone) == []


def test_it_works_without_any_script(browser, tmp_path: Path, explorer: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(written(tmp_path, explorer))
    still.click('.blocks-pick:has([value="projection"])')
    assert still.locator('.blocks-facts [data-panel="projection"]').is_visible()
    assert not still.locator('.blocks-facts [data-panel="cross-attention"]').is_visible()
    context.close()
