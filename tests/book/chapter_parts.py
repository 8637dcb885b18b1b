"""A chapter taken apart: its sections, its exercises, its imported names."""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}|:{3,}) *(.*)$")
EXERCISE = re.compile(r"^[`:]{3,}\{exercise\} +(\S.*)$", re.MULTILINE)
SOLUTION = re.compile(r"^[`:]{3,}\{solution\} +(\S+)", re.MULTILINE)


@dataclass
class Exercise:
    """One exercise: its text, the code between it and its solution, the solution's cells."""

    text: str
    before_solution: list[NotebookNode] = field(default_factory=list)
    solution: list[NotebookNode] = field(default_factory=list)

    @property
    def title(self) -> str:
        found = EXERCISE.search(self.text)
        return found.group(1) if found else "?"

    @property
    def solution_code(self) -> str:
        return "\n".join(cell.source for cell in self.solution if is_code(cell))


def is_code(cell: NotebookNode) -> bool:
    return cell.cell_type == "code"


def is_solution(cell: NotebookNode) -> bool:
    return "solution" in cell.metadata.get("tags", [])


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if is_code(cell)]


def markdown(cells: list[NotebookNode]) -> str:
    return "\n\n".join(cell.source for cell in cells if not is_code(cell))


def code(cells: list[NotebookNode]) -> str:
    return "\n\n".join(cell.source for cell in cells if is_code(cell))


def headings(text: str, level: int) -> list[str]:
    """Headings of one level, those inside fences left out."""
    return re.findall(rf"^{'#' * level} +(.+?) *$", without_literal_fences(text), re.MULTILINE)


def sections(notebook: NotebookNode) -> dict[str, list[NotebookNode]]:
    """Cells by second-level heading; those before the first stand under ""."""
    found: dict[str, list[NotebookNode]] = {"": []}
    current = ""
    for cell in notebook.cells:
        if not is_code(cell):
            titles = headings(cell.source, 2)
            current = titles[0] if titles else current
        found.setdefault(current, []).append(cell)
    return found


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """The exercises in order, each with the cells up to its solution, and those of its solution."""
    found: list[Exercise] = []
    for cell in sections(notebook).get("Exercises", []):
        if not is_code(cell) and EXERCISE.search(cell.source):
            found.append(Exercise(cell.source))
        elif found and (is_solution(cell) or SOLUTION.search(cell.source)):
            found[-1].solution.append(cell)
        elif found:
            found[-1].before_solution.append(cell)
    return found


def solution_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for exercise in exercises(notebook) for cell in exercise.solution]


def without_literal_fences(text: str) -> str:
    """The text without fenced code; directives that hold prose stay, their first line does not."""
    kept: list[str] = []
    literal = ""
    for line in text.splitlines():
        found = FENCE.match(line)
        if literal:
            if found and found.group(1).startswith(literal) and not found.group(2):
                literal = ""
        elif found and found.group(1)[0] != ":" and not _holds_prose(found.group(2)):
            literal = found.group(1) if found.group(2) or found.group(1)[0] in "`~" else ""
        elif not (found and not found.group(2)):
            kept.append(_directive_title(found.group(2)) if found else line)
    return "\n".join(kept)


def _holds_prose(info: str) -> bool:
    return info.startswith("{") and not info.startswith(("{code", "{math", "{mermaid"))


def _directive_title(info: str) -> str:
    return re.sub(r"^\{[^}]*\} *", "", info)


def prose(notebook: NotebookNode) -> str:
    """Markdown without code, mathematics, directive options, roles' targets and addresses."""
    text = without_literal_fences(markdown(notebook.cells))
    text = re.sub(r"\$\$.*?\$\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$\n]+\$", " ", text)
    text = re.sub(r"`[^`]*`", " ", text)
    text = re.sub(r"^:[a-z-]+:.*$", " ", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def fenced_code(notebook: NotebookNode) -> Iterator[str]:
    """The bodies of literal fences in Markdown."""
    for cell in notebook.cells:
        if is_code(cell):
            continue
        pattern = r"^ {0,3}(`{3,}|~{3,})(?!\{(?!code))[^\n]*\n(.*?)^ {0,3}\1 *$"
        for match in re.finditer(pattern, cell.source, re.MULTILINE | re.DOTALL):
            yield match.group(2)


def imported_names(notebook: NotebookNode) -> dict[str, Any]:
    """What the notebook's imports bind, resolved; a name that does not resolve is absent."""
    bound: dict[str, Any] = {}
    for node in ast.walk(parsed(code(notebook.cells))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                value = _attribute(node.module, alias.name)
                if value is not None:
                    bound[alias.asname or alias.name] = value
        elif isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name if alias.asname else alias.name.split(".")[0]
                bound[alias.asname or root] = importlib.import_module(root)
    return bound


def _attribute(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        try:
            return importlib.import_module(f"{module}.{name}")
        except ImportError:
            return None
    except ImportError:
        return None


def resolve(node: ast.expr, names: dict[str, Any]) -> Any:
    """The object behind `name` or `name.attribute…`, None when it cannot be found."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(resolve(node.value, names), node.attr, None)
    return None


def calls(source: str) -> list[ast.Call]:
    return [node for node in ast.walk(parsed(source)) if isinstance(node, ast.Call)]


def parsed(source: str) -> ast.Module:
    """The syntax tree; lines with IPython magics are dropped."""
    lines = [line for line in source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    return ast.parse("\n".join(lines))
