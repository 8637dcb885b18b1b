"""The translator of chapter 21 in a browser: it loads on a click, answers, and can be broken.

The page here holds the component and nothing else; the chapter's own page is visited with all
others by `test_pages.py`.
"""

import json
from pathlib import Path

import pytest
from browsing import AXE
from built import serve
from live_page import loaded, offered, write_page
from playwright.sync_api import Page

BUDGET = 8_000_000  # bytes that a click loads
JANE = "Jane visite l'Afrique en septembre."

pytestmark = [pytest.mark.site, pytest.mark.usefixtures("live_translator")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small site with the component's own files."""
    folder = tmp_path_factory.mktemp("live")
    write_page(folder)
    return folder


@pytest.fixture(scope="module")
def url(folder):
    """That site over http."""
    yield from serve(folder)


def translated(page: Page, text: str | None = None) -> str:
    """Translate and return what the page says."""
    if text is not None:
        page.get_by_label("French sentence").fill(text)
    page.get_by_role("button", name="Translate", exact=True).click()
    page.wait_for_selector("[data-translation]")
    return page.get_attribute(".live-translator", "data-translation") or ""


def test_a_click_loads_at_most_eight_megabytes(folder):
    text = (folder / "vendor" / "live" / "manifest.js").read_text()
    assert json.loads(text.partition("=")[2].strip(" ;\n"))["total"] < BUDGET


def test_it_works_from_a_file_and_asks_no_other_host(page, folder):
    visit = loaded(page, (folder / "index.html").as_uri())
    assert translated(page, JANE) == "Jane visits Africa in September."
    assert (visit.third_party(), visit.errors) == ([], [])


def test_searches_switches_and_unknown_words(page, url):
    visit = loaded(page, url)
    assert translated(page, JANE) == "Jane visits Africa in September."
    page.get_by_label("search").select_option("4")
    assert translated(page) == "Jane visits Africa in September."
    assert page.get_by_role("img", name="Tree of hypotheses").count() == 1
    page.get_by_label("no positions").check()
    page.get_by_label("no scale").check()
    translated(page)
    assert "The model as it was trained says" in page.inner_text(".live-message")
    assert page.locator(".live-looks li").count() == 2
    page.get_by_label("French sentence").fill("Jane visite la maisson the")
    page.get_by_role("button", name="Translate", exact=True).click()
    said = page.inner_text(".live-message")
    assert "does not know the word “maisson”" in said
    assert "English word only" in said
    assert page.get_by_role("button", name="maison", exact=True).count() == 1
    assert (visit.third_party(), visit.errors) == ([], [])


def test_a_part_that_does_not_come_is_named_and_asked_for_again(page, url):
    offered(page, url)
    page.route("**/weights.f16.0.js", lambda route: route.abort())
    page.get_by_role("button", name="Load the translator").click()
    page.wait_for_selector("[data-state=failed]")
    assert "weights.f16.0.js could not be fetched" in page.get_by_role("status").inner_text()
    page.unroute("**/weights.f16.0.js")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector("[data-state=ready]")
    assert translated(page, JANE) == "Jane visits Africa in September."


def test_what_cannot_be_read_is_answered_and_the_old_result_goes(page, url):
    loaded(page, url)
    translated(page, JANE)
    assert page.locator(".live-output").is_visible()
    for text, answer in (
        (" … ", "Type a French sentence first"),
        ("la " * 61, "at most 60 words"),
        ("x" * 100_000, "“xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…”"),
        ("xa xb xc xd xe xf", "2 more words are unknown"),
    ):
        page.get_by_label("French sentence").fill(text)
        page.get_by_role("button", name="Translate", exact=True).click()
        assert answer in page.inner_text(".live-message")
        assert page.get_by_label("French sentence").get_attribute("aria-invalid") == "true"
        assert not page.locator(".live-output").is_visible()
    page.get_by_label("French sentence").fill("Jane visite l'Afriqe")
    page.get_by_role("button", name="Translate", exact=True).click()
    page.get_by_role("button", name="Afrique", exact=True).click()
    page.wait_for_selector("[data-translation]")
    assert page.input_value("#live-source") == "Jane visite l'Afrique"
    assert page.get_attribute("#live-source", "aria-invalid") == "false"


WATCH = """() => {
    window.said = [];
    window.drawn = [];
    const watch = (selector, note) => new MutationObserver(note).observe(
        document.querySelector(selector), { childList: true, subtree: true, characterData: true });
    watch(".live-message", () => said.push(document.querySelector(".live-message").innerText));
    watch(".live-tokens", () => drawn.push(document.querySelectorAll(".live-token").length));
}"""
RESTLESS = """() => {
    const press = () => document.querySelector(".live-go").click();
    press();
    press();
    setTimeout(() => document.querySelector("input[name=positions]").click(), 30);
}"""


def test_tokens_come_one_after_another_and_one_sentence_is_said(page, url):
    loaded(page, url)
    page.evaluate(WATCH)
    translated(page, JANE)
    assert page.evaluate("drawn") == [6], "whoever wants no motion sees the end"
    assert page.evaluate("said") == ["Translation: Jane visits Africa in September."]

    page.emulate_media(reduced_motion="no-preference")
    page.evaluate("() => { drawn.length = said.length = 0; }")
    translated(page, "Paul achète un chapeau cher mais ne le porte pas.")
    seen = page.evaluate("drawn")  # how many tokens stood there after each change
    assert len(seen) > 1
    assert seen[0] < seen[-1] == 11
    assert len(page.evaluate("said")) == 1

    page.evaluate("() => { said.length = 0; }")
    page.evaluate(RESTLESS)  # the last change is the one that counts
    page.wait_for_function("() => said.length")
    page.wait_for_timeout(200)
    (said,) = page.evaluate("said")
    assert "The model as it was trained says" in said


def test_keyboard_axe_and_a_narrow_screen(page, url):
    page.set_viewport_size({"width": 375, "height": 800})
    loaded(page, url)
    page.get_by_label("search").select_option("4")
    translated(page, JANE)
    first = page.locator(".live-token").first
    first.focus()
    page.keyboard.press("Enter")
    assert first.get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.className") == "live-token"
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.add_script_tag(path=str(AXE))
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        found = page.evaluate("axe.run('.live-translator')")
        seen = [(v["id"], v["nodes"][0]["html"], v["nodes"][0]["any"]) for v in found["violations"]]
        assert seen == [], theme
