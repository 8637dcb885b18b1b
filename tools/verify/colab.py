"""Try the book as Colab has it: the package from git, one notebook file alone in an empty folder.

    python -m tools.verify.colab [--keep FOLDER] [NN ...]

Makes a new environment with nothing but `pip install "transformer-walkthrough[book] @ git+…"`: the
line that the README gives to readers in Colab, except that the address is this repository's folder.
Then every chapter is run there, away from the repository. It must

- run to its end, and print what the copy in git holds;
- link every listing of `show` to the lines that hold it, at the commit that is installed;
- draw.

Only what is committed is tried, and neither the packages that Colab brings nor its display. Where
torch would come with CUDA, set PIP_EXTRA_INDEX_URL as the workflows do, or name a constraint file.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from tools.verify.places import (
    ROOT,
    changed_cells,
    chosen,
    clean_environ,
    commit_of,
    environment,
    figures,
    git,
    options,
    pip,
    step,
    wrong_links,
)

RUN = """
import sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""
WHERE = """
import json, sys
import transformer, walkthrough
from walkthrough.page.results import FOLDER, recorded
from walkthrough.lab.half_trained import load_translator
load_translator()
names = sorted(path.stem for path in FOLDER.glob("*.json"))
[recorded(name) for name in names]
print(json.dumps([walkthrough.__file__, transformer.__file__, sys.prefix, names]))
"""


def install(python: Path, commit: str, constraint: Path | None) -> None:
    """Run the README's line for Colab, with this folder as the address."""
    wanted = f"transformer-walkthrough[book] @ git+file://{ROOT}@{commit}"
    pins = ["--constraint", str(constraint)] if constraint else []
    # In a folder that is kept, pip would take another commit of the same version for installed.
    gone = [str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "transformer-walkthrough"]
    subprocess.run(gone, env=clean_environ(), capture_output=True, check=True)
    pip(python, wanted, *pins)


def check_package(python: Path, commit: str) -> None:
    """Ask the installed package for its records and its command line, outside the repository.

    Raises:
        SystemExit: the package came from elsewhere, or misses a record.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked = _run([python, "-c", WHERE], folder)
        _run([python, "-m", "transformer", "--help"], folder)
        train = [python, "-m", "transformer", "train", "--preset", "phrasebook", "--quiet"]
        short = ["--max-updates", "2", "--set", "training.warmup=1", "--threads", "1"]
        _run([*train, *short, "--folder", "run"], folder)
    *files, prefix, names = json.loads(asked.splitlines()[-1])
    if not all(file.startswith(prefix) for file in files):
        raise SystemExit(f"the package is not the installed one: {files}")
    tree = git("ls-tree", "--name-only", commit, "results/").splitlines()
    expected = sorted(Path(path).stem for path in tree if path.endswith(".json"))
    if names != expected:
        raise SystemExit(f"expected the records {expected}, got {names}")
    print(f"{len(names)} records, the half-trained model and `python -m transformer` work")


def _run(command: list[object], folder: str) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=clean_environ(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)[:300]}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def try_chapter(python: Path, name: str, commit: str) -> list[str]:
    """Run one notebook alone; print a line; return what is wrong with it."""
    start = time.monotonic()
    text = git("show", f"{commit}:book/{name}")
    with tempfile.TemporaryDirectory(prefix="colab-") as folder:
        (Path(folder) / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [str(python), "-c", RUN, name, "after.ipynb"],
            cwd=folder,
            env=clean_environ(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(f"{name:<40} does not run", flush=True)
            return [done.stderr.strip()[-1500:]]
        after = nbformat.read(Path(folder) / "after.ipynb", as_version=4)
    listings, wrong = wrong_links(after, commit)
    wrong += changed_cells(nbformat.reads(text, as_version=4), after)
    drawn = figures(after)
    if not drawn:
        wrong.append("draws nothing")
    took = f"{time.monotonic() - start:5.0f} s"
    print(f"{name:<40} {took} {listings:3} listings {drawn:3} figures", flush=True)
    return wrong


def main() -> int:
    """Try the chapters; the exit status is 1 when anything is wrong."""
    given = options(__doc__ or "").parse_args()
    commit = commit_of(given.commit)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="colab-") as scratch:
        folder = (given.keep or Path(scratch)).resolve()
        with step("an empty environment"):
            python = environment(folder / "venv", given.python)
        with step("transformer-walkthrough[book] from git"):
            install(python, commit, given.constraint)
        check_package(python, commit)
        for name in chosen(given.chapters):
            for line in try_chapter(python, name, commit):
                faults += 1
                print(f"    {line}", flush=True)
    print(f"{faults} faults" if faults else "Every chapter runs from the installed package alone.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
