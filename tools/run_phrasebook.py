"""Train the phrasebook translator with several seeds and record the figures.

    python tools/run_phrasebook.py                 # seeds 1 2 3 → results/phrasebook.json
    python tools/run_phrasebook.py --seeds 1 --threads 1 --output /tmp/try.json
    python tools/run_phrasebook.py --threads 1 --jobs 3      # the seeds side by side
    python tools/run_phrasebook.py --seeds 1 --threads 1 --set training.schedule=noam

Chapter 14 prints what stands in the file. It is written after every seed.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, rounded, write

from transformer.training import perplexity
from walkthrough.lab import translator

OUTPUT = RESULTS / "phrasebook.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    record = phrasebook_heading(translator.load_task(args.set), args)
    for run in runs(args):
        record["runs"].append(run)
        write(args.output, rounded(record))
        print(
            f"seed {run['seed']}: sentences {run['exact']['test_sentences']:.3f}, "
            f"combinations {run['exact']['test_combinations']:.3f}, {run['cpu_seconds']:.0f} CPU s",
            flush=True,
        )
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=None, help="default: PyTorch's choice")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with its seeds")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="SECTION.NAME=VALUE", help="another recipe"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


def phrasebook_heading(task: translator.Task, args: argparse.Namespace) -> dict[str, Any]:
    """Return what the runs share: command, commit, hardware, date, settings, corpus."""
    if args.threads:
        torch.set_num_threads(args.threads)
    sizes = {name: len(split) for name, split in task.book.splits().items()}
    record = heading(
        {"model": task.plan.model, "training": task.plan.training.to_dict()}, jobs=args.jobs
    )
    corpus = {"seed": task.book.seed, "sizes": sizes, "vocabulary": len(task.codec)}
    return {**record, "corpus": corpus}


def runs(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the figures of each seed, in the order of the seeds."""
    if args.jobs == 1:
        yield from (measured(seed, args.threads, args.set) for seed in args.seeds)
        return
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(
            measured, args.seeds, *([x] * len(args.seeds) for x in (args.threads, args.set))
        )


def measured(seed: int, threads: int | None, changes: Sequence[str] = ()) -> dict[str, Any]:
    """Train one model and return its figures."""
    task = translator.load_task(changes)
    began = time.process_time()
    model, history = translator.train_model(task, seed=seed, threads=threads)
    cpu_seconds = time.process_time() - began
    splits = task.book.splits()
    aligned = splits["test_sentences"][: translator.N_ALIGNED]
    outputs = translator.translations(model, task, splits["test_combinations"])
    return {
        "seed": seed,
        "cpu_seconds": cpu_seconds,
        "target_tokens": history.records[-1].tokens,
        "exact": {
            name: translator.exact_match(model, task, splits[name])
            for name in ("valid", "test_sentences", "test_combinations")
        },
        "exact_by_kind": translator.exact_by_kind(outputs, splits["test_combinations"], task.book),
        "valid_perplexity": perplexity(model, task.pairs("valid")),
        "alignment_error": {
            "predicts": translator.head_errors(model, task, aligned).tolist(),
            "reads": translator.head_errors(model, task, aligned, row="reads").tolist(),
            "diagonal": translator.diagonal_error(aligned),
        },
        "loss": [(record.update, record.loss) for record in history.records],
    }


if __name__ == "__main__":
    raise SystemExit(main())
