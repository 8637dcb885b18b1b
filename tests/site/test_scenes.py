"""Chapter 00's figures on a page of their own: mouse, slider, keyboard, phone, both themes."""

from pathlib import Path

import pytest
from browsing import ROOT, axe_violations, open_page, overflowing
from playwright.sync_api import Page

from walkthrough.ch00_one_sentence import journey
from walkthrough.ch00_one_sentence.figures import attention, thinking, words, writing
from walkthrough.lab.half_trained import load_translator
from walkthrough.page.results import FOLDER

pytestmark = pytest.mark.site

PICTURE = """(figure) => [...figure.querySelectorAll('.stage *, .links *, .says *')].map((part) => {
  const style = getComputedStyle(part);
  return [style.display, style.opacity, style.left, style.width].join(' ');
}).join()"""


@pytest.fixture(scope="module")
def figures() -> str:
    model, codec = load_translator(FOLDER / "phrasebook-translator.safetensors")
    jane = journey.travel(model, codec)
    link = attention.links(
        "lead",
        jane.maps.cross[1, 0, 2],
        jane.target,
        jane.source,
        question="Choose",
        caption="Figure 1. One head.",
        first=2,
    )
    scenes = [
        link,
        words.words_to_vectors(jane, [["le"]] * len(jane.source)),
        attention.one_word_asks(jane, journey.ask(model, jane, 1), 2),
        attention.all_heads(jane),
        thinking.each_word_alone(jane),
        words.seen_so_far(jane, layer=0, head=2),
        writing.next_word(jane, list(codec.vocabulary.tokens)),
        writing.the_loop(jane),
    ]
    return "".join(scene._repr_html_() for scene in scenes)


def written(folder: Path, figures: str, theme: str = "light") -> str:
    style = (ROOT / "book" / "web" / "book.css").read_text()
    colours = "background:var(--pst-color-background);color:var(--pst-color-text-base)"
    path = folder / f"{theme}.html"
    path.write_text(
        f'<!doctype html><html lang="en" data-theme="{theme}"><head><title>A page</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>'
        f'<body style="{colours}"><main><h1>Title</h1><article class="bd-article">{figures}'
        "</article></main></body></html>"
    )
    return path.as_uri()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_button_changes_its_picture(
    page: Page, tmp_path: Path, figures: str, theme: str
) -> None:
    visit = open_page(page, written(tmp_path, figures, theme))
    for figure in page.query_selector_all("figure.scene"):
        seen = set()
        for label in figure.query_selector_all("label"):
            label.click()
            seen.add(figure.evaluate(PICTURE))
        assert len(seen) == len(figure.query_selector_all("label")), figure.get_attribute("id")
    assert axe_violations(page) == []
    assert visit.errors == []


def test_the_slider_writes_word_by_word_and_follows_the_buttons(
    page: Page, tmp_path: Path, figures: str
) -> None:
    open_page(page, written(tmp_path, figures))
    slider, new = page.locator("#scene-loop [type=range]"), page.locator("#scene-loop .new:visible")
    slider.focus()
    page.keyboard.press("Home")
    found = [new.inner_text().split()[0]]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        found.append(new.inner_text().split()[0])
    assert found == ["Jane", "visits", "Africa", "in", "September", "(end)"]
    page.click("#scene-loop label >> nth=1")
    assert slider.input_value() == "1"
    assert new.inner_text().startswith("visits")


def test_the_arrow_keys_go_through_the_row(page: Page, tmp_path: Path, figures: str) -> None:
    open_page(page, written(tmp_path, figures))
    page.focus("#scene-asks [value='3']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("#scene-asks [value='5']")
    assert page.locator("#scene-asks .says p:visible").inner_text().startswith("Added up")


def test_the_figures_fit_a_phone(phone: Page, tmp_path: Path, figures: str) -> None:
    open_page(phone, written(tmp_path, figures))
    assert overflowing(phone) == []
    assert axe_violations(phone) == []


def test_without_a_script_buttons_work(browser, tmp_path: Path, figures: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(written(tmp_path, figures))
    still.click("#scene-loop label >> nth=0")
    assert still.locator("#scene-loop .new:visible").inner_text().startswith("Jane")
    context.close()
