"""Is the mean of the last checkpoints better than the last one? Small translators (§6.1).

The same small model is trained with two schedules: one whose rate is still high at the end, like
the paper's, and one whose rate falls to 0. `tools/run_averaging.py` does it for several seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from transformer.model import Transformer
from transformer.training import (
    Checkpoint,
    TrainSettings,
    average_checkpoints,
    load_checkpoint,
    perplexity,
    save_checkpoint,
    train,
)
from transformer.training.checkpoint import load_weights
from transformer.training.run_folder import checkpoints_of
from walkthrough.lab import translator

SIZES = {"d_model": 64, "d_ff": 128}
N_PAIRS = 4000
UPDATES = 400
EVERY, LAST = 10, 5
"""Updates between two checkpoints, and how many of the last are averaged."""

SCHEDULES = {"stays high": "inverse_sqrt", "falls to 0": "linear"}
ALONG = (-0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
"""Points of the line between two checkpoints: 0 is the first, 1 the second, 0.5 their mean."""

TESTS = ("test_sentences", "test_combinations")
N_TESTED = 500


@dataclass(frozen=True)
class Score:
    """Perplexity of unseen sentences, and the share of each test that is translated exactly."""

    perplexity: float
    exact: dict[str, float]


def recipe(
    task: translator.Task, *, seed: int, schedule: str, updates: int = UPDATES
) -> TrainSettings:
    """Return the settings of one run; they differ from the preset's by size and schedule."""
    return task.plan.training.replace(
        seed=seed,
        threads=1,
        schedule=schedule,
        max_updates=updates,
        max_tokens=600,
        accumulate=1,
        warmup=min(100, updates // 2),
        peak=5e-3,
        save_every=EVERY,
        keep=LAST,
    )


def train_small(
    task: translator.Task,
    *,
    seed: int,
    schedule: str,
    folder: str | Path | None = None,
    updates: int = UPDATES,
) -> Transformer:
    """Train a small translator; with a folder, its last checkpoints are kept there."""
    model = translator.new_model(task, seed=seed, **SIZES)
    settings = recipe(task, seed=seed, schedule=schedule, updates=updates)
    train(model, task.pairs("train")[:N_PAIRS], settings, folder=folder, progress=False)
    return model


def last_checkpoints(
    task: translator.Task, *, seed: int, schedule: str, updates: int = UPDATES
) -> tuple[list[Checkpoint], Checkpoint]:
    """Train, and return the last checkpoints, oldest first, and their average."""
    with TemporaryDirectory() as folder:
        train_small(task, seed=seed, schedule=schedule, folder=folder, updates=updates)
        paths = checkpoints_of(folder)
        return [load_checkpoint(path) for path in paths], average_checkpoints(paths)


def score(model: Transformer, task: translator.Task, *, n_tested: int = N_TESTED) -> Score:
    """Measure one model on validation pairs and on both tests."""
    splits = task.book.splits()
    exact = {name: translator.exact_match(model, task, splits[name][:n_tested]) for name in TESTS}
    return Score(perplexity(model, task.pairs("valid")), exact)


def mean_of_models(checkpoints: Sequence[Checkpoint]) -> Transformer:
    """Return the model whose weights are the mean of these checkpoints', of one run or of many."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.safetensors" for number in range(len(checkpoints))]
        for path, checkpoint in zip(paths, checkpoints, strict=True):
            save_checkpoint(path, checkpoint.model())
        return average_checkpoints(paths).model()


def losses_between(
    first: Checkpoint, second: Checkpoint, task: translator.Task
) -> list[tuple[float, float]]:
    """Return points of the line between two checkpoints, each with the loss of unseen pairs."""
    model, found = first.model(), []
    for share in ALONG:
        weights = {
            name: torch.lerp(tensor, second.weights[name], share)
            for name, tensor in first.weights.items()
        }
        load_weights(model, weights)
        found.append((share, log(perplexity(model, task.pairs("valid")))))
    return found
