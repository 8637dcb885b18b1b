"""Tasks that several chapters train on. Each is loaded once a process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transformer.training import TrainSettings, train
from walkthrough.lab import copying as copying_task
from walkthrough.lab import translator
from walkthrough.lab.experiment import Arm, Job, Trained
from walkthrough.lab.keys import Key

SMALL = {"train": 300, "valid": 20, "test": 10}


@dataclass(frozen=True)
class Phrasebook:
    """The translator of chapter 14 and its corpus; `changes` are options of the command line.

    An arm's `model` changes the configuration, its `train` the settings, and `data={"pairs": n}`
    trains on the first n pairs.
    """

    changes: tuple[str, ...] = ()

    def load(self, *, small: bool) -> translator.Task:
        """Return corpus, words and settings."""
        return translator.load_task(self.changes, **(SMALL if small else {}))

    def train(self, job: Job) -> Trained:
        """Train one model as the arm says."""
        arm, task = job.arm, job.data
        if arm.build:
            model = arm.build(job)
        else:
            model = translator.new_model(task, seed=job.seed, **arm.model)
        settings = settings_of(task.plan.training, arm, job.key)
        began = time.process_time()
        pairs = task.pairs("train")[: arm.data.get("pairs")]
        records = train(model, pairs, settings, progress=False).records
        return Trained(
            model=model,
            curve=[(record.update, "train/-/loss", record.loss) for record in records],
            parameters=model.n_parameters,
            target_tokens=records[-1].tokens,
            cpu_seconds=time.process_time() - began,
        )


def phrasebook(*changes: str) -> Phrasebook:
    """Return the phrasebook, as in `phrasebook("model.n_layers=1", "training.warmup=50")`."""
    return Phrasebook(changes)


def settings_of(settings: TrainSettings, arm: Arm, key: Key) -> TrainSettings:
    """Return the settings of a run: the arm's, its peak times the key's rate, its length and seed.

    A run that is cut to less than two warm-ups warms up in its first half.

    Raises:
        ValueError: another rate than 1 with a schedule that has no peak.
    """
    settings = settings.replace(**arm.train, seed=key.seed, threads=1)
    length = key.length or settings.max_updates
    if settings.peak is not None:
        settings = settings.replace(peak=settings.peak * key.rate)
    elif key.rate != 1:
        raise ValueError(f"{key}: the schedule {settings.schedule!r} has no peak to multiply")
    cut = length < settings.max_updates
    warmup = min(settings.warmup, max(1, length // 2)) if cut else settings.warmup
    return settings.replace(max_updates=length, warmup=warmup)


@dataclass(frozen=True)
class Copying:
    """Copying random words (`lab.copying`): an arm's `model` and `train` go to `copying.train`."""

    def load(self, *, small: bool) -> None:
        """Nothing to load: sentences are drawn as they are needed."""

    def train(self, job: Job) -> Trained:
        """Train one model; the curve has the mean loss of every 20 updates."""
        settings = {"peak": copying_task.PEAK, "warmup": copying_task.WARMUP, **job.arm.train}
        settings["peak"] *= job.key.rate
        settings["warmup"] = min(settings["warmup"], max(1, job.length // 2))
        began = time.process_time()
        model, losses = copying_task.train(
            **{"norm": "post", "residual_init": "scaled", **job.arm.model},
            **settings,
            seed=job.seed,
            updates=job.length,
            model=job.arm.build(job) if job.arm.build else None,
        )
        curve = copying_task.smoothed(losses, width=min(20, len(losses)))
        return Trained(
            model=model,
            curve=[(update, "train/-/loss", loss) for update, loss in curve],
            parameters=model.n_parameters,
            cpu_seconds=time.process_time() - began,
        )


def copying() -> Copying:
    """Return the copying task."""
    return Copying()


def nothing() -> None:
    """Load nothing: what a run needs it draws itself."""


@dataclass(frozen=True)
class Loaded:
    """Anything else: `loading` is a function of a module; `small_loading` one with little data.

    There is no training of its own, so the experiment or each arm says how to `run`.
    """

    loading: Callable[[], Any] = nothing
    small_loading: Callable[[], Any] | None = None

    def load(self, *, small: bool) -> Any:
        """Return what the function returns."""
        return self.small_loading() if small and self.small_loading else self.loading()

    def train(self, job: Job) -> Trained:
        """Refuse: nobody said how.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{job.experiment.name}: arm {job.arm.name!r} needs `run`")
