"""Table 3 in small: train its rows with several seeds, and record what each scores (chapter 17).

    python tools/run_variations.py             # the phrasebook → results/phrasebook-variations.json
    python tools/run_variations.py multi30k    # → results/multi30k-variations.json, some five hours
    python tools/run_variations.py --rows base "A h=1" --seeds 1 --updates 60 --output /tmp/try.json

On the phrasebook: base, the eighteen rows that change one thing, and a control of ours, five seeds.
On Multi30k: base and a row for each letter of the table, three seeds, scored on the validation
split alone; --rows makes others.
A run of Multi30k that stands in the record is not made again, and an interrupted one goes on where
its folder under runs/ stopped. With --resume the phrasebook keeps what stands in its record, too.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from json import loads
from math import sqrt
from pathlib import Path
from typing import Any

import torch
from record_run import run as read_run
from records import RESULTS, keep_runs, rounded, write
from run_multi30k import GREEDY, Recipe, evaluate, results_of, train
from run_phrasebook import phrasebook_heading

from transformer.cli.plan import PRESETS
from walkthrough.ch17_variations import experiments
from walkthrough.ch17_variations.rows import CONTROL, SMALL_ROWS, TRAINED, Row, in_small

PHRASEBOOK, MULTI30K = "phrasebook", "multi30k"
OUTPUT = {name: RESULTS / f"{name}-variations.json" for name in (PHRASEBOOK, MULTI30K)}
SEEDS = {PHRASEBOOK: experiments.SEEDS, MULTI30K: (1, 2, 3)}

# What says most comes first, and what costs most last.
FIRST = [
    *("base", "A h=1", "B d_k=16", "C N=2", "D dropout=0.0", "E learned positions"),
    *("D smoothing=0.0", CONTROL, "C d_ff=1024", "C d_model=256", "A h=16", "C N=8"),
    *("C d_ff=4096", "D dropout=0.2", "D smoothing=0.2", "B d_k=32", "A h=32", "C N=4"),
    *("A h=4", "C d_model=1024"),
]
ROWS = {PHRASEBOOK: FIRST, MULTI30K: FIRST[:6]}

# Multi30k: d_model 128 and N = 3, about 16 minutes of one core a run.
WIDTH, DEPTH, MAX_LEN = 4, 2, 256
UPDATES, WARMUP, VALID_EVERY = 1500, 200, 250
SPLIT = "val"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing, measure it, write the record."""
    args = parsed(arguments)
    if args.corpus == PHRASEBOOK:
        phrasebook(args)
    else:
        multi30k(args)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", choices=[PHRASEBOOK, MULTI30K], default=PHRASEBOOK)
    parser.add_argument("--rows", nargs="+", help="names of rows, as the book writes them")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--updates", type=int)
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="place of run folders")
    parser.add_argument("--resume", action="store_true", help="keep the runs of the file")
    parser.add_argument("--output", type=Path)
    parser.set_defaults(threads=1, jobs=1)
    args = parser.parse_args(arguments)
    args.rows = args.rows or ROWS[args.corpus]
    for name in args.rows:
        if name not in TRAINED:
            parser.error(f"no row {name!r}: choose from {', '.join(map(repr, TRAINED))}")
    args.seeds = args.seeds or SEEDS[args.corpus]
    args.output = args.output or OUTPUT[args.corpus]
    return args


# The phrasebook ----------------------------------------------------------------------------------


def phrasebook(args: argparse.Namespace) -> None:
    """Train the rows on the phrasebook; the record is written after every run."""
    task = experiments.load_task()
    updates = args.updates or experiments.UPDATES
    record = phrasebook_heading(task, args)
    base = experiments.settings_of_row(SMALL_ROWS["base"])
    record["settings"] = {
        "model": base | {"max_len": experiments.MAX_LEN},
        "training": task.plan.training.to_dict() | {"max_updates": updates, "seed": None},
        "divided": {"width": experiments.WIDTH, "depth": experiments.DEPTH},
        "translated": experiments.N_TRANSLATED,
    }
    asked = set(product(args.rows, args.seeds))
    keep_runs(
        record,
        args.output,
        resume=args.resume,
        again=lambda run: (run["row"], run["seed"]) in asked,
    )
    done = {(run["row"], run["seed"]) for run in record["runs"]}
    for name, seed in product(args.rows, args.seeds):
        if (name, seed) not in done:
            run = measured(task, TRAINED[name], seed, updates)
            record["runs"].append({**run, "commit": record["commit"]})
            in_order = sorted(record["runs"], key=_place)
            write(args.output, rounded({**record, "runs": in_order}), flat_from=3)


def measured(task: Any, row: Row, seed: int, updates: int) -> dict[str, Any]:
    """Train one model and return its figures."""
    curve: list[tuple[int, float]] = []
    began = time.process_time()
    model = experiments.train_row(
        task, row, seed=seed, updates=updates, measured=lambda *point: curve.append(point)
    )
    scores = {split: experiments.evaluate(model, task, split) for split in experiments.SPLITS}
    found = {
        "row": row.name,
        "seed": seed,
        "cpu_seconds": time.process_time() - began,
        "parameters": model.n_parameters,
        "changes": {
            name: value
            for name, value in experiments.settings_of_row(row).items()
            if value != experiments.settings_of_row(SMALL_ROWS["base"])[name]
        },
        **{split: asdict(one) for split, one in scores.items()},
        "curve": curve,
    }
    said = ", ".join(f"{n} {s.perplexity:.4f} {s.bleu:.2f}" for n, s in scores.items())
    print(f"{row.name}, seed {seed}: {said}, {found['cpu_seconds']:.0f} CPU s", flush=True)
    return found


def _place(run: dict[str, Any]) -> tuple[int, int]:
    return list(TRAINED).index(run["row"]), run["seed"]


# Multi30k ----------------------------------------------------------------------------------------


def multi30k(args: argparse.Namespace) -> None:
    """Train the rows on Multi30k with the command line; no test set is looked at."""
    before = loads(args.output.read_text("utf-8"))["runs"] if args.output.is_file() else []
    known = {(run["row"], run["seed"]): run for run in before}
    updates = args.updates or UPDATES
    for name, seed in product(args.rows, args.seeds):
        folder = args.folder / folder_name(name, seed)
        if (name, seed) not in known:
            train(folder, recipe(TRAINED[name], seed=seed, updates=updates))
            evaluate(folder, split=SPLIT, average=1, **GREEDY)
            known[name, seed] = read(folder, name)
            runs = sorted(known.values(), key=_place)
            write(args.output, {"runs": runs}, flat_from=5)


def recipe(row: Row, *, seed: int, updates: int = UPDATES) -> Recipe:
    """Return how the command line trains a row. As in Equation 3, the rate falls with √d_model."""
    config = in_small(row, width=WIDTH, depth=DEPTH, max_len=MAX_LEN)
    sizes = ("d_model", "n_heads", "n_layers", "d_ff", "d_k", "d_v")
    model = {name: getattr(config, name) for name in (*sizes, "dropout", "positions", "max_len")}
    preset = PRESETS["multi30k-tiny"]
    peak = preset["training"]["peak"] * sqrt(preset["model"]["d_model"] / config.d_model)
    training = {
        "warmup": WARMUP,
        "valid_every": VALID_EVERY,
        "smoothing": row.smoothing,
        "peak": f"{peak:.6g}",
    }
    options = [f"--set model.{name}={value}" for name, value in model.items()]
    options += [f"--set training.{name}={value}" for name, value in training.items()]
    options += [f"--seed {seed}", f"--max-updates {updates}"]
    return Recipe(" ".join(options), fully=False, split=SPLIT)


def folder_name(row: str, seed: int) -> str:
    """Return the name of a run's folder: "A h=1" with seed 2 is variation-A-h-1-2."""
    return f"variation-{row.replace(' ', '-').replace('=', '-')}-{seed}"


def read(folder: Path, row: str) -> dict[str, Any]:
    """Return a finished run as the record keeps it."""
    found = read_run(folder)
    found["settings"]["data"]["folder"] = None  # where the corpus lay says nothing
    [greedy] = [one for one in results_of(folder)["evaluation"] if one["split"] == SPLIT]
    perplexity = found["curve"][-1]["valid_perplexity"]
    return {"row": row, **found, SPLIT: {"perplexity": perplexity, "bleu": greedy["bleu"]}}


if __name__ == "__main__":
    torch.set_num_threads(1)
    raise SystemExit(main())
