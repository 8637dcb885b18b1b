"""Code is marked up where the mark shows.

Pygments puts each name and each bracket into an element of its own, in the colour that they would
have anyway: half of the elements of a chapter.
"""

import re
from typing import Any

from sphinx.application import Sphinx

# Names, punctuation and space have the colour of plain code in both of the theme's styles, and so
# may a dot and an equals sign; the last is what Pygments gives to text without a kind.
PLAIN = ("n", "p", "w", "")
MARK = re.compile(
    rf'<span(?: class="(?:{"|".join(PLAIN)})")?>([^<>]*)</span>|<span class="o">([.=])</span>'
)
BLOCK = re.compile(r'(<div class="[^"]*highlight[^"]*"[^>]*>.*?</pre>)', re.DOTALL)


def unmarked(html: str) -> str:
    """The same code without marks that nobody sees."""
    return BLOCK.sub(lambda block: MARK.sub(r"\1\2", block[0]), html)


def lighten(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Write a page's code, and that of its outputs, with fewer elements."""
    if "body" in context:
        context["body"] = unmarked(context["body"])


def setup(app: Sphinx) -> None:
    """Look at each page before it is written."""
    app.connect("html-page-context", lighten, priority=900)
