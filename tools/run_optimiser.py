"""Train the copying task with each recipe of chapter 12 (schedule, β2, ε) and record it.

python tools/run_optimiser.py    # 33 runs, about three minutes → results/copying-optimiser.json
"""

import argparse
import json
from itertools import product
from pathlib import Path

import torch
from run_norms import heading

from transformer.training.checkpoint import write_atomically
from walkthrough.experiments import copying
from walkthrough.experiments import optimiser as experiment

OUTPUT = Path(__file__).resolve().parent.parent / "results" / "copying-optimiser.json"


def main(arguments: list[str] | None = None) -> int:
    """Train, test, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--updates", type=int, default=experiment.UPDATES)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    record = heading(args.updates)
    for seed, name in product(args.seeds, experiment.RECIPES):
        recipe = experiment.RECIPES[name]
        trained = experiment.train(recipe, seed=seed, updates=args.updates)
        loss = round(copying.loss_on_new(trained.model), 4)
        record["runs"].append({"recipe": name, "seed": seed, "loss": loss})
        print(f"{name}, seed {seed}: {loss}", flush=True)
    text = json.dumps(record, indent=1, ensure_ascii=False)
    text = text.replace("\n   ", " ").replace("\n  }", " }")
    write_atomically(args.output, (text + "\n").encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
