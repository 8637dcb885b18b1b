"""What the trials of Binder and Colab share: fresh environments, and what a run must have shown."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
COMPARED = "nbval-check-output"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
RUN = """
import sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def try_all(
    description: str,
    prepare: Callable[[argparse.Namespace, Path, str], Callable[[str], list[str]]],
) -> int:
    """Prepare a place, try the chapters that the command line names; 1 when anything is wrong.

    `prepare` takes the options, a folder and a commit, and returns what tries one chapter.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapters", nargs="*", metavar="NN", help="numbers of chapters")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to start from")
    parser.add_argument("--commit", default="HEAD", help="what to try")
    parser.add_argument("--keep", type=Path, help="folder to work in, kept and used again")
    parser.add_argument("--constraint", type=Path, help="versions that this machine needs pinned")
    given = parser.parse_args()
    names = chosen(given.chapters)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="place-") as scratch:
        folder = (given.keep or Path(scratch)).resolve()
        try_chapter = prepare(given, folder, commit_of(given.commit))
        for name in names:
            for line in try_chapter(name):
                faults += 1
                print(f"    {line}", flush=True)
    print(f"{faults} faults" if faults else "Every chapter does what the copy in git says.")
    return 1 if faults else 0


def chosen(numbers: list[str]) -> list[str]:
    """Return the file names of these chapters, in order.

    Raises:
        SystemExit: there is no chapter of a number.
    """
    names = sorted(path.name for path in BOOK.glob("[0-9][0-9]-*.ipynb"))
    if unknown := [number for number in numbers if not any(n.startswith(number) for n in names)]:
        raise SystemExit(f"no chapter {', '.join(unknown)} under {BOOK}")
    return [name for name in names if not numbers or name.startswith(tuple(numbers))]


def commit_of(name: str) -> str:
    """Return the hash of a commit."""
    return git("rev-parse", "--verify", f"{name}^{{commit}}")


def git(*words: str, folder: Path = ROOT) -> str:
    """Run git and return what it prints."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def clone_at(commit: str, folder: Path) -> Path:
    """Return a clone of this repository at a commit, made where it is not there yet."""
    if not folder.exists():
        git("clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder))
    git("fetch", "--quiet", "origin", folder=folder)
    git("checkout", "--quiet", "--detach", commit, folder=folder)
    return folder


def clean_environ(**more: str) -> dict[str, str]:
    """Return the environment without what would let the repository's own Python shine through."""
    private = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "JUPYTER_PATH", "JUPYTER_CONFIG_DIR"}
    return {name: value for name, value in os.environ.items() if name not in private} | more


def said_by(command: list[object], cwd: Path | str | None = None) -> str:
    """Run a command in a clean environment and return what it prints.

    Raises:
        SystemExit: it failed; its words are shown.
    """
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=clean_environ(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)[:300]} failed:\n{done.stderr[-3000:]}")
    return done.stdout


def environment(folder: Path, python: str) -> Path:
    """Make a new virtual environment with the newest pip; return its interpreter."""
    inside = folder / "bin" / "python"
    if not inside.exists():
        said_by([python, "-m", "venv", folder])
        pip(inside, "--upgrade", "pip")
    return inside


def pip(python: Path, *words: object, cwd: Path | None = None) -> None:
    """Install with pip; what it says is shown only when it fails."""
    said_by([python, "-m", "pip", "install", "--quiet", *words], cwd)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print what is being done and how long it took."""
    print(f"{what} … ", end="", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.0f} s", flush=True)


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
    code = ([cell for cell in one.cells if cell.cell_type == "code"] for one in (original, run))
    for number, (before, after) in enumerate(zip(*code, strict=True), 1):
        if COMPARED in before.metadata.get("tags", []):
            stored, now = printed(before.outputs), printed(after.outputs)
            if stored != now:
                found.append(f"code cell {number} prints {now[:80]!r}, git holds {stored[:80]!r}")
    return found


LISTING = re.compile(r'class="source-head".*?<pre[^>]*>(.*?)</pre>', re.DOTALL)
LINK = re.compile(r'href="[^"]*/blob/([^/"]+)/([^"#]+)#L(\d+)-L(\d+)"')


def wrong_links(run: nbformat.NotebookNode, commit: str) -> tuple[int, list[str]]:
    """Return how many listings `show` made and a line for each whose link leads to other lines."""
    count, wrong = 0, []
    for output in (o for cell in run.cells for o in cell.get("outputs", [])):
        page = "".join(output.get("data", {}).get("text/html", ""))
        heads = page.count('class="source-head"')
        if not heads:
            continue
        code = _squeezed("\n".join(_plain(listing) for listing in LISTING.findall(page)))
        links = LINK.findall(page)
        count += heads
        if len(links) < heads:
            wrong.append(f"{heads - len(links)} of {heads} listings have no link")
        there = ""
        for revision, path, first, last in links:
            if revision != commit:
                wrong.append(f"{path} links to {revision}, not to {commit}")
            lines = git("show", f"{commit}:{unquote(path)}").splitlines()
            there += "\n".join(lines[int(first) - 1 : int(last)]) + "\n"
        if links and _squeezed(there) != code:
            named = ", ".join(f"{path} {first} to {last}" for _, path, first, last in links)
            wrong.append(f"other code stands in {named}")
    return count, wrong


def _plain(listing: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", listing))


def _squeezed(code: str) -> str:
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())
