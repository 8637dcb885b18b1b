"""What the parts of a page's form share: pieces of HTML around nodes, and cells."""

import re
from collections.abc import Sequence

from docutils import nodes

CAPTION = re.compile(r"Figure (\d+)\.(\d+)\.?$")
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


def is_prose(node: nodes.Node) -> bool:
    """Whether a node is a paragraph of the text."""
    return isinstance(node, nodes.paragraph) and not is_caption(node)
