"""Convert the records of the old programs, once, into those of the laboratory.

    python tools/convert_records.py NAME       # results/phrasebook-….json → NAME.jsonl
    python tools/convert_records.py NAME --check

A function a record yields its runs; commit, date, machine and versions come along. It is checked
that every number of the old runs stands in the new ones. An old file that has gone is read from the
last commit that has it.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from walkthrough.lab import store
from walkthrough.lab.discovery import find
from walkthrough.lab.experiment import Experiment, Key
from walkthrough.lab.store import Run

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"


def run_of(
    experiment: Experiment, old: dict[str, Any], run: dict[str, Any], key: Key, **found: Any
) -> Run:
    """Return a line from an old record's heading `old`, its `run`, and what was found in it."""
    commit, changed = run.get("commit") or old.get("commit"), run.get("changed_since")
    changed = old.get("changed_since") if changed is None and "commit" not in run else changed
    hardware = old.get("hardware") or run
    versions = old.get("versions") or run
    return Run(
        experiment=experiment.name,
        **key._asdict(),
        phase=found.pop("phase", "claim"),
        commit=f"{commit}-dirty" if changed else str(commit),
        date=run.get("date") or old.get("date") or "unknown",
        machine={n: hardware[n] for n in ("processor", "instructions", "cores") if n in hardware},
        versions={name: versions[name] for name in ("python", "torch") if name in versions},
        cpu_seconds=found.pop("cpu_seconds", run.get("cpu_seconds")),
        parameters=found.pop("parameters", run.get("parameters")),
        target_tokens=found.pop("target_tokens", run.get("target_tokens")),
        extra=found.pop("extra", {}),
        declaration=experiment.fingerprint(key.arm),
        **found,
    )


CONVERTERS: dict[str, tuple[str, Callable[[Experiment, dict[str, Any]], Iterator[Run]]]] = {}
"""By experiment: its old record, and what yields the runs of it."""

PASSING = {"commit", "date", "changed_since", "command", "settings", "seconds", "machine"}


def numbers(value: Any) -> Iterator[float]:
    """Yield every number below this one, and the words of numbers that name something."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in PASSING:
                yield from numbers(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(f"{value:.{store.DIGITS}g}")


def old_record(file: str) -> dict[str, Any]:
    """Return an old record: the file, or what the last commit that has it holds."""
    path = RESULTS / file
    if path.is_file():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    asked = ["git", "rev-list", "-2", "HEAD", "--", f"results/{file}"]
    commits = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    before = commits.stdout.split()[1]  # the first is the one that removed it
    asked = ["git", "show", f"{before}:results/{file}"]
    return dict(json.loads(subprocess.check_output(asked, cwd=ROOT, text=True)))


def check(file: str, path: Path) -> tuple[int, list[float]]:
    """Return how many numbers the old runs hold, and which of them the new ones lack."""
    runs = old_record(file)["runs"]
    lines = [json.loads(run.to_line()) for run in store.read(path).values()]
    before, after = Counter(numbers(runs)), set(numbers(lines))
    named = {part for line in lines for part in line["arm"].replace(",", "").split()}
    lost = [n for n in before if n not in after and f"{n:g}" not in named]
    return before.total(), lost


def main() -> int:
    """Convert, or only check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", choices=list(CONVERTERS))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    for name in args.names:
        file, convert = CONVERTERS[name]
        path = store.path_of(name)
        if not args.check:
            path.unlink(missing_ok=True)
            for run in convert(find(name), old_record(file)):
                store.append(path, run)
        total, lost = check(file, path)
        print(f"{name}: {total} numbers of {file}, {len(lost)} of them lost: {lost[:20]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
