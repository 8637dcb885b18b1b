"""Which code the site folds: what stands in a reader's way and teaches nothing.

Where a cell's code says so by itself, nobody has to remember it:

- cells of imports and cells of assertions fold behind a mark: they get the tag `hide-input`;
- the map of the model and a prediction have no input at all: `remove-input`.

Of a cell that ends in a drawing the author says how much is shown, by either tag or none. All other
code stays open, an exercise and its solution too: there the tags are taken away. JupyterLab does
not know these tags: there the code is collapsed by `source_hidden`, which the formatter sets beside
them.
"""

import ast
from collections.abc import Iterable, Iterator

from nbformat import NotebookNode

FOLDED, REMOVED = "hide-input", "remove-input"
UNSEEN = "remove-cell"  # on the site such a cell does not exist
UNOPENED = (FOLDED, REMOVED, UNSEEN)
SETTINGS = ("torch.set_", "pandas.set_option", "warnings.filterwarnings")  # may follow imports
MAPS = "walkthrough.page.architecture."
DRAWING = "walkthrough.drawing."

Origins = dict[str, str]  # a name of the notebook → where it was imported from


def fold(cells: list[NotebookNode], *, exercises: set[int]) -> None:
    """Give every code cell the tag that the rule wants, and take a wrong one away.

    `exercises` holds the places of cells that belong to an exercise or a solution.
    """
    trees = dict(_trees(cells))
    origins = _origins(trees.values())
    for place, tree in trees.items():
        tags = cells[place].metadata.get("tags", [])
        wanted = tag_for(tree, origins)
        if place in exercises or UNSEEN in tags:
            wanted = None
        elif wanted is None and _shows_drawing(tree, origins):
            wanted = next((tag for tag in (REMOVED, FOLDED) if tag in tags), None)
        _set(cells[place], wanted)


def tag_for(tree: ast.Module, origins: Origins) -> str | None:
    """Return the tag that a cell's code wants, None where it stays open or the author decides."""
    if not tree.body:
        return None
    if all(_imports(line, origins) or isinstance(line, ast.Assert) for line in tree.body):
        return FOLDED
    last = tree.body[-1]
    origin = _origin(last.value, origins) if isinstance(last, ast.Expr) else ""
    return REMOVED if origin.startswith(MAPS) or ".predictions." in origin else None


def _imports(line: ast.stmt, origins: Origins) -> bool:
    if isinstance(line, ast.Import | ast.ImportFrom):
        return True
    return isinstance(line, ast.Expr) and _origin(line.value, origins).startswith(SETTINGS)


def _shows_drawing(tree: ast.Module, origins: Origins) -> bool:
    last = tree.body[-1] if tree.body else None
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)):
        return False
    origin = _origin(last.value, origins)
    return origin.startswith(DRAWING) or ".figures." in origin or ".drawings." in origin


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
