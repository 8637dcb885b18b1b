"""Run each chapter alone and print its seconds and peak memory.

    python -m tools.book.measure_chapters [--strict] [NOTEBOOK ...]

The memory is the highest sum over the process and its children (the kernel), read ten times a
second. With --strict, a chapter above its limits makes the exit status 1.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

BOOK = Path(__file__).resolve().parents[2] / "book"
SECONDS = 60.0
LONGER = {"14": 120.0}  # the training run
MEGABYTES = 1500.0
LIGHTER = {"14": 1200.0}  # Binder has 2 000 for JupyterLab and all that runs in it
RUN = """
import sys
import nbformat
from nbclient import NotebookClient
from pathlib import Path
path = Path(sys.argv[1])
notebook = nbformat.read(path, as_version=4)
resources = {"metadata": {"path": str(path.parent)}}
NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
"""


@dataclass(frozen=True)
class Measured:
    """What one run of a chapter took."""

    name: str
    seconds: float
    megabytes: float
    succeeded: bool

    @property
    def limit(self) -> float:
        """The seconds this chapter may take."""
        return LONGER.get(self.name[:2], SECONDS)

    @property
    def memory_limit(self) -> float:
        """The megabytes this chapter may take."""
        return megabytes_allowed(self.name)

    @property
    def fits(self) -> bool:
        """Whether the run succeeded within the limits."""
        return self.succeeded and self.seconds <= self.limit and self.megabytes <= self.memory_limit


def megabytes_allowed(name: str) -> float:
    """The memory that the chapter of this file name may take, with its child processes."""
    return LIGHTER.get(name[:2], MEGABYTES)


def measure(path: Path) -> Measured:
    """Run one notebook in a process of its own."""
    start = time.monotonic()
    process = subprocess.Popen([sys.executable, "-c", RUN, str(path.resolve())])
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, resident(process.pid))
        time.sleep(0.1)
    return Measured(path.stem, time.monotonic() - start, peak, process.returncode == 0)


def resident(pid: int) -> float:
    """Megabytes of a process and its children; what they share counts once on Linux."""
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    total = 0
    for member in family:
        try:
            taken = member.memory_full_info()
            total += getattr(taken, "pss", taken.rss)
        except psutil.Error:
            continue
    return total / 1e6


def main() -> int:
    """Measure the given chapters, or all."""
    parser = argparse.ArgumentParser(description="Run each chapter alone; print time and memory.")
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--strict", action="store_true", help="exit 1 when a limit is passed")
    given = parser.parse_args()
    paths = given.notebooks or sorted(BOOK.glob("*.ipynb"))
    if not paths:
        parser.error(f"no chapters under {BOOK}")
    print(f"{'chapter':<40} {'seconds':>8} {'limit':>6} {'peak MB':>8} {'limit':>6}")
    results = []
    for path in paths:
        result = measure(path)
        results.append(result)
        verdict = "" if result.fits else ("  over a limit" if result.succeeded else "  FAILED")
        print(
            f"{result.name:<40} {result.seconds:8.1f} {result.limit:6.0f}"
            f" {result.megabytes:8.0f} {result.memory_limit:6.0f}{verdict}",
            flush=True,
        )
    if not all(result.succeeded for result in results):
        return 1
    return 1 if given.strict and not all(result.fits for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
