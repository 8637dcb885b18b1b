"""Train small phrasebook translators that share their matrix or not, and record the figures.

    python tools/run_tying.py                      # seeds 1 2 3 → results/phrasebook-tying.json
    python tools/run_tying.py --seeds 1 --updates 200 --output /tmp/try.json
    python tools/run_tying.py --resume             # go on after an interruption

Chapter 06 prints what stands in the file. It is written after every run.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from records import RESULTS, phrasebook_heading, rounded, write

from walkthrough.ch06_embeddings_and_softmax import experiments
from walkthrough.lab import one_layer

OUTPUT = RESULTS / "phrasebook-tying.json"
LENGTHS = (experiments.PAGE_UPDATES,)
CURVE_EVERY = 20


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    record = phrasebook_heading(one_layer.load_task(), args)
    record["settings"]["model"] |= {**one_layer.SIZES, "d_ff": experiments.D_FF}
    if args.resume and args.output.is_file():
        record["runs"] = json.loads(args.output.read_text(encoding="utf-8"))["runs"]
    done = {(run["kind"], run["seed"], run["updates"]) for run in record["runs"]}
    runs = [
        (kind, seed, updates)
        for updates in args.updates
        for seed in args.seeds
        for kind in experiments.KINDS
        if (kind, seed, updates) not in done
    ]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for run in pool.map(measured, runs):
            record["runs"].append(run)
            write(args.output, rounded(record), flat_from=3)
            print(
                f"{run['updates']} updates, {run['kind']}, seed {run['seed']}: "
                f"perplexity {run['valid_perplexity']:.3f}, next word {run['next_word']:.3f}, "
                f"{run['cpu_seconds']:.0f} CPU s",
                flush=True,
            )
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--updates", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--resume", action="store_true", help="keep the runs in the file")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.set_defaults(threads=1)
    return parser.parse_args(arguments)


def measured(run: tuple[str, int, int]) -> dict[str, Any]:
    """Train one model and return its figures."""
    name, seed, updates = run
    task = one_layer.load_task()
    began = time.process_time()
    trained = experiments.train_kind(task, experiments.KINDS[name], seed=seed, updates=updates)
    cpu_seconds = time.process_time() - began
    return {
        "kind": name,
        "seed": seed,
        "updates": updates,
        "parameters": trained.model.n_parameters,
        "cpu_seconds": cpu_seconds,
        "valid_perplexity": trained.perplexity,
        "next_word": trained.next_word,
        "loss": {
            str(record.update): record.loss
            for record in trained.history.records
            if record.update % CURVE_EVERY == 0
        },
    }


if __name__ == "__main__":
    raise SystemExit(main())
