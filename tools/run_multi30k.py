"""Train and measure the Multi30k runs and record them: one command for each record.

    python tools/run_multi30k.py multi30k-de-en        # → results/multi30k-de-en.json
    python tools/run_multi30k.py multi30k-en-de --only en-de-1
    python tools/run_multi30k.py                       # all: some twenty-eight hours of one core

Run folders stand under runs/ (or --folder). A run that was interrupted goes on, a finished one is
only measured where a measurement is missing. Runs that no folder holds stay as they are recorded.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from record_run import run as read_run
from record_run import with_beginnings
from records import RESULTS, write

from walkthrough.ch16_translation.experiments.choosing import best_on_validation

ALPHAS = (0.6, 1.0, 1.6)
BEAM = {"beam": 5, "alpha": 0.6}
GREEDY = {"beam": 1, "alpha": 0.6}


@dataclass(frozen=True)
class Recipe:
    """How one run is made: options of `train`, processes of `torchrun`, how it is measured."""

    options: str
    processes: int = 1
    fully: bool = True  # beam search and averages; otherwise greedy only
    split: str = "test_2016_flickr"  # what greedy decoding translates; "val" looks at no test set


def r_drop_recipe(begun_with: str, update: int, *, seed: int) -> Recipe:
    """Return the run that goes on with R-Drop where another ended, at `update` (chapter 16)."""
    return Recipe(
        f"--start-from {{folder}}/{begun_with}/checkpoints/{update:06d}.safetensors --seed {seed} "
        "--max-updates 4000 --set training.warmup=200 --set training.peak=0.0015 "
        "--set training.r_drop=2 --set training.accumulate=2 --set training.save_every=400"
    )


RECORDS: dict[str, dict[str, Recipe]] = {
    "multi30k-en-de": {
        "en-de-1": Recipe("--seed 1"),
        "en-de-1-longer": Recipe(
            "--start-from {folder}/en-de-1/checkpoints/006000.safetensors --seed 2 "
            "--max-updates 2600 --set training.warmup=200 --set training.peak=0.0015"
        ),
        "en-de-2": Recipe("--seed 2 --max-updates 10500"),
        "en-de-3": Recipe("--seed 3 --max-updates 10500"),
        "en-de-4": Recipe("--seed 4 --max-updates 10500"),
        "en-de-2-r-drop": r_drop_recipe("en-de-2", 10_500, seed=5),
        "en-de-3-r-drop": r_drop_recipe("en-de-3", 10_500, seed=6),
        "en-de-4-r-drop": r_drop_recipe("en-de-4", 10_500, seed=7),
        "en-de-2-r-drop-again": r_drop_recipe("en-de-2-r-drop", 4_000, seed=8),
        "en-de-3-r-drop-again": r_drop_recipe("en-de-3-r-drop", 4_000, seed=9),
        "en-de-4-r-drop-again": r_drop_recipe("en-de-4-r-drop", 4_000, seed=10),
        "en-de-2-r-drop-third": r_drop_recipe("en-de-2-r-drop-again", 4_000, seed=11),
        "en-de-3-r-drop-third": r_drop_recipe("en-de-3-r-drop-again", 4_000, seed=12),
        "en-de-4-r-drop-third": r_drop_recipe("en-de-4-r-drop-again", 4_000, seed=13),
        "en-de-hour": Recipe(
            "--seed 1 --max-updates 7800 --set training.accumulate=2 "
            "--set training.valid_every=1300",
            processes=2,
        ),
        "en-de-12-minutes": Recipe(
            "--seed 1 --max-updates 1900 --set training.accumulate=2 --set training.warmup=400 "
            "--set training.valid_every=950 --set training.save_every=50",
            processes=2,
        ),
        "en-de-12-minutes-longer": Recipe(
            "--seed 1 --max-updates 2050 --set training.accumulate=2 --set training.warmup=400 "
            "--set training.valid_every=1025 --set training.save_every=50",
            processes=2,
        ),
        "one-batch-an-update": Recipe(
            "--seed 1 --max-updates 5000 --set training.max_tokens=2048 --set training.accumulate=1"
        ),
    },
    "multi30k-de-en": {
        "de-en-1": Recipe("--seed 1 --set data.source_language=de --set data.target_language=en")
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing, measure it, write the records."""
    args = parsed(arguments)
    for name in args.records or RECORDS:
        recipes = RECORDS[name]
        for run in args.only or recipes:
            train(args.folder / run, recipes[run])
            measure(args.folder / run, recipes[run])
            record(args.output / f"{name}.json", recipes, args.folder)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="*", metavar="RECORD", help=f"of {', '.join(RECORDS)}")
    parser.add_argument("--only", nargs="+", metavar="RUN", help="these runs of the one record")
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="place of run folders")
    parser.add_argument("--output", type=Path, default=RESULTS, help="place of the records")
    args = parser.parse_args(arguments)
    for name in args.records:
        if name not in RECORDS:
            parser.error(f"no record {name}: choose from {', '.join(RECORDS)}")
    if args.only and len(args.records) != 1:
        parser.error("--only needs the name of one record")
    for run in args.only or ():
        if run not in RECORDS[args.records[0]]:
            parser.error(f"no run {run}: choose from {', '.join(RECORDS[args.records[0]])}")
    return args


def train(folder: Path, recipe: Recipe) -> None:
    """Train, or go on with the training, unless it is finished."""
    if results_of(folder).get("training"):
        return
    words = shlex.split(recipe.options.format(folder=folder.parent))
    command = ["-m", "transformer", "train", "--preset", "multi30k-tiny", "--threads", "1"]
    if recipe.processes > 1:
        processes = f"--nproc-per-node={recipe.processes}"
        command = ["-m", "torch.distributed.run", "--standalone", processes, *command]
    run([*command, *words, "--folder", str(folder), "--resume=auto"])


def measure(folder: Path, recipe: Recipe) -> None:
    """Translate with the measures of the run that are still missing.

    The length penalty is chosen on the validation split, for the mean of five checkpoints.
    """
    if not recipe.fully:
        evaluate(folder, split=recipe.split, average=1, **GREEDY)
        return
    for alpha in ALPHAS:
        evaluate(folder, split="val", average=5, beam=5, alpha=alpha)
    tried = [e for e in results_of(folder)["evaluation"] if (e["beam"], e["average"]) == (5, 5)]
    best = best_on_validation(tried)["alpha"]
    evaluate(folder, split="test_2016_flickr", average=1, **GREEDY)
    evaluate(folder, split="test_2016_flickr", average=1, **BEAM)
    evaluate(folder, split="test_2016_flickr", average=5, **BEAM)
    evaluate(folder, split="test_2016_flickr", average=5, beam=5, alpha=best)


def evaluate(folder: Path, **settings: Any) -> None:
    """Measure once: a result that stands in the run folder is not made again."""
    done = results_of(folder).get("evaluation", [])
    if any(all(found[name] == value for name, value in settings.items()) for found in done):
        return
    options = [f"--{name}={value}" for name, value in settings.items()]
    run(["-m", "transformer", "evaluate", str(folder), "--threads=1", "--quiet", *options])


def record(path: Path, recipes: Mapping[str, Recipe], folder: Path) -> None:
    """Write the record: runs from their folders, or as the record had them."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"runs": []}
    known = {run["name"]: run for run in before["runs"]}
    for name in recipes:
        if results_of(folder / name).get("evaluation"):
            known[name] = read_run(folder / name)
            known[name]["settings"]["data"]["folder"] = None  # where the corpus lay says nothing
    runs = [known.pop(name) for name in recipes if name in known]
    write(path, {**before, "runs": [*with_beginnings(runs), *known.values()]}, flat_from=5)


def results_of(folder: Path) -> dict[str, Any]:
    """Return what a run folder's results.json holds; nothing where there is none."""
    path = folder / "results.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def run(words: Sequence[str]) -> None:
    """Run Python with these words, and end with its exit code when it fails."""
    print(shlex.join(["python", *words]), flush=True)
    code = subprocess.run([sys.executable, *words], check=False).returncode
    if code:
        raise SystemExit(code)


if __name__ == "__main__":
    raise SystemExit(main())
