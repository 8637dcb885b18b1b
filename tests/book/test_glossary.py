"""The glossary: sorted, each term with a Korean rendering, and chapters that link to it."""

import json
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
CHAPTERS = [
    f"{name}.ipynb"
    for name in re.findall(r"book/(\d\d-[\w-]+)", (BOOK.parent / "_toc.yml").read_text())
]


def entries() -> dict[str, str]:
    """Term → definition."""
    body = (BOOK / "glossary.md").read_text(encoding="utf-8").split("```{glossary}\n")[1]
    blocks = [block.split("\n", 1) for block in body.rstrip("`\n").split("\n\n")]
    return {term: definition.strip() for term, definition in blocks}


def text_of(name: str) -> str:
    """What a chapter says, its code left out."""
    cells = json.loads((BOOK / name).read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def links(name: str) -> list[str]:
    """The terms a chapter links to."""
    return [
        shown.split("<")[-1].strip("> ")
        for shown in re.findall(r"\{term\}`([^`]+)`", text_of(name))
    ]


def faults(term: str, definition: str) -> list[str]:
    """What is wrong with one entry."""
    found = []
    if not re.match(r"\([가-힣A-Za-z0-9–, ]*[가-힣][가-힣A-Za-z0-9–, ]*\) ", definition):
        found.append(f"{term}: no Korean rendering in front")
    for name in re.findall(r"\]\(([^)#]+)", definition):
        if not (BOOK / name).is_file():
            found.append(f"{term}: no page {name}")
    if not definition.rstrip().endswith("."):
        found.append(f"{term}: not a sentence")
    return found


def test_terms_are_sorted_and_not_few():
    terms = list(entries())
    assert len(terms) >= 70
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.parametrize(("term", "definition"), entries().items())
def test_entry(term, definition):
    assert faults(term, definition) == []


@pytest.mark.parametrize(
    "definition", ["A mean.", "(mean) A mean.", "(평균) [x](99-nothing.ipynb).", "(평균) A mean"]
)
def test_faults_are_noticed(definition):
    assert faults("mean", definition)


@pytest.mark.parametrize("name", [name for name in CHAPTERS if not name.startswith("00")])
def test_every_chapter_links_terms_that_exist(name):
    found = links(name)
    assert found
    assert set(found) <= set(entries())


@pytest.mark.parametrize(("term", "definition"), entries().items())
def test_an_entry_leads_to_the_first_page_that_explains_it(term, definition):
    """What a chapter sets in bold, as a term, it explains."""
    named = re.findall(r"\]\((\d\d)", definition)
    bold = rf"\*\*{{term}}`(?:[^`<]*<)?{re.escape(term)}>?`"
    explained = [name[:2] for name in CHAPTERS if re.search(bold, text_of(name), re.IGNORECASE)]
    assert not explained or min(named) <= explained[0]
