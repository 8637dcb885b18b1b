"""What a search finds, as a script that the search page loads: every section with its words.

Sphinx's own index knows which words a page has, not where they stand. This one is read from the
same documents: an entry for each section, exercise, term of the glossary and claim of the ledger,
with the sentences that a reader sees. It is a script and not JSON because a page that is opened as
a file may not fetch; `book/web/search.js` looks through it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search.en import SearchEnglish

FILE = "search-sections.js"
SECTION, EXERCISE, TERM, CLAIM = "section", "exercise", "term", "claim"
ANCHOR = re.compile(r'id="(claim-[^"]+)"')
UNSEEN = (nodes.comment, nodes.raw, nodes.literal_block, nodes.math_block, nodes.image)
SIGNS = (
    "cdot ·, times ×, top ᵀ, le ≤, leq ≤, ge ≥, geq ≥, ne ≠, neq ≠, approx ≈, sum Σ, prod Π, "
    "partial ∂, infty ∞, in ∈, to →, rightarrow →, odot ⊙, pm ±, dots …, ldots …, cdots …, "
    "mid |, lvert |, rvert |, alpha α, beta β, gamma γ, epsilon ε, varepsilon ε, theta θ, "
    "lambda λ, mu μ, sigma σ, phi φ, omega ω, pi π, eta η, tau τ, Delta Δ, delta δ"
)
COMMANDS = dict(sign.split() for sign in SIGNS.split(", "))
NAMED = "softmax|log|ln|exp|sin|cos|tanh|tan|max|min|arg|lim|sup|Pr"


@dataclass(frozen=True)
class Entry:
    """One place of the book that a search can lead to."""

    anchor: str
    title: str
    kind: str
    lines: tuple[str, ...]


def grouped(part: str) -> str:
    """A part in brackets, where it would fall apart without."""
    return f"({part})" if re.search(r"[+/ ]|(?<!^)-", part.strip()) else part


def spoken(tex: str) -> str:
    r"""A formula of a sentence in plain signs: `\sqrt{d_k}` reads √d_k."""
    tex = re.sub(r"\\(?:text|math[a-z]+|operatorname)\s*{([^{}]*)}", r"\1", tex)
    tex = re.sub(r"_{([^{}]*)}", r"_\1", tex)
    tex = re.sub(r"\^{([^{}]*)}", lambda found: "^" + grouped(found[1]), tex)
    tex = re.sub(r"\\sqrt\s*{([^{}]*)}", lambda found: "√" + grouped(found[1]), tex)
    tex = re.sub(r"\\sqrt\s*(?=\w)", "√", tex)
    tex = re.sub(
        r"\\[dt]?frac\s*(?:{([^{}]*)}|(\d))\s*(?:{([^{}]*)}|(\d))",
        lambda found: f" {grouped(found[1] or found[2])}/{grouped(found[3] or found[4])}",
        tex,
    )
    tex = re.sub(r"\\(?:left|right|big|Big|bigl|bigr)(?![A-Za-z])", "", tex)
    tex = re.sub(r"\\[,;:! ]", " ", tex)
    tex = re.sub(rf"\\({NAMED})(?![A-Za-z])", r"\1", tex)
    tex = re.sub(r"\\([A-Za-z]+)", lambda found: COMMANDS.get(found[1], ""), tex)
    tex = re.sub(r"\^(?=ᵀ)|[{}\\]", "", tex)
    return " ".join(tex.split())


def said(node: nodes.Node) -> str:
    """The words of a paragraph, a title or a cell of a table."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.math):
        return spoken(node.astext())
    if isinstance(node, (*UNSEEN, addnodes.index)):
        return ""
    return "".join(said(child) for child in node.children)


def neat(text: str) -> str:
    """One line, without the space that a missing citation leaves before a full stop."""
    return re.sub(r" (?=[.,;:)])", "", " ".join(text.split()))


def is_hint(node: nodes.Node) -> bool:
    """What folds inside an exercise: a result that shows it would take the exercise away."""
    return isinstance(node, nodes.Element) and node.get("design_component") == "dropdown"


class Reader:
    """Reads one document into entries."""

    def __init__(self, document: nodes.document) -> None:
        self.entries: list[Entry] = []
        for child in document.children:
            if isinstance(child, nodes.section):
                self.section(child, top=True)

    def add(self, anchor: str, title: str, kind: str, lines: list[str]) -> None:
        """Keep an entry, its lines without the empty ones."""
        kept = tuple(line for line in map(neat, lines) if line)
        self.entries.append(Entry(anchor, neat(title), kind, kept))

    def section(self, section: nodes.section, *, top: bool = False) -> None:
        """A section, before those inside it; the topmost is the page itself."""
        place = len(self.entries)
        lines: list[str] = []
        title = ""
        for child in section.children:
            if isinstance(child, nodes.title):
                title = said(child)
            else:
                lines += self.lines(child)
        inner = self.entries[place:]
        del self.entries[place:]
        self.add("" if top else section["ids"][0], title, SECTION, lines)
        self.entries += inner

    def lines(self, node: nodes.Node) -> Iterator[str]:
        """What stands under a node, apart from what becomes an entry of its own."""
        kind = type(node).__name__
        if isinstance(node, UNSEEN) or kind.startswith("solution"):
            return
        if isinstance(node, nodes.section):
            self.section(node)
        elif kind.startswith("exercise") and kind.endswith("node"):
            self.exercise(node)
        elif isinstance(node, nodes.definition_list_item):
            yield from self.term(node)
        elif isinstance(node, nodes.row):
            yield from self.row(node)
        elif isinstance(node, nodes.Element) and node.get("nb_element") == "cell_code":
            yield from self.cell(node)
        elif isinstance(node, nodes.TextElement):
            yield said(node)
        else:
            for child in node.children:
                yield from self.lines(child)

    def cell(self, cell: nodes.Element) -> Iterator[str]:
        """Code is not searched; what an exercise's cells hold is, where it is prose."""
        for child in cell.children:
            if isinstance(child, nodes.Element) and not child.get("nb_element"):
                yield from self.lines(child)

    def exercise(self, node: nodes.Element) -> None:
        """An exercise under its own name."""
        title = "Exercise"
        lines: list[str] = []
        for child in node.children:
            if type(child).__name__ == "exercise_title":
                title = "Exercise: " + said(child.children[-1])
            else:
                for part in child.children:
                    lines += [] if is_hint(part) else self.lines(part)
        lines = [line for line in lines if not line.startswith("Difficulty")]
        self.add(node["ids"][0], title, EXERCISE, lines)

    def term(self, item: nodes.Element) -> Iterator[str]:
        """A term of the glossary; any other definition belongs to its section."""
        terms = [child for child in item.children if isinstance(child, nodes.term)]
        lines = [said(child) for child in item.findall(nodes.paragraph)]
        if terms and terms[0]["ids"]:
            self.add(terms[0]["ids"][0], ", ".join(map(said, terms)), TERM, lines)
        else:
            yield from (*map(said, terms), *lines)

    def row(self, row: nodes.row) -> Iterator[str]:
        """A claim of the ledger; any other row is one line."""
        cells = [neat(said(cell)) for cell in row.children]
        anchors = (ANCHOR.search(raw.astext()) for raw in row.findall(nodes.raw))
        anchor = next(filter(None, anchors), None)
        if anchor:
            section, claim, *rest = cells
            self.add(anchor[1], f"Claim of {section}", CLAIM, [claim, " · ".join(rest)])
        else:
            yield " · ".join(filter(None, cells))


def page_names(env: BuildEnvironment) -> dict[str, str]:
    """How the table of contents calls each page: chapters with their numbers."""
    names = {page: title.astext() for page, title in env.titles.items()}
    for toctree in env.get_doctree(env.config.root_doc).findall(addnodes.toctree):
        names.update((page, title) for title, page in toctree["entries"] if title)
    return names


def in_order(env: BuildEnvironment) -> list[str]:
    """The pages in the book's order."""
    root = env.get_doctree(env.config.root_doc)
    listed = [page for tree in root.findall(addnodes.toctree) for page in tree["includefiles"]]
    return [env.config.root_doc, *listed]


def index_of(env: BuildEnvironment) -> dict[str, Any]:
    """What the script holds: pages, and entries that name their page by its number."""
    names = page_names(env)
    pages = in_order(env)
    entries = [
        [number, entry.anchor, entry.title, entry.kind, "\n".join(entry.lines)]
        for number, page in enumerate(pages)
        for entry in Reader(env.get_doctree(page)).entries
    ]
    return {"pages": [[page, names[page]] for page in pages], "entries": entries}


def script(index: dict[str, Any]) -> str:
    """The index as a script, with the words that Sphinx leaves out of a search and its stemmer."""
    index = {**index, "stopWords": sorted(SearchEnglish.stopwords)}
    found = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    stemmer = f"(() => {{{SearchEnglish.js_stemmer_code}\nreturn Stemmer;\n}})()"
    return f"window.bookSearch = {found};\nwindow.bookSearch.Stemmer = {stemmer};\n"


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the script beside the other static files; nothing of Sphinx's search stays there."""
    if error or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    (static / FILE).write_text(script(index_of(app.builder.env)), encoding="utf-8")
    for unused in ("searchtools.js", "language_data.js"):
        (static / unused).unlink(missing_ok=True)


def leave_out_sphinx_search(app: Sphinx) -> None:
    """One search is enough: Sphinx's is not built, its page is made from our template."""
    if app.builder.format == "html":
        app.builder.search = False
        app.config.html_additional_pages["search"] = "search.html"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to call."""
    app.connect("builder-inited", leave_out_sphinx_search)
    app.connect("build-finished", write, priority=950)  # it is no script that names styles
    return {"parallel_read_safe": True, "parallel_write_safe": True}
