"""Train and measure what came after the paper, for chapter 20, and record it.

    python tools/run_modern.py        # 15 minutes of one core → results/phrasebook-modern.json
    python tools/run_modern.py --parts block rate --seeds 1 --output /tmp/try.json

One change to the block at a time, rates that train, optimisers, the missing encoder, masked words,
digits. The record is written after every run; with --resume an interrupted command goes on.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, git, heading, keep_runs, rounded, write

from walkthrough.ch20_what_came_after import bert, experiments, images
from walkthrough.ch20_what_came_after.experiments import BLOCKS, Corpus
from walkthrough.ch20_what_came_after.training import Recipe

OUTPUT = RESULTS / "phrasebook-modern.json"
SEEDS, MORE_SEEDS = (1, 2, 3), (4, 5, 6)
"""Of every part; of changes to block and optimiser at the rate that is better for all of them."""
UPDATES = {"block": 250, "rate": 160, "optimiser": 250, "encoder": 400}
PEAKS = (3e-3, 1e-2)
RATE_PEAKS = (3e-3, 1e-2, 3e-2)
PATIENCE = 3
RATE_BLOCKS = {
    "2017": (),
    "pre-norm": ("pre-norm",),
    "pre-norm, RMSNorm": ("pre-norm", "RMSNorm"),
}
OPTIMISERS = (
    ("Adam", "constant"),
    ("AdamW", "linear"),
    ("AdamW", "stable"),
    ("Muon", "linear"),
)
LABELS = (100, 400, 1600)
IMAGES = (100, 300, 1200)
Measure = Callable[[], dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure, write, one run after another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", help="of every part")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--share", type=float, default=1.0, help="of the updates, to try it")
    parser.add_argument("--resume", action="store_true", help="keep the runs of the file")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    planned = plan(args.seeds, args.parts)
    record = started(args.output, resume=args.resume)
    keep_runs(
        record,
        args.output,
        resume=args.resume,
        again=lambda run: (run["seed"], run["part"]) in planned,
    )
    corpus = experiments.load_corpus()
    done = [key_of(run) for run in record["runs"]]
    commit = git("rev-parse", "HEAD")
    for seed, part in planned:
        for key, measure in PARTS[part](corpus, seed, args.share):
            key = {"part": part, **key, "seed": seed}
            if key in done:
                continue
            origin = {} if commit == record["commit"] else {"commit": commit}
            record["runs"].append({**key, **origin, **measure()})
            write(args.output, rounded(record), flat_from=3)
            print(json.dumps(rounded(record["runs"][-1]))[:200], flush=True)
    return 0


def plan(seeds: Sequence[int] | None, parts: Sequence[str]) -> list[tuple[int, str]]:
    """Return which part runs with which seed: all of one seed first, then more for pairs."""
    first = list(product(seeds or SEEDS, parts))
    paired = [part for part in parts if part in ("block", "optimiser")]
    return first if seeds else first + list(product(MORE_SEEDS, paired))


def started(path: Path, *, resume: bool) -> dict[str, Any]:
    """Return the record as far as it has come, or what a new one begins with."""
    if resume and path.is_file():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    return heading(
        {
            "model": experiments.SIZES,
            "rate model": experiments.SMALL,
            "updates": UPDATES,
            "recipe": asdict(Recipe()),
            "bert": {"pretraining": asdict(bert.PRETRAINING), "tuning": asdict(bert.FINE_TUNING)},
            "images": asdict(images.RECIPE),
            "lengths": {"train": experiments.SHORT, "longer": experiments.LONG},
            "today": experiments.TODAY,
        }
    )


KEYS = (
    *("part", "block", "kind", "peak", "n_layers", "optimizer", "schedule"),
    *("n_images", "order", "seed"),
)


def key_of(run: dict[str, Any]) -> dict[str, Any]:
    """Return what tells a run from the others."""
    return {name: run[name] for name in KEYS if name in run}


def recipe_of(part: str, share: float, **changes: Any) -> Recipe:
    """Return the recipe of a part; a tenth of the updates warms up."""
    updates = max(10, round(share * UPDATES[part]))
    return Recipe(updates=updates, warmup=max(1, updates // 10), **changes)


def block_runs(corpus: Corpus, seed: int, share: float) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield each change alone, all together, and no positions; at two rates, later at one."""
    for peak in PEAKS[-1:] if seed in MORE_SEEDS else PEAKS:
        recipe = recipe_of("block", share, peak=peak)
        for name, changes in BLOCKS.items():
            yield (
                {"block": name, "peak": peak},
                lambda c=changes, r=recipe: experiments.block_run(corpus, c, r, seed=seed),
            )
        yield (
            {"block": "no positions", "peak": peak},
            lambda r=recipe: experiments.without_positions_run(corpus, r, seed=seed),
        )


def rate_runs(corpus: Corpus, seed: int, share: float) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield shallow and deep stacks at steeper and steeper rates."""
    for n_layers in (2, 12):
        for peak in RATE_PEAKS:
            recipe = recipe_of("rate", share, peak=peak, max_tokens=256)
            for name, changes in RATE_BLOCKS.items():
                sizes = {**experiments.SMALL, "n_layers": n_layers}
                yield (
                    {"block": name, "peak": peak, "n_layers": n_layers},
                    lambda c=changes, r=recipe, s=sizes: experiments.block_run(
                        corpus, c, r, seed=seed, decode=False, **s
                    ),
                )


def patience_runs(
    corpus: Corpus, seed: int, share: float
) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield the deep stack of 2017's blocks with three times the updates."""
    for peak in RATE_PEAKS[:2]:
        recipe = recipe_of("rate", PATIENCE * share, peak=peak, max_tokens=256)
        sizes = {**experiments.SMALL, "n_layers": 12}
        yield (
            {"block": "2017", "peak": peak, "n_layers": 12},
            lambda r=recipe, s=sizes: experiments.block_run(
                corpus, (), r, seed=seed, decode=False, **s
            ),
        )


def optimiser_runs(
    corpus: Corpus, seed: int, share: float
) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield the block of 2017 with other optimisers and schedules; Adam's are in "block"."""
    for optimizer, schedule in OPTIMISERS:
        changes = {"peak": PEAKS[-1], "optimizer": optimizer, "schedule": schedule}
        recipe = recipe_of("optimiser", share, **changes)
        yield changes, lambda r=recipe: experiments.block_run(corpus, (), r, seed=seed)


def encoder_runs(
    corpus: Corpus, seed: int, share: float
) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield the paper's model and decoder-only ones on the same sentences."""
    for kind in ("encoder and decoder", *experiments.DECODERS):
        recipe = recipe_of("encoder", share)
        yield (
            {"kind": kind},
            lambda k=kind, r=recipe: experiments.decoder_run(corpus, k, r, seed=seed),
        )


def bert_runs(corpus: Corpus, seed: int, share: float) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield one pre-training with all its fine-tunings."""
    labels = LABELS if share == 1 else LABELS[:1]
    yield {}, lambda: experiments.bert_run(corpus, labels, seed=seed)


def image_runs(corpus: Corpus, seed: int, share: float) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Yield models by the number of images, then with shuffled patches and pixels."""
    runs = [(kind, n, "as is") for kind in ("linear", "convolution", "ViT 2") for n in IMAGES]
    runs += [(kind, IMAGES[-1], "as is") for kind in ("ViT 4", "ViT 2 blind")]
    runs += [
        (kind, IMAGES[-1], order)
        for kind in ("linear", "convolution", "ViT 2")
        for order in ("patches", "pixels")
    ]
    for kind, n_images, order in runs:
        yield (
            {"kind": kind, "n_images": n_images, "order": order},
            lambda k=kind, n=n_images, o=order: experiments.image_run(k, n, seed=seed, order=o),
        )


PARTS = {
    "block": block_runs,
    "encoder": encoder_runs,
    "bert": bert_runs,
    "images": image_runs,
    "optimiser": optimiser_runs,
    "rate": rate_runs,
    "patience": patience_runs,
}


if __name__ == "__main__":
    raise SystemExit(main())
