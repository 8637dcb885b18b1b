"""Write the chapters as notebooks that any place can show: Colab, GitHub, Kaggle, VS Code.

    make notebooks

What only MyST understands becomes plain Markdown: a box is a block quote, a fold is `<details>`,
roles are their text, links lead to the site. Outputs are stored, figures among them as pictures. A
first cell installs the book where it is missing. They go to `_build/notebooks`, which a workflow
publishes as a branch, and to the site, whose download button offers them. As an extension of Sphinx
this file lets the site's Colab buttons lead to that branch.
"""

import html
import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
from jupyter_cache import get_cache
from nbformat import NotebookNode
from tools.site.chart_stills import SPEC, pictures
from tools.site.sharing import site_address

from walkthrough.page.links import REPOSITORY_URL

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "notebooks"
OWNER, NAME = REPOSITORY_URL.split("/")[-2:]
SITE = f"{site_address(REPOSITORY_URL)}book/"
COLAB = f"https://colab.research.google.com/github/{OWNER}/{NAME}/blob/{BRANCH}/"
INSTALL = f'''\
# @title Run this first. Where the book is installed it does nothing
import importlib.util

if importlib.util.find_spec("walkthrough") is None:
    %pip install -q "transformer-walkthrough[colab] @ git+{REPOSITORY_URL}"'''

OPENING = re.compile(r"^([:`~]{3,})\{([\w-]+)\} *(.*)$")
LITERAL = re.compile(r"^ {0,3}(`{3,}|~{3,})")
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]+?) *(?:<[^`]*>)?`")
PAGE = re.compile(r"\]\(([\w-]+)\.(?:ipynb|md)(#[\w-]+)?\)|\]\((#[\w-]+)\)")
VARIABLE = re.compile(r"var\(--[\w-]+(?:, *([^()]+))?\)")
INK, GROUND = "#24292f", "#ffffff"


def plain(text: str, page: str) -> str:
    """Return MyST as Markdown that every place understands.

    Raises:
        ValueError: a directive that has no such form.
    """
    return "\n".join(_lines(iter(text.splitlines()), page)).strip("\n")


def _lines(lines: Iterator[str], page: str) -> Iterator[str]:
    for line in lines:
        if found := OPENING.match(line):
            fence, name, title = found.groups()
            body = list(_until(fence, lines))
            while body and re.match(r":[\w-]+:", body[0]):
                del body[0]
            yield from _box(name, _inline(title, page), plain("\n".join(body), page))
        elif found := LITERAL.match(line):
            yield from (line, *_until(found[1], lines), found[1])
        else:
            yield _inline(line, page)


def _until(fence: str, lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if re.fullmatch(rf" *{fence[0]}{{{len(fence)},}} *", line):
            return
        yield line


def _box(name: str, title: str, body: str) -> list[str]:
    if name == "div":
        return ["", body, ""]
    if name == "exercise":
        number = re.match(r"\d+\.\d+ ", title)  # that of `numbered`
        name = f"Exercise {number[0].strip()}" if number else "Exercise"
        return ["", f"**{name}: {title[number.end() if number else 0 :]}**", "", body, ""]
    if name in ("dropdown", "solution"):
        word = "Solution" if name == "solution" else _summary(title)
        return ["", f"<details><summary>{word}</summary>", "", body, "", "</details>", ""]
    if name in ("admonition", "note", "tip", "warning"):
        told = [f"**{title or name.capitalize()}**", "", *body.splitlines()]
        return ["", *(f"> {line}".rstrip() for line in told), ""]
    raise ValueError(f"{{{name}}} has no form in a plain notebook")


def _summary(title: str) -> str:
    """Return HTML, because places read no Markdown inside a tag."""
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(title, quote=False))
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"<em>\1</em>", title)


def _inline(line: str, page: str) -> str:
    line = ROLE.sub(r"\1", line)
    return PAGE.sub(lambda m: f"]({SITE}{m[1] or page}.html{m[2] or m[3] or ''})", line)


def numbered(source: str, page: str, numbers: Iterator[int]) -> str:
    """Return Markdown in which each exercise has its number, 2.1."""
    chapter = re.search(r"\b(\d\d)-", page)
    return re.sub(
        r"\{exercise\} ",
        lambda found: f"{found[0]}{int(chapter[1]) if chapter else 0}.{next(numbers)} ",
        source,
    )


def plain_notebook(executed: NotebookNode, page: str) -> NotebookNode:
    """Return a chapter in its plain form; the outputs are those of `executed`."""
    cells, numbers = [], count(1)
    for cell in executed.cells:
        made = nbformat.from_dict({**cell, "metadata": {}})
        if cell.cell_type == "markdown":
            made.source = plain(numbered(cell.source, page, numbers), page)
        else:
            if cell.metadata.get("jupyter", {}).get("source_hidden"):
                made.metadata = {"cellView": "form", "jupyter": {"source_hidden": True}}
            made.outputs = [] if _unseen(cell) else cell.outputs
        cells.append(made)
    head = f"[Open in Colab]({COLAB}{page}.ipynb) · [read it on the site]({SITE}{page}.html)"
    cells[0].source = cells[0].source.replace("\n", f"\n\n{head}\n", 1)
    install = nbformat.v4.new_code_cell(INSTALL, id="install")
    install.metadata = {"cellView": "form", "jupyter": {"source_hidden": True}}
    cells.insert(1, install)
    kernel = executed.metadata.kernelspec
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _unseen(cell: NotebookNode) -> bool:
    return "remove-cell" in cell.metadata.get("tags", [])


def draw(notebooks: list[NotebookNode], root: Path) -> None:
    """Turn stored charts and drawings, which places that run no script leave out, into pictures."""
    charts = []
    for cell in (cell for notebook in notebooks for cell in notebook.cells):
        for output in cell.get("outputs", []):
            page = output.get("data", {}).get("text/html", "")
            if found := SPEC.search(page):
                spec, _ = json.JSONDecoder().raw_decode(page, found.end())
                charts.append((output, spec))
            elif page.lstrip().startswith("<svg"):
                _store(output, page[: page.index("</svg>") + 6])
    drawn = pictures([spec for _, spec in charts], root / "book" / "web")
    for (output, _), picture in zip(charts, drawn, strict=True):
        _store(output, picture)


def _store(output: NotebookNode, svg: str) -> None:
    """Keep the picture and the words; no place has our style sheet."""
    svg = re.sub(r"<style>.*?</style>", "", svg)  # which of two drawings a screen shows
    svg = VARIABLE.sub(lambda found: found[1] or INK, svg)
    svg = svg.replace("currentColor", INK).replace("Canvas", GROUND)
    if "style=" not in svg[: svg.index(">")]:
        svg = svg.replace("<svg", '<svg style=""', 1)
    svg = svg.replace('style="', f'style="background:{GROUND};', 1)
    output.data = {"image/svg+xml": svg, "text/plain": output.data.get("text/plain", "")}


def write(root: Path = ROOT) -> int:
    """Write every chapter that the build has run; return how many."""
    cache = get_cache(root / "_build" / ".jupyter_cache")
    made = {}
    for path in sorted((root / "book").glob("*.ipynb")):
        _, executed = cache.merge_match_into_notebook(nbformat.read(path, as_version=4))
        made[path.name] = plain_notebook(executed, path.stem)
    draw(list(made.values()), root)
    folders = [root / "_build" / "notebooks", root / "_build" / "html" / "_sources" / "book"]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for name, notebook in made.items():
            (folder / name).write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    return len(made)


def lead_to_branch(app: Any, page: str, template: str, context: dict[str, Any], *_: Any) -> None:
    """Let the Colab button of a page open its plain notebook."""
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("text") == "Colab":
                button["url"] = f"{COLAB}{page.rpartition('/')[2]}.ipynb"


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx when to call: after the theme has made its buttons."""
    app.connect("html-page-context", lead_to_branch, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    print(f"{write()} plain notebooks under _build/notebooks")
