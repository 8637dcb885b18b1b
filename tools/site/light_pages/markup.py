"""The markup of a page, before it is written: colours, fewer marks in code, scripts that wait."""

import re
from typing import Any

from sphinx.application import Sphinx
from tools.site.light_pages.mathematics import kept_together

# One colour for one thing: query, key, value, weight and output in formulas and in code. In the
# chapters about attention their letters and names get a class, whose colour `book.css` says;
# elsewhere `V` is a vocabulary, `key` the key of a dictionary, `k` the width of a kernel.
CHAPTERS = re.compile(r"book/(00|01|02|03|04|09)-")
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


# Code is marked up where the mark shows. Pygments puts each name and each bracket into an element
# of its own, in the colour that they would have anyway: half of the elements of a chapter.
# Names, punctuation and space have the colour of plain code in both of the theme's styles, and so
# may a dot and an equals sign; the last is what Pygments gives to text without a kind.
PLAIN = ("n", "p", "w", "")
MARK = re.compile(
    rf'<span(?: class="(?:{"|".join(PLAIN)})")?>([^<>]*)</span>|<span class="o">([.=])</span>'
)
BLOCK = re.compile(r'(<div class="[^"]*(?<!no)highlight[^"]*"[^>]*>.*?</pre>)', re.DOTALL)


def unmarked(html: str) -> str:
    """The same code without marks that nobody sees."""
    return BLOCK.sub(lambda block: MARK.sub(r"\1\2", block[0]), html)


# A number is one piece: its thousands stand apart by a space that does not break.
AS_WRITTEN = re.compile(r"(<(pre|code|script|style|textarea)\b.*?</\2>|<[^>]*>)", re.DOTALL)
THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")


def unbroken(html: str) -> str:
    """The same page, whose numbers stay in one line; code keeps what it has."""
    pieces = AS_WRITTEN.split(html)
    for n in range(0, len(pieces), 3):  # text, what stays as it is, its name
        pieces[n] = THOUSANDS.sub(lambda number: number[0].replace(" ", "\N{NBSP}"), pieces[n])
    return "".join(piece for n, piece in enumerate(pieces) if n % 3 != 2)


# What stands alone in the cell of a table needs no paragraph: a third of a long table's elements.
ALONE = re.compile(r"(<t[dh]\b[^>]*>)<p>((?:(?!</?p\b).)*)</p>(?=</t[dh]>)", re.DOTALL)


def finish(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Colour the parts of attention, keep together what is one, write with fewer elements."""
    if "body" in context:
        body = coloured(context["body"]) if CHAPTERS.match(page) else context["body"]
        context["body"] = ALONE.sub(r"\1\2", unmarked(unbroken(kept_together(body))))


# Scripts wait until the page is read, so that it can be shown before: all but the early ones, which
# have a priority of 100 in the configuration, as what they offer is called while the page is read.
EARLY = 100
AS_THEY_ARE = {"search"}  # the words searched for and the index are there as soon as it is read


def waiting(script: Any) -> Any:
    """The same script, run when the page is read, in the order of all that wait."""
    attributes = dict(script.attributes)
    if script.filename and script.priority > EARLY:
        attributes.setdefault("defer", "defer")
    elif "DOCUMENTATION_OPTIONS." in attributes.get("body", ""):
        attributes["type"] = "module"  # what it changes is made by a script that waits
    return type(script)(script.filename, priority=script.priority, **attributes)


def defer_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Make the scripts in the head of a page wait."""
    if page not in AS_THEY_ARE:
        context["script_files"] = [waiting(script) for script in context["script_files"]]


def setup(app: Sphinx) -> None:
    """Look at bodies when all is there, at scripts after all others that add some."""
    app.connect("html-page-context", finish, priority=900)
    app.connect("html-page-context", defer_scripts, priority=950)
