"""The bibliography can be read, and holds what the pages cite and nothing else."""

import re
from pathlib import Path

import pytest
from pybtex.database import BibliographyData, parse_file, parse_string
from pybtex.richtext import Text
from pybtex.scanner import PybtexSyntaxError

BOOK = Path(__file__).resolve().parents[2] / "book"
CITATION = re.compile(r"\[([^][]+?)(?:, | \()(\d{4})\)?\]\(([^)\s]+)\)")  # [Ba, 2016](https://…)


def faults(bibliography: BibliographyData, pages: str) -> list[str]:
    """Links with a name and a year that are no entry's, and entries to which none leads.

    Where an entry has no address, its links lead to the page of references.
    """
    cited, known = set(CITATION.findall(pages)), set[tuple[str, str, str]]()
    unused = []
    for key, entry in bibliography.entries.items():
        first = entry.persons["author"][0]
        name = str(Text.from_latex(" ".join([*first.prelast_names, *first.last_names])))
        year, address = entry.fields["year"], entry.fields.get("url", "references.md")
        right = {link for link in cited if link[1:] == (year, address)}
        right = {link for link in right if re.match(rf"{name}( and | et al\.|$)", link[0])}
        known |= right
        unused += [] if right else [f"{key} is cited by no page"]
    lost = [f"no entry has {who}, {year}, {to}" for who, year, to in sorted(cited - known)]
    return lost + unused


def test_every_entry_is_cited_and_every_citation_has_an_entry() -> None:
    pages = [*BOOK.glob("*.ipynb"), *BOOK.glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert faults(parse_file(BOOK / "references.bib"), text) == []


def test_faults_are_found() -> None:
    fields = 'author = {M{\\"u}ller, A. and Ba, B.}, year = 2017'
    one = parse_string(
        f"@misc{{a2017, title = {{A}}, {fields}, url = {{https://x.org/a}}}}", "bibtex"
    )
    assert faults(one, "([Müller and Ba, 2017](https://x.org/a))") == []
    assert faults(one, "[Müller and others (2017)](https://x.org/a)") == []
    for wrong in ("[Ba, 2017](https://x.org/a)", "[Müller, 2018](https://x.org/a)"):
        found = faults(one, wrong)
        assert ["no entry" in found[0], found[1]] == [True, "a2017 is cited by no page"]
    assert len(faults(one, "[Müller, 2017](https://x.org/b)")) == 2
    assert faults(one, "nothing") == ["a2017 is cited by no page"]
    with pytest.raises(PybtexSyntaxError):
        parse_string("@misc{a2017, title = {A}\n@misc{b2018, title = {B}}", "bibtex")
