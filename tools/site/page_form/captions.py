"""Numbered captions: a paragraph that begins with **Figure 2.3**, right after a cell.

The number is written, so it reads the same everywhere; the build says when it is wrong. Here the
paragraph becomes the caption of the cell's figure, and "Figure 2.3" in the prose of any chapter a
link to it.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from tools.site.page_form.parts import html, is_cell, label_of

LABEL = re.compile(r"Figure (\d+)\.(\d+)\.?$")
MENTION = re.compile(r"\bFigure (\d+)\.(\d+)\b")
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
        label = LABEL.match(label_of(paragraph))
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
    chapter = re.match(r"book/(\d\d)-", page)
    wanted = [(int(chapter[1]), n + 1) for n in range(len(numbers))] if chapter else []
    if numbers != wanted:
        logger.warning("figures are numbered %s, not %s", numbers, wanted, location=page)


def cell_before(paragraph: nodes.Node) -> nodes.Node | None:
    """The cell right before a paragraph."""
    place = paragraph.parent.index(paragraph)
    before = paragraph.parent[place - 1] if place else None
    return before if before is not None and is_cell(before) else None


def link_mentions(app: Sphinx, document: nodes.document, page: str) -> None:
    """Make "Figure 2.3" a link, except in captions' own labels, headings and links."""
    chapters = {name[5:7]: name for name in sorted(app.env.found_docs) if name.startswith("book/")}
    for words in list(document.findall(nodes.Text)):
        if not MENTION.search(words) or isinstance(words.parent, NO_PROSE):
            continue
        pieces: list[nodes.Node] = []
        end = 0
        for found in MENTION.finditer(words):
            pieces.append(nodes.Text(words[end : found.start()]))
            target = chapters.get(f"{int(found[1]):02d}")
            uri = app.builder.get_relative_uri(page, target) if target else ""
            uri = ("" if target == page else uri) + f"#figure-{found[1]}-{found[2]}"
            pieces.append(nodes.reference("", found[0], refuri=uri, internal=True))
            end = found.end()
        words.parent.replace(words, [*pieces, nodes.Text(words[end:])])
