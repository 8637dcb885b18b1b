"""Every chapter of the book is canonical, complete and on the table of contents."""

from functools import cache
from pathlib import Path

import pytest
import yaml
from chapter_rules import links_lead_somewhere, marks_its_evidence, rules_for
from pasted_copies import package_windows, pasted
from tools.book import notebooks

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("[0-9][0-9]*-*.ipynb"))
WITH_EVIDENCE = [  # 22 and 23 test what they explain as they go
    name for name in CHAPTERS if "01" <= name < "22" and not name.startswith("09b")
]
NOTEBOOKS = sorted(path.name for path in BOOK.glob("*.ipynb"))


def toc_files(toc):
    """Every file a table of contents names, relative to the book's folder."""
    found = [toc["root"]] if "root" in toc else []
    found += [toc["file"]] if "file" in toc else []
    for key in ("parts", "chapters", "sections"):
        for entry in toc.get(key, []):
            found += toc_files(entry)
    return [name.removeprefix("book/") for name in found]


@pytest.fixture(scope="module")
def toc():
    return toc_files(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def known_windows():
    return package_windows((ROOT / "src").rglob("*.py"))


@cache
def chapter(name):
    return notebooks.load(BOOK / f"{name}.ipynb")


def page_files(names):
    return {f"{name}{kind}" for name in names for kind in (".ipynb", ".md")} & {
        path.name for path in BOOK.iterdir()
    }


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_is_canonical(name):
    assert notebooks.problems(BOOK / name) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_follows_the_rules_of_its_form(name):
    found = {rule.__name__: rule(chapter(name)) for rule in rules_for(chapter(name))}
    assert {rule: problems for rule, problems in found.items() if problems} == {}


@pytest.mark.parametrize("name", WITH_EVIDENCE)
def test_chapter_says_where_its_evidence_begins_and_ends(name):
    assert marks_its_evidence(chapter(name)) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter_holds_no_pasted_code(name, known_windows):
    assert pasted(chapter(name), known_windows) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_links_of_chapter_lead_to_pages(name, toc):
    assert links_lead_somewhere(chapter(name), page_files(toc)) == []


def test_chapters_and_table_of_contents_agree(toc):
    listed = {name for name in toc if name[:2].isdigit()}
    assert listed == set(CHAPTERS)
    assert [name for name in toc if name[:2].isdigit()] == sorted(listed), "in the paper's order"


def test_every_listed_page_exists(toc):
    missing = [name for name in toc if not list(BOOK.glob(f"{name}.*"))]
    assert missing == []


def test_package_code_was_read(known_windows):
    assert len(known_windows) > 500


def test_toc_files_reads_parts_and_sections():
    toc = {
        "root": "book/index",
        "parts": [{"chapters": [{"file": "book/02-a", "sections": [{"file": "book/b"}]}]}],
    }
    assert toc_files(toc) == ["index", "02-a", "b"]
