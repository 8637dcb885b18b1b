"""Make book/libraries.md, the paper's model in other libraries, from results/libraries.json.

    python -m tools.book.libraries

No figure of the page is typed: `python -m tools.verify.libraries` measures each, and the code that
the page shows is cut out of the adapter that was measured.
"""

import ast
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from tools.verify.libraries.__main__ import HERE, Library, read_list, read_record
from tools.verify.libraries.probe import FACTS
from tools.verify.libraries.searches import BEAM, SENTENCES

from walkthrough.page.links import BRANCH, REPOSITORY_URL

PAGE = Path(__file__).resolve().parents[2] / "book/libraries.md"
SHOWN = ("torch", "transformers", "ctranslate2", "x-transformers", "keras-hub")
"""The libraries whose `carry` the page shows."""
TESTED = ("torch", "keras-hub")
"""Those that a test of the suite holds equal, where they are installed."""
LAYOUT = re.compile("interleaved|halves|learned|none|table")
NO_BREAK = "\u00a0"

HEAD = """\
---
myst:
  html_meta:
    description: What other libraries' Transformers compute by default beside the paper's, measured.
---

# The paper's model in the libraries

Your library has a Transformer, too. Is it the paper's? Look yours up: {doors}.

A program moved one model of this book, all of its weights random, into each of these libraries,
gave both the same two sentences, one of them padded, and compared what came out. Nothing below was
taken from documentation.

"""
BETWEEN = """
A difference is the largest of any number at a real position: of the encoder's output (*memory*) and
of the logits, whose standard deviation is {spread:.1f}; below 1e-4 it is rounding. *Norm* and *last
norm* belong to [chapter 08](08-residuals-and-layer-norm.ipynb), √d_model and the tied matrix to
[06](06-embeddings-and-softmax.ipynb), positions to [07](07-positional-encoding.ipynb), masks to
[03](03-masks.ipynb), dropout to [13](13-regularisation.ipynb), search to [15](15-decoding.ipynb).
Searches were compared on {sentences} sentences of the phrasebook, with a half-trained translator
and a beam of {beam}. All of it ran on a CPU with Python {python} and torch {torch}; version and day
stand with each library.

`python -m tools.verify.libraries NAME` measures a library again, in an environment of its own, and
`python -m tools.book.libraries` writes this page. Behind its own packages such an environment sees
those of this book's lock; so whatever a library forgets to ask for may be there all the same.
"""
TOP = "| Library | Does it carry the paper's model? What does it compute by default? |\n|---|---|\n"


def page(libraries: list[Library], record: dict[str, Any]) -> str:
    """Return the text of the page.

    Raises:
        KeyError: a library has no row, or a row lacks a fact.
    """
    rows = record["rows"]
    by_name = sorted(libraries, key=lambda library: library.title.casefold())
    head = HEAD.format(doors=" · ".join(map(_link, by_name)))
    told = (f"| {_overview(library, rows[library.name])} |" for library in libraries)
    sections = ("\n\n".join(_section(library, rows[library.name])) for library in libraries)
    between = BETWEEN.format(
        **record, spread=rows["torch"]["spread"], sentences=SENTENCES, beam=BEAM
    )
    return f"{head}{TOP}" + "\n".join(told) + f"\n{between}\n" + "\n\n".join(sections) + "\n"


def _overview(library: Library, row: dict[str, Any]) -> str:
    link = f"{_link(library)} {_version(row)}"
    facts = row.get("facts")
    if not facts:
        return f"{link} | **not measured**: {_trouble(row)}"
    if facts["norm"] == "no stack":
        return f"{link} | **{row['carries']}**; no stack; {_true(facts)}"
    norm, last = facts["norm"], facts["last_norm"]
    words = [
        f"{norm}-norm" if norm in ("post", "pre") else f"norm {norm}",
        f"{'a' if last == 'yes' else 'no'} last norm",
        f"√d_model: {re.split('[:;,]', facts['scale'])[0]}",
        f"positions: {LAYOUT.search(facts['positions'])[0]}",
        facts["activation"],
        _true(facts),
    ]
    return f"{link} | **{row['carries']}**{_last(row['carried'])}; {', '.join(words)}"


def _section(library: Library, row: dict[str, Any]) -> Iterator[str]:
    yield f"({_anchor(library)})=\n## {library.title}"
    day, how = date.fromisoformat(row["date"]), row["installs"]
    beside = "It installs beside this torch." if how == "yes" else f"Installing it: {how}."
    if failure := row.get("import"):
        beside += f" The import fails: “{failure}”."
    elif "facts" not in row and "installed" in how:
        beside += " It can be imported then; nothing was measured."
    yield f"{library.package} {_version(row)}, {day.day} {day:%B %Y}. {beside}"
    if "facts" not in row:
        return
    facts, lines = row["facts"], []
    if row["default"]:
        lines += [("With its defaults", f"{_difference(row['default'])} from the paper's")]
    lines += [(label, facts[key]) for key, label in FACTS.items() if facts[key] != "no stack"]
    top = f"| Carries the paper's model | {_verdict(row)}: {row['with']} |\n|---|---|"
    yield "\n".join((top, *(f"| {label} | {fact} |" for label, fact in lines)))
    yield from filter(None, row["notes"])
    if library.name in SHOWN:
        place = f"tools/verify/libraries/adapters/{library.adapter}.py"
        yield (
            f"Our weights in it ([adapter]({REPOSITORY_URL}/blob/{BRANCH}/{place})); held equal by "
            + ("`tests/tools/test_libraries.py`:" if library.name in TESTED else "the program:")
        )
        yield f"```python\n{shown(library)}\n```"


def shown(library: Library) -> str:
    """Return an adapter's `carry` as a reader would copy it: with the imports that it needs."""
    text = (HERE / "adapters" / f"{library.adapter}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    carry = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "carry")
    used = {node.id for node in ast.walk(carry) if isinstance(node, ast.Name)}
    lines = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [n for n in node.names if (n.asname or n.name) in used]
            lines += [ast.unparse(node)] if node.names else []
    first = min(node.lineno for node in (carry, *carry.decorator_list)) - 1
    return "\n".join([*lines, "", "", *text.splitlines()[first : carry.end_lineno]])


def _verdict(row: dict[str, Any]) -> str:
    return f"{row['carries']}" + (f", {_difference(row['carried'])}" if row["carried"] else "")


def _last(found: dict[str, float]) -> str:
    return f", {_difference(dict([*found.items()][-1:]))}" if found else ""


def _difference(found: dict[str, float]) -> str:
    names = {"log_probs": "log-probabilities"}
    return ", ".join(f"{names.get(k, k)}{NO_BREAK}{_number(v)}" for k, v in found.items())


def _number(value: float) -> str:
    return f"{value:.1e}".replace("e-0", "e−") if 0 < value < 0.01 else f"{value:.2g}"


def _true(facts: dict[str, str]) -> str:
    return f"True: {facts['true'].partition(':')[0]}"


def _trouble(row: dict[str, Any]) -> str:
    return "its import fails" if "import" in row else row["installs"].partition(";")[0]


def _version(row: dict[str, Any]) -> str:
    return str(row["version"]).partition("+")[0]


def _link(library: Library) -> str:
    return f"[{library.title}](#{_anchor(library)})"


def _anchor(library: Library) -> str:
    return f"library-{library.name}"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(read_list(), read_record()), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
