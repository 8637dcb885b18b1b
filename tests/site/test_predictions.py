"""Predictions in a browser: click, keyboard, memory, and no storage at all."""

from pathlib import Path

import pytest
from browsing import axe_violations, open_page, overflowing
from playwright.sync_api import Page
from test_checkers import written

from walkthrough.page.prediction import Choice, Prediction

pytestmark = pytest.mark.site

WEB = Path(__file__).resolve().parents[2] / "book" / "web"
PREDICTION = Prediction(
    "02-axis",
    "What sums to 1?",
    (Choice("Rows", "They do.", right=True), Choice("Columns", "No."), Choice("Both", "Hardly.")),
)
LINE = '<section id="where-you-are"><p>None yet.</p></section>'
EXERCISE = '<div class="exercise" id="ex-02-scale"><p>Do.</p></div>'


def with_script(folder: Path, before: str = "") -> str:
    """A page with a prediction and the first page's line; its address."""
    script = f"<script>{before}{(WEB / 'predictions.js').read_text(encoding='utf-8')}</script>"
    body = PREDICTION._repr_html_() + EXERCISE + LINE
    return written(folder, body, head=script + '<link rel="icon" href="data:,">').as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_choices_answer_by_keyboard_and_pass_axe(phone: Page, tmp_path: Path, scheme: str) -> None:
    phone.emulate_media(color_scheme=scheme)
    seen = open_page(phone, with_script(tmp_path))
    phone.keyboard.press("Tab")
    phone.keyboard.press("Tab")
    phone.keyboard.press("Enter")
    phone.locator(".first").wait_for()  # `toggle` comes a moment after the key
    opened = phone.locator(".prediction details[open]")
    assert opened.inner_text().split("\n")[0] == "Columns your prediction"
    assert "Not so. No." in opened.inner_text()
    assert axe_violations(phone) == []
    assert overflowing(phone) == []
    assert seen.errors == []
    assert seen.third_party() == []


def test_only_the_first_choice_counts_and_is_remembered(
    page: Page, tmp_path: Path, served: str
) -> None:
    """Over http: a file that is reloaded at once may not see yet what it wrote a moment ago."""
    with_script(tmp_path)
    open_page(page, f"{served}/page.html")
    assert page.locator("#where-you-are > p").inner_text() == "None yet."
    page.get_by_text("Both").click()
    page.locator(".first").wait_for()  # `toggle` comes a moment after the click
    page.get_by_text("Rows").click()
    page.reload()
    assert page.locator(".first").count() == 1
    assert page.locator("summary", has=page.locator(".first")).inner_text().startswith("Both")
    line = page.locator("#where-you-are > p")
    assert "1 prediction, 0 of them right" in line.inner_text()
    line.get_by_role("button").click()
    assert "forgotten" in line.inner_text()
    page.reload()
    assert page.locator(".first").count() == 0
    page.get_by_text("Rows").click()
    page.locator(".first").wait_for()
    page.reload()
    assert "1 prediction, 1 of them right" in page.locator("#where-you-are > p").inner_text()


def test_an_exercise_that_is_right_is_counted_until_it_is_forgotten(
    page: Page, tmp_path: Path, served: str
) -> None:
    with_script(tmp_path)
    open_page(page, f"{served}/page.html")
    box = page.get_by_label("Its check says right")
    box.check()
    page.reload()
    assert box.is_checked()
    line = page.locator("#where-you-are > p")
    assert "0 predictions, 0 of them right, and have 1 exercise right" in line.inner_text()
    box.uncheck()
    page.reload()
    assert line.inner_text() == "None yet."
    box.check()
    page.reload()
    line.get_by_role("button").click()
    page.reload()
    assert not box.is_checked()


@pytest.mark.parametrize(
    "before",
    [
        "Object.defineProperty(window, 'localStorage', {get() {throw new Error('no')}});",
        "localStorage.setItem('predictions', 'not ours');",
        "localStorage.setItem('predictions', '[1, null]');",
    ],
)
def test_without_storage_the_choices_still_answer(page: Page, tmp_path: Path, before: str) -> None:
    seen = open_page(page, with_script(tmp_path, before))
    page.get_by_text("Rows").click()
    assert "They do." in page.locator(".prediction details[open]").inner_text()
    assert seen.errors == []
