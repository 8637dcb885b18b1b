"""Everything `make test` runs, stage after stage, with one summary at the end.

A stage that fails does not keep the next from running. The last line counts over all stages.
Tests run in as many processes as there are processors, shared out by file where tests of a file
share what they prepare: unit tests, and chapters, which have one kernel each.
"""

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from tools.book import execute
from tools.book.measure_chapters import megabytes_allowed

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
CELL_TIMEOUT = 900
MOST_PROCESSES = 4  # of pytest: each imports torch, or starts a browser

# A headless browser on a busy machine may stop drawing frames; a click then waits in vain for its
# target to lie still. Such a test, and no other, is tried once more, and the report says so.
ONCE_MORE = ("--reruns=1", r"--only-rerun=(?s)Timeout \d+ms exceeded.*enabled and stable\s*$")


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
    threads = {"OMP_NUM_THREADS": "1", **os.environ}
    return subprocess.run(command, cwd=ROOT, env=threads, check=False).returncode


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


def side_by_side(processes: int, share: str) -> list[str]:
    """What makes pytest run in several processes; nothing where one is all there is."""
    return [f"--numprocesses={processes}", f"--dist={share}"] if processes > 1 else []


def memory_stage(root: Path = ROOT) -> Outcome:
    """Hold every chapter, with its child processes, to the memory it may take.

    The build has looked while it ran them, so this takes no time.
    """
    start = time.monotonic()
    passed = failed = 0
    for path, megabytes in execute.measured(root):
        allowed = megabytes_allowed(path.name)
        if megabytes is not None and megabytes <= allowed:
            passed += 1
            continue
        failed += 1
        took = "has not been run as it is" if megabytes is None else f"took {megabytes:.0f} MB"
        print(f"{path.name} {took}; its limit is {allowed:.0f} MB", flush=True)
    return Outcome("memory", passed, failed, 0, time.monotonic() - start)


def chapters() -> list[str]:
    """The notebooks that nbval runs, each in a kernel of its own; the longest start first."""
    found = execute.longest_first(sorted((ROOT / "book").glob("*.ipynb")))
    return [str(path.relative_to(ROOT)) for path in found]


def notebooks_stage() -> Outcome:
    """Run every chapter as it stands in git and compare the cells that are tagged."""
    found = chapters()
    if not found:
        return Outcome("chapters", 0, 0, 0, 0.0)
    return pytest_stage(
        "chapters",
        "--nbval-lax",
        "--nbval-current-env",
        f"--nbval-cell-timeout={CELL_TIMEOUT}",
        "-o",
        "filterwarnings=default",  # what kernels warn about is not ours to forbid
        *side_by_side(execute.at_a_time(), "loadfile"),
        "--no-loadscope-reorder",  # in the order of the command line
        *found,
    )


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


def main() -> int:
    """Run all stages in order."""
    processors = min(execute.processors(), MOST_PROCESSES)
    return report(
        [
            commands("book", ["python", "-m", "tools.book.build"]),
            memory_stage(),
            commands(
                "lint",
                ["ruff", "check", "."],
                ["ruff", "format", "--check", "."],
                ["lint-imports", "--no-cache", "--no-logo"],
            ),
            commands("types", ["mypy"]),
            pytest_stage(
                "unit tests",
                "tests",
                "--ignore=tests/site",
                *side_by_side(processors, "loadfile"),
            ),
            notebooks_stage(),
            pytest_stage("site", "tests/site", *ONCE_MORE, *side_by_side(processors, "worksteal")),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
