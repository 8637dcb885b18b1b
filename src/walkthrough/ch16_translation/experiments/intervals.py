"""How sure the difference of two scores is: the paired bootstrap over sentences (Koehn 2004)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from walkthrough.lab.measures import Counts, bleu_of_counts, sentence_counts

__all__ = ["Difference", "bleu_of_counts", "difference_of_counts", "sentence_counts"]

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


def _difference(sides: Sequence[Sequence[Counts]], sentences: Counts) -> float:
    ours, theirs = (
        np.mean([bleu_of_counts(run[sentences].sum(axis=0)) for run in runs]) for runs in sides
    )
    return float(ours - theirs)
