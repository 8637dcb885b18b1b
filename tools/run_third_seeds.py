"""A third seed for each control of chapter 16's experiment, which had two: a record of its own.

    python tools/run_third_seeds.py           # → results/multi30k-third-seeds.json

They were added when the scores of the first two were known. So nothing is chosen here: rows and
decoding are those of `tools/run_recipe.py` and its record, each test set is looked at once a run,
and that record stays as it was made. An interrupted run goes on; one that is recorded is not made
again, so that its folder may go.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from run_multi30k import train
from run_recipe import (
    GREEDY,
    RESULTS,
    ROWS,
    Decoding,
    Row,
    as_recorded,
    committed,
    counted,
    evaluate,
    recorded,
    save,
)

RECORD = RESULTS / "multi30k-third-seeds.json"
CONTROLS = ("no-r-drop", "paper")
SEED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and score what the record lacks.

    Raises:
        ValueError: the experiment's record does not say, in a commit, how a control decodes.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="place of run folders")
    args = parser.parse_args(arguments)
    chosen = committed().get("decoding", {})
    if missing := [name for name in CONTROLS if name not in chosen]:
        raise ValueError(f"no decoding of {missing} is committed: run tools/run_recipe.py first")
    for name in CONTROLS:
        row = replace(ROWS[name], seeds=(SEED,))
        for run_name, recipe in row.runs(name).items():
            if run_name not in {run["name"] for run in recorded(RECORD).get("runs", [])}:
                train(args.folder / run_name, recipe)
                keep(scored(args.folder / run_name, row, Decoding(**chosen[name])))
    return 0


def scored(folder: Path, row: Row, decoding: Decoding) -> dict[str, Any]:
    """Score a run as the first seeds of its row were; return what the record keeps of it."""
    for without_test in (decoding, replace(decoding, beam=GREEDY)):
        evaluate(folder, "val", without_test)
    for split in row.tests:
        evaluate(folder, split, decoding, output=f"{split}.txt")
    return {**as_recorded(folder), "counts": counted(folder, row)}


def keep(run: dict[str, Any]) -> None:
    """Add a run to the record, and its looks at a test set."""
    runs = [*recorded(RECORD).get("runs", []), run]
    looks = sum(e["split"].startswith("test") for one in runs for e in one["evaluation"])
    save({"looks": looks, "runs": runs}, RECORD)


if __name__ == "__main__":
    raise SystemExit(main())
