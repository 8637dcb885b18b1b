"""Try the plain notebooks as Colab has them: each alone in an empty folder, and its first cell.

    python -m tools.verify.colab [--keep FOLDER] [NN ...]

Makes a new environment with the packages that Colab brings (`BRINGS`) and nothing of the book. Then
every chapter is run there in its plain form, away from the repository: its first cell installs the
book from git, with this folder in the place of the public address. A chapter must

- run to its end, and print what the copy in git holds;
- link every listing of `show` to the lines that hold it, at the commit that is installed.

After it the package must answer there, outside the repository, with its records and commands.

Only what is committed is tried, and not Colab's display. Where torch would come with CUDA, set
PIP_EXTRA_INDEX_URL as the workflows do, or name a constraint file.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import nbformat
from tools.site.plain_notebooks import plain_notebook
from tools.verify.places import (
    RUN,
    changed_cells,
    clean_environ,
    clone_at,
    environment,
    git,
    pip,
    said_by,
    step,
    try_all,
    wrong_links,
)

from walkthrough.page.links import REPOSITORY_URL

# As Colab had them in 2025; those that are not named come as the others need them.
BRINGS = """
ipykernel==6.17.1 ipython==7.34.0 nbclient==0.10.2 nbformat==5.10.4 jsonschema==4.25.1
numpy==2.0.2 pandas==2.2.2 matplotlib==3.10.0 seaborn==0.13.2 scikit-learn==1.6.1 altair==5.5.0
torch tokenizers safetensors tqdm pygments==2.19.2
"""
WHERE = """
import json, sys
import transformer, walkthrough
from walkthrough.lab import frame
from walkthrough.page.results import FOLDER
from walkthrough.lab.half_trained import load_translator
load_translator()
names = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
[frame(name) for name in names]
print(json.dumps([walkthrough.__file__, transformer.__file__, sys.prefix, names]))
"""


@cache
def check_package(python: Path, commit: str) -> list[str]:
    """Ask the installed package for its records and its command line; what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        asked = said_by([python, "-c", WHERE], folder)
        train = [python, "-m", "transformer", "train", "--preset", "phrasebook", "--quiet"]
        short = ["--max-updates", "2", "--set", "training.warmup=1", "--threads", "1"]
        said_by([*train, *short, "--folder", "run"], folder)
    *files, prefix, names = json.loads(asked.splitlines()[-1])
    tree = git("ls-tree", "--name-only", commit, "results/").splitlines()
    expected = sorted(Path(path).stem for path in tree if path.endswith(".jsonl"))
    if not all(file.startswith(prefix) for file in files):
        return [f"the package is not the installed one: {files}"]
    return [] if names == expected else [f"expected the records {expected}, got {names}"]


def try_chapter(python: Path, commit: str, environ: dict[str, str], name: str) -> list[str]:
    """Run one notebook alone; print a line; return what is wrong with it."""
    start = time.monotonic()
    before = nbformat.reads(git("show", f"{commit}:book/{name}"), as_version=4)
    plain = plain_notebook(before, Path(name).stem)
    with tempfile.TemporaryDirectory(prefix="colab-") as folder:
        nbformat.write(plain, Path(folder) / name)
        done = subprocess.run(
            [str(python), "-c", RUN, name, "after.ipynb"],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(f"{name:<40} does not run", flush=True)
            return [done.stderr.strip()[-1500:]]
        after = nbformat.read(Path(folder) / "after.ipynb", as_version=4)
    listings, wrong = wrong_links(after, commit)
    after.cells = [cell for cell in after.cells if cell.id != "install"]
    wrong += changed_cells(before, after)
    took = f"{time.monotonic() - start:5.0f} s"
    print(f"{name:<40} {took} {listings:3} listings", flush=True)
    return wrong or check_package(python, commit)


def prepare(given: argparse.Namespace, folder: Path, commit: str) -> Callable[[str], list[str]]:
    """Make an environment in which git takes a clone for the public address; ask the package."""
    clone = clone_at(commit, folder / "repository")
    with step("an environment with what Colab brings"):
        python = environment(folder / "venv", given.python)
        pins = ["--constraint", str(given.constraint)] if given.constraint else []
        pip(python, *BRINGS.split(), *pins)
    pinned = {"PIP_CONSTRAINT": str(given.constraint.resolve())} if given.constraint else {}
    environ = clean_environ(
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{clone}.insteadOf",
        GIT_CONFIG_VALUE_0=REPOSITORY_URL,
        **pinned,
    )
    return partial(try_chapter, python, commit, environ)


if __name__ == "__main__":
    sys.exit(try_all(__doc__ or "", prepare))
