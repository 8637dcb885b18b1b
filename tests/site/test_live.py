"""The translator of chapter 21 in a browser: it loads on a click, answers, and can be broken.

The page here holds the component and nothing else; the chapter's own page is visited with all
others by `test_pages.py`.
"""

import json
import re
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
    for choice in ("4", "sampled"):
        page.get_by_label("search").select_option(choice)
        page.wait_for_selector("[data-translation]")
        assert page.get_by_label("temperature").is_visible() == (choice == "sampled")
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
        ("Paul dort. Jane dort.", "One sentence at a time"),
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


def table(page: Page) -> dict[str, list[str]]:
    """The row that is taken apart: its lines by name."""
    rows = page.locator(".live-steps tbody tr").all()
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}


def test_a_row_is_taken_apart_and_a_switch_leads_to_where_it_is_seen(page, url):
    visit = loaded(page, url)
    assert list(table(page)) == ["q·k", "÷ √32", "no mask here", "softmax"]
    page.get_by_label("no target mask").check()
    page.wait_for_selector("[data-translation]")
    assert page.get_by_label("map of").input_value() == "decoder"
    assert page.get_by_role("img", name="as it was trained").count() == 1
    found = table(page)
    assert found["no mask"] == found["÷ √32"]
    assert found["as trained"][0] == "1.00", "the first row looks at itself alone"
    assert found["softmax"] != found["as trained"]
    page.get_by_label("no target mask").uncheck()
    page.wait_for_selector("[data-translation]")
    assert table(page)["mask"][-1] == "−∞"
    page.get_by_label("no scale").check()
    page.wait_for_selector("[data-translation]")
    assert page.get_by_label("map of").input_value() == "encoder"
    assert table(page)["not divided"] == table(page)["q·k"]
    page.locator("[name=map-row]").select_option("3")
    assert "The row of “que”" in page.inner_text(".live-steps caption")
    page.get_by_label("map head").select_option("mean")
    assert "Choose one head" in page.inner_text(".live-inside")
    assert visit.errors == []


def test_another_sentence_has_a_reference_and_the_words_are_listed(page, url):
    loaded(page, url)
    page.get_by_role("button", name="Another of").click()
    page.wait_for_selector("[data-translation]")
    assert "Reference: " in page.inner_text(".live-message")
    assert page.input_value("#live-source") != JANE
    page.get_by_text("Which 290 words").click()
    assert "chemise, chemises" in page.inner_text(".live-words")
    page.get_by_label("French sentence").fill("LE CHATT dort")
    page.keyboard.press("Enter")
    assert "“CHATT”" in page.inner_text(".live-message")


def test_the_tour_has_five_steps_by_keyboard(page, url):
    loaded(page, url)
    page.get_by_role("button", name="Show me round").press("Enter")
    for step in range(1, 6):
        assert page.inner_text(".live-tour p").startswith(f"{step} of 5.")
        assert page.locator(".live-lit").count() == 1
        page.keyboard.press("Enter")  # at the end the focus is on Back
    page.keyboard.press("Escape")
    assert not page.locator(".live-tour").is_visible()
    assert page.evaluate("document.activeElement.className").endswith("live-start-tour")


NAMES = """() => [...document.querySelectorAll(".live-translator :is(input, select)")]
    .filter((field) => field.checkVisibility())
    .map((field) => [field.labels[0].innerText.split("\\n")[0],
                     field.getBoundingClientRect().height])"""

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
    page.get_by_label("French sentence").fill("Paul dort")
    translated(page)
    page.evaluate(WATCH)
    translated(page, JANE)
    assert page.evaluate("drawn")[-1] == 6
    assert len(set(page.evaluate("drawn"))) == 1, "whoever wants no motion sees the end"
    (said,) = page.evaluate("said")
    assert said.startswith("Translation: Jane visits Africa in September.\n")
    assert "Reference: the same" in said
    assert re.search(r"Least sure of “\w+”: it had probability 0\.\d\d", said)

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


LARGEST_IS_SEEN = """() => {
    const rows = [...document.querySelectorAll(".live-steps tbody tr")];
    const cells = [...rows.find((row) => row.firstChild.textContent === "softmax").cells].slice(1);
    const weights = cells.map((cell) => parseFloat(cell.textContent));
    const best = cells[weights.indexOf(Math.max(...weights))].getBoundingClientRect();
    const box = document.querySelector(".live-inside").getBoundingClientRect();
    return best.left >= box.left && best.right <= box.right + 1;
}"""


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
    for name in ("Attention", "The beam"):
        assert page.get_by_role("heading", name=name, exact=True).count() == 1
    assert page.evaluate(LARGEST_IS_SEEN)
    assert "Its largest weight, " in page.locator(".live-attention").inner_text()
    page.get_by_label("heads").select_option("off")
    names, heights = zip(*page.evaluate(NAMES), strict=True)
    assert len(set(names)) == len(names), names
    assert min(heights) >= 24
    page.add_script_tag(path=str(AXE))
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        found = page.evaluate("axe.run('.live-translator')")
        seen = [(v["id"], v["nodes"][0]["html"], v["nodes"][0]["any"]) for v in found["violations"]]
        assert seen == [], theme
