"""Everything `make test` runs, stage after stage, with one summary at the end.

A stage that fails does not keep the next from running. The last line counts over all stages.
"""

import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
CELL_TIMEOUT = 900


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
    return subprocess.run([str(BIN / words[0]), *words[1:]], cwd=ROOT, check=False).returncode


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


def chapters() -> list[str]:
    """The notebooks that nbval runs, each in a kernel of its own."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "book").glob("*.ipynb"))


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
    return report(
        [
            commands("book", ["python", "tools/build.py"]),
            commands(
                "lint",
                ["ruff", "check", "."],
                ["ruff", "format", "--check", "."],
                ["lint-imports", "--no-cache", "--no-logo"],
            ),
            commands("types", ["mypy"]),
            pytest_stage("unit tests", "tests", "--ignore=tests/site"),
            notebooks_stage(),
            pytest_stage("site", "tests/site"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
