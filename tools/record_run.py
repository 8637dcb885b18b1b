"""Turn a finished run folder into a record under results/: settings, curve, scores, no text.

    python -m transformer train --preset multi30k-tiny --seed 1 --folder runs/en-de-1
    python -m transformer evaluate runs/en-de-1 --beam 5
    python tools/record_run.py runs/en-de-1 results/multi30k-en-de.json

Several folders make one record with several runs. A run that started from a checkpoint of another
run among them gets that run's curve before its own. Neither sentences nor weights are copied.
"""

import argparse
import csv
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from records import write

NOTES = (
    *("command", "commit", "date", "processor", "instructions", "cores", "machine"),
    *("python", "torch", "threads"),
)
CURVE = ("update", "epoch", "tokens", "seconds", "loss", "valid_perplexity")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read run folders, write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="finished run folders")
    parser.add_argument("output", type=Path, help="the JSON file to write")
    args = parser.parse_args(arguments)
    runs = with_beginnings([run(folder) for folder in args.folders])
    write(args.output, {"runs": runs}, flat_from=5)  # a line for each point of a curve
    return 0


def run(folder: Path) -> dict[str, Any]:
    """Return what one run folder tells about its run.

    Raises:
        FileNotFoundError: no settings, log or results; train and evaluate first.
        ValueError: the run did not reach its last update, or was never evaluated.
    """
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    with (folder / "log.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    wanted = settings["training"]["max_updates"]
    if int(rows[-1]["update"]) != wanted:
        raise ValueError(f"{folder}: a run of {wanted} updates stopped at {rows[-1]['update']}")
    if not results.get("evaluation"):
        raise ValueError(f"{folder}: no evaluation; run `python -m transformer evaluate` first")
    trained = (results.get("training") or [{}])[-1]
    notes = {name: settings[name] for name in NOTES if name in settings}
    return {
        "name": folder.name,
        **notes,
        "seed": settings["training"]["seed"],
        "settings": {name: settings[name] for name in ("data", "model", "training")},
        "curve": [point(row) for row in rows if row["valid_perplexity"]],
        "peak_memory_mb": trained.get("peak_memory_mb"),
        "evaluation": results["evaluation"],
    }


def with_beginnings(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the curve of the run that a run started from before its own: updates, tokens, seconds.

    Raises:
        ValueError: the run that one started from is not among them.
    """
    by_name = {run["name"]: run for run in runs}
    return [_with_beginning(run, by_name) for run in runs]


def _with_beginning(run: dict[str, Any], by_name: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    if "continues" in run or (start := _start_of(run, by_name)) is None:
        return run
    begun_with = _with_beginning(start[0], by_name)  # which may itself have gone on from another
    update = _updates_before(run, by_name)
    before = [point for point in begun_with["curve"] if point["update"] <= update]
    counted = ("update", "epoch", "tokens", "seconds")
    after = [
        {key: round(value + before[-1][key] * (key in counted), 4) for key, value in point.items()}
        for point in run["curve"]
    ]
    return {**run, "continues": begun_with["name"], "curve": before + after}


def _start_of(
    run: Mapping[str, Any], by_name: Mapping[str, dict[str, Any]]
) -> tuple[dict[str, Any], int] | None:
    """Return the run that a run started from and at which of its updates; None without one."""
    words = shlex.split(run.get("command", ""))
    if "--start-from" not in words:
        return None
    start = Path(words[words.index("--start-from") + 1])
    name = start.parent.parent.name  # runs/NAME/checkpoints/006000.safetensors
    if name not in by_name:
        raise ValueError(f"{run['name']} started from {start}: record it together with {name}")
    return by_name[name], int(start.stem)


def _updates_before(run: Mapping[str, Any], by_name: Mapping[str, dict[str, Any]]) -> int:
    """Return the updates of everything that a run went on from."""
    start = _start_of(run, by_name)
    return 0 if start is None else start[1] + _updates_before(start[0], by_name)


def point(row: Mapping[str, str]) -> dict[str, float]:
    """Return one row of the log as numbers of four digits."""
    return {name: round(float(row[name]), 4) for name in CURVE}


if __name__ == "__main__":
    raise SystemExit(main())
