"""The bibliography can be read, and holds what the pages cite and nothing else."""

import re
from pathlib import Path

import pytest
from pybtex.database import BibliographyData, parse_file, parse_string
from pybtex.scanner import PybtexSyntaxError

BOOK = Path(__file__).resolve().parents[2] / "book"


def faults(bibliography: BibliographyData, pages: str) -> list[str]:
    """Keys that are cited and not there, or there and not cited."""
    groups = re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", pages)
    cited = {key.strip() for group in groups for key in group.split(",")}
    known = set(bibliography.entries)
    lost = [f"{key} is cited and not in the bibliography" for key in sorted(cited - known)]
    return lost + [f"{key} is cited by no page" for key in sorted(known - cited)]


def test_every_entry_is_cited_and_every_citation_has_an_entry() -> None:
    pages = [*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert faults(parse_file(BOOK / "references.bib"), text) == []


def test_faults_are_found() -> None:
    one = parse_string("@misc{a2017, title = {A}}", "bibtex")
    assert faults(one, "{cite}`a2017`") == []
    assert faults(one, "{cite:t}`a2017, b2018`") == ["b2018 is cited and not in the bibliography"]
    assert faults(one, "nothing") == ["a2017 is cited by no page"]
    with pytest.raises(PybtexSyntaxError):
        parse_string("@misc{a2017, title = {A}\n@misc{b2018, title = {B}}", "bibtex")
