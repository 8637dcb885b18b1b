"""Everything `make test` runs, stage after stage, with one summary at the end.

    python -m tools.verify.check [STAGE ...]

A stage that fails does not keep the next from running. The last line counts over all stages.
Tests run in as many processes as there are processors. Each takes files in their order, since tests
of one share what they prepare; who has none left takes some of another's.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from tools.book import execute
from tools.verify.compared import changed_cells

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
MOST_PROCESSES = 4  # of pytest: each imports torch, or starts a browser

# A headless browser on a busy machine may stop drawing frames; a click then waits in vain for its
# target to lie still, and faces that come late move the page. Such tests, and no others, are tried
# once more, and the report says so: what moves a page for readers moves it twice.
ONCE_MORE = (
    "--reruns=1",
    r"--only-rerun=(?s)Timeout \d+ms exceeded.*enabled and stable\s*$",
    r"--only-rerun=where [\d.]+ = layout_shift\(",
)


@dataclass(frozen=True)
class Outcome:
    """What one stage came to."""

    name: str
    passed: int
    failed: int
    skipped: int
    seconds: float


def run(words: list[str]) -> int:
    """Run one command in the repository, its output shown as it comes."""
    print(f"$ {' '.join(words)}", flush=True)
    command = [str(BIN / words[0]), *words[1:]]
    # Two processes with a thread for each processor would wait for one another.
    settings = {"OMP_NUM_THREADS": "1", **os.environ}
    # Tests start many processes. Where no bytecode is kept beside its source, each would compile
    # torch anew, which takes five seconds; so it is kept below _build.
    if settings.pop("PYTHONDONTWRITEBYTECODE", ""):
        settings.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / "_build" / "bytecode"))
    return subprocess.run(command, cwd=ROOT, env=settings, check=False).returncode


def commands(name: str, *lines: list[str]) -> Outcome:
    """Run commands that each pass or fail as a whole."""
    start = time.monotonic()
    failed = sum(run(words) != 0 for words in lines)
    return Outcome(name, len(lines) - failed, failed, 0, time.monotonic() - start)


def counts(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped of a JUnit report."""
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    total, failures, errors, skipped = (
        sum(int(suite.get(key, 0)) for suite in suites)
        for key in ("tests", "failures", "errors", "skipped")
    )
    return total - failures - errors - skipped, failures + errors, skipped


def pytest_stage(name: str, *arguments: str) -> Outcome:
    """Run pytest and count its cases; a run that dies before it reports has failed."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status = run(["pytest", "-q", f"--junitxml={report}", *arguments])
        passed, failed, skipped = counts(report) if report.exists() else (0, 0, 0)
    if status not in (0, 1) or (status == 1 and not failed):
        failed += 1
    return Outcome(name, passed, failed, skipped, time.monotonic() - start)


def chapters_stage(root: Path = ROOT) -> Outcome:
    """Hold every chapter, as the build has run it, to the text that git holds and to its memory.

    The build runs a chapter again whenever it, or the code, has changed. So nothing is run here.
    """
    start = time.monotonic()
    passed = failed = 0
    cache = execute.cache_of(root)
    for path, record in execute.last_runs(root):
        wrong = ["has not been run as it is"]
        if record is not None:
            ran = cache.get_cache_bundle(record.pk).nb
            wrong = changed_cells(nbformat.read(path, as_version=4), ran)
            wrong += execute.too_large(path, record.data["megabytes"])
        for line in wrong:
            print(f"{path.name} {line}", flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    return Outcome("chapters", passed, failed, 0, time.monotonic() - start)


def report(outcomes: list[Outcome]) -> int:
    """Print a line a stage and the totals; the exit status is 1 when anything failed."""
    print("\n" + "─" * 62)
    for outcome in outcomes:
        sign = "✗" if outcome.failed else "✓"
        print(
            f"{sign} {outcome.name:<18}{outcome.passed:>6} passed {outcome.failed:>4} failed "
            f"{outcome.skipped:>4} skipped {outcome.seconds:>6.0f} s"
        )
    print("─" * 62)
    totals = [sum(getattr(o, key) for o in outcomes) for key in ("passed", "failed", "skipped")]
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped", flush=True)
    return 1 if totals[1] else 0


def stages() -> dict[str, Callable[[], Outcome]]:
    """What `make test` runs, in order."""
    shared = [f"--numprocesses={min(execute.processors(), MOST_PROCESSES)}", "--dist=worksteal"]
    units = ["tests", "--ignore=tests/site", *shared]
    site = ["tests/site", *ONCE_MORE, *shared]
    lint = [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["lint-imports", "--no-cache", "--no-logo"],
    ]
    return {
        "lint": lambda: commands("lint", *lint),
        "types": lambda: commands("types", ["mypy"]),
        "book": lambda: commands("book", ["python", "-m", "tools.book.build"]),
        "chapters": chapters_stage,
        "unit": lambda: pytest_stage("unit tests", *units),
        "site": lambda: pytest_stage("site", *site),
    }


def main(words: list[str] | None = None) -> int:
    """Run the stages that are named, or all, in order."""
    known = stages()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=", ".join(known))
    wanted = parser.parse_args(words).stages or list(known)
    if unknown := set(wanted) - set(known):
        parser.error(f"stages are {', '.join(known)}; got {', '.join(unknown)}")
    return report([known[name]() for name in known if name in wanted])


if __name__ == "__main__":
    sys.exit(main())
