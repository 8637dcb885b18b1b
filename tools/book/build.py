"""Build the book, and never from stale parts.

jupyter-cache keys a notebook's outputs on its cells, so an edit under `src/` would show old output
and pass. Here the contents of everything a page is made of are hashed:

- code (`src/`, the lock, `results/`) changed → every chapter runs again;
- the site's own files (configuration, table of contents, `book/web`) changed, or the last build
  failed → every page is made again, from cached outputs;
- a chapter changed → that chapter runs again;
- several have to run → they run side by side (`execute.py`);
- nothing changed → nothing is done.

The first page and the front door are made first, for somebody who has waited long enough. Pages
that are asked for by name are made without the others, and links to those lead nowhere.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import yaml
from tools.book import execute

CODE = ("src", "requirements.txt", "results")
SITE = (
    "_config.yml",
    "_toc.yml",
    "book/web",
    "book/templates",
    "book/references.bib",
    "tools/site",
)
PAGES = ("book",)
PROGRESS = re.compile(r"(reading|writing) \w+\.\.\. .*\[ *(\d+)%\]")
WARNED = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b")
LEFT_OUT = re.compile(r"\[(?:myst\.xref_missing|ref\.\w+)\]|not in glossary|unknown document")
STRICT = ("-W", "--keep-going")
IGNORED = {"__pycache__", "node_modules", ".ipynb_checkpoints", ".virtual_documents"}


def files_under(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """Every file that counts, in one order on every machine."""
    for name in names:
        start = root / name
        found = sorted(start.rglob("*")) if start.is_dir() else [start]
        for path in found:
            parts = path.relative_to(root).parts
            if path.is_file() and not any(p in IGNORED or p.endswith(".egg-info") for p in parts):
                yield path


def digest(root: Path, names: tuple[str, ...]) -> str:
    """One hash over names and contents: a touched file that reads the same changes nothing."""
    total = hashlib.sha256()
    for path in files_under(root, names):
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def only(contents: dict[str, Any], chosen: Collection[str]) -> dict[str, Any]:
    """A table of contents, or an entry of it, with these pages alone; empty where it has none."""
    below = {
        key: [kept for kept in (only(entry, chosen) for entry in entries) if kept]
        for key, entries in contents.items()
        if isinstance(entries, list)
    }
    below = {key: kept for key, kept in below.items() if kept}
    if not below and "root" not in contents and contents.get("file") not in chosen:
        return {}
    own = {key: value for key, value in contents.items() if not isinstance(value, list)}
    return own | below


def part_of(root: Path, chosen: Collection[str]) -> list[str]:
    """The options that make the first page and the chosen ones of the book, and no others."""
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    written = root / "_build" / "part.yml"
    written.write_text(yaml.safe_dump(only(contents, chosen), sort_keys=False), "utf-8")
    return ["--toc", str(written)]


def make_pages(root: Path, command: list[str], *, shown: bool = True) -> tuple[int, str]:
    """Run Jupyter Book behind a bar; the exit status, and what it said but for its progress."""
    said = []
    with (
        subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        ) as process,
        execute.bar("pages", 2 * 100, shown=shown) as pages,
    ):
        for line in process.stdout or ():
            progress = PROGRESS.search(line)
            if progress:
                pages.update(100 * (progress[1] == "writing") + int(progress[2]) - pages.n)
            else:
                said.append(line)
    return process.returncode, "".join(said)


def build(root: Path, command: list[str], chosen: Collection[str] = ()) -> int:
    """Bring `_build/html` up to date, the whole or the chosen pages; returns the exit status."""
    out = root / "_build"
    stamp, site = out / "built.json", out / "html" / "index.html"
    now: dict[str, Any] = {
        "code": digest(root, CODE),
        "site": digest(root, SITE),
        "pages": digest(root, PAGES),
        "python": sys.version,
        "chosen": sorted(chosen),
    }
    before = json.loads(stamp.read_text("utf-8")) if stamp.exists() else {}
    if now == before and site.exists():
        print("The book is up to date.")
        return 0

    stamp.unlink(missing_ok=True)
    code_stamp = out / "cached-code"
    cached_for = code_stamp.read_text("utf-8") if code_stamp.exists() else ""
    if cached_for != now["code"] + now["python"]:
        shutil.rmtree(out / ".jupyter_cache", ignore_errors=True)
    if any(now[key] != before.get(key) for key in ("code", "python", "site", "chosen")):
        shutil.rmtree(out / ".doctrees", ignore_errors=True)
        shutil.rmtree(out / "html", ignore_errors=True)
    out.mkdir(exist_ok=True)
    code_stamp.write_text(now["code"] + now["python"])

    started = time.monotonic()
    front = execute.names(root)[:2]

    def begin() -> None:
        words = [*command, *part_of(root, front)]
        status, _ = make_pages(root, words, shown=False)  # the whole book will say what is wrong
        if not status:
            execute.tqdm.write(f"You can begin to read: {site}")

    opening = None if chosen or site.exists() else Thread(target=begin)
    if not execute.run_missing(root, chosen or execute.names(root), opening):
        print("\nThe book did not build: a chapter does not run.", file=sys.stderr)
        return 1
    status, said = make_pages(root, [*command, *(part_of(root, chosen) if chosen else STRICT)])
    warned = [line for line in said.splitlines(True) if WARNED.search(line)]
    if status:
        print(f"{said}\nThe book did not build (exit status {status}).", file=sys.stderr)
    else:
        stamp.write_text(json.dumps(now), "utf-8")
        took = time.monotonic() - started
        print(f"Built in {took:.0f} s: open {site}")
    print("".join(one for one in warned if not LEFT_OUT.search(one)), end="", file=sys.stderr)
    return status


def main() -> int:
    """Parse the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("pages", nargs="*", help="such as book/03-masks; all, where none is named")
    given = parser.parse_args()
    root = given.root.resolve()
    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    return build(root, [str(jupyter_book), "build", str(root)], given.pages)


if __name__ == "__main__":
    sys.exit(main())
