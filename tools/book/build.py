"""Build the book, and never from stale parts.

jupyter-cache keys a notebook's outputs on its cells, so an edit under `src/` would show old output
and pass. Here the contents of everything a page is made of are hashed:

- code (`src/`, the lock, `results/`) changed → every chapter runs again;
- the site's own files (configuration, table of contents, `book/web`) changed, or the last build
  failed → every page is made again, from cached outputs;
- a chapter changed → that chapter runs again;
- several have to run → they run side by side (`execute.py`);
- nothing changed → nothing is done.
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
from collections.abc import Iterator
from pathlib import Path

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


def make_pages(root: Path, command: list[str]) -> tuple[int, str]:
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
        execute.bar("pages", 2 * 100) as shown,
    ):
        for line in process.stdout or ():
            progress = PROGRESS.search(line)
            if progress:
                shown.update(100 * (progress[1] == "writing") + int(progress[2]) - shown.n)
            else:
                said.append(line)
    return process.returncode, "".join(said)


def build(root: Path, command: list[str]) -> int:
    """Bring `_build/html` up to date; returns the exit status."""
    out = root / "_build"
    stamp = out / "built.json"
    now = {"code": digest(root, CODE), "site": digest(root, SITE), "pages": digest(root, PAGES)}
    now["python"] = sys.version
    before = json.loads(stamp.read_text("utf-8")) if stamp.exists() else {}
    if now == before and (out / "html" / "index.html").exists():
        print("The book is up to date.")
        return 0

    stamp.unlink(missing_ok=True)
    same_code = all(now[key] == before.get(key) for key in ("code", "python"))
    code_stamp = out / "cached-code"
    cached_for = code_stamp.read_text("utf-8") if code_stamp.exists() else ""
    if cached_for != now["code"] + now["python"]:
        shutil.rmtree(out / ".jupyter_cache", ignore_errors=True)
    if not same_code or now["site"] != before.get("site"):
        shutil.rmtree(out / ".doctrees", ignore_errors=True)
        shutil.rmtree(out / "html", ignore_errors=True)
    out.mkdir(exist_ok=True)
    code_stamp.write_text(now["code"] + now["python"])

    started = time.monotonic()
    if not execute.run_missing(root):
        print("\nThe book did not build: a chapter does not run.", file=sys.stderr)
        return 1
    status, said = make_pages(root, command)
    if status:
        warned = "".join(line for line in said.splitlines(True) if WARNED.search(line))
        print(f"{said}\nThe book did not build (exit status {status}).", file=sys.stderr)
        print(warned, end="", file=sys.stderr)
        return status
    stamp.write_text(json.dumps(now), "utf-8")
    took = time.monotonic() - started
    print(f"Built in {took:.0f} s: open {out / 'html' / 'index.html'}")
    return 0


def main() -> int:
    """Parse the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    root = parser.parse_args().root.resolve()
    jupyter_book = Path(sys.executable).parent / "jupyter-book"
    return build(root, [str(jupyter_book), "build", str(root), "-W", "--keep-going"])


if __name__ == "__main__":
    sys.exit(main())
