"""Formulas become MathML when the book is built: no script sets them on the page.

Temml sets them. It runs in one node process, asked formula by formula.
"""

import atexit
import json
import re
import subprocess
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator
from tools.environment.steps import node_command

RENDERER = "mathml"
# A formula in a line, and what is written against it: (d, d), d-dimensional.
LETTER = r"(?:[^\s<&]|&\w+;)"
IN_LINE = re.compile(rf"([(\[“‘]*)(<math>.*?</math>)({LETTER}{{0,12}})", re.DOTALL)


class FormulaError(ValueError):
    """A formula that Temml does not understand."""


@cache
def setter() -> subprocess.Popen[str]:
    """The process that sets formulas; it ends with this one."""
    process = subprocess.Popen(
        node_command(Path(__file__).with_name("set_formulas.mjs")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    atexit.register(process.communicate)
    return process


@cache
def mathml(tex: str, *, display: bool = False) -> str:
    """A formula as a `<math>` element.

    Raises:
        FormulaError: the formula does not parse, with what Temml says.
    """
    process = setter()
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("node ended before it set a formula: is book/web/node_modules there?")
    answer = json.loads(line)
    if "error" in answer:
        raise FormulaError(answer["error"])
    return answer["mathml"]


def set_on_page(translator: HTML5Translator, node: nodes.Node, tex: str, display: bool) -> str:
    """`mathml`, whose error names page and line."""
    try:
        return mathml(tex, display=display)
    except FormulaError as error:
        page = getattr(translator.builder, "current_docname", "?")
        line = f":{node.line}" if node.line else ""
        raise ExtensionError(f"{page}{line}: the formula {tex!r} does not parse: {error}") from None


def aligned(tex: str) -> str:
    """Blank lines separate equations, as Sphinx has it; they stand below each other."""
    parts = [part.strip() for part in tex.split("\n\n") if part.strip()]
    if len(parts) == 1:
        return parts[0]
    return r"\begin{aligned}" + r"\\".join(parts) + r"\end{aligned}"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line of text."""
    self.body.append(set_on_page(self, node, node.astext(), False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula by itself, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    tex = node.astext() if node.get("nowrap") else aligned(node.astext())
    self.body.append(set_on_page(self, node, tex, True) + "</div>\n")
    raise nodes.SkipNode


def kept_together(html: str) -> str:
    """Formulas and what is written against them in one piece: no comma begins a line."""

    def piece(found: re.Match[str]) -> str:
        return f'<span class="together">{found[0]}</span>' if found[1] or found[3] else found[0]

    return IN_LINE.sub(piece, html)


def setup(app: Sphinx) -> None:
    """Offer the renderer; `html_math_renderer` in the configuration chooses it."""
    app.add_html_math_renderer(RENDERER, (visit_inline, None), (visit_block, None))
