"""What a reader sees can be followed: no shown cell uses a name that only a removed cell made."""

import ast
import json
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
PAGES = sorted(BOOK.glob("0[0-4]-*.ipynb"))
UNSEEN = {"remove-cell"}
NOT_READ = {"remove-cell", "remove-input", "solution"}


def bound_and_used(source):
    """The names that a cell binds at its top level, and those that it uses before that."""
    tree = ast.parse(source)
    stores, loads = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (stores if isinstance(node.ctx, ast.Store) else loads).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            stores.add(node.name)
        elif isinstance(node, ast.arg):
            stores.add(node.arg)
        elif isinstance(node, ast.alias):
            stores.add((node.asname or node.name).split(".")[0])
    return stores, loads


def borrowed(cells):
    """The names that shown cells use and removed cells alone have made."""
    hidden, seen, found = set(), set(), []
    for tags, source in cells:
        stores, loads = bound_and_used(source)
        if not NOT_READ & tags:
            found += sorted((loads & hidden) - seen - stores)
        (hidden if UNSEEN & tags else seen).update(stores)
    return found


def test_a_borrowed_name_is_seen():
    made, shown = (UNSEEN, "x = 1"), (set(), "print(x)")
    assert borrowed([made, shown]) == ["x"]
    assert borrowed([made, (set(), "x = 2"), shown]) == []
    assert borrowed([made, (UNSEEN, "print(x)")]) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_shown_cell_borrows_a_name(page):
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    code = [
        (set(cell["metadata"].get("tags", [])), "".join(cell["source"]))
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    assert len(PAGES) == 5
    assert borrowed(code) == []
