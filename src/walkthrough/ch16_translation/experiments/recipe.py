"""Experiment 16-recipe: an hour of one core, and what a fitted length penalty does (§6.1).

The recipe was settled on the validation captions, before the first of its runs began. How the first
seeds of two rows decode was chosen there, among 35 ways (`TRIED`), and committed; only then each
run looked at each test set, once. The third seeds of both controls came when the scores of their
first two were known; nothing was chosen for them.

Without R-Drop a batch is passed once, so that row gets twice as many for the same computing. The
paper's row is §5.1–5.4 and §6.1 as printed, on this corpus and at this size.
"""

from dataclasses import replace

import pandas as pd

from walkthrough.ch16_translation.experiments.protocol import SOURCE_WORDS, reference_len
from walkthrough.lab import Arm, Experiment, Job, Measure, Outcome, Trained
from walkthrough.lab.hooks import CHOSEN, Decoding, command_line, evaluated

TESTS = {"test_2016_flickr": "2016", "test_2017_flickr": "2017", "test_2017_mscoco": "COCO"}
SPLITS = {"val": "validation"} | TESTS
TRIED = [Decoding(5, a, n) for a in (0.0, 0.6, 1.0, 1.4, 1.8, 2.2, 2.6) for n in (1, 5, 10, 20, 30)]
SCORES = ("bleu", "chrf", "brevity_penalty", "hypothesis_len", "reference_len")
LONG = ("training.valid_every=300", "training.save_every=200", "training.keep=30")
R_DROP = {"accumulate": 2, "r_drop": 2}


def as_its_arm(split: str, *, greedy: bool = False) -> Measure:
    """Decode each run as its arm says, or like that but greedily."""
    name = "greedy" if greedy else CHOSEN

    def of(job: Job, trained: Trained) -> Outcome:
        decoding = job.arm.labels["decoding"]
        decoding = replace(decoding, beam=1) if greedy else decoding
        found = evaluated(split, [decoding], scores=SCORES).of(job, trained)
        return Outcome(
            figures={f"{split}/{name}/{n.split('/')[2]}": v for n, v in found.figures.items()},
            counts={f"{split}/{name}/bleu": rows for rows in found.counts.values()},
        )

    return Measure(tuple(f"{split}/{name}/{score}" for score in SCORES), of)


def tried(job: Job, trained: Trained) -> Outcome:
    """Decode the validation captions in every way, unless the arm prescribes one."""
    if job.arm.labels["decoding"] not in TRIED:
        return Outcome()
    return Outcome(figures=evaluated("val", TRIED, scores=("bleu",)).of(job, trained).figures)


MEASURES = [as_its_arm("val"), as_its_arm("val", greedy=True), Measure((), tried, seeds=(1,))]
EXPERIMENT = Experiment(
    name="16-recipe",
    question="In an hour of one core, does R-Drop help, and what does the printed recipe reach?",
    task=command_line("multi30k-tiny", *LONG),
    base="without R-Drop",
    rival="without R-Drop",  # the same hour
    arms=[
        Arm(
            "our recipe",
            model={"dropout": 0.2},
            train=R_DROP,
            labels={"decoding": Decoding(5, 2.2)},
        ),
        Arm(
            "without R-Drop",
            model={"dropout": 0.2},
            train={"accumulate": 4},
            labels={"decoding": Decoding(5, 2.2, 10)},
        ),
        Arm(
            "the paper's",
            model={"dropout": 0.1},
            train={"schedule": "noam", "warmup": 4000, "peak": "none"},
            labels={"decoding": Decoding(4, 0.6, 5)},
        ),
    ],
    seeds=(1, 2, 3),
    lengths=(6000,),
    measures=MEASURES,
    tests=[as_its_arm(split) for split in TESTS],
)


def fitted() -> pd.DataFrame:
    """Return the runs whose length penalty the validation captions chose."""
    frame = EXPERIMENT.frame()
    return frame[[how in TRIED for how in frame["decoding"]]]


def penalties_told() -> str:
    """Return a line a split: how long its references are for their sources, and the penalty."""
    lines, runs = [], fitted()
    for split, name in SPLITS.items():
        wrote = reference_len(runs, split) / SOURCE_WORDS[split]
        found = runs[f"{split}/{CHOSEN}/brevity_penalty"]
        told = f"{name:10}  references ÷ sources {wrote:.3f}  brevity penalty {found.min():.3f}"
        lines.append(f"{told} to {found.max():.3f}")
    return "\n".join(lines)


def searches_told() -> str:
    """Return BLEU on the validation captions, greedy and with the beam, of the first row.

    Beside it stands the mean of the precisions alone, without the brevity penalty.
    """
    runs, lines = EXPERIMENT.frame().query("arm == 'our recipe'"), []
    for words, how in (("greedy", "greedy"), ("with the beam", CHOSEN)):
        bleu = runs[f"val/{how}/bleu"]
        alone = (bleu / runs[f"val/{how}/brevity_penalty"]).mean()
        told = f"{words:14} {bleu.mean():.2f} ({bleu.min():.2f}–{bleu.max():.2f})"
        lines.append(f"{told}  precisions alone {alone:.2f}")
    return "\n".join(lines)
