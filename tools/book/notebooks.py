"""Keep the chapters canonical, run them, and begin new ones.

    python -m tools.book.notebooks format  [NOTEBOOK ...]     rewrite in the form that git holds
    python -m tools.book.notebooks execute [NOTEBOOK ...]    run, store compared text, print cost
    python -m tools.book.notebooks new NUMBER SLUG [TITLE]   a chapter with every part, its room

Without a NOTEBOOK, every chapter under book/ is meant.
"""

import argparse
import os
import re
import sys
from pathlib import Path

import jupytext
from jinja2 import Template
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from tools.book.execute import Chapter, run_alone
from tools.book.notebook_form import (
    CHECKED,
    NotebookError,
    as_text,
    canonical,
    code_cells,
    lint,
    read_text,
    tags,
)

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
SKELETON = Path(__file__).with_name("skeleton")
CELL_TIMEOUT = 900  # seconds


def chapters() -> list[Path]:
    """Return every notebook of the book."""
    return sorted(BOOK.glob("*.ipynb"))


def load(path: Path) -> NotebookNode:
    """Read a notebook file, whatever its form."""
    return read_text(path.read_text(encoding="utf-8"))


def save(notebook: NotebookNode, path: Path) -> bool:
    """Write the canonical form; return whether the file changed. Never leaves half a file."""
    text = as_text(canonical(notebook))
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
    return True


def problems(path: Path) -> list[str]:
    """Return what keeps a notebook file from being canonical."""
    text = path.read_text(encoding="utf-8")
    notebook = read_text(text)
    tidy = canonical(notebook)
    found = lint(tidy) + [line for line in lint(notebook) if "stored" in line]
    if as_text(tidy) != text:
        found.append("not canonical: run `make format`")
    return found


def execute(path: Path) -> Chapter:
    """Run a notebook in its folder, store the text of compared cells; return what the run took.

    Raises:
        NotebookError: a compared cell writes to stderr or prints nothing.
        CellExecutionError: a cell fails.
    """
    notebook = canonical(load(path))
    ran = run_alone(path, notebook, CELL_TIMEOUT)
    compared = [cell for cell in code_cells(notebook) if CHECKED in tags(cell)]
    for cell in compared:
        if any(output.get("name") == "stderr" for output in cell.outputs):
            raise NotebookError(f"{path.name}, cell {cell.id}: a compared cell writes to stderr")
    save(notebook, path)
    for cell in code_cells(load(path)):
        if CHECKED in tags(cell) and not cell.outputs:
            raise NotebookError(f"{path.name}, cell {cell.id}: a compared cell prints no text")
    return ran


def new(number: str, slug: str, title: str | None) -> list[Path]:
    """Write a chapter that has every part of the standard, and the room of its code and tests.

    Raises:
        NotebookError: the number or the slug is not well formed, or the chapter exists.
    """
    if not re.fullmatch(r"\d\d", number) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
        raise NotebookError(f"expected NN and a-slug-with-hyphens, got {number!r} and {slug!r}")
    room = f"ch{number}_{slug.replace('-', '_')}"
    page = ROOT / "book" / f"{number}-{slug}.ipynb"
    source, tests = ROOT / "src" / "walkthrough" / room, ROOT / "tests" / "walkthrough" / room
    for path in (page, source, tests):
        if path.exists():
            raise NotebookError(f"{path.relative_to(ROOT)} exists")
    title = (title or slug.replace("-", " ").capitalize()).rstrip("?")
    words = {"number": number, "title": title, "room": room}
    _write(source / "__init__.py", '"""What chapter {{number}} alone uses."""', words)
    _write(source / "experiments.py", '"""The experiments of chapter {{number}}."""', words)
    _write(source / "figures.py", '"""The figures of chapter {{number}}."""', words)
    for name in ("checks.py", "predictions.py"):
        _write(source / name, (SKELETON / name).read_text("utf-8"), words)
    _write(tests / "test_checks.py", (SKELETON / "test_checks.py").read_text("utf-8"), words)
    chapter = Template((SKELETON / "chapter.md").read_text("utf-8")).render(words)
    save(jupytext.reads(chapter, fmt="md:myst"), page)
    add_room(ROOT / "pyproject.toml", room)
    return [page, source, tests]


def add_room(project: Path, room: str) -> None:
    """Name a chapter's room in the layers that import-linter holds."""
    text = project.read_text(encoding="utf-8")
    rooms = re.search(r"(?:^    ch\d\d_\w+(?: \|)?\n)+", text, re.MULTILINE)
    if rooms is None:
        raise NotebookError(f"{project.name} lists no rooms of chapters")
    names = sorted({*re.findall(r"ch\d\d_\w+", rooms.group()), room})
    listed = "    " + " |\n    ".join(names) + "\n"
    project.write_text(text[: rooms.start()] + listed + text[rooms.end() :], encoding="utf-8")


def _write(path: Path, text: str, words: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Template(text).render(words) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in ("format", "execute"):
        commands.add_parser(name).add_argument("notebooks", nargs="*", type=Path)
    adding = commands.add_parser("new")
    adding.add_argument("number")
    adding.add_argument("slug")
    adding.add_argument("title", nargs="?")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run one command; return the exit status."""
    given = _parser().parse_args(words)
    try:
        if given.command == "new":
            for path in new(given.number, given.slug, given.title):
                print(f"wrote {path.relative_to(ROOT)}")
            return 0
        for path in [path.resolve() for path in given.notebooks] or chapters():
            if given.command == "execute":
                ran = execute(path)
                took = f"{ran.seconds:.0f} s, {ran.megabytes:.0f} MB {ran.over()}".strip()
                print(f"executed {path}: {took}")
            elif save(load(path), path):
                print(f"formatted {path}")
        return 0
    except (NotebookError, CellExecutionError, OSError) as error:
        print(f"notebooks.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
