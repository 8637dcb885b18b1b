"""The margin: a term where it first stands, with its Korean name, and short notes."""

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from tools.site.page_form.parts import html, is_caption

GLOSSARY = "book/glossary"
KOREAN = re.compile(r"^\(([^)]*)\)\s*")
WHERE = re.compile(r"\s*\(?[Cc]hapters? \d\d[^.]*\.?$")
LONGEST_NOTE = 60  # words


def shape(app: Sphinx, document: nodes.document, page: str) -> None:
    """Put the terms and the short notes of a chapter into the margin."""
    if page == GLOSSARY or not re.match(r"book/\d\d-", page):
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
    """A term, its Korean name and its meaning, without the chapter that explains it."""
    korean = KOREAN.match(meaning)
    words = WHERE.sub("", KOREAN.sub("", meaning).strip())
    named = f' <span lang="ko">{escape(korean[1])}</span>' if korean else ""
    return f"<b>{escape(name)}</b>{named} {escape(words)}"
