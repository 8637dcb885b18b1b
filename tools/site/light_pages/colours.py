"""One colour for one thing: query, key, value, weight and output in formulas and in code.

In the chapters about attention their letters and names get a class, whose colour `book.css` says;
elsewhere `V` is a vocabulary and `key` the key of a dictionary.
"""

import re
from typing import Any

from sphinx.application import Sphinx

CHAPTERS = re.compile(r"book/(00|01|02|03|04|09|10)-")
ROLES = {
    "query": ("q", "Q", "query", "queries", "W_Q", "w_query"),
    "key": ("k", "K", "key", "keys", "W_K", "w_key"),
    "value": ("v", "V", "value", "values", "W_V", "w_value"),
    "weight": ("weights", "weight"),
    "output": ("output", "outputs"),
}
ROLE = {name: role for role, names in ROLES.items() for name in names}
# A small letter that is an index (the k of d_k) stands right after what it belongs to.
LETTER = re.compile(r"<mi>([QKV])</mi>|(?<!</mi>)<mi>([qkv])</mi>")
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
NAME = re.compile(rf'<span class="n">({"|".join(ROLE)})</span>')


def coloured(html: str) -> str:
    """The same page, with the parts of attention marked where they are letters or names."""

    def letter(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return f'<mi class="{ROLE[name]}">{name}</mi>'

    html = FORMULA.sub(lambda formula: LETTER.sub(letter, formula[0]), html)
    return NAME.sub(lambda name: f'<span class="{ROLE[name[1]]}">{name[1]}</span>', html)


def colour(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Mark the parts of attention on a page about it."""
    if "body" in context and CHAPTERS.match(page):
        context["body"] = coloured(context["body"])


def setup(app: Sphinx) -> None:
    """Before the marks of code that nobody sees are left out."""
    app.connect("html-page-context", colour, priority=890)
