"""Try the chapters where readers run them: as Binder has them, and as Colab does.

    python -m tools.verify.elsewhere binder [--keep FOLDER] [NN ...]
    python -m tools.verify.elsewhere colab  [--keep FOLDER] [NN ...]

**binder** makes a clean clone of a commit and a new environment from its `.binder/` alone, with the
Python that it names, in which JupyterLab must have the extension that reads the book's directives.
Then every chapter runs there from top to bottom.

**colab** makes a new environment with the packages that Colab brings (`BRINGS`) and nothing of the
book. Then every chapter runs there in its plain form, alone in an empty folder: its first cell
installs the book from git, with a clone of this folder in the place of the public address. Every
listing of `show` must link to the commit that is installed.

In both a chapter must print what the copy in git holds, within the memory that it may take: of the
2 GB of Binder that leaves 500 MB for JupyterLab. Only what is committed is tried; Binder's image,
proxy and network are not, nor is Colab's display. Where torch would come with CUDA, set
PIP_EXTRA_INDEX_URL as the workflows do, or PIP_CONSTRAINT.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import nbformat
from tools.book.execute import run_alone, too_large
from tools.site.plain_notebooks import plain_notebook
from tools.verify.compared import changed_cells

from walkthrough.page.links import REPOSITORY_URL

ROOT = Path(__file__).resolve().parents[2]
# What would let the repository's own Python shine through.
PRIVATE = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "JUPYTER_CONFIG_DIR")
KERNEL = "elsewhere"
CELL_TIMEOUT = 900  # seconds
# As Colab had them in 2025; those that are not named come as the others need them.
BRINGS = """
ipykernel==6.17.1 ipython==7.34.0 nbclient==0.10.2 nbformat==5.10.4 jsonschema==4.25.1
numpy==2.0.2 pandas==2.2.2 matplotlib==3.10.0 seaborn==0.13.2 scikit-learn==1.6.1 altair==5.5.0
torch tokenizers safetensors tqdm pygments==2.19.2
"""
LINK = re.compile(r'href="[^"]*/blob/([^/"]+)/([^"#]+)#L\d+')

Trial = Callable[[str], list[str]]  # the file name of a chapter → what is wrong with it


def said_by(*command: object, cwd: Path | str = ROOT) -> str:
    """Run a command and return what it prints.

    Raises:
        SystemExit: it failed; its words are shown.
    """
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, check=False, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)[:300]} failed:\n{done.stderr[-3000:]}")
    return done.stdout.strip()


def clone_at(commit: str, folder: Path) -> Path:
    """Return a clone of this repository at a commit, made where it is not there yet."""
    if not folder.exists():
        said_by("git", "clone", "--quiet", "--no-hardlinks", ROOT, folder)
    said_by("git", "fetch", "--quiet", "origin", cwd=folder)
    said_by("git", "checkout", "--quiet", "--detach", commit, cwd=folder)
    return folder


def environment(folder: Path, python: str, *packages: object, cwd: Path = ROOT) -> Path:
    """Make a virtual environment with these packages and a kernel; return its interpreter."""
    inside = folder / "bin" / "python"
    if not inside.exists():
        said_by(python, "-m", "venv", folder)
        said_by(inside, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    print("installing …", flush=True)
    said_by(inside, "-m", "pip", "install", "--quiet", *packages, cwd=cwd)
    kernel = folder / "share" / "jupyter" / "kernels" / KERNEL / "kernel.json"
    kernel.parent.mkdir(parents=True, exist_ok=True)
    launch = [str(inside), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.write_text(json.dumps({"argv": launch, "display_name": KERNEL, "language": "python"}))
    os.environ["JUPYTER_PATH"] = str(folder / "share" / "jupyter")
    os.environ["PATH"] = f"{inside.parent}:{os.environ['PATH']}"
    return inside


def run_there(path: Path, notebook: nbformat.NotebookNode) -> list[str]:
    """Run a notebook beside this file in the environment, its outputs put into it; the faults."""
    notebook.metadata.kernelspec.name = KERNEL
    try:
        ran = run_alone(path, notebook, CELL_TIMEOUT)
    except Exception as problem:  # of whatever kind: the others are tried all the same
        return [f"{path.name}: {type(problem).__name__}: {str(problem)[-1500:]}"]
    print(f"{path.name:<40} {ran.seconds:5.0f} s {ran.megabytes:6.0f} MB", flush=True)
    return too_large(path, ran.megabytes)


def try_in_binder(clone: Path, name: str) -> list[str]:
    """Run one chapter of the clone; return what is wrong with it."""
    path = clone / "book" / name
    before, after = (nbformat.read(path, as_version=4) for _ in range(2))
    return run_there(path, after) or changed_cells(before, after)


def binder(given: argparse.Namespace, folder: Path, commit: str) -> Trial:
    """Make the environment, and look at JupyterLab's extensions."""
    clone = clone_at(commit, folder / "repository")
    wanted = (clone / ".binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    got = said_by(given.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    if got != wanted:
        raise SystemExit(f"Binder has Python {wanted}; {given.python} is {got}")
    lock = clone / ".binder" / "requirements.txt"
    python = environment(folder / "venv", given.python, "-r", lock, cwd=clone)
    said_by(python, "-m", "jupyter", "labextension", "check", "--installed", "jupyterlab-myst")
    return partial(try_in_binder, clone)


def try_in_colab(commit: str, name: str) -> list[str]:
    """Run one plain notebook alone; return what is wrong with it."""
    before = nbformat.reads(said_by("git", "show", f"{commit}:book/{name}"), as_version=4)
    after = plain_notebook(before, Path(name).stem)
    with tempfile.TemporaryDirectory(prefix="colab-") as alone:
        wrong = run_there(Path(alone) / name, after)
    after.cells = [cell for cell in after.cells if cell.id != "install"]
    return wrong or changed_cells(before, after) + wrong_links(after, commit)


def colab(given: argparse.Namespace, folder: Path, commit: str) -> Trial:
    """Make an environment in which git takes a clone for the public address."""
    clone = clone_at(commit, folder / "repository")
    environment(folder / "venv", given.python, *BRINGS.split())
    os.environ.update(
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{clone}.insteadOf",
        GIT_CONFIG_VALUE_0=REPOSITORY_URL,
    )
    return partial(try_in_colab, commit)


def wrong_links(run: nbformat.NotebookNode, commit: str) -> list[str]:
    """Return a line for each listing of `show` that does not link to the commit."""
    wrong = []
    for output in (o for cell in run.cells for o in cell.get("outputs", [])):
        page = "".join(output.get("data", {}).get("text/html", ""))
        heads = page.count('class="source-head"')
        links = LINK.findall(page) if heads else []
        if len(links) < heads:
            wrong.append(f"{heads - len(links)} of {heads} listings have no link")
        wrong += [f"{path} is at {other}, not {commit}" for other, path in links if other != commit]
    return wrong


PLACES = {"binder": binder, "colab": colab}


def main() -> int:
    """Prepare the place and try the chapters; 1 when anything is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("place", choices=PLACES)
    parser.add_argument("chapters", nargs="*", metavar="NN", help="numbers of chapters")
    parser.add_argument("--python", default=sys.executable, help="the interpreter to start from")
    parser.add_argument("--commit", default="HEAD", help="what to try")
    parser.add_argument("--keep", type=Path, help="folder to work in, kept and used again")
    given = parser.parse_args()
    every = sorted(path.name for path in (ROOT / "book").glob("[0-9][0-9]*-*.ipynb"))
    wanted = [f"{number}-" for number in given.chapters] or [""]
    names = [name for name in every if name.startswith(tuple(wanted))]
    commit = said_by("git", "rev-parse", "--verify", f"{given.commit}^{{commit}}")
    for name in PRIVATE:
        os.environ.pop(name, None)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="place-") as scratch:
        folder = (given.keep or Path(scratch)).resolve()
        try_chapter = PLACES[given.place](given, folder, commit)
        for name in names:
            for line in try_chapter(name):
                faults += 1
                print(f"    {line}", flush=True)
    print(f"{faults} faults" if faults else "Every chapter does what the copy in git says.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
