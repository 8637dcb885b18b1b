"""A chapter in the new form opens with a picture that moves, and never goes long without one.

`test_pages` asks every chapter while it is open.
"""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.site

BOOK = Path(__file__).parents[2] / "book"
# Chapters that open with a question, and the story before them; the others are still to rewrite.
NEW_FORM = [
    page.stem
    for page in sorted(BOOK.glob("[0-9]*.ipynb"))
    if "form" in json.loads(page.read_text(encoding="utf-8"))["metadata"]
]
SCREEN = 800  # px
FIRST, WITHOUT_FIGURE, TO_SUMMARY = 1.0, 4.0, 25.0  # screens
PLACES = """() => {
  const places = (selector) => [...document.querySelectorAll(selector)]
    .filter((part) => part.checkVisibility() && !part.closest(".sidenote"))
    .map((part) => part.getBoundingClientRect())
    .filter((box) => box.height > 20)
    .map((box) => [box.top + scrollY, box.bottom + scrollY]);
  const figures = "article :is(figure, .chart, .cell_output svg, .cell_output img, .prediction)";
  const controls = "article :is(input, select, .prediction summary, .cell_output button)";
  const summary = [...document.querySelectorAll("article h2")]
    .find((heading) => heading.textContent.startsWith("Summary"))?.parentElement;
  const end = (summary || document.querySelector("article")).getBoundingClientRect().bottom;
  return { figures: places(figures), controls: places(controls), end: end + scrollY };
}"""


def too_slow(page: Page) -> list[str]:
    """Where an open page makes a reader wait, in screens of 1280 × 800, its answers folded."""
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    found = page.evaluate(PLACES)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    problems = []
    for kind in ("figures", "controls"):
        first = min((top for top, _ in found[kind]), default=float("inf")) / SCREEN
        if first > FIRST:
            problems.append(f"the first of its {kind} comes after {first:.1f} screens")
    seen = 0.0
    for top, bottom in [*sorted(found["figures"]), [found["end"]] * 2]:
        if top - seen > WITHOUT_FIGURE * SCREEN:
            problems.append(f"no figure from screen {seen / SCREEN:.1f} to {top / SCREEN:.1f}")
        seen = max(seen, bottom)
    if found["end"] > TO_SUMMARY * SCREEN:
        problems.append(f"{found['end'] / SCREEN:.0f} screens to the end of the summary")
    return problems


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<figure><input style='height:30px'></figure>", ""),
        ("<p style='height:900px'></p><figure><input></figure>", "first of its figures"),
        ("<figure></figure><p style='height:900px'></p><input>", "first of its controls"),
        ("<figure><input></figure><p style='height:3300px'></p><figure></figure>", "no figure"),
        ("<figure style='height:21000px'><input></figure>", "26 screens"),
    ],
)
def test_a_page_that_makes_one_wait_is_seen(page: Page, body: str, problem: str) -> None:
    style = "<style>* { margin: 0 } figure { min-height: 60px } input { height: 30px }</style>"
    page.set_content(f"{style}<article>{body}</article>")
    found = too_slow(page)
    assert any(problem in one for one in found) if problem else found == []
