"""Train the copying task with each recipe of chapter 12 (schedule, β2, ε) and record it.

python tools/run_optimiser.py    # 110 runs, a quarter of an hour → results/copying-optimiser.json
"""

import argparse
from itertools import product
from pathlib import Path

import torch
from records import RESULTS, write
from run_norms import copying_heading

from walkthrough.ch12_optimiser_and_schedule import experiments
from walkthrough.lab import copying

OUTPUT = RESULTS / "copying-optimiser.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, test, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--updates", type=int, default=experiments.RECORDED_UPDATES)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    record = copying_heading(args.updates)
    for seed, name in product(args.seeds, experiments.RECIPES):
        recipe = experiments.RECIPES[name]
        trained = experiments.train(recipe, seed=seed, updates=args.updates)
        loss = round(copying.loss_on_new(trained.model), 4)
        curve = [[end, round(mean, 3)] for end, mean in copying.smoothed(trained.losses)]
        record["runs"].append({"recipe": name, "seed": seed, "loss": loss, "curve": curve})
        print(f"{name}, seed {seed}: {loss}", flush=True)
    write(args.output, record, flat_from=3)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
