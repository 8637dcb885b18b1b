"""Which code the site folds: what stands in a reader's way and teaches nothing.

A cell's code decides, so that nobody has to remember it:

- cells of imports, of assertions, and cells that only draw fold behind a mark: they get the tag
  `hide-input`;
- the map of the model and a prediction have no input at all: `remove-input`.

All other code stays open, an exercise and its solution too. Of a cell that ends in a drawing an
author may hide more than the rule does (of one that also computes something, say), by giving it
either tag; on any other cell they are taken away. JupyterLab does not know these tags: there the
code is collapsed by `source_hidden`, which the formatter sets beside them.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode

FOLDED, REMOVED = "hide-input", "remove-input"
ORDER = (None, FOLDED, REMOVED)  # the more hidden, the later
UNSEEN = "remove-cell"  # on the site such a cell does not exist
UNOPENED = (FOLDED, REMOVED, UNSEEN)
SETTINGS = ("torch.set_", "pandas.set_option", "warnings.filterwarnings")  # may follow imports
MAPS = "walkthrough.page.architecture."
DRAWING = "walkthrough.drawing."
LAYOUT_METHODS = {
    *("detach", "get", "index", "item", "items"),
    *("join", "keys", "split", "tolist", "values"),
}

Origins = dict[str, str]  # a name of the notebook → where it was imported from


def fold(cells: list[NotebookNode], *, exercises: set[int]) -> None:
    """Give every code cell the tag that the rule wants, and take a wrong one away.

    `exercises` holds the places of cells that belong to an exercise or a solution.
    """
    trees = dict(_trees(cells))
    origins = _origins(trees.values())
    for place, tree in trees.items():
        tags = cells[place].metadata.get("tags", [])
        others = [other for elsewhere, other in trees.items() if elsewhere != place]
        wanted = tag_for(tree, origins, others)
        if place in exercises or UNSEEN in tags:
            wanted = None
        elif _shows_drawing(tree, origins):
            wanted = max([wanted, *(tag for tag in tags if tag in ORDER)], key=ORDER.index)
        _set(cells[place], wanted)


def tag_for(tree: ast.Module, origins: Origins, others: list[ast.Module]) -> str | None:
    """Return the tag for one cell's code, None where it stays open.

    `others` are the other cells: what they use of this one is more than preparation of a drawing.
    """
    body = tree.body
    if not body:
        return None
    if all(_imports(line, origins) for line in body):
        return FOLDED
    if all(isinstance(line, ast.Assert) for line in body):
        return FOLDED
    *before, last = body
    if not isinstance(last, ast.Expr) or not _prepare(before, origins, others):
        return None
    if any(_computes(call, origins) for line in body for call in _calls(line)):
        return None
    origin = _origin(last.value, origins)
    if origin.startswith(MAPS) or ".predictions." in origin:
        return REMOVED
    return FOLDED if _shows_drawing(tree, origins) else None


def _imports(line: ast.stmt, origins: Origins) -> bool:
    if isinstance(line, ast.Import | ast.ImportFrom):
        return True
    return isinstance(line, ast.Expr) and _origin(line.value, origins).startswith(SETTINGS)


def _shows_drawing(tree: ast.Module, origins: Origins) -> bool:
    last = tree.body[-1] if tree.body else None
    called = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    return called and _draws(_origin(last.value, origins))


def _draws(origin: str) -> bool:
    return origin.startswith((DRAWING, MAPS)) or ".figures." in origin or ".drawings." in origin


def _prepare(lines: list[ast.stmt], origins: Origins, others: list[ast.Module]) -> bool:
    """Whether these lines only lay out, for the drawing below them, what is there already."""
    names = (node for tree in others for node in ast.walk(tree) if isinstance(node, ast.Name))
    used_elsewhere = {name.id for name in names}
    for line in lines:
        if isinstance(line, ast.Import | ast.ImportFrom):
            continue
        if not isinstance(line, ast.Assign) or _assigned(line) & used_elsewhere:
            return False
    return True


def _assigned(line: ast.Assign) -> set[str]:
    parts = (node for target in line.targets for node in ast.walk(target))
    return {node.id for node in parts if isinstance(node, ast.Name)}


def _computes(call: ast.Call, origins: Origins) -> bool:
    """Whether a call does more than draw, or lay out for a drawing what is there already."""
    origin = _origin(call, origins)
    if origin:
        return not (_draws(origin) or origin == "torch.tensor.")
    if isinstance(call.func, ast.Attribute):
        return call.func.attr not in LAYOUT_METHODS
    return not (isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id))


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Call))


def _origin(node: ast.AST, origins: Origins) -> str:
    """Where the thing that is called or shown comes from, as a dotted path; empty if from here."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Call):
            node = node.func
        else:
            parts.append(node.attr)
            node = node.value
    if not isinstance(node, ast.Name) or node.id not in origins:
        return ""
    return ".".join([origins[node.id], *reversed(parts)]) + "."


def _trees(cells: list[NotebookNode]) -> Iterator[tuple[int, ast.Module]]:
    for place, cell in enumerate(cells):
        if cell.cell_type != "code":
            continue
        try:
            yield place, ast.parse(cell.source)
        except SyntaxError:  # the formatter says so, or it is IPython's own syntax
            continue


def _origins(trees: Iterable[ast.Module]) -> Origins:
    found: Origins = {}
    for line in (line for tree in trees for line in tree.body):
        if isinstance(line, ast.Import):
            found |= {name.asname or name.name: name.name for name in line.names}
        elif isinstance(line, ast.ImportFrom):
            found |= {name.asname or name.name: f"{line.module}.{name.name}" for name in line.names}
    return found


def _set(cell: NotebookNode, wanted: str | None) -> None:
    old = cell.metadata.get("tags", [])
    new = sorted({tag for tag in old if tag not in (FOLDED, REMOVED)} | {wanted} - {None})
    if new:
        cell.metadata["tags"] = new
    else:
        cell.metadata.pop("tags", None)
