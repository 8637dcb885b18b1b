"""Train the translator that chapter 21 runs in the reader's browser, and write its weights.

    python tools/make_page_translator.py       # → results/phrasebook-translator.safetensors

Two minutes on one core. The recipe is the preset of chapter 14. Weights are stored as 16-bit
numbers, and what the notes say of them was measured after that rounding. The corpus is ours, so the
weights may stand in the repository.
"""

import argparse
import copy
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import torch

from transformer.cli.surroundings import surroundings
from transformer.model import Transformer
from transformer.training import load_model, save_checkpoint
from walkthrough.lab import translator
from walkthrough.page.results import FOLDER

OUTPUT = FOLDER / "phrasebook-translator.safetensors"
SEED = 1
SPLITS = ("valid", "test_sentences", "test_combinations")


def main(arguments: list[str] | None = None) -> int:
    """Train, round, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=None, help="default: the preset's")
    parser.add_argument("--sentences", type=int, default=1000, help="measured, of each split")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    made_by = surroundings()  # before the run: the commit that it runs
    task, began = translator.load_task(), time.process_time()
    model, history = translator.train_model(task, seed=SEED, updates=args.updates, threads=1)
    notes: dict[str, Any] = {
        **made_by,
        "command": shlex.join(["python", *sys.argv]),
        "seed": SEED,
        "cpu_seconds": time.process_time() - began,
        "target_tokens": history.records[-1].tokens,
        "training": task.plan.training.to_dict(),
    }
    save_rounded(args.output, model, task, notes)  # a model that cannot be measured is kept
    notes["exact"] = measured(load_model(args.output), task, args.sentences)
    save_rounded(args.output, model, task, notes)
    print(f"{args.output}: {args.output.stat().st_size / 1e6:.2f} MB, exact {notes['exact']}")
    return 0


def save_rounded(
    path: Path, model: Transformer, task: translator.Task, notes: dict[str, Any]
) -> None:
    """Write the model with 16-bit weights; the module as a whole keeps its tied matrix tied."""
    save_checkpoint(path, copy.deepcopy(model).half(), tokenizer=task.codec.to_text(), **notes)


def measured(model: Transformer, task: translator.Task, n: int) -> dict[str, float]:
    """Return the share of exact translations of each split."""
    splits = task.book.splits()
    return {name: translator.exact_match(model, task, splits[name][:n]) for name in SPLITS}


if __name__ == "__main__":
    raise SystemExit(main())
