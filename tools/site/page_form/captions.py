"""Numbered captions: a paragraph that begins with **Figure 2.3**, right after a cell.

The number is written, so it reads the same everywhere; the build says when it is wrong. Here the
paragraph becomes the caption of the cell's figure, and "Figure 2.3" in the prose of any chapter a
link to it.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from tools.site.page_form.parts import CAPTION, html, is_cell, label_of

MENTION = re.compile(r"\bFigure (\d+)\.(\d+)\b")
DRAWN = re.compile(r'id="(figure-\d+-\d+)"')
CHAPTER = re.compile(r"book/(\d\d)-")
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


def shape(app: Sphinx, document: nodes.document, page: str) -> None:
    """Join captions to their figures and link what mentions them."""
    link_mentions(app, document, page)
    numbers = []
    for paragraph in list(document.findall(nodes.paragraph)):
        label = CAPTION.match(label_of(paragraph))
        cell = cell_before(paragraph)
        if not label or cell is None:
            continue
        numbers.append((int(label[1]), int(label[2])))
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
    wanted = [(int(chapter[1]), n + 1) for n in range(len(numbers))] if chapter else []
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


def link_mentions(app: Sphinx, document: nodes.document, page: str) -> None:
    """Make "Figure 2.3" a link, except in captions' own labels, headings and links."""
    pages = {name[5:7]: name for name in sorted(app.env.found_docs) if CHAPTER.match(name)}

    def linked(found: re.Match[str]) -> nodes.Node:
        target, anchor = pages.get(f"{int(found[1]):02d}"), f"figure-{found[1]}-{found[2]}"
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
