"""The one stylesheet shows what the files show that it is made of, whole."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.site

PAGES = (
    ("book/02-scaled-dot-product-attention.html", "phone"),
    ("book/index.html", "page"),
    ("search.html", "page"),
)
MADE_OF = re.compile(r"Made of: (.*) \*/")
SHEET = "link[href*='site.css']"
# Formulas have their letters in the one stylesheet alone; what they move is not looked at.
LOOKS = """() => {
  const PROPERTIES = ["display", "visibility", "position", "color", "background-color", "font-size",
    "font-weight", "font-family", "font-style", "margin-top", "margin-left", "margin-bottom",
    "padding-top", "padding-left", "padding-bottom", "border-top-width", "border-left-width",
    "border-left-color", "opacity", "content", "overflow-x", "text-decoration-line",
    "list-style-type", "z-index", "cursor", "text-align", "box-shadow", "border-radius", "float"];
  const found = [];
  const PARTS = "body *:not(math, math *, script, style, .chart *)";
  for (const part of document.querySelectorAll(PARTS)) {
    for (const pseudo of [null, "::before", "::after"]) {
      const style = getComputedStyle(part, pseudo);
      const values = PROPERTIES.map((name) => `${name}: ${style.getPropertyValue(name)}`);
      found.push([`${part.tagName}.${part.className} ${pseudo || ""}`, ...values]);
    }
  }
  return found;
}"""
WHOLE = """async ([sheet, files]) => {
  const link = document.querySelector(sheet);
  for (const file of files) {
    const whole = document.createElement("link");
    whole.rel = "stylesheet";
    whole.href = link.href.replace("_static/site.css", file);
    await new Promise((loaded) => { whole.onload = whole.onerror = loaded; link.before(whole); });
  }
  const faces = document.createElement("style"); // the originals have no faces, which take room too
  faces.textContent = [...link.sheet.cssRules]
    .filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => rule.cssText).join("");
  document.head.append(faces);
  link.remove();
  document.body.getBoundingClientRect();
  await document.fonts.ready; // icons take room
}"""


def lost_styles(page: Page, files: list[str]) -> list[str]:
    """What parts of an open page look like with its stylesheet, and otherwise with the files."""
    page.wait_for_timeout(500)
    before = page.evaluate(LOOKS)
    page.evaluate(WHOLE, [SHEET, files])
    page.wait_for_timeout(500)
    after = page.evaluate(LOOKS)
    assert len(before) == len(after)
    return [
        f"{mine[0]} has {seen}, whole {wanted}"
        for mine, whole in zip(before, after, strict=True)
        for seen, wanted in zip(mine[1:], whole[1:], strict=True)
        if seen != wanted
    ]


@pytest.mark.parametrize(("name", "kind"), PAGES)
def test_no_rule_that_a_page_needs_is_left_out(
    request: pytest.FixtureRequest, built_site: Path, site_url: str, name: str, kind: str
) -> None:
    opened: Page = request.getfixturevalue(kind)
    opened.goto(f"{site_url}/{name}", wait_until="load")
    made_of = MADE_OF.search((built_site / "_static" / "site.css").read_text(encoding="utf-8"))
    assert made_of
    assert lost_styles(opened, made_of[1].split()) == []


def test_a_rule_that_is_left_out_is_seen(page: Page, tmp_path: Path, served: str) -> None:
    static = tmp_path / "_static"
    static.mkdir()
    (static / "site.css").write_text("p { color: red }")
    (static / "whole.css").write_text("p { color: red } p::before { content: 'x' }")
    head = '<link rel="stylesheet" href="_static/site.css">'
    (tmp_path / "page.html").write_text(f"<html><head>{head}</head><body><p>x</p></body></html>")
    page.goto(f"{served}/page.html")
    assert any(
        "::before has content: none" in lost for lost in lost_styles(page, ["_static/whole.css"])
    )
