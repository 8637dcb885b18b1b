"""What a run must have shown: the text that git holds of the compared cells."""

import re
from typing import Any

import nbformat
from tools.book.notebook_form import CHECKED, code_cells, tags

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def printed(outputs: list[dict[str, Any]]) -> str:
    """Return the text of a cell's outputs as git holds it: no colour, no HTML, no picture."""
    parts = []
    for output in outputs:
        if output["output_type"] == "stream":
            parts.append(output["text"])
        else:  # git keeps the text of a table, not its HTML
            parts.append("".join(output.get("data", {}).get("text/plain", "")))
    return ANSI.sub("", "".join(parts)).strip()


def changed_cells(original: nbformat.NotebookNode, run: nbformat.NotebookNode) -> list[str]:
    """Return a line for every compared cell whose text is not the one that git holds."""
    found = []
    pairs = zip(code_cells(original), code_cells(run), strict=True)
    for number, (before, after) in enumerate(pairs, 1):
        if CHECKED in tags(before):
            stored, now = printed(before.outputs), printed(after.outputs)
            if stored != now:
                found.append(f"code cell {number} prints {now[:80]!r}, git holds {stored[:80]!r}")
    return found
