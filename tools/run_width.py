"""Train small phrasebook translators of several feed-forward widths and record the figures.

    python tools/run_width.py                      # seeds 1 2 3 → results/phrasebook-width.json
    python tools/run_width.py --seeds 1 --updates 150 --output /tmp/try.json
    python tools/run_width.py --jobs 2             # runs side by side, one thread each

Chapter 05 prints what stands in the file. It is written after every run.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from records import RESULTS, rounded, write
from run_phrasebook import phrasebook_heading

from walkthrough.ch05_feed_forward import experiments
from walkthrough.lab import one_layer, translator

OUTPUT = RESULTS / "phrasebook-width.json"
LINEAR_WIDTH = 256
KINDS = [(width, True) for width in experiments.WIDTHS] + [(LINEAR_WIDTH, False)]


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    record = phrasebook_heading(one_layer.load_task(), args)
    record["settings"]["model"] |= one_layer.SIZES
    del record["settings"]["model"]["d_ff"]  # each run has its own, "width"
    runs = [(kind, seed, args.updates) for seed in args.seeds for kind in KINDS]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for run in pool.map(measured, runs):
            record["runs"].append(run)
            write(args.output, rounded(record))
            print(
                f"width {run['width']:4d}, relu {run['relu']!s:5}, seed {run['seed']}: "
                f"perplexity {run['valid_perplexity']:.3f}, exact {run['exact']}, "
                f"{run['cpu_seconds']:.0f} CPU s",
                flush=True,
            )
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--updates", type=int, default=None, help="default: the preset's number")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.set_defaults(threads=1)
    return parser.parse_args(arguments)


def measured(run: tuple[tuple[int, bool], int, int | None]) -> dict[str, Any]:
    """Train one model and return its figures."""
    (width, relu), seed, updates = run
    task = one_layer.load_task()
    began = time.process_time()
    trained = experiments.train_width(task, width, seed=seed, updates=updates, relu=relu)
    cpu_seconds = time.process_time() - began
    splits = task.book.splits()
    return {
        "width": width,
        "relu": relu,
        "seed": seed,
        "updates": trained.history.records[-1].update,
        "parameters": trained.model.n_parameters,
        "feed_forward_parameters": experiments.feed_forward_parameters(trained.model),
        "cpu_seconds": cpu_seconds,
        "valid_perplexity": trained.perplexity,
        "next_word": trained.next_word,
        "exact": {
            name: translator.exact_match(trained.model, task, splits[name])
            for name in ("test_sentences", "test_combinations")
        },
    }


if __name__ == "__main__":
    raise SystemExit(main())
