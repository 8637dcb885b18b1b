"""Train phrasebook translators with and without tying and the factor √d_model; record them.

    python tools/run_embeddings.py             # seeds 1 2 3 → results/phrasebook-embeddings.json
    python tools/run_embeddings.py --seeds 1 --updates 150 --output /tmp/try.json
    python tools/run_embeddings.py --jobs 2        # runs side by side, one thread each

Chapter 06 prints what stands in the file. It is written after every run.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from run_phrasebook import ROOT, heading, rounded

from transformer.training.checkpoint import write_atomically
from walkthrough.experiments import embeddings as experiment
from walkthrough.experiments import translator as lab
from walkthrough.experiments.width import SIZES

OUTPUT = ROOT / "results" / "phrasebook-embeddings.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    record = heading(experiment.load_task(), args)
    record["settings"]["model"] |= SIZES
    runs = [(name, seed, args.updates) for seed in args.seeds for name in experiment.KINDS]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for run in pool.map(measured, runs):
            record["runs"].append(run)
            text = json.dumps(rounded(record), indent=1, ensure_ascii=False)
            write_atomically(args.output, (text + "\n").encode())
            print(
                f"{run['kind']:28s} seed {run['seed']}: perplexity {run['valid_perplexity']:.3f}, "
                f"exact {run['exact']}, {run['cpu_seconds']:.0f} CPU s",
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


def measured(run: tuple[str, int, int | None]) -> dict[str, Any]:
    """Train one model and return its figures."""
    name, seed, updates = run
    task = experiment.load_task()
    kind = experiment.KINDS[name]
    began = time.process_time()
    trained = experiment.train_kind(task, kind, seed=seed, updates=updates)
    cpu_seconds = time.process_time() - began
    splits = task.book.splits()
    return {
        "kind": name,
        "tied": kind.tied,
        "factor": kind.factor,
        "seed": seed,
        "updates": trained.history.records[-1].update,
        "parameters": trained.model.n_parameters,
        "cpu_seconds": cpu_seconds,
        "valid_perplexity": trained.perplexity,
        "next_word": trained.next_word,
        "loss": [(record.update, record.loss) for record in trained.history.records],
        "exact": {
            name: lab.exact_match(trained.model, task, splits[name])
            for name in ("test_sentences", "test_combinations")
        },
    }


if __name__ == "__main__":
    raise SystemExit(main())
