"""What a trained model is measured by, which way is better, and what a score is made of.

Where nothing is decoded, "-" stands for the decoding: `valid/-/perplexity`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.bleu import bleu_with, brevity_penalty, clipped_matches
from transformer.training.objective import perplexity as perplexity_of
from walkthrough.lab import copying, translator
from walkthrough.lab.experiment import (
    NATS,
    PER_CENT,
    POINTS,
    Job,
    Measure,
    Outcome,
    Trained,
)
from walkthrough.lab.keys import Number

Counts = NDArray[np.int64]
ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class Scale:
    """How a measure is compared: `scale` makes it the unit, in which `best` is the best there is.

    Perplexities are compared by their ratio, 100 · ln: a per cent more or less. Differences of a
    `skewed` measure, of which one run may be far off, have no Student's interval: their signs are
    flipped.
    """

    unit: str
    scale: float
    best: float | None
    lower_is_better: bool = False
    log: bool = False
    skewed: bool = False

    def of(self, value: Number) -> float:
        """Return a value in the unit."""
        return self.scale * (math.log(value) if self.log else value)


_SHARE = Scale(POINTS, 100.0, 100.0)
_PERCENT = Scale(POINTS, 1.0, 100.0)
SCALES = {
    "perplexity": Scale(PER_CENT, 100.0, 0.0, lower_is_better=True, log=True),
    "loss": Scale(NATS, 1.0, None, lower_is_better=True, skewed=True),
    "updates": Scale("updates", 1.0, None, lower_is_better=True, skewed=True),
    "error": Scale(POINTS, 100.0, 0.0, lower_is_better=True),
    **dict.fromkeys(("exact", "next_word", "accuracy", "well_formed", "recall_share"), _SHARE),
    **dict.fromkeys(("bleu", "chrf", "f1", "precision", "recall"), _PERCENT),
}
"""By the last part of a figure's name. Shares are 0 to 1; BLEU, chrF and F1 0 to 100."""


def scale_of(figure: str) -> Scale:
    """Return how a figure is compared.

    Raises:
        KeyError: its measure is not in `SCALES`.
    """
    measure = figure.rpartition("/")[2]
    for name, scale in SCALES.items():  # `alignment_error` is an error, `held_out_loss` a loss
        if measure == name or measure.endswith(f"_{name}"):
            return scale
    raise KeyError(f"nobody said which way {measure!r} is better: add it to lab.measures.SCALES")


def comparable(figure: str) -> bool:
    """Whether it is known which way a figure is better, and it judges what a model does.

    A search that misses the most probable output writes nothing worse by that: a length penalty
    means to miss it.
    """
    try:
        return bool(scale_of(figure)) and not figure.endswith("/search_error")
    except KeyError:
        return False


# Measures of the phrasebook's models -------------------------------------------------------------


def perplexity(*splits: str) -> Measure:
    """Unsmoothed perplexity a target token."""

    def of(job: Job, trained: Trained, split: str) -> float:
        return perplexity_of(trained.model, job.data.pairs(split))

    return _each("-/perplexity", splits, of)


def next_word(*splits: str) -> Measure:
    """Share of target tokens that come first when the words before them are given."""

    def of(job: Job, trained: Trained, split: str) -> float:
        return translator.next_word_accuracy(trained.model, job.data.pairs(split))

    return _each("-/next_word", splits, of)


def exact(*splits: str, first: int | None = None) -> Measure:
    """Share of greedy translations that equal the reference, of the `first` sentences."""

    def of(job: Job, trained: Trained, split: str) -> float:
        examples = job.data.book.splits()[split][:first]
        return translator.exact_match(trained.model, job.data, examples)

    return _each("greedy/exact", splits, of)


def _each(name: str, splits: tuple[str, ...], of: Callable[[Job, Trained, str], float]) -> Measure:
    """Return a measure that asks the same of several splits."""
    named = {f"{split}/{name}": split for split in splits}

    def all_of(job: Job, trained: Trained) -> Outcome:
        return Outcome(figures={figure: of(job, trained, split) for figure, split in named.items()})

    return Measure(tuple(named), all_of)


def copied(loss: float = 0.5) -> Measure:
    """Loss on new sentences to copy, and the updates to a training loss of `loss`.

    A run that does not come down to it counts as if it did right after its end.
    """

    def of(job: Job, trained: Trained) -> Outcome:
        curve = [(update, value) for update, _, value in trained.curve]
        down = copying.updates_to(loss, curve) or job.length + 1
        unseen = copying.loss_on_new(trained.model)
        return Outcome(figures={"train/-/updates": down, "new/-/loss": unseen})

    return Measure(("train/-/updates", "new/-/loss"), of)


# Scores of counts a sentence ---------------------------------------------------------------------


def sentence_counts(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str = "13a"
) -> Counts:
    """Return what BLEU adds up, a row a sentence: both lengths, four matches, four totals.

    Lines are cut as the figure's own score cuts them, so that figure and interval are of one BLEU.

    Raises:
        ValueError, ModuleNotFoundError: different numbers of lines; else as `score`.
    """
    if len(hypotheses) != len(references):
        raise ValueError(
            f"a run needs a line for each reference, got {len(hypotheses)} and {len(references)}"
        )
    cut = bleu_with(tokenize).tokenizer
    words = ([cut(line.rstrip()).split() for line in side] for side in (hypotheses, references))
    return np.array(
        [
            [
                len(h),
                len(r),
                *(clipped_matches(h, r, n) for n in ORDERS),
                *(max(len(h) - n + 1, 0) for n in ORDERS),
            ]
            for h, r in zip(*words, strict=True)
        ]
    )


def bleu_of_counts(counts: Counts) -> float:
    """Return BLEU in percent of counts that are summed over a corpus; 0 where an order has none."""
    hypothesis, reference, *rest = counts.tolist()
    matches, totals = np.array(rest[:4]), np.array(rest[4:])
    if not matches.all():
        return 0.0
    precision = float(np.exp(np.log(matches / totals).mean()))
    return 100 * brevity_penalty(hypothesis, reference) * precision


def f1_of_counts(counts: Counts) -> float:
    """Return F1 in percent of (matched, predicted, gold) brackets, summed over a corpus."""
    matched, predicted, gold = counts.tolist()
    return 200 * matched / (predicted + gold) if matched else 0.0


def share_of_counts(counts: Counts) -> float:
    """Return the share of (right, asked), summed over a corpus."""
    right, asked = counts.tolist()
    return right / asked if asked else 0.0


SCORES: dict[str, Callable[[Counts], float]] = {
    "bleu": bleu_of_counts,
    "f1": f1_of_counts,
    **dict.fromkeys(("exact", "next_word", "accuracy"), share_of_counts),
}
"""How counts, summed over sentences, become the score of a measure."""
