"""A page's form comes from plain Markdown: opener, margin, captions, contents.

Built from a small book of two chapters, so that Sphinx's own nodes are what is looked at.
"""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from tools.site.page_form import number_exercises

ROOT = Path(__file__).resolve().parents[2]
CONF = """
extensions = ["myst_nb", "sphinx_design", "tools.site.page_form"]
html_theme = "pydata_sphinx_theme"
nb_execution_mode = "off"
exclude_patterns = []
myst_enable_extensions = ["colon_fence"]
"""
OPENER = """\
# Where does a word look?

One formula.

**Paper**: Section 3.2.1 · **Time**: 35 minutes to read, 20 minutes for the exercises, 3 seconds \
to run · **You need first**: `softmax`; helpful: [one](01-one.ipynb)

:::{dropdown} You will be able to
- look
:::"""
PYTHON = {"language_info": {"name": "python", "pygments_lexer": "ipython3"}}
GLOSSARY = """\
# Glossary

```{glossary}
query
  (쿼리) What a position looks for. [Chapter 02](02-two.ipynb).
```
"""


def picture(svg: str, *tags: str) -> nbformat.NotebookNode:
    shown = new_output("display_data", data={"text/html": svg})
    return new_code_cell("draw()", outputs=[shown], metadata={"tags": list(tags)})


def built(
    folder: Path, chapter: list[nbformat.NotebookNode], name: str = "02-two"
) -> tuple[BeautifulSoup, str]:
    """A chapter's page, and what the build complained of."""
    book = folder / "book"
    book.mkdir()
    (folder / "conf.py").write_text(CONF)
    tree = f"```{{toctree}}\nbook/01-one\nbook/{name}\nbook/glossary\n```\n"
    (folder / "index.md").write_text("# Book\n\n" + tree)
    (book / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
    nbformat.write(new_notebook(cells=[new_markdown_cell("# One")]), book / "01-one.ipynb")
    nbformat.write(new_notebook(cells=chapter, metadata=PYTHON), book / f"{name}.ipynb")
    command = [sys.executable, "-m", "sphinx", "-q", str(folder), str(folder / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    page = (folder / "out" / "book" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(page, "html.parser"), done.stderr


CHAPTER = [
    new_markdown_cell(OPENER),
    new_code_cell("import torch", metadata={"tags": ["hide-input"]}),
    picture('<svg class="lead"></svg>', "remove-input", "page-wide"),
    new_markdown_cell("**Figure 2.1.** Who looks at whom."),
    picture('<svg class="architecture"></svg>', "remove-input"),
    new_markdown_cell("A {term}`query` looks. Another {term}`query` looks in Figure 2.1."),
    new_markdown_cell("## Why divide?\n\nAs above."),
    new_markdown_cell("::::{div} live-translator\nOn the site a button stands here.\n::::"),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> BeautifulSoup:
    soup, complaints = built(tmp_path_factory.mktemp("book"), CHAPTER)
    assert complaints == ""
    return soup


def words(part: object) -> str:
    return " ".join(part.get_text(" ").split())  # type: ignore[attr-defined]


def test_the_first_lines_become_the_opener(page):
    assert words(page.select_one("p.kicker")) == "Chapter 02 · Paper, Section 3.2.1"
    assert words(page.select_one("p.kicker + h1")).startswith("Where does a word look?")
    assert words(page.select_one(".subtitle")) == "One formula."
    line = page.select_one("p.thin-line")
    assert [words(span) for span in line.find_all("span", recursive=False)] == [
        "35 min to read",
        "20 min for the exercises",
        "first softmax ; helpful: one",
    ]
    assert line.select_one("a")["href"] == "01-one.html"


def test_the_lead_figure_comes_first_and_the_imports_after_the_introduction(page):
    order = [
        part.get("class", [part.name])[0]
        for part in page.article.select("svg, p.thin-line, aside, .tag_hide-input, h2")
    ]
    assert order == [
        "thin-line",
        "lead",
        "sidenote",  # aims
        "sidenote",  # the map
        "architecture",
        "sidenote",  # the term
        "cell",
        "h2",
    ]
    assert [words(s) for s in page.select("aside summary")] == [
        "You will be able to",
        "Where we are",
    ]


def test_a_term_stands_in_the_margin_once_without_its_korean_name(page):
    (note,) = page.select("aside.term")
    assert words(note) == "query What a position looks for."


def test_a_caption_belongs_to_its_figure_and_prose_links_to_it(page):
    (figure,) = page.select("figure.numbered.page-wide#figure-2-1")
    assert figure.select("svg.lead")
    assert words(figure.figcaption) == "Figure 2.1. Who looks at whom."
    assert [a.text for a in page.select("a[href='#figure-2-1']")] == ["Figure 2.1"]


def test_exercises_are_numbered_by_chapter():
    counted = {
        "book/02-two": {"exercise": {"ex-a": (4,), "ex-b": (5,)}},
        "book/glossary": {"figure": {"one": (1,)}},
    }
    number_exercises(None, SimpleNamespace(toc_fignumbers=counted))
    assert counted["book/02-two"]["exercise"] == {"ex-a": (2, 1), "ex-b": (2, 2)}
    assert counted["book/glossary"] == {"figure": {"one": (1,)}}


def test_the_place_of_the_translator_says_what_it_needs_and_nothing_of_a_notebook(page):
    (place,) = page.select(".live-translator")
    assert [part.name for part in place.find_all(recursive=False)] == ["noscript"]
    assert "JavaScript" in words(place)
    assert "a button stands here" not in words(place)


def test_the_bar_shows_the_page_s_headings_below_it():
    from tools.site.page_form import with_contents

    def tree() -> BeautifulSoup:
        return BeautifulSoup('<ul><li class="current active"><a href="#">02</a></li></ul>', "lxml")

    bar = with_contents(tree, [("why-divide", "Why divide?")])()
    assert [(a["href"], a.text) for a in bar.select("ul.here a")] == [
        ("#why-divide", "Why divide?")
    ]


def test_a_short_opener_a_wrong_number_and_a_figure_that_is_not_there(tmp_path):
    wrong = [
        new_markdown_cell(
            "# Two\n\nTen pictures.\n\n**Time**: 12 minutes, you need nothing before it"
        ),
        picture("<svg></svg>"),
        new_markdown_cell("**Figure 2.2.** The first."),
        new_markdown_cell("See Figure 2.7."),
    ]
    page, complaints = built(tmp_path, wrong)
    assert "figures are numbered ['2.2'], not ['2.1']" in complaints
    assert "there is no Figure 2.7" in complaints

    assert words(page.select_one("p.kicker")) == "Chapter 02"
    assert words(page.select_one(".subtitle")) == "Ten pictures."
    assert words(page.select_one("p.thin-line")) == "12 min you need nothing before it"


def test_a_chapter_between_two_others_keeps_its_letter(tmp_path):
    chapter = [
        new_markdown_cell("# Between\n\n**Time**: an afternoon, you need nothing before it"),
        picture("<svg></svg>"),
        new_markdown_cell("**Figure 1b.1.** The first."),
        new_markdown_cell("See Figure 1b.1."),
    ]
    page, complaints = built(tmp_path, chapter, "01b-between")
    assert "igure" not in complaints
    assert words(page.select_one("p.kicker")) == "Chapter 01b"
    assert [a.text for a in page.select("a[href='#figure-1b-1']")] == ["Figure 1b.1"]
