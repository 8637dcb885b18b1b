"""What `python -m tools COMMAND` does; the Makefile's targets are the same commands."""

import argparse
import shutil
from collections.abc import Callable

from tools.environment import steps
from tools.environment.steps import BIN, LIGHTHOUSE, PYTHON, ROOT, WEB, run

Given = argparse.Namespace
CACHES = (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")


def ready(given: Given) -> None:
    """Bring the environment, the browser libraries and the translator up to date."""
    steps.install(given.requirements)
    steps.vendor()
    steps.pack()


def book(given: Given) -> None:
    """run every chapter and make _build/html/index.html (--chapters "02 03": these alone)"""
    pages = steps.pages_named(given.chapters)
    ready(given)
    run(PYTHON, "-m", "tools.book.build", *pages)


def notebooks(given: Given) -> None:
    """the chapters as plain notebooks, with their outputs, for Colab and GitHub"""
    book(given)
    run(PYTHON, "-m", "tools.site.plain_notebooks")


def test(given: Given) -> None:
    """lint, types, unit tests, every chapter, the site in a browser (or the stages named)"""
    if given.rest:
        steps.install(given.requirements)
    else:
        ready(given)
    run(PYTHON, "-m", "tools.verify.check", *given.rest)


def lighthouse(given: Given) -> None:
    """the site as a phone on a slow network sees it (--faults)"""
    book(given)
    steps.fetch_lighthouse()
    node = shutil.which("node", path=str(BIN)) or "node"
    run(node, LIGHTHOUSE / "measure.mjs", "_build/html", *given.rest)


def serve(given: Given) -> None:
    """the site on http://localhost:8000 (--port …)"""
    book(given)
    options = ("--directory", "_build/html", "--bind", "127.0.0.1", str(given.port))
    run(PYTHON, "-m", "http.server", *options)


def pdf(given: Given) -> None:
    """the whole book as one file, _build/book.pdf (needs Chromium or Chrome)"""
    book(given)
    run(PYTHON, "-m", "tools.book.pdf")


def lab(given: Given) -> None:
    """the chapters in JupyterLab"""
    steps.install(given.requirements)
    run(PYTHON, "-m", "jupyter", "lab", "book")


def results(given: Given) -> None:
    """runs that the records lack, or that were declared otherwise (--jobs 2, names)"""
    steps.install(given.requirements)
    run(PYTHON, "-m", "walkthrough.lab", "again", *given.rest)


def lock(given: Given) -> None:
    """compile requirements.txt from pyproject.toml"""
    steps.install(given.requirements)
    run(PYTHON, "-m", "tools.environment.lock")


def format_(given: Given) -> None:
    """lay out code and notebooks"""
    steps.install(given.requirements)
    run(PYTHON, "-m", "ruff", "check", "--fix", "--exit-zero", "--quiet", ".")
    run(PYTHON, "-m", "ruff", "format", "--quiet", ".")
    run(PYTHON, "-m", "tools.book.notebooks", "format")


def clean(given: Given) -> None:
    """remove what was built, keep the environment"""
    built = (WEB / "vendor", WEB / "node_modules", LIGHTHOUSE / "node_modules")
    for folder in (ROOT / "_build", *built, *(ROOT / name for name in CACHES)):
        shutil.rmtree(folder, ignore_errors=True)


ALL = (book, notebooks, test, lighthouse, serve, pdf, lab, results, lock, format_, clean)
COMMANDS: dict[str, Callable[[Given], None]] = {one.__name__.strip("_"): one for one in ALL}


def main(words: list[str]) -> int:
    """Run one command; without one, list them all."""
    listed = "\n".join(f"  {name:<12}{one.__doc__}" for name, one in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tools",
        epilog=f"commands:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, nargs="?", metavar="COMMAND")
    parser.add_argument("--requirements", default="requirements.txt", help="what to install")
    parser.add_argument("--chapters", default="", help="numbers or names of pages, for `book`")
    parser.add_argument("--port", type=int, default=8000, help="of `serve`")
    given, given_rest = parser.parse_known_args(words)
    given.rest = given_rest
    if given.command is None:
        parser.print_help()
        return 0
    try:
        COMMANDS[given.command](given)
    except KeyboardInterrupt:
        return 130
    return 0
