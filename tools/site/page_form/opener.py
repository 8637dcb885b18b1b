"""A chapter's opener, from its first lines.

    # A question

    One line below.

    **Paper**: Section 3.2.1 · **Time**: 35 minutes to read, … · **You need first**: …; helpful: …

    :::{dropdown} You will be able to
    - …
    :::

The section goes above the title, the rest becomes one thin line that ends with the ways to run the
page. Aims and the small map of the model go into the margin, folded on a phone. The cell of imports
goes behind the introduction.
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from tools.site.page_form.parts import html, is_cell, is_prose, label_of, wrapped

CHAPTER = re.compile(r"book/(\d\d)-")
FACTS = ("Paper", "Time")
AIMS = "You will be able to"
MAP = 'class="architecture"'
NOTE = '<aside class="sidenote" role="note">'
RUN = "<!-- ways to run it -->"
BOLD = r"<b>\1 min</b>"
MINUTES = re.compile(r"(\d+) minutes?")
EDGES = " :·\n"


def shape(document: nodes.document, page: str) -> None:
    """Give a chapter that has such lines its opener."""
    chapter = CHAPTER.match(page)
    section = next(iter(document.findall(nodes.section)), None)
    if not chapter or section is None:
        return
    line = next((node for node in section.children if label_of(node) in FACTS), None)
    if line is None:
        _short(section, chapter[1])
        return
    facts = facts_of(line)
    title = section.children[0]
    before = [node for node in section.children[1 : section.index(line)]]
    after = section.children[section.index(line) + 1 :]
    aims = [node for node in after if node.astext().strip().startswith(AIMS)][:1]
    maps = [node for node in after if is_cell(node) and MAP in node.astext()][:1]
    imports = [node for node in after if is_cell(node, "hide-input")][:1]
    moved = [*aims, *maps, *imports]
    rest = [node for node in after if not any(node is one for one in moved)]
    first = next((n for n, node in enumerate(rest) if is_prose(node)), 0)
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


def _short(section: nodes.section, number: str) -> None:
    """The opener of a chapter without a section of its own: *One line below · 12 minutes · …*."""
    line = section.children[1] if len(section.children) > 1 else None
    words = [node for node in line.children if node.astext()] if line else []
    if not isinstance(line, nodes.paragraph) or not isinstance(words[0], nodes.emphasis):
        return
    below, *facts = words[0].astext().split(" · ")
    spans = "".join(f"<span>{MINUTES.sub(BOLD, escape(fact))}</span>" for fact in facts)
    section.children[1:2] = [
        html(f'<div class="subtitle"><p>{escape(below)}</p></div>'),
        html(f'<p class="thin-line">{spans}{RUN}</p>'),
    ]
    section.insert(0, html(f'<p class="kicker">Chapter {number}</p>'))


def facts_of(line: nodes.Node) -> dict[str, list[nodes.Node]]:
    """What stands behind each bold word of the line."""
    facts: dict[str, list[nodes.Node]] = {}
    name = ""
    for node in line.children:
        if isinstance(node, nodes.strong):
            name = node.astext()
            facts[name] = []
        elif name:
            facts[name].append(node)
    return {name: _trimmed(found) for name, found in facts.items()}


def _trimmed(found: list[nodes.Node]) -> list[nodes.Node]:
    """Without the colon before and the dot between."""
    out = list(found)
    if out and isinstance(out[0], nodes.Text):
        out[0] = nodes.Text(out[0].astext().lstrip(EDGES))
    if out and isinstance(out[-1], nodes.Text):
        out[-1] = nodes.Text(out[-1].astext().rstrip(EDGES))
    return out


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
