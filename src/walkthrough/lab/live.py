"""A little of an experiment, run on the page beside what is recorded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from walkthrough.lab import runner, store
from walkthrough.lab.experiment import Experiment
from walkthrough.lab.keys import Key, Number


def run_live(
    experiment: Experiment | str,
    arm: str,
    *,
    seeds: Sequence[int] = (1,),
    length: int | None = None,
    rate: Number = 1.0,
    folder: Path | None = None,
) -> Any:
    """Run one arm now, and return its figures beside the recorded runs of that arm and rate.

    Nothing is written. A shorter `length` gives a run of its own schedule, not the first part of a
    longer one.

    Raises:
        KeyError: no such experiment or arm.
    """
    import pandas as pd

    if isinstance(experiment, str):
        from walkthrough.lab.discovery import find

        experiment = find(experiment)
    experiment.arm(arm)
    rows = []
    for seed in seeds:
        key = Key(arm, rate, experiment.lengths[-1] if length is None else length, seed)
        _, outcome = runner.execute(experiment, key)
        if isinstance(outcome, str):
            raise ValueError(f"{key} fails: {outcome}")
        rows.append({"run": "now", **key._asdict(), **outcome.figures})
    recorded = store.read(store.path_of(experiment.name, folder), experiment.name)
    rows += [
        {"run": "recorded", **key._asdict(), **run.figures}
        for key, run in recorded.items()
        if key[:2] == (arm, rate)
    ]
    return pd.DataFrame(rows)
