"""Train small translators with several smoothings and dropout places, and record the figures.

    python tools/run_smoothing.py                  # seeds 1 2 3 → results/phrasebook-smoothing.json
    python tools/run_smoothing.py --seeds 1 --updates 100 --output /tmp/try.json
    python tools/run_smoothing.py --resume         # go on after an interruption

Chapter 13 prints what stands in the file. It is written after every run.
"""

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path

from records import RESULTS, phrasebook_heading, rounded, write

from walkthrough.ch13_regularisation import experiments

OUTPUT = RESULTS / "phrasebook-smoothing.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, measure, write."""
    args = parsed(arguments)
    task = experiments.load_task()
    record = phrasebook_heading(task, args)
    record["settings"]["model"] |= experiments.SIZES
    record["settings"]["training"] |= {"max_updates": args.updates, "smoothing": None, "seed": None}
    record["settings"]["pairs"] = experiments.N_PAIRS
    if args.resume and args.output.is_file():
        record["runs"] = json.loads(args.output.read_text(encoding="utf-8"))["runs"]
    done = {(run["seed"], run["smoothing"], *run["places"]) for run in record["runs"]}
    for seed in args.seeds:
        for smoothing, places in experiments.RUNS:
            if (seed, smoothing, *places) in done:
                continue
            began = time.process_time()
            model = experiments.train_small(
                task, seed=seed, smoothing=smoothing, places=places, updates=args.updates
            )
            scores = experiments.evaluate(model, task)
            run = {"seed": seed, "smoothing": smoothing, "places": list(places)}
            run |= asdict(scores) | {"cpu_seconds": time.process_time() - began}
            record["runs"].append(run)
            write(args.output, rounded(record))
            print(seed, smoothing, experiments.name_of(places), scores, flush=True)
    write(args.output, rounded(record))
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--updates", type=int, default=experiments.UPDATES)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--resume", action="store_true", help="keep the runs of the output file")
    parser.set_defaults(threads=1, jobs=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
