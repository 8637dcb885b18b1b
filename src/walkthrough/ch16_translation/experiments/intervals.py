"""How sure the difference of two scores is: the paired bootstrap over sentences (Koehn 2004)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.bleu import brevity_penalty, clipped_matches

Lines = Sequence[str]
Counts = NDArray[np.int64]
ORDERS = (1, 2, 3, 4)
DRAWS = 1000
INSIDE = 0.95


@dataclass(frozen=True)
class Difference:
    """BLEU of one system minus another's: measured, and in 95 of 100 draws of sentences.

    `share_below` is the share of draws in which it is not above 0.
    """

    measured: float
    low: float
    high: float
    share_below: float


def difference_of_counts(
    ours: Sequence[Counts], theirs: Sequence[Counts], *, draws: int = DRAWS
) -> Difference:
    """Return how the mean BLEU of our runs differs from the mean of theirs.

    `ours` and `theirs` hold the `sentence_counts` of each run (one a seed). A draw takes as many
    sentences as there are, with repetition, the same ones for every run. It covers the choice of
    sentences; the choice of seeds shows in the spread of the runs.

    Raises:
        ValueError: no run on one side, or runs of other numbers of sentences.
    """
    if not ours or not theirs:
        raise ValueError(f"both sides need a run, got {len(ours)} and {len(theirs)}")
    sides = (ours, theirs)
    sizes = sorted({len(run) for runs in sides for run in runs})
    if len(sizes) > 1:
        raise ValueError(f"all runs need as many sentences, got {sizes}")
    random, (n,) = np.random.default_rng(0), sizes
    drawn = [_difference(sides, random.integers(n, size=n)) for _ in range(draws)]
    low, high = np.quantile(drawn, [(1 - INSIDE) / 2, (1 + INSIDE) / 2])
    return Difference(
        measured=_difference(sides, np.arange(n)),
        low=float(low),
        high=float(high),
        share_below=float(np.mean(np.array(drawn) <= 0)),
    )


def sentence_counts(hypotheses: Lines, references: Lines) -> Counts:
    """Return what BLEU adds up, a row a sentence: both lengths, four matches, four totals."""
    if len(hypotheses) != len(references):
        raise ValueError(
            f"a run needs a line for each reference, got {len(hypotheses)} and {len(references)}"
        )
    pairs = [(h.split(), r.split()) for h, r in zip(hypotheses, references, strict=True)]
    return np.array(
        [
            [
                len(h),
                len(r),
                *(clipped_matches(h, r, n) for n in ORDERS),
                *(max(len(h) - n + 1, 0) for n in ORDERS),
            ]
            for h, r in pairs
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


def _difference(sides: Sequence[Sequence[Counts]], sentences: Counts) -> float:
    ours, theirs = (
        np.mean([bleu_of_counts(run[sentences].sum(axis=0)) for run in runs]) for runs in sides
    )
    return float(ours - theirs)
