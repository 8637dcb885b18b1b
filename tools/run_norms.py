"""Train the copying task of chapter 08 with each kind of norm, start and warm-up, and record it.

    python tools/run_norms.py        # 96 runs, about five minutes → results/copying-norm.json

Peak rates and seeds are crossed with {post, pre} × {scaled, xavier} × {warm-up, none}.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, write

from walkthrough.lab import copying

OUTPUT = RESULTS / "copying-norm.json"
PEAKS = (1.25e-3, 2.5e-3, 5e-3, 1e-2)
KINDS = tuple(product(("post", "pre"), ("scaled", "xavier"), (copying.WARMUP, 1)))


def main(arguments: list[str] | None = None) -> int:
    """Train, test, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--peaks", type=float, nargs="+", default=list(PEAKS))
    parser.add_argument("--updates", type=int, default=copying.UPDATES)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    record = copying_heading(args.updates)
    for seed, peak, kind in product(args.seeds, args.peaks, KINDS):
        record["runs"].append(run(*kind, seed=seed, peak=peak, updates=args.updates))
    write(args.output, record, flat_from=3)
    return 0


def run(norm: Any, residual_init: Any, warmup: int, **settings: Any) -> dict[str, Any]:
    """Train one model and return its settings with the loss on new sentences."""
    model, _ = copying.train(norm, residual_init, warmup=warmup, **settings)
    return {
        "norm": norm,
        "residual_init": residual_init,
        "warmup": warmup,
        "peak": settings["peak"],
        "seed": settings["seed"],
        "loss": round(copying.loss_on_new(model), 4),
    }


def copying_heading(updates: int) -> dict[str, Any]:
    """Return what the runs share: command, commit, hardware, date, task."""
    return heading(
        {
            "model": copying.new_model("post", "scaled", seed=0).config.to_dict(),
            "training": {"updates": updates, "batch": copying.BATCH, "length": copying.LENGTH},
        }
    )


if __name__ == "__main__":
    raise SystemExit(main())
