"""The search page: what learners ask and the place that must come first, and how it is to use."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsing import Visit, axe_violations, open_page, overflowing, set_theme
from playwright.sync_api import Page

pytestmark = pytest.mark.site

INDEX = "_static/search-sections.js"
MOST_BYTES = 320_000  # gzipped: the words of the whole book
CHAPTER_02 = "02-scaled-dot-product-attention.html"
# What a reader types, and the end of the address that must come first: a place, or any of a page.
ANSWERS = {
    "attention": "glossary.html#term-attention",
    "masks": "glossary.html#term-mask",
    "어텐션": "glossary.html#term-attention",
    "byte pair encoding": "glossary.html#term-byte-pair-encoding",
    "softmax wrong axis": f"{CHAPTER_02}#softmax-over-the-wrong-axis",
    "past the training length": "07-positional-encoding.html#past-the-training-length",
    "post-norm and pre-norm": "08-residuals-and-layer-norm.html#post-norm-and-pre-norm",
    "label smoothing perplexity": "13-regularisation.html#two-disturbances-says-the-paper",
    "greedy search": "15-decoding.html#greedy-search-takes-one-word-at-a-time",
    "3.2.1": CHAPTER_02,
    "the averge of different runs": "15-decoding.html#the-average-of-different-runs",
    # words that the book writes in another way, and questions that a glossary does not answer
    "why divide by sqrt dk": f"{CHAPTER_02}#why-divide",
    "query key value": "glossary.html#term-query",
    "flash attention": "10-why-self-attention.html",
    "multihead": "glossary.html#term-multi-head-attention",
    "warmup": "glossary.html#term-warm-up",
    "layer norm": "08-residuals-and-layer-norm.html",
    "why not RNN": "01-why-attention.html",
    "colab": "index.html#run-it",
    "dropout where": "13-regularisation.html#where-dropout-stands",
    "Adam beta2": "12-optimiser-and-schedule.html",
    "다중 헤드": "glossary.html#term-multi-head-attention",
    "exercise solution": "index.html#study-it",
}


def index_of(site: Path) -> dict[str, Any]:
    """What the index holds."""
    script = (site / INDEX).read_text(encoding="utf-8")
    return json.loads(script.partition(" = ")[2].partition(";\nwindow")[0])


def ask(page: Page, query: str) -> None:
    """Type a query as a reader would, and wait until its results stand there."""
    page.fill(".book-search input", query)
    page.press(".book-search input", "Enter")


def wrong_answers(page: Page) -> list[str]:
    """The questions whose first result is another place."""
    wrong = []
    for query, end in ANSWERS.items():
        ask(page, query)
        links = page.locator(".search-results li a")
        first = str(links.first.get_attribute("href")) if links.count() else "nothing"
        reached = first if "#" in end else first.partition("#")[0]
        if not reached.endswith("/book/" + end):
            wrong.append(f"{query}: {first}")
    return wrong


def test_what_must_come_first_does(page: Page, built_site: Path) -> None:
    visit = Visit(page)
    page.goto((built_site / "search.html").as_uri())
    assert wrong_answers(page) == []
    assert visit.errors == []
    assert visit.third_party() == []


def shuffled(entries: list[list[object]]) -> list[list[object]]:
    """Every text under the heading of its neighbour."""
    moved = entries[1:] + entries[:1]
    return [[*here[:2], *there[2:]] for here, there in zip(entries, moved, strict=True)]


def test_a_wrong_index_is_seen(page: Page, site_url: str, built_site: Path) -> None:
    index = index_of(built_site)
    index["entries"] = shuffled(index["entries"])
    stemmer = (built_site / INDEX).read_text(encoding="utf-8").partition(";\nwindow")[2]
    wrong = f"window.bookSearch = {json.dumps(index)};\nwindow{stemmer}"
    kind = "text/javascript; charset=utf-8"
    page.route(f"**/{INDEX}", lambda route: route.fulfill(body=wrong, content_type=kind))
    page.goto(f"{site_url}/search.html")
    assert len(wrong_answers(page)) >= 4


def test_every_result_leads_to_a_place_that_is_there(built_site: Path) -> None:
    index = index_of(built_site)
    texts = [(built_site / f"{page}.html").read_text("utf-8") for page, _ in index["pages"]]
    lost = [
        f"{index['pages'][number][0]}#{anchor}"
        for number, anchor, *_ in index["entries"]
        if anchor and f'id="{anchor}"' not in texts[number]
    ]
    assert lost == []
    assert len(index["entries"]) > 700


def test_results_show_their_sentence_the_rest_on_demand_and_nothing_where_there_is_none(
    page: Page, site_url: str
) -> None:
    page.goto(f"{site_url}/search.html?q=perplexity+smoothing")
    first = page.locator(".search-results li").first
    marks = " ".join(first.locator("mark").all_inner_texts()).lower()
    assert "perplexity" in marks
    assert "smooth" in marks
    assert "Contents" not in first.inner_text()

    ask(page, "zyzzyva")
    assert page.locator(".search-status").inner_text() == "Nothing found for “zyzzyva”."
    assert page.locator(".search-results li").count() == 0

    ask(page, "attention")
    before = page.locator(".search-results li a").count()
    page.locator(".search-results button").click()
    assert page.locator(".search-results li a").count() > before
    assert page.evaluate("document.activeElement.tagName") == "A"


def test_search_by_keyboard(page: Page, site_url: str) -> None:
    """From the button of a chapter to the place itself, without a mouse."""
    page.goto(f"{site_url}/book/03-masks.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("beam search")
    page.keyboard.press("Enter")
    page.wait_for_selector(".search-results li")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/book/glossary.html#term-beam-search")


def found_in_the_dialog(page: Page, query: str) -> str:
    """Open the dialog, type, and return where the first result leads."""
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.wait_for_selector(f".search-status:has-text('“{query}”')")
    return str(page.locator(".book-found li a").first.get_attribute("href"))


ROOM_BESIDE_THE_MAGNIFIER = """() => {
    const input = document.querySelector("#pst-search-dialog input");
    const padding = parseFloat(getComputedStyle(input).paddingLeft);
    const words = input.getBoundingClientRect().left + padding;
    const icon = document.querySelector("#pst-search-dialog .bd-search > :is(i, svg)");
    return words - icon.getBoundingClientRect().right;
}"""


def test_the_dialog_of_a_file_shows_what_it_finds(page: Page, built_site: Path) -> None:
    """The index is loaded when a reader opens the dialog, and not before."""
    visit = Visit(page)
    page.goto((built_site / "book" / "03-masks.html").as_uri())
    assert not any(INDEX in request for request in visit.requests)
    query = "greedy search"
    assert found_in_the_dialog(page, query).endswith(ANSWERS[query])
    assert page.evaluate(ROOM_BESIDE_THE_MAGNIFIER) >= 2
    assert page.locator(".book-found li").count() == 6
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{ANSWERS[query]}")

    found_in_the_dialog(page, query)  # a place on the same page closes the dialog
    page.locator(".book-found li a").first.click()
    page.wait_for_url(f"**/{ANSWERS[query]}")
    assert page.locator("#pst-search-dialog[open]").count() == 0
    assert visit.errors == []
    assert visit.third_party() == []


def fits_in_both_themes(phone: Page) -> None:
    set_theme(phone, "light")
    assert overflowing(phone) == []
    assert axe_violations(phone) == []
    set_theme(phone, "dark")
    assert axe_violations(phone, contrast=True) == []


def test_the_dialog_fits_a_phone_in_light_and_dark(phone: Page, site_url: str) -> None:
    visit = open_page(phone, f"{site_url}/book/03-masks.html")
    phone.locator("button.search-button").first.click()
    phone.keyboard.type("test_logits_and_embeddings")
    phone.wait_for_selector(".book-found li")
    fits_in_both_themes(phone)
    assert visit.errors == []


def test_results_fit_a_phone_in_light_and_dark(phone: Page, site_url: str) -> None:
    visit = open_page(phone, f"{site_url}/search.html?q=test_logits_and_embeddings")
    assert phone.locator(".search-results li").count()
    fits_in_both_themes(phone)
    assert visit.errors == []


def test_the_index_is_light_and_loaded_by_the_search_page_alone(
    page: Page, site_url: str, built_site: Path
) -> None:
    visit = open_page(page, f"{site_url}/search.html")
    index = [response for response in visit.responses if INDEX in response.url]
    assert len(index) == 1
    assert Visit.weight(Visit(page, responses=index)) < MOST_BYTES
    pages = [path for path in built_site.rglob("*.html") if "_static" not in path.parts]
    loads = {path.name for path in pages if "search-sections" in path.read_text(encoding="utf-8")}
    assert loads == {"search.html"}
    assert not (built_site / "searchindex.js").exists()
