"""The form of a page, made from plain Markdown, as one Sphinx extension.

What an author writes reads well in any editor, in JupyterLab and in Colab; here it gets its place:
a chapter's first lines become its opener, terms and aims stand in the margin, a paragraph that
begins with **Figure 2.3** becomes a caption, and the page's contents stand below its chapter.

A chapter's first lines are

    # A question

    One line below.

    **Paper**: Section 3.2.1 · **Time**: 35 minutes to read, … · **You need first**: …; helpful: …

    :::{dropdown} You will be able to
    - …
    :::

The section goes above the title, the rest becomes one thin line that ends with the ways to run the
page. Aims and the small map of the model go into the margin, folded on a phone. The cell of imports
goes behind the introduction.

A caption's number is written, so it reads the same everywhere; the build says when it is wrong.
Here the paragraph, right after a cell, becomes the caption of the cell's figure, and "Figure 2.3"
in the prose of any chapter a link to it.
"""

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

CHAPTER = re.compile(r"book/(\d\d[a-z]?)-")
CAPTION = re.compile(r"Figure (\d+[a-z]?)\.(\d+)\.?$")
"""The bold words that a caption begins with."""


def html(text: str) -> nodes.raw:
    """A piece of HTML between nodes."""
    return nodes.raw("", text, format="html")


def wrapped(start: str, inside: Sequence[nodes.Node], end: str) -> list[nodes.Node]:
    """Nodes between two tags."""
    return [html(start), *inside, html(end)]


def is_cell(node: nodes.Node, tag: str = "") -> bool:
    """Whether a node is a code cell, with this tag where one is named."""
    if not isinstance(node, nodes.container) or "cell" not in node["classes"]:
        return False
    return not tag or f"tag_{tag}" in node["classes"]


def label_of(node: nodes.Node) -> str:
    """The bold words that a paragraph begins with."""
    words = [child for child in node.children if child.astext()]
    bold = isinstance(node, nodes.paragraph) and words and isinstance(words[0], nodes.strong)
    return words[0].astext() if bold else ""


def is_caption(node: nodes.Node) -> bool:
    """Whether a node is the paragraph of a numbered figure."""
    return bool(CAPTION.match(label_of(node)))


# The opener ---------------------------------------------------------------------------------------

FACTS = ("Paper", "Time")
AIMS = "You will be able to"
MAP = 'class="architecture"'
RUN = "<!-- ways to run it -->"
BOLD = r"<b>\1 min</b>"
MINUTES = re.compile(r"(\d+) minutes?")
EDGES = " :·\n"


def shape_opener(document: nodes.document, page: str) -> None:
    """Give a chapter that has such lines its opener."""
    chapter = CHAPTER.match(page)
    section = next(iter(document.findall(nodes.section)), None)
    if not chapter or section is None:
        return
    line = next((node for node in section.children if label_of(node) in FACTS), None)
    if line is None:
        return
    facts = facts_of(line)
    title = section.children[0]
    before = section.children[1 : section.index(line)]
    after = section.children[section.index(line) + 1 :]
    aims = [node for node in after if node.astext().strip().startswith(AIMS)][:1]
    maps = [node for node in after if is_cell(node) and MAP in node.astext()][:1]
    imports = [node for node in after if is_cell(node, "hide-input")][:1]
    moved = [*aims, *maps, *imports]
    rest = [node for node in after if not any(node is one for one in moved)]
    prose = (isinstance(node, nodes.paragraph) and not is_caption(node) for node in rest)
    first = next((n for n, found in enumerate(prose) if found), 0)
    parts = next((n for n, node in enumerate(rest) if isinstance(node, nodes.section)), len(rest))
    paper = f" · Paper, {_plain(facts['Paper'])}" if "Paper" in facts else ""
    section.children = []
    section += [
        html(f'<p class="kicker">Chapter {chapter[1]}{escape(paper)}</p>'),
        title,
        *wrapped('<div class="subtitle">', before, "</div>"),
        *thin_line(facts),
        *rest[:first],
        *_fold("You will be able to", aims[0].children[-1:] if aims else []),
        *_fold("Where we are", maps),
        *rest[first:parts],
        *imports,
        *rest[parts:],
    ]


def facts_of(line: nodes.Node) -> dict[str, list[nodes.Node]]:
    """What stands behind each bold word of the line, without colon before and dot behind."""
    facts: dict[str, list[nodes.Node]] = {}
    found: list[nodes.Node] = []
    for node in line.children:
        if isinstance(node, nodes.strong):
            found = facts[node.astext()] = []
        else:
            found.append(node)
    for found in facts.values():
        for place, strip in ((0, str.lstrip), (-1, str.rstrip)):
            if found and isinstance(found[place], nodes.Text):
                found[place] = nodes.Text(strip(found[place].astext(), EDGES))
    return facts


def _plain(found: list[nodes.Node]) -> str:
    return "".join(node.astext() for node in found)


def thin_line(facts: dict[str, list[nodes.Node]]) -> list[nodes.Node]:
    """Time, what is needed, and how to run it."""
    times = [part for part in _plain(facts.get("Time", [])).split(", ") if "to run" not in part]
    spans = ["<span>" + MINUTES.sub(BOLD, escape(part)) + "</span>" for part in times]
    needs = facts.get("You need first", [])
    paragraph = nodes.paragraph("", "", html("".join(spans)), classes=["thin-line"])
    if needs:
        paragraph += [html("<span><b>first</b> "), *needs, html("</span>")]
    paragraph += html(RUN)
    return [paragraph]


def _fold(title: str, inside: list[nodes.Node]) -> list[nodes.Node]:
    """Something for the margin, which folds where there is none."""
    if not inside:
        return []
    start = (
        f'<aside class="sidenote" role="note"><details class="in-margin"><summary>{title}</summary>'
    )
    return wrapped(start, inside, "</details></aside>")


def add_ways_to_run(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """End the thin line with the buttons of the header that open the page elsewhere."""
    if RUN not in context.get("body", ""):
        return
    groups = [g for g in context.get("header_buttons", []) if g.get("label") == "launch-buttons"]
    buttons = [button for group in groups for button in group["buttons"]]
    links = [f'<a href="{escape(b["url"])}">{escape(b["text"])}</a>' for b in buttons]
    ways = f"<span>run it in {' · '.join(links)}</span>" if links else ""
    context["body"] = context["body"].replace(RUN, ways)


# The margin: a term where it first stands, and short notes ----------------------------------------

GLOSSARY = "book/glossary"
KOREAN = re.compile(r"^\(([^)]*)\)\s*")
WHERE = re.compile(r"\s*\(?[Cc]hapters? \d\d[^.]*\.?$")
LONGEST_NOTE = 60  # words


def shape_margin(app: Sphinx, document: nodes.document, page: str) -> None:
    """Put the terms and the short notes of a chapter into the margin."""
    if page == GLOSSARY or not CHAPTER.match(page):
        return
    known = terms(app)
    seen: set[str] = set()
    for reference in list(document.findall(nodes.reference)):
        term = reference.get("refuri", "").partition("#")[2]
        block = block_of(reference)
        if term not in known or term in seen or block is None or is_caption(block):
            continue
        seen.add(term)
        note = f'<aside class="sidenote term" role="note">{known[term]}</aside>'
        block.parent.insert(block.parent.index(block), html(note))
    for note in document.findall(nodes.note):
        if len(note.astext().split()) <= LONGEST_NOTE:
            note["classes"].append("sidenote")


def block_of(node: nodes.Node) -> nodes.Node | None:
    """What a node stands in that is directly part of a section."""
    while node.parent is not None and not isinstance(node.parent, nodes.section):
        node = node.parent
    return node if node.parent is not None else None


def terms(app: Sphinx) -> dict[str, str]:
    """Each term's anchor and its note, from the glossary."""
    found: dict[str, str] | None = getattr(app.env, "_terms_in_margin", None)
    if found is None:
        found = {}
        if GLOSSARY in app.env.found_docs:
            for item in app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
                name, meaning = item.children[0], item.children[-1]
                found |= dict.fromkeys(name["ids"], note_of(name.astext(), meaning.astext()))
        app.env._terms_in_margin = found
    return found


def note_of(name: str, meaning: str) -> str:
    """A term and its meaning, without its Korean name and the chapter that explains it."""
    return f"<b>{escape(name)}</b> {escape(WHERE.sub('', KOREAN.sub('', meaning).strip()))}"


# Numbered captions --------------------------------------------------------------------------------

MENTION = re.compile(r"\bFigure (\d+[a-z]?)\.(\d+)\b")
DRAWN = re.compile(r'id="(figure-\d+[a-z]?-\d+)"')
WIDE = "page-wide"
NO_PROSE = (
    nodes.strong,
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.raw,
)
logger = logging.getLogger(__name__)


def shape_captions(app: Sphinx, document: nodes.document, page: str) -> None:
    """Join captions to their figures and link what mentions them."""
    link_mentions(app, document, page)
    numbers = []
    for paragraph in list(document.findall(nodes.paragraph)):
        label = CAPTION.match(label_of(paragraph))
        cell = cell_before(paragraph)
        if not label or cell is None:
            continue
        numbers.append(f"{label[1]}.{label[2]}")
        place = paragraph.parent.index(cell)
        wide = f" {WIDE}" if f"tag_{WIDE}" in cell["classes"] else ""
        start = f'<figure class="numbered{wide}" id="figure-{label[1]}-{label[2]}">'
        paragraph.parent[place : place + 2] = [
            html(start),
            cell,
            html("<figcaption>"),
            paragraph,
            html("</figcaption></figure>"),
        ]
    chapter = CHAPTER.match(page)
    wanted = [f"{short(chapter[1])}.{n + 1}" for n in range(len(numbers))] if chapter else []
    if numbers != wanted:
        logger.warning("figures are numbered %s, not %s", numbers, wanted, location=page)


def cell_before(paragraph: nodes.Node) -> nodes.Node | None:
    """The cell right before a paragraph."""
    place = paragraph.parent.index(paragraph)
    before = paragraph.parent[place - 1] if place else None
    return before if before is not None and is_cell(before) else None


def anchors(document: nodes.document) -> set[str]:
    """The anchors of a page's figures: of captions, and of figures that a cell numbers itself."""
    labels = (CAPTION.match(label_of(paragraph)) for paragraph in document.findall(nodes.paragraph))
    drawn = (DRAWN.findall(raw.astext()) for raw in document.findall(nodes.raw))
    named = {f"figure-{label[1]}-{label[2]}" for label in labels if label}
    return named.union(*drawn)


def short(number: str) -> str:
    """A chapter's number as its figures have it: "9" for "09"."""
    return number.removeprefix("0")


def link_mentions(app: Sphinx, document: nodes.document, page: str) -> None:
    """Make "Figure 2.3" a link, except in captions' own labels, headings and links."""
    found = {name: CHAPTER.match(name) for name in app.env.found_docs}
    pages = {short(chapter[1]): name for name, chapter in found.items() if chapter}

    def linked(found: re.Match[str]) -> nodes.Node:
        target, anchor = pages.get(found[1]), f"figure-{found[1]}-{found[2]}"
        there = document if target == page else target and app.env.get_doctree(target)
        if not target or anchor not in anchors(there):
            logger.warning("there is no %s", found[0], location=page)
            return nodes.Text(found[0])
        uri = "" if target == page else app.builder.get_relative_uri(page, target)
        return nodes.reference("", found[0], refuri=f"{uri}#{anchor}", internal=True)

    for words in list(document.findall(nodes.Text)):
        if isinstance(words.parent, NO_PROSE) or not MENTION.search(words):
            continue
        pieces: list[nodes.Node] = []
        end = 0
        for found in MENTION.finditer(words):
            pieces += [nodes.Text(words[end : found.start()]), linked(found)]
            end = found.end()
        words.parent.replace(words, [*pieces, nodes.Text(words[end:])])


# The contents of a page, below its chapter in the bar on the left ---------------------------------


def headings(document: nodes.document) -> list[tuple[str, str]]:
    """Anchor and words of each second-level heading."""
    parts = (part for part in document.findall(nodes.section) if part.parent in document.children)
    return [(part["ids"][0], part.next_node(nodes.title).astext()) for part in parts]


def with_contents(tree: Callable[..., Any], found: list[tuple[str, str]]) -> Callable[..., Any]:
    """The theme's own function for the bar, whose current page also shows its headings."""

    def drawn(*args: Any, **kwargs: Any) -> Any:
        soup = tree(*args, **kwargs)
        current = soup.select("li.current.active") if isinstance(soup, BeautifulSoup) else []
        if current and not current[-1].select("ul.here"):
            within = soup.new_tag("ul", attrs={"class": "here"})
            for anchor, words in found:
                item, link = soup.new_tag("li"), soup.new_tag("a", href=f"#{anchor}")
                link.string = words
                item.append(link)
                within.append(item)
            current[-1].append(within)
        return soup

    return drawn


def show_contents(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Add the headings of a page to the bar."""
    found = headings(doctree) if doctree else []
    if found and "generate_toctree_html" in context:
        context["generate_toctree_html"] = with_contents(context["generate_toctree_html"], found)


# The code of a solution, inside the box of its text -----------------------------------------------

TAG = "tag_solution"  # a cell of its own below the text runs, and other programs can fold it


class SolutionCells(SphinxTransform):
    """Move each cell tagged `solution` into the solution right before it."""

    default_priority = 11

    def apply(self, **kwargs: Any) -> None:
        """Move the cells, and give ids of their own to what every exercise would share."""
        for cell in list(self.document.findall(nodes.container)):
            if TAG in cell["classes"]:
                place = cell.parent.index(cell)
                before = cell.parent[place - 1] if place else None
                if not isinstance(before, solution_node):
                    raise ValueError(f"{self.env.docname}: a solution after no text")
                cell.parent.remove(cell)
                _content(before).append(cell)
        for kind in (exercise_node, exercise_enumerable_node, solution_node):
            for box in self.document.findall(kind):
                _content(box)["ids"] = [f"{box['ids'][0]}-content"]


def number_exercises(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number exercises by chapter, 2.1, where Sphinx counts them through the whole book."""
    for page, kinds in env.toc_fignumbers.items():
        if chapter := re.match(r"book/(\d\d)-", page):
            numbered = enumerate(kinds.get("exercise", {}), start=1)
            kinds["exercise"] = {label: (int(chapter[1]), n) for n, label in numbered}
    return []


def say_where_they_run(document: nodes.document) -> None:
    """The first line of a box says where its code runs, which is not on the site."""
    for kind in (exercise_node, exercise_enumerable_node):
        for box in document.findall(kind):
            line = next(box.findall(nodes.paragraph), None)
            if line is not None:
                line += html(f'<span class="runs"> · not on this page: {RUN}</span>')


def _content(box: nodes.Element) -> nodes.Element:
    return next(box.findall(nodes.section), box)


# The place of the translator ----------------------------------------------------------------------

LIVE = "live-translator"
NEEDED = "The translator, and the button that loads it, need JavaScript, which does not run here."


def offer_translator(document: nodes.document) -> None:
    """A script puts the translator there; what a notebook says in its place is not for the site."""
    for box in document.findall(nodes.container):
        if LIVE in box["classes"]:
            box.children = [html(f"<noscript><p>{NEEDED}</p></noscript>")]


# All together -------------------------------------------------------------------------------------


def shape(app: Sphinx, document: nodes.document, page: str) -> None:
    """Bring a page into its form; links are resolved by now."""
    if app.builder.format != "html":
        return
    shape_opener(document, page)
    shape_margin(app, document, page)
    shape_captions(app, document, page)
    say_where_they_run(document)
    offer_translator(document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the parts to a build."""
    app.add_transform(SolutionCells)
    app.connect("env-get-updated", number_exercises, priority=900)  # when Sphinx has counted
    app.connect("doctree-resolved", shape)
    app.connect("html-page-context", add_ways_to_run, priority=900)
    app.connect("html-page-context", show_contents, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
