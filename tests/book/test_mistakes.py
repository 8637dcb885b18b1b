"""The page of mistakes leads to headings that exist, and leaves none of the chapters' out."""

import json
import re
from pathlib import Path

import pytest
from mdit_py_plugins.anchors.index import slugify  # what makes the anchors of the site

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "mistakes.md").read_text(encoding="utf-8")
CHAPTERS = [
    f"{name}.ipynb"
    for name in re.findall(r"book/(\d\d-[\w-]+)", (BOOK.parent / "_toc.yml").read_text())
]
NOTES_OF_READERS = 13  # rows of the collection that the page was made from


def headings(name: str) -> list[tuple[int, str]]:
    """Level and text of every heading of a chapter."""
    cells = json.loads((BOOK / name).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    found = re.findall(r"^(#+) (.+)$", "\n".join(texts), re.MULTILINE)
    return [(len(marks), text) for marks, text in found]


def mistakes(name: str) -> list[str]:
    """The headings below "What goes wrong"."""
    inside, found = False, []
    for level, text in headings(name):
        if level == 2:
            inside = text == "What goes wrong"
        elif inside:
            found.append(text)
    return found


def dead_links(page: str) -> list[str]:
    """Links whose page has no heading with that anchor."""
    links = re.findall(r"\]\((\d\d-[\w-]+\.ipynb)#([^)]+)\)", page)
    anchors = {name: {slugify(text) for _, text in headings(name)} for name, _ in links}
    return [f"{name}#{anchor}" for name, anchor in links if anchor not in anchors[name]]


def test_every_link_leads_to_a_heading():
    assert dead_links(PAGE) == []
    assert dead_links("[x](02-scaled-dot-product-attention.ipynb#not-there)")


def test_every_row_of_the_readers_notes_has_a_link():
    section = PAGE.split("## In notes on the paper")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    assert len(rows) == NOTES_OF_READERS
    assert all(".ipynb#" in row for row in rows)


@pytest.mark.parametrize("name", [name for name in CHAPTERS if not name.startswith("00")])
def test_every_mistake_of_a_chapter_is_listed(name):
    shown = mistakes(name)
    assert shown
    missing = [text for text in shown if f"[{text}]({name}#{slugify(text)})" not in PAGE]
    assert missing == []
