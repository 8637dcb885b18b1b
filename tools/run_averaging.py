"""Average the last checkpoints of small translators, for several seeds, and record what it changes.

    python tools/run_averaging.py                   # seeds 1–5 → results/phrasebook-averaging.json
    python tools/run_averaging.py --seeds 1 --updates 60 --output /tmp/try.json

Chapter 15 prints what stands in the file. It is written after every run.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from records import RESULTS, phrasebook_heading, rounded, write

from transformer.training import Checkpoint
from walkthrough.ch15_decoding.experiments import averaging
from walkthrough.lab import translator

OUTPUT = RESULTS / "phrasebook-averaging.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, average, measure, write."""
    args = parsed(arguments)
    task = translator.load_task()
    record = phrasebook_heading(task, args)
    record["settings"]["model"] |= averaging.SIZES
    record["settings"]["training"] = None  # each run has its own
    last: list[Checkpoint] = []
    for seed in args.seeds:
        for name, schedule in averaging.SCHEDULES.items():
            run, checkpoint = measured(task, seed, name, schedule, args.updates)
            record["runs"].append(run)
            if schedule == "linear":
                last.append(checkpoint)
            write(args.output, rounded(record))
    across = averaging.score(averaging.mean_of_models(last), task)
    record["average_over_seeds"] = {"schedule": "linear", "seeds": args.seeds, **asdict(across)}
    write(args.output, rounded(record))
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--updates", type=int, default=averaging.UPDATES)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.set_defaults(threads=1, jobs=1)
    return parser.parse_args(arguments)


def measured(
    task: translator.Task, seed: int, name: str, schedule: str, updates: int
) -> tuple[dict[str, Any], Checkpoint]:
    """Train one model; return the figures of its checkpoints and their mean, and the last one."""
    began = time.process_time()
    checkpoints, average = averaging.last_checkpoints(
        task, seed=seed, schedule=schedule, updates=updates
    )
    cpu_seconds = time.process_time() - began
    run: dict[str, Any] = {
        "seed": seed,
        "rate": name,
        "settings": averaging.recipe(task, seed=seed, schedule=schedule, updates=updates).to_dict(),
        "pairs": averaging.N_PAIRS,
        "cpu_seconds": cpu_seconds,
        "checkpoints": [asdict(averaging.score(c.model(), task)) for c in checkpoints],
        "average": asdict(averaging.score(average.model(), task)),
        "line": averaging.losses_between(checkpoints[0], checkpoints[-1], task),
    }
    last, mean = run["checkpoints"][-1], run["average"]
    print(
        f"seed {seed}, rate {name}: last {last}, average {mean}, {cpu_seconds:.0f} CPU s",
        flush=True,
    )
    return run, checkpoints[-1]


if __name__ == "__main__":
    raise SystemExit(main())
