"""Train the half-trained translator of chapter 15 and write its weights.

    python tools/make_half_trained.py       # → results/phrasebook-half-trained.safetensors

Under a minute on one core. The corpus is ours, so the weights may stand in the repository.
"""

import argparse
import shlex
import sys
from pathlib import Path

import torch

from transformer.cli.surroundings import surroundings
from transformer.training import save_checkpoint
from walkthrough.ch15_decoding.experiments import averaging
from walkthrough.lab import Arm, Key, half_trained
from walkthrough.lab.tasks import settings_of


def main(arguments: list[str] | None = None) -> int:
    """Train, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=half_trained.UPDATES)
    parser.add_argument("--output", type=Path, default=half_trained.WEIGHTS)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    task = averaging.TASK.load(small=False)
    key = Key("half-trained", length=args.updates, seed=half_trained.SEED)
    settings = settings_of(task.plan.training, Arm(key.arm), key)
    model = averaging.train_small(task, settings)
    save_checkpoint(
        args.output,
        model,
        tokenizer=task.codec.to_text(),
        **surroundings(),
        command=shlex.join(["python", *sys.argv]),
        seed=half_trained.SEED,
        pairs=averaging.N_PAIRS,
        training=settings.to_dict(),
    )
    print(f"{args.output}: {args.output.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
