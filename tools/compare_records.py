"""Compare a record that was made again with the one under results/, figure by figure.

    python tools/run_phrasebook.py --seeds 1 --output again.json
    python tools/compare_records.py results/phrasebook.json again.json

Runs are matched by their words and seeds, so the new record may hold fewer. For every figure it
prints how many values there are, how many are the same to the last recorded digit, and the largest
difference. Times, dates, commits and machines are left out: they are meant to differ.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PASSING = {
    *("command", "commit", "changed_since", "date", "hardware", "versions", "threads", "note"),
    *("seconds", "cpu_seconds", "processor", "instructions", "cores", "machine", "python", "torch"),
    *("memory_mb", "peak_memory_mb", "tokens_per_second"),
}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value below this one, with its path; what is meant to differ is left out."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in PASSING:
                yield from leaves(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, f"{path}[{index}]")
    else:
        yield path, value


def matched(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Each new run with the old run of the same names and numbers whose figures are nearest."""
    for run in new["runs"]:
        mine = dict(leaves(run))
        alike = [other for other in old["runs"] if identity(dict(leaves(other))) == identity(mine)]
        if alike:
            yield min(alike, key=lambda other, mine=mine: distance(dict(leaves(other)), mine)), run


def identity(values: dict[str, Any]) -> dict[str, Any]:
    """What names a run: its words and seeds, and not what was measured."""
    return {path: value for path, value in values.items() if isinstance(value, str | int | None)}


def distance(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The sum of relative differences over the fractions of two runs, a setting among them."""
    pairs = [(one.get(path), value) for path, value in other.items() if isinstance(value, float)]
    return sum(_relative(a, b) if isinstance(a, float) else 1.0 for a, b in pairs)


def _relative(one: float, other: float) -> float:
    return abs(one - other) / max(abs(one), abs(other)) if one != other else 0.0


def figure_of(path: str) -> str:
    """The name of a figure: its path without places in lists."""
    return "".join(part.split("]")[-1] for part in path.split("["))


def compare(old: dict[str, Any], new: dict[str, Any]) -> dict[str, tuple[int, int, float, float]]:
    """Values, equal values, largest difference and largest relative difference of each figure."""
    found: dict[str, tuple[int, int, float, float]] = {}
    for before, after in matched(old, new):
        stored = dict(leaves(before))
        for path, value in leaves(after):
            if not isinstance(value, float) or not isinstance(stored.get(path), int | float):
                continue
            gap, share = abs(value - stored[path]), _relative(value, stored[path])
            name = figure_of(path)
            count, same, most, relative = found.get(name, (0, 0, 0.0, 0.0))
            found[name] = (count + 1, same + (gap == 0), max(most, gap), max(relative, share))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Compare two records; the exit status is 1 when the new one has nothing to compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    args = parser.parse_args(arguments)
    found = compare(
        *(json.loads(path.read_text(encoding="utf-8")) for path in (args.old, args.new))
    )
    print(f"{'figure':<40} {'values':>7} {'same':>6} {'largest difference':>20} {'relative':>10}")
    for name, (count, same, most, relative) in found.items():
        print(f"{name:<40} {count:>7} {same:>6} {most:>20.4g} {relative:>10.2g}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
