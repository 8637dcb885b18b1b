"""What the heads of translators of real captions are worth → results/multi30k-heads.json.

    python -m walkthrough.lab run 17-captions --arms base   # trains the three models
    python tools/run_caption_heads.py                       # from their folders under runs/

Chapter 19's measurements on the base row of chapter 17's small Table 3, seeds 1 to 3, each at its
last update, on the validation split of Multi30k alone: next words that are right without a head,
and with one head left in a layer; the distance that each encoder head keeps to. Numbers only.
Writes after every run; with `--resume`, one that stands in the file is not measured again.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from records import RESULTS, heading, keep_runs, rounded, write

from transformer.cli.corpora import encode_pairs
from transformer.data.codec import codec_from_text
from transformer.data.corpus import Corpus
from transformer.training.checkpoint import load_checkpoint
from walkthrough.ch17_variations.experiments import CAPTIONS
from walkthrough.ch19_what_the_heads_attend_to.experiments.real_text import measure_captions

OUTPUT = RESULTS / "multi30k-heads.json"
ROW, MULTI30K, SPLIT = "base", "multi30k", "val"


def main(arguments: Sequence[str] | None = None) -> int:
    """Find the finished runs, measure each, write."""
    args = parsed(arguments)
    torch.set_num_threads(1)
    record = heading({"corpus": MULTI30K, "split": SPLIT})
    keep_runs(record, args.output, resume=args.resume, again=lambda run: run["seed"] in args.seeds)
    known = {run["seed"] for run in record["runs"]}
    paths = {seed: last_checkpoint(args.folder, seed) for seed in args.seeds if seed not in known}
    corpus = Corpus.from_multi30k(SPLIT, source_language="en", target_language="de")
    record["settings"]["sentences"] = len(corpus)
    for seed, path in paths.items():
        run = {"run": folder_name(seed), "seed": seed, **measured(path, corpus)}
        record["runs"] = sorted([*record["runs"], run], key=lambda one: one["seed"])
        write(args.output, rounded(record), flat_from=5)
        print(
            f"seed {seed}: {run['next_word']['nothing']:.4f} of {run['words']} next words, "
            f"{run['cpu_seconds']:.0f} CPU s",
            flush=True,
        )
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=CAPTIONS.seeds)
    parser.add_argument("--folder", type=Path, default=Path("runs"), help="place of run folders")
    parser.add_argument("--resume", action="store_true", help="keep the runs of the file")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args(arguments)


def last_checkpoint(folder: Path, seed: int) -> Path:
    """Return the weights that the run of a seed ended with; `folder` is the place of run folders.

    Raises:
        SystemExit: there is no such run, or it did not reach its last update.
    """
    run = folder / folder_name(seed)
    command = f"python -m walkthrough.lab run {CAPTIONS.name} --arms {ROW} --seeds {seed}"
    if not (run / "settings.json").is_file():
        raise SystemExit(f"no run {run}: train it first, with\n    {command}")
    settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
    update = settings["training"]["max_updates"]
    path = run / "checkpoints" / f"{update:06d}.safetensors"
    if not path.is_file():
        raise SystemExit(f"{run} has not reached update {update}: go on, with\n    {command}")
    return path


def folder_name(seed: int) -> str:
    """Return where the laboratory keeps the run of a seed."""
    return f"{CAPTIONS.name}/{ROW}-1-{CAPTIONS.lengths[-1]}-{seed}"


def measured(path: Path, corpus: Corpus) -> dict[str, Any]:
    """Return the figures of one checkpoint."""
    began = time.process_time()
    checkpoint = load_checkpoint(path)
    pairs = encode_pairs(codec_from_text(checkpoint.tokenizer or ""), corpus)
    figures = measure_captions(checkpoint.model(), pairs)
    return {"update": int(path.stem), "cpu_seconds": time.process_time() - began, **figures}


if __name__ == "__main__":
    raise SystemExit(main())
