"""The bound book: order, numbers, outline, and links that lead inside the file."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pypdf import PdfReader
from tools.book import pdf

pytestmark = pytest.mark.site

SERVED = "https://owner.github.io/name/"
TOC = """root: book/index
parts:
  - caption: Before
    chapters:
      - file: book/01-first
        title: 01 First
"""
PAGE = """<!doctype html><html lang="en"><head><title>{name} · Book</title>
<link rel="canonical" href="{served}book/{file}"><style>@page {{ size: A4; margin: 20mm }}
section {{ break-before: page }}</style></head><body><article><h1>{name}</h1>{body}</article>
</body></html>"""
INDEX = '<a href="01-first.html#second">second</a> <a href="01-first.html">first</a>'
FIRST = """<a href="#second">down</a> <a href="../_sources/a.ipynb">source</a>
<a href="https://arxiv.org/abs/1">paper</a><section><h2 id="second">Second</h2>Words</section>"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a built site of two pages."""
    site = tmp_path / "_build" / "html" / "book"
    site.mkdir(parents=True)
    (tmp_path / "_toc.yml").write_text(TOC)
    for file, name, body in (("index", "Book", INDEX), ("01-first", "01 First", FIRST)):
        text = PAGE.format(name=name, served=SERVED, file=f"{file}.html", body=body)
        (site / f"{file}.html").write_text(text)
    return tmp_path


@pytest.fixture
def book(root: Path, browser: Browser) -> PdfReader:
    """The bound book."""
    target = root / "book.pdf"
    assert pdf.bind(browser, root, target) == 4  # contents, index, two sheets of the chapter
    return PdfReader(target)


def goals(book: PdfReader, sheet: int) -> list[int | str]:
    """Where the links of a sheet lead: to a sheet, or to an address."""
    found: list[int | str] = []
    for reference in book.pages[sheet].get("/Annots") or ():
        link = reference.get_object()
        inside = "/Dest" in link
        place = book.get_page_number(link["/Dest"][0].get_object()) if inside else None
        found.append(str(link["/A"]["/URI"]) if place is None else place)
    return found


def test_links_lead_inside_the_file_or_to_where_the_site_is_served(book: PdfReader) -> None:
    assert goals(book, 0) == [1, 2]
    assert goals(book, 1) == [3, 2]
    down, source, paper = goals(book, 2)
    assert (down, source) == (3, f"{SERVED}_sources/a.ipynb")
    assert paper == "https://arxiv.org/abs/1"


def test_no_address_of_this_machine_is_in_the_file(book: PdfReader, root: Path) -> None:
    links = [goal for sheet in range(4) for goal in goals(book, sheet)]
    assert not any(str(goal).startswith("file:") for goal in links)
    assert str(root) not in "".join(sheet.extract_text() for sheet in book.pages)


def test_sheets_are_numbered_through(book: PdfReader) -> None:
    words = [sheet.extract_text().split() for sheet in book.pages]
    assert book.page_labels == ["i", "1", "2", "3"]
    assert [number for number in ("1", "2", "3") if number in words[int(number)]] == ["1", "2", "3"]
    assert "2" in words[0]  # where the contents say that 01 First begins


def test_the_outline_holds_chapters_and_sections(book: PdfReader) -> None:
    index, first, sections = book.outline
    assert [index["/Title"], first["/Title"]] == ["Book", "01 First"]
    assert [section["/Title"] for section in sections] == ["Second"]
    assert book.get_destination_page_number(sections[0]) == 3
    assert book.metadata
    assert book.metadata.title == "Book"


def test_without_a_built_site_it_says_what_to_do(tmp_path: Path, browser: Browser) -> None:
    (tmp_path / "_toc.yml").write_text(TOC)
    with pytest.raises(SystemExit, match="make book"):
        pdf.bind(browser, tmp_path, tmp_path / "book.pdf")


def test_without_a_browser_it_says_which_it_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="chromium"):
        pdf.browser_path()
