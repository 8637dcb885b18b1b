"""Train small translators on few sentences, with three dropouts, until the curves part.

    python tools/run_dropout.py                    # seeds 1 2 3 → results/phrasebook-dropout.json
    python tools/run_dropout.py --seeds 1 --updates 100 --output /tmp/try.json
    python tools/run_dropout.py --jobs 3           # side by side

Chapter 13 draws what stands in the file. It is written after every run.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from records import RESULTS, phrasebook_heading, rounded, write

from walkthrough.ch13_regularisation import experiments

OUTPUT = RESULTS / "phrasebook-dropout.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    record = phrasebook_heading(experiments.load_long_task(), args)
    record["settings"]["model"] |= {**experiments.SIZES, "dropout": None}
    record["settings"]["training"] |= {"max_updates": args.updates, "seed": None}
    record["settings"]["pairs"] = experiments.N_FEW
    work = [(seed, p, args.updates) for seed in args.seeds for p in experiments.PROBABILITIES]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for run in pool.map(measured, *zip(*work, strict=True)):
            record["runs"].append(run)
            write(args.output, rounded(record), flat_from=5)
            print(run["seed"], run["dropout"], run["points"][-1], run["exact"], flush=True)
    return 0


def measured(seed: int, p: float, updates: int) -> dict[str, Any]:
    """Train one model and return its figures."""
    task = experiments.load_long_task()
    began = time.process_time()
    model, points = experiments.train_long(task, seed=seed, p=p, updates=updates)
    cpu_seconds = time.process_time() - began
    scores = experiments.evaluate(model, task)
    found = {name: getattr(scores, name) for name in ("tempered_perplexity", "bleu", "exact")}
    points_of_run = [asdict(point) for point in points]
    return {
        "seed": seed,
        "dropout": p,
        **found,
        "cpu_seconds": cpu_seconds,
        "points": points_of_run,
    }


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--updates", type=int, default=experiments.LONG)
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with its runs")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.set_defaults(threads=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
