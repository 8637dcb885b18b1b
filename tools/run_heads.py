"""Train translators of the second corpus and record what their heads look at (chapter 19).

    python tools/run_heads.py                # both directions, five seeds → results/
    python tools/run_heads.py --seeds 1 --updates 100 --output /tmp/try.json

Writes phrasebook-heads.json after every run, and beside it the weights of the first seed of each
direction, in 16 bits. A run that is in the file already is not made again with `--resume`.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, keep_runs, origin, rounded, write

from transformer.cli.surroundings import processor
from transformer.data.phrasebook.second_corpus import DISTANT, distant_phrasebook
from transformer.training.checkpoint import unique_weights, write_tensors
from walkthrough.ch19_what_the_heads_attend_to.experiments import asking, measuring

OUTPUT = RESULTS / "phrasebook-heads.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    torch.set_num_threads(1)
    record = heads_heading(args)
    keep_runs(record, args.output, resume=args.resume, again=lambda run: run["seed"] in args.seeds)
    made = {(run["source"], run["seed"]) for run in record["runs"]}
    for seed in args.seeds:
        for language in ("en", "fr"):
            if (language, seed) in made:
                continue
            run = measured(language, seed, args)
            record["runs"].append(run)
            write(args.output, rounded(record), flat_from=4)
            print(
                f"from {language}, seed {seed}: exact {run['exact']:.3f}, "
                f"{run['cpu_seconds']:.0f} CPU s",
                flush=True,
            )
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--updates", type=int, default=None, help="default: chapter 19's number")
    parser.add_argument("--train", type=int, default=16_000, help="sentences to train on")
    parser.add_argument("--questions", type=int, default=measuring.N_QUESTIONS)
    parser.add_argument("--resume", action="store_true", help="keep the runs of the file")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    for name in ("updates", "train", "questions"):
        number = getattr(args, name)
        if number is not None and number < 1:
            parser.error(f"--{name} must be at least 1, got {number}")
    return args


def heads_heading(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the runs share: command, commit, hardware, date, settings, corpus."""
    settings = {"model": asking.SIZES, "training": asking.SETTINGS.to_dict()}
    words = distant_phrasebook(train=args.train).vocabulary()
    weights = {name: weight for name, (_, weight) in DISTANT.items()}
    corpus = {"train": args.train, "vocabulary": len(words), "structures": weights}
    return {**heading(settings), "corpus": corpus}


def measured(language: str, seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Train one translator, ship it if it is the first, and return its figures."""
    began = time.process_time()
    translator = asking.train_translator(
        language, seed=seed, updates=args.updates, train=args.train
    )
    spent = time.process_time() - began
    if seed == asking.SHIPPED_SEED:
        ship(translator, args.output.parent / asking.checkpoint_name(language), seed)
    found = measuring.measure(translator, n=args.questions)
    return {"source": language, "seed": seed, "cpu_seconds": spent, **found}


def ship(translator: asking.Translator, path: Path, seed: int) -> None:
    """Write the weights in 16 bits, which is what they were measured with."""
    weights = {name: value.half() for name, value in unique_weights(translator.model).items()}
    notes = {**origin(), "seed": seed, "hardware": processor()}
    metadata = {
        "config": json.dumps(translator.model.config.to_dict()),
        "notes": json.dumps(notes),
        "tokenizer": translator.codec.to_text(),
    }
    write_tensors(path, weights, metadata)


if __name__ == "__main__":
    raise SystemExit(main())
