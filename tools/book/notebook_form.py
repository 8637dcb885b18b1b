"""The one form that a notebook has in git.

nbformat 4.5, readable cell ids, python3 kernel, no execution counts, no rich outputs. Text outputs
stay in cells tagged `nbval-check-output` and nowhere else. The layout of code is ruff's, which
reads notebooks by itself (`book/ruff.toml`).
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import nbformat
from nbformat import NotebookNode
from tools.book.notebook_folds import UNOPENED, fold

CHECKED = "nbval-check-output"
RAN = 1  # nbval refuses outputs of a cell that has no count, so all such cells have the same one
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
RANDOM_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?|[0-9]+")
VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LITERAL = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1", re.DOTALL | re.MULTILINE)
STARTS_A_CELL = re.compile(r"(?<=\n)(?:#{1,3} |[`:]{3,}\{(?:exercise|solution)\}).*")
EXERCISE = re.compile(r"^[`:]{3,}\{exercise\}", re.MULTILINE)
SOLUTION_TEXT = re.compile(r"^[`:]{3,}\{solution\}", re.MULTILINE)
SOLUTION = "solution"  # the tag of the code that answers an exercise, below its text


class NotebookError(ValueError):
    """A notebook that no formatting can put right."""


def canonical(notebook: NotebookNode) -> NotebookNode:
    """Return the canonical form of a notebook; the argument stays as it is.

    Raises:
        NotebookError: a cell of an unknown type.
    """
    cells = [_cell(cell) for cell in notebook.cells if cell.source.strip()]
    fold(cells, exercises=_places_of_exercises(cells))
    _hide_code(cells)
    _name_cells(cells)
    return nbformat.from_dict(
        {"cells": cells, "metadata": _metadata(notebook), "nbformat": 4, "nbformat_minor": 5}
    )


def as_text(notebook: NotebookNode) -> str:
    """Return the text of the file: sorted keys, one-space indent, a newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def read_text(text: str) -> NotebookNode:
    """Read a notebook of any version 4 minor.

    Raises:
        NotebookError: the text is not a notebook.
    """
    try:
        content = json.loads(text)
        # nbformat warns of cells without an id of their own; they get one in `canonical`.
        seen: set[str] = set()
        for number, cell in enumerate(content["cells"]):
            if cell.get("id") in seen | {None}:
                cell["id"] = str(number)
            seen.add(cell["id"])
        content["nbformat_minor"] = 5
        return nbformat.reads(json.dumps(content), as_version=4)
    except (ValueError, KeyError, TypeError) as error:
        raise NotebookError(f"not a notebook: {error}") from error


def lint(notebook: NotebookNode) -> list[str]:
    """Return what no form puts right, one line each."""
    problems = []
    for cell in code_cells(notebook):
        if cell.source.rstrip().endswith(";"):
            problems.append(f"cell {cell.id}: a trailing `;` hides output; remove it")
        if any(output.get("name") == "stderr" for output in cell.outputs):
            problems.append(f"cell {cell.id}: stored stderr")
        if any(output.output_type == "error" for output in cell.outputs):
            problems.append(f"cell {cell.id}: a stored error")
    problems += [
        f"cell {cell.id}: {found!r} starts a cell of its own"
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for found in STARTS_A_CELL.findall(LITERAL.sub("", cell.source))
    ]
    problems += [
        f"cell {cell.id}: attachments are not kept in git; put the file under book/web"
        for cell in notebook.cells
        if cell.get("attachments")
    ]
    return problems


def code_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """Iterate over the code cells."""
    return (cell for cell in notebook.cells if cell.cell_type == "code")


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return list(cell.metadata.get("tags", []))


def _metadata(notebook: NotebookNode) -> dict[str, Any]:
    kept: dict[str, Any] = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    ours = ("form", "myst")
    kept |= {name: notebook.metadata[name] for name in ours if name in notebook.metadata}
    return kept


def _cell(cell: NotebookNode) -> NotebookNode:
    if cell.cell_type not in ("code", "markdown"):
        raise NotebookError(f"cells are code or markdown; {cell.get('id')} is {cell.cell_type!r}")
    lines = [line.rstrip() for line in cell.source.strip("\n").splitlines()]
    kept: dict[str, Any] = {
        "cell_type": cell.cell_type,
        "id": cell.get("id", ""),
        "metadata": _cell_metadata(cell),
        "source": "\n".join(lines).rstrip(),
    }
    if cell.cell_type == "code":
        outputs = _outputs(cell)
        kept |= {"execution_count": RAN if outputs else None, "outputs": outputs}
    elif cell.get("attachments"):
        kept["attachments"] = cell.attachments
    return nbformat.from_dict(kept)


def _cell_metadata(cell: NotebookNode) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if tags(cell):
        kept["tags"] = sorted(set(tags(cell)))
    if cell.metadata.get("mystnb"):
        kept["mystnb"] = cell.metadata.mystnb
    return kept


def _outputs(cell: NotebookNode) -> list[dict[str, Any]]:
    if CHECKED not in tags(cell):
        return []
    kept: list[dict[str, Any]] = []
    for output in cell.get("outputs", []):
        text = _plain_text(output)
        if output.output_type == "stream":
            if output.name != "stdout":
                continue
            if kept and kept[-1]["output_type"] == "stream":
                kept[-1]["text"] += text
            else:
                kept.append({"output_type": "stream", "name": "stdout", "text": text})
        elif output.output_type in ("execute_result", "display_data") and text:
            new = {"output_type": output.output_type, "data": {"text/plain": text}, "metadata": {}}
            if output.output_type == "execute_result":
                new["execution_count"] = RAN
            kept.append(new)
    return kept


def _plain_text(output: NotebookNode) -> str:
    text = output.get("text") or output.get("data", {}).get("text/plain", "")
    return text if isinstance(text, str) else "".join(text)


def _hide_code(cells: list[NotebookNode]) -> None:
    """Collapse in JupyterLab what the site folds; of a solution, in Colab too."""
    for cell in cells:
        if {SOLUTION, *UNOPENED} & set(tags(cell)):
            cell.metadata["jupyter"] = {"source_hidden": True}
        if SOLUTION in tags(cell):
            cell.metadata["cellView"] = "form"


def _places_of_exercises(cells: list[NotebookNode]) -> set[int]:
    """From the question to its solution's text, and the solution's code."""
    places, inside = set[int](), False
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            inside = bool(EXERCISE.search(cell.source)) or inside
            inside = inside and not SOLUTION_TEXT.search(cell.source)
        elif inside or SOLUTION in tags(cell):
            places.add(place)
    return places


def _name_cells(cells: list[NotebookNode]) -> None:
    """Give each cell an id that says where it stands; ids that say something are kept."""
    taken: set[str] = set()
    for cell in cells:
        if not VALID_ID.fullmatch(cell.id) or RANDOM_ID.fullmatch(cell.id) or cell.id in taken:
            cell.id = ""
        taken.add(cell.id)
    section = "head"
    for cell in cells:
        if cell.cell_type == "markdown":
            headings = re.findall(r"^##+ +(.+)$", cell.source, re.MULTILINE)
            section = _slug(headings[0]) if headings else section
        if not cell.id:
            name = section if cell.cell_type == "markdown" else f"{section}-code"
            names = (name, *(f"{name}-{number}" for number in range(2, len(cells) + 2)))
            cell.id = next(free for free in names if free not in taken)
            taken.add(cell.id)


def _slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")[:40].strip("-") or "part"
