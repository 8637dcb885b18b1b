"""Experiments 16-older: the runs on captions before the chapter's, one after another (§6.1).

Most were begun when the scores of those before were known, and each was scored on a test set, most
of them in four ways: 72 looks in all. So the lab notebook tells them and no claim rests on them.

Their lengths differ, so each arm says its own. What goes on from another run had a seed of its own
(2, and 5 to 13); made again, it takes the seed of the run before it. And each run chose its length
penalty for itself; made again, an arm chooses once.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from transformer.training.history import History
from transformer.training.run_folder import read_json
from walkthrough.lab import Arm, Experiment, Job, Trained
from walkthrough.lab.hooks import Decoding, command_line, evaluated

TEST = "test_2016_flickr"
PENALTIES = [Decoding(5, alpha, 5) for alpha in (0.6, 1.0, 1.6)]
FIXED = [Decoding(), Decoding(5), Decoding(5, 0.6, 5)]
TASK = command_line("multi30k-tiny")
VALIDATION = evaluated("val", PENALTIES, scores=("bleu",))
TESTS = [
    evaluated(TEST, FIXED, scores=("bleu",)),
    evaluated(TEST, PENALTIES, chosen_on="val/bleu", scores=("bleu",)),
]
ON = {"warmup": 200, "peak": 0.0015}
R_DROP = {**ON, "max_updates": 4000, "r_drop": 2, "accumulate": 2, "save_every": 400}
BRIEF = {"processes": 2, "accumulate": 2, "warmup": 400, "save_every": 50}


def how_long(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return the seconds that a run took, and the command that made it."""
    del job
    last = History.read(trained.model / "log.csv", up_to=sys.maxsize).records[-1]
    command = read_json(trained.model / "settings.json")["command"]
    return {"seconds": last.seconds, "command": command}


def with_settings(job: Job, trained: Trained) -> Mapping[str, Any]:
    """Return the same, and every setting of the run: the preset as it was."""
    told = read_json(trained.model / "settings.json")
    settings = {part: told[part] for part in ("data", "model", "training")}
    return {**how_long(job, trained), "settings": settings}


def told(row: str, updates: int) -> dict[str, Any]:
    """Return what the lab notebook's table says of an arm, beside its scores."""
    return {"row": row, "updates": updates}


ONE_SEED = Experiment(
    name="16-older",
    question="What does the preset reach on captions: as it is, longer, briefly, the other way?",
    task=TASK,
    arms=[
        Arm("the preset", after=with_settings, labels=told("the preset", 6000)),
        Arm("gone on", train={**ON, "max_updates": 2600}, starts_from="the preset"),
        Arm(
            "two processes, an hour",
            train={"processes": 2, "max_updates": 7800, "accumulate": 2, "valid_every": 1300},
            labels=told("the same, two processes, 30 % longer", 7800),
        ),
        Arm("two processes, less", train={**BRIEF, "max_updates": 1900, "valid_every": 950}),
        Arm(
            "two processes, 12 minutes",
            train={**BRIEF, "max_updates": 2050, "valid_every": 1025},
            labels=told("the same, two processes, a third as long", 2050),
        ),
        Arm("German to English", data={"source_language": "de", "target_language": "en"}),
    ],
    seeds=(1,),
    # two of these runs tried fewer penalties, and no other than 1.6 stands in all
    measures=[replace(VALIDATION, figures=("val/beam5-a1.6-mean5/bleu",))],
    tests=TESTS,
)
SEEDS = Experiment(
    name="16-older-seeds",
    question="What do more updates add, and then R-Drop, with other seeds than the preset's?",
    task=TASK,
    base="longer",
    arms=[
        Arm("longer", train={"max_updates": 10500}, labels=told("other seeds, longer", 10500)),
        Arm(
            "R-Drop",
            train=R_DROP,
            starts_from="longer",
            labels=told("from there on with R-Drop", 14500),
        ),
        Arm("R-Drop twice", train=R_DROP, starts_from="R-Drop", labels=told("and again", 18500)),
        Arm(
            "R-Drop three times",
            train=R_DROP,
            starts_from="R-Drop twice",
            labels=told("and a third time", 22500),
        ),
    ],
    seeds=(2, 3, 4),
    measures=[VALIDATION],
    tests=TESTS,
)
ONE_BATCH = Experiment(
    name="16-older-batch",
    question="Does one large batch an update teach as much as the preset's four small ones?",
    task=TASK,
    arms=[
        Arm(
            "one large batch",
            train={"max_updates": 5000, "max_tokens": 2048, "accumulate": 1},
            after=how_long,
        )
    ],
    seeds=(1,),
    tests=TESTS[:1],
)
EXPERIMENTS = [ONE_SEED, SEEDS, ONE_BATCH]
