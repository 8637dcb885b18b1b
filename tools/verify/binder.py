"""Try the book as Binder has it: an environment from `.binder/`, JupyterLab, 2 GB and two cores.

    python -m tools.verify.binder [--keep FOLDER] [NN ...]

Makes a clean clone of a commit and a new environment from its `.binder/` alone, with the Python
that it names, and asks JupyterLab there for the extension that reads the book's directives. Then
JupyterLab is started for every chapter, and the chapter run beside it from top to bottom. It must

- print what the copy in git holds;
- keep within 2 GB, on two cores: JupyterLab, the kernel and all processes that the chapter starts.
  Their memory is added up five times a second, and whoever passes the limit is ended.

Binder's image (repo2docker on Ubuntu), its proxy and its network are not tried.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat
import psutil
from tools.book.execute import resident
from tools.verify import places
from tools.verify.places import RUN, clean_environ, said_by, step

LIMIT = 2_000  # MB
CORES = 2
EVERY = 0.2  # seconds between two looks
# JupyterLab answers before the chapter starts beside it.
BESIDE = f"""
import subprocess, sys, time
from pathlib import Path
words = ["lab", "--no-browser", "--allow-root", "--ServerApp.root_dir=.", "--port=0"]
lab = subprocess.Popen([sys.executable, "-m", "jupyter", *words])
runtime = Path(sys.argv[3])
while not list(runtime.glob("jpserver-*.json")):
    if lab.poll() is not None:
        sys.exit("JupyterLab does not start")
    time.sleep(0.3)
print("idle", flush=True)
time.sleep(5)
{RUN}
"""


@dataclass(frozen=True)
class Watched:
    """What a command came to: its status, its highest memory in MB, and what it wrote."""

    status: int
    peak: float
    log: str


def watched(command: list[str], limit: float, cores: int, **popen: object) -> Watched:
    """Run a command and all it starts on a few cores; end all of them above the limit."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        process = psutil.Popen(
            command,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed),
            **popen,
        )
        members, peak = [process], 0.0
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                members = [process, *process.children(recursive=True)]
            peak = max(peak, resident(process.pid))
            if peak > limit:
                _end(members)
            time.sleep(EVERY)
        _end(members)  # JupyterLab outlives the chapter
        log.seek(0)
        return Watched(process.returncode, peak, log.read())


def _end(members: list[psutil.Process]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        for member in members:
            with suppress(psutil.NoSuchProcess):
                member.send_signal(how)
        _, members = psutil.wait_procs(members, timeout=5)


def make_environment(folder: Path, given: argparse.Namespace, commit: str) -> tuple[Path, Path]:
    """Clone the commit and install what `.binder/` names; return the clone and the interpreter."""
    clone = places.clone_at(commit, folder / "repository")
    wanted = (clone / ".binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    got = said_by([given.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    if got.strip() != wanted:
        raise SystemExit(f"Binder has Python {wanted}; {given.python} is {got.strip()}")
    inside = places.environment(folder / "venv", given.python)
    pins = ["--constraint", given.constraint.resolve()] if given.constraint else []
    places.pip(inside, "--no-cache-dir", "-r", ".binder/requirements.txt", *pins, cwd=clone)
    return clone, inside


def try_chapter(python: Path, clone: Path, name: str) -> list[str]:
    """Start JupyterLab, run one chapter beside it, print a line; return what is wrong."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="binder-") as home:
        runtime = Path(home) / "runtime"
        path = f"{python.parent}:{os.environ['PATH']}"
        environ = clean_environ(HOME=home, JUPYTER_RUNTIME_DIR=str(runtime), PATH=path)
        ran = watched(
            [str(python), "-c", BESIDE, name, f"{home}/after.ipynb", str(runtime)],
            LIMIT,
            CORES,
            cwd=clone / "book",
            env=environ,
        )
        wrong = []
        if ran.peak > LIMIT:
            wrong.append(f"needs more than {LIMIT} MB")
        elif ran.status:
            wrong.append(ran.log.strip()[-1500:])
        else:
            before, after = clone / "book" / name, Path(home) / "after.ipynb"
            wrong += places.changed_cells(
                *(nbformat.read(one, as_version=4) for one in (before, after))
            )
    took = f"{time.monotonic() - start:5.0f} s {ran.peak:6.0f} MB"
    print(f"{name:<40} {took}{'  FAILED' if wrong else ''}", flush=True)
    return wrong


def prepare(given: argparse.Namespace, folder: Path, commit: str) -> Callable[[str], list[str]]:
    """Make the environment and look at JupyterLab's extensions; return what tries a chapter."""
    with step("a clone, and an environment from .binder/"):
        clone, python = make_environment(folder, given, commit)
    found = subprocess.run(
        [str(python), "-m", "jupyter", "labextension", "list"],
        env=clean_environ(PATH=f"{python.parent}:{os.environ['PATH']}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if "jupyterlab-myst" not in found.stdout:
        raise SystemExit(f"JupyterLab lacks jupyterlab-myst:\n{found.stdout}")
    return partial(try_chapter, python, clone)


if __name__ == "__main__":
    sys.exit(places.try_all(__doc__ or "", prepare))
