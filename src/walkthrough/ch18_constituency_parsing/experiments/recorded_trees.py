"""What the record of CRAFT says, row by row (`tools/run_trees.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]


def tested(record: Record) -> list[dict[str, Any]]:
    """Return a row for every run on the test articles and way of decoding."""
    return [
        {
            "parser": run["row"],
            "seed": run["seed"],
            "training sentences": run["sentences"],
            "decoding": way,
            **{name: scores[name] for name in ("f1", "precision", "recall", "exact")},
            "well formed": scores["well_formed"],
        }
        for run in record["runs"]
        if "on dev" not in run["row"]
        for way, scores in run["scores"].items()
    ]


def on_dev(record: Record) -> dict[str, float]:
    """Return F1 on the dev articles of what was tried there."""
    return {
        run["row"].partition("dev, ")[2]: scores["f1"]
        for run in record["runs"]
        if "on dev" in run["row"]
        for scores in run["scores"].values()
    }


def best_scores(record: Record, row: str) -> Mapping[str, Any]:
    """Return what a parser scored in its last way of decoding, trained on all sentences.

    Raises:
        KeyError: the record has no such row.
    """
    found = [run for run in record["runs"] if run["row"] == row]
    if not found:
        known = ", ".join(dict.fromkeys(run["row"] for run in record["runs"]))
        raise KeyError(f"the record has no row {row!r}; there are {known}")
    largest = max(found, key=lambda run: (run["sentences"], -(run["seed"] or 0)))
    return list(largest["scores"].values())[-1]


def lengths(record: Record, rows: Sequence[str]) -> dict[str, Any]:
    """Return F1 by length of these rows, those that the record has."""
    known = {run["row"] for run in record["runs"]}
    return {row: best_scores(record, row)["by_length"] for row in rows if row in known}
