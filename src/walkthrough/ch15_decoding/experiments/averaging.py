"""Experiment 15-averaging: is the mean of the last checkpoints better than the last one (§6.1)?

The same small translator is trained with two schedules: one whose rate is still high at the end,
like the paper's, and one whose rate falls to 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
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
from walkthrough.lab import Arm, Experiment, Job, Outcome, Trained, translator
from walkthrough.lab.measures import exact
from walkthrough.lab.measures import perplexity as perplexity_on
from walkthrough.lab.runner import joined
from walkthrough.lab.tasks import phrasebook, settings_of

N_PAIRS = 4000
EVERY, LAST = 10, 5
"""Updates between two checkpoints, and how many of the last are averaged."""
TASK = phrasebook(
    "model.d_model=64",
    "model.d_ff=128",
    "training.max_tokens=600",
    "training.accumulate=1",
    "training.warmup=100",
    "training.peak=5e-3",
    f"training.save_every={EVERY}",
    f"training.keep={LAST}",
)
ALONG = (-0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
"""Points of the line between two checkpoints: 0 is the first, 1 the second, 0.5 their mean."""


def train_small(
    task: translator.Task, settings: TrainSettings, *, folder: str | Path | None = None
) -> Transformer:
    """Train a small translator; with a folder, its last checkpoints are kept there."""
    model = translator.new_model(task, seed=settings.seed)
    train(model, task.pairs("train")[:N_PAIRS], settings, folder=folder, progress=False)
    return model


def last_checkpoints(job: Job) -> tuple[list[Checkpoint], Checkpoint]:
    """Train, and return the last checkpoints, oldest first, and their average."""
    return _last_checkpoints(settings_of(job.data.plan.training, job.arm, job.key), job.small)


@cache
def _last_checkpoints(
    settings: TrainSettings, small: bool
) -> tuple[list[Checkpoint], Checkpoint]:  # once a process: two arms measure what one run left
    with TemporaryDirectory() as folder:
        train_small(TASK.load(small=small), settings, folder=folder)
        paths = checkpoints_of(folder)
        return [load_checkpoint(path) for path in paths], average_checkpoints(paths)


def mean_of_models(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """Return the model whose weights are the mean of these checkpoints', of one run or of many."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.safetensors" for number in range(len(checkpoints))]
        for path, checkpoint in zip(paths, checkpoints, strict=True):
            save_checkpoint(path, checkpoint.model())
        return average_checkpoints(paths)


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


def scored(job: Job, checkpoint: Checkpoint) -> Outcome:
    """Measure one model."""
    trained = Trained(model=checkpoint.model())
    return joined(measure.of(job, trained) for measure in job.experiment.measures)


def last(job: Job) -> Outcome:
    """Measure the last checkpoint; those before it are the curve, the way to it is the line."""
    checkpoints, _ = last_checkpoints(job)
    found = [scored(job, checkpoint) for checkpoint in checkpoints]
    curve = [
        (job.length - EVERY * before, name, value)
        for before, one in enumerate(reversed(found))
        for name, value in one.figures.items()
    ]
    line = losses_between(checkpoints[0], checkpoints[-1], job.data)
    return replace(found[-1], curve=sorted(curve), extra={"line": line})


def average(job: Job) -> Outcome:
    """Measure the average of the last checkpoints."""
    return scored(job, last_checkpoints(job)[1])


def average_of_seeds(job: Job) -> Outcome:
    """Measure the average of models that come from different seeds."""
    jobs = (job._replace(key=job.key._replace(seed=seed)) for seed in range(1, 6))
    return scored(job, mean_of_models([last_checkpoints(one)[0][-1] for one in jobs]))


SCHEDULES = {"stays high": "inverse_sqrt", "falls to 0": "linear"}
EXPERIMENT = Experiment(
    name="15-averaging",
    question="Does the mean of the last five checkpoints translate better than the last one?",
    task=TASK,
    base="stays high",
    rival="falls to 0",  # no average, and as many updates
    arms=[
        *(
            Arm(
                f"{rate}, averaged" if averaged else rate,
                train={"schedule": schedule},
                run=average if averaged else last,
                labels={"schedule": rate, "averaged": averaged},
            )
            for rate, schedule in SCHEDULES.items()
            for averaged in (False, True)
        ),
        Arm(
            "five seeds averaged",
            train={"schedule": SCHEDULES["falls to 0"]},
            run=average_of_seeds,
            seeds=(1,),
            rates=(1,),
        ),
    ],
    rates=(0.5, 1, 2),
    rate_seeds=(1, 2, 3),
    lengths=(400,),
    measures=[exact("test_sentences", "test_combinations", first=500), perplexity_on("valid")],
)
