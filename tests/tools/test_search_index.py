"""What the search index reads out of a document."""

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from tools.site.search_index import Entry, Reader, script, spoken

PAGE = """
Masks
=====
Who may look.

By hand
-------
A `mask`:math: is boolean.

.. code:: python

   secret = 1

====== =====
symbol means
====== =====
n      words
====== =====

.. raw:: html

   <p>markup</p>

With dropout
~~~~~~~~~~~~
Noise.
"""


def read(source: str = PAGE) -> list[Entry]:
    settings = {"doctitle_xform": False, "raw_enabled": True}
    return Reader(publish_doctree(source, settings_overrides=settings)).entries


def test_each_section_is_an_entry_with_its_own_words() -> None:
    assert [(entry.anchor, entry.title) for entry in read()] == [
        ("", "Masks"),
        ("by-hand", "By hand"),
        ("with-dropout", "With dropout"),
    ]
    assert [entry.lines for entry in read()] == [
        ("Who may look.",),
        ("A mask is boolean.", "symbol · means", "n · words"),
        ("Noise.",),
    ]


def test_code_and_markup_are_not_searched() -> None:
    words = " ".join(line for entry in read() for line in entry.lines)
    assert "secret" not in words
    assert "markup" not in words


def glossary() -> nodes.document:
    term = nodes.term("", "head", ids=["term-head"])
    meaning = nodes.definition("", nodes.paragraph("", "(헤드) One attention of several."))
    item = nodes.definition_list_item("", term, meaning)
    title = nodes.title("", "Glossary")
    section = nodes.section("", title, nodes.definition_list("", item), ids=["glossary"])
    document = publish_doctree("")
    document += section
    return document


def test_a_term_is_an_entry_of_its_own() -> None:
    section, term = Reader(glossary()).entries
    assert section.lines == ()
    assert (term.anchor, term.title, term.kind) == ("term-head", "head", "term")
    assert term.lines == ("(헤드) One attention of several.",)


def test_a_claim_is_an_entry_of_its_own() -> None:
    mark = nodes.raw("", '<span id="claim-1-x">', format="html")
    cells = [
        nodes.entry("", nodes.paragraph("", "", mark, nodes.Text("§1"))),
        nodes.entry("", nodes.paragraph("", "Attention waits for nobody.")),
        nodes.entry("", nodes.paragraph("", "holds")),
    ]
    document = publish_doctree("Ledger\n======\n")
    title = nodes.title("", "Ledger")
    document.children[:] = [nodes.section("", title, nodes.row("", *cells), ids=["ledger"])]
    claim = Reader(document).entries[-1]
    assert (claim.anchor, claim.kind) == ("claim-1-x", "claim")
    assert claim.lines == ("Attention waits for nobody.", "holds")


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"\sqrt{d_k}", "√d_k"),
        (r"\frac{1}{\sqrt{d_k}}", "1/√d_k"),
        (r"\ln\frac{a + b}{\sqrt{n}}", "ln (a + b)/√n"),
        (r"10^{-9} = e^{1 - x}", "10^-9 = e^(1 - x)"),
        (r"QK^\top", "QKᵀ"),
        (r"\mathrm{softmax}(x)", "softmax(x)"),
        (r"1 - \epsilon_{ls}", "1 - ε_ls"),
        (r"n \times d_{model}", "n × d_model"),
    ],
)
def test_formulas_read_as_plain_signs(tex: str, plain: str) -> None:
    assert spoken(tex) == plain


def test_the_script_brings_index_stop_words_and_stemmer() -> None:
    written = script({"pages": [["book/index", "“Home”"]], "entries": []})
    assert written.startswith('window.bookSearch = {"pages":[["book/index","“Home”"]]')
    assert '"stopWords":["a","and"' in written
    assert "window.bookSearch.Stemmer = " in written
