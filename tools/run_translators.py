"""Train the recurrent translators of chapter 01, with one vector and with attention; record them.

    python tools/run_translators.py   # nine runs → results/phrasebook-recurrent.json

Seven minutes of one core. "One vector" gets twice the updates as well, lest it only be slow.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, write

from walkthrough.ch01_why_attention.experiments import translators
from walkthrough.lab.translator import Task, load_task

OUTPUT = RESULTS / "phrasebook-recurrent.json"
UPDATES = 1000
RUNS = (("one vector", UPDATES), ("attention", UPDATES), ("one vector", 2 * UPDATES))
LENGTHS = ((1, 5), (6, 7), (8, 9), (10, 12), (13, 99))  # source words
SHOWN = ("Jane visite l'Afrique en septembre.", "Ces oiseaux noirs ne mangent pas le gâteau.")
SPLIT = "test_sentences"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, test, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--updates", type=int, default=UPDATES)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    task = load_task()
    record = heading(
        {
            "model": {"d_model": translators.D_MODEL, "layers": 1},
            "training": {"batch": translators.BATCH, "rate": translators.RATE, "clip": 1.0},
            "lengths": LENGTHS,
            "split": SPLIT,
        }
    )
    for seed in args.seeds:
        for kind, updates in RUNS:
            factor = updates // UPDATES
            record["runs"].append(run(task, kind, seed=seed, updates=factor * args.updates))
            write(args.output, record, flat_from=3)
    return 0


def run(task: Task, kind: Any, *, seed: int, updates: int) -> dict[str, Any]:
    """Train one translator; return how it does by the length of the source."""
    started = time.process_time()
    model = translators.new_translator(kind, len(task.codec), seed=seed)
    translators.train(model, task.pairs("train"), updates=updates, seed=seed)
    seconds = time.process_time() - started
    examples, pairs = task.book.splits()[SPLIT], task.pairs(SPLIT)
    right = translators.exact(model, pairs)
    by_length = {}
    for low, high in LENGTHS:
        those = [ok for ok, pair in zip(right, pairs, strict=True) if low <= len(pair[0]) <= high]
        by_length[f"{low}-{high}"] = [sum(those), len(those)]
    found = {
        "kind": kind,
        "seed": seed,
        "updates": updates,
        "parameters": sum(p.numel() for p in model.parameters()),
        "cpu_seconds": round(seconds, 1),
        "exact": sum(right) / len(right),
        "exact_by_length": by_length,
    }
    if kind == "attention":
        score = translators.alignment_score(model, pairs, examples)
        found |= {"alignment_error": score.error, "alignment_accuracy": score.accuracy}
        found["maps"] = [weight_map(model, task, sentence) for sentence in SHOWN]
    return found


def weight_map(model: translators.RecurrentTranslator, task: Task, sentence: str) -> dict[str, Any]:
    """Return the words and the weights of one sentence of the corpus."""
    everything = [example for split in task.book.splits().values() for example in split]
    example = next(e for e in everything if e.source_text == sentence)
    words = task.codec.vocabulary
    pair = (words.encode(example.source), words.encode(example.target))
    weights = translators.alignment(model, pair)
    return {
        "source": [*example.source, "<eos>"],
        "target": [*example.target, "<eos>"],
        "weights": [[round(w, 3) for w in row] for row in weights.tolist()],
    }


if __name__ == "__main__":
    raise SystemExit(main())
