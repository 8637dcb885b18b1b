"""Find package code pasted into chapters, whatever its layout, comments and docstrings."""

import ast
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from chapter_parts import code_cells, fenced_code, parsed, solution_cells
from nbformat import NotebookNode

WINDOW = 4  # consecutive lines
Window = tuple[str, ...]


def normalised_lines(source: str) -> list[str]:
    """Lines as Python itself would print them, without imports, docstrings and comments.

    Text that is no Python (output, a fragment) falls back to its stripped lines.
    """
    try:
        tree = parsed(textwrap.dedent(source))
    except SyntaxError:
        lines = [line.split("#")[0].strip() for line in source.splitlines()]
    else:
        lines = [line.strip() for line in ast.unparse(_bare(tree)).splitlines()]
    return [line for line in lines if line]


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        kept = [
            item
            for item in body
            if not isinstance(item, ast.Import | ast.ImportFrom) and not _is_text(item)
        ]
        node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_text(node: ast.AST) -> bool:
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)  # type: ignore[attr-defined]


def windows(lines: list[str]) -> Iterator[Window]:
    for start in range(len(lines) - WINDOW + 1):
        yield tuple(lines[start : start + WINDOW])


def package_windows(files: Iterable[Path]) -> dict[Window, str]:
    """Every window of every function and class, and where it stands."""
    found: dict[Window, str] = {}
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for window in windows(normalised_lines(ast.unparse(node))):
                    found.setdefault(window, f"{file.name}: {node.name}")
    return found


def pasted(notebook: NotebookNode, known: dict[Window, str]) -> list[str]:
    """One line for each place that holds package code. Solutions are the reader's own code."""
    exempt = {cell.id for cell in solution_cells(notebook)}
    places = [
        (f"cell {cell.id}", cell.source) for cell in code_cells(notebook) if cell.id not in exempt
    ]
    places += [("a fenced block", text) for text in fenced_code(notebook)]
    problems = []
    for place, source in places:
        hit = next((w for w in windows(normalised_lines(source)) if w in known), None)
        if hit:
            problems.append(
                f"{place} repeats {WINDOW} lines of {known[hit]}, from {hit[0]!r}: use show(…)"
            )
    return problems
