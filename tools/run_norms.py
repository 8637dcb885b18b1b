"""Train the copying task of chapter 08 with each kind of norm, start and warm-up, and record it.

    python tools/run_norms.py        # 108 runs, 12 minutes → results/copying-norm.json

Every norm with every start, ten seeds; post-norm also with a small start in one of its two stacks
only. Then other peak rates, a longer warm-up and none, with the first three of the seeds. Runs of
one norm are trained side by side, as one batch of models.
"""

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, write

from walkthrough.ch08_residuals_and_layer_norm import side_by_side
from walkthrough.ch08_residuals_and_layer_norm.side_by_side import Recipe
from walkthrough.lab import copying

OUTPUT = RESULTS / "copying-norm.json"
UPDATES = 800
PEAKS = (2.5e-3, copying.PEAK, 1e-2)
WARMUPS = (copying.WARMUP, 200, 1)
N_FOR_OTHER_SCHEDULES = 3
WINDOW = 20
"""One point of a curve is the mean of this many updates."""


def recipes(norm: str, seeds: Sequence[int]) -> list[Recipe]:
    """Return the runs of one norm: the main schedule with all seeds, the others with the first."""
    main, starts = (copying.PEAK, copying.WARMUP), ("scaled", "xavier")
    others = [(peak, copying.WARMUP) for peak in PEAKS] + [(copying.PEAK, w) for w in WARMUPS]
    stacks = ("encoder", "decoder") if norm == "post" else ()
    runs = [(start, *main, seed) for start, seed in product(starts + stacks, seeds)]
    runs += [
        (start, *schedule, seed)
        for start, schedule, seed in product(starts, others, seeds[:N_FOR_OTHER_SCHEDULES])
        if schedule != main
    ]
    return [Recipe(norm, *one) for one in runs]


def main(arguments: list[str] | None = None) -> int:
    """Train, test, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--updates", type=int, default=UPDATES)
    parser.add_argument("--norms", nargs="+", default=["post", "pre"])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    record = copying_heading(args.updates)
    for norm in args.norms:
        runs = recipes(norm, args.seeds)
        models, losses = side_by_side.train(runs, updates=args.updates)
        rows = zip(runs, models, losses.tolist(), strict=True)
        record["runs"] += [run(*row) for row in rows]
    write(args.output, record, flat_from=3)
    return 0


def run(recipe: Recipe, model: torch.nn.Module, losses: list[float]) -> dict[str, Any]:
    """Return one run's settings, its curve, and its loss on new sentences."""
    curve = copying.smoothed(losses, width=min(WINDOW, len(losses)))
    return {
        **recipe._asdict(),
        "loss": round(copying.loss_on_new(model), 4),
        "curve": [[update, round(loss, 4)] for update, loss in curve],
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
