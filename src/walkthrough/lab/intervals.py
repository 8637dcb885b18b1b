"""Intervals of paired differences: over seeds, over sentences, and over the rows of a claim."""

import math
from collections.abc import Callable, Sequence
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from walkthrough.lab.keys import Number
from walkthrough.lab.measures import SCORES, Scale

LEVEL = 0.95
FEWEST_PAIRS = 5
DRAWS = 1000
MOST_FLIPPED = 14
"""Pairs of which every subset is taken; of more, as many subsets as these have."""


class Point(NamedTuple):
    """The mean difference at a rate or a length, with its interval (NaN for too few pairs)."""

    x: Number
    mean: Number
    low: Number
    high: Number
    n: int
    p: float = 1.0

    @property
    def stands_out(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def point(x: Number, values: Sequence[Number], scale: Scale) -> Point:
    """Return mean and interval: Student's, or by flipped signs where the measure is skewed."""
    n = len(values)
    if n < 2:
        return Point(x, values[0] if values else math.nan, math.nan, math.nan, n)
    if max(values) - min(values) <= 1e-9 * max(map(abs, values)):
        return Point(x, values[0], values[0], values[0], n, float(values[0] == 0))
    if scale.skewed:
        return Point(x, fmean(values), *_flipped(values)[:2], n, _flipped(values)[2])
    from scipy.stats import ttest_rel  # a second

    test = ttest_rel(values, np.zeros(n))
    low, high = test.confidence_interval(LEVEL)
    return Point(x, fmean(values), float(low), float(high), n, float(test.pvalue))


def _flipped(values: Sequence[Number]) -> tuple[float, float, float]:
    """Return the ends of the interval that the paired sign-flip test does not refuse, and its p.

    The means of the subsets of n differences cut the line into 2ⁿ parts, in each of which what the
    pairs differ by is equally likely to lie (Hartigan, 1969), however skewed they are. Five pairs
    have too few parts for an end (NaN).
    """
    n = len(values)
    if n <= MOST_FLIPPED:
        taken = np.array(list(product((0, 1), repeat=n)))[1:]
    else:
        taken = np.random.default_rng(0).integers(0, 2, (2**MOST_FLIPPED - 1, n))
        taken = taken[taken.any(axis=1)]
    means = np.sort(taken @ np.array(values, float) / taken.sum(axis=1))
    parts = len(means) + 1
    beyond = math.floor((1 - LEVEL) / 2 * parts)
    below, above = int((means <= 0).sum()), int((means >= 0).sum())
    p = min(1.0, 2 * (min(below, above) + 1) / parts)
    if not beyond:
        return math.nan, math.nan, p
    return float(means[beyond - 1]), float(means[-beyond]), p


def over_sentences(
    sides: Sequence[Sequence[Any]], figure: str, scale: Scale
) -> tuple[float, float] | None:
    """Return how far an interval over draws of sentences reaches below and above the difference.

    The same sentences are drawn for every run; None without counts.
    """
    score = SCORES.get(figure.rpartition("/")[2])
    if score is None or any(rows is None for side in sides for rows in side):
        return None
    from scipy.stats import bootstrap

    def difference(sentences: Any) -> float:
        ours, theirs = (_mean_score(side, sentences, score, scale) for side in sides)
        return ours - theirs

    every = np.arange(len(sides[0][0]))
    sampled = bootstrap(
        (every,),
        difference,
        n_resamples=DRAWS,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    middle = difference(every)
    return middle - float(sampled.low), float(sampled.high) - middle


def widened(at: Point, sentences: tuple[float, float] | None) -> Point:
    """Return a difference whose interval has both variances: of seeds and of sentences they add."""
    if sentences is None or at.n < 2:
        return at
    from scipy.stats import t

    below = math.hypot(at.mean - at.low, sentences[0])
    above = math.hypot(at.high - at.mean, sentences[1])
    toward = below if at.mean > 0 else above
    deviations = abs(at.mean) / toward * t.ppf((1 + LEVEL) / 2, at.n - 1) if toward else math.inf
    p = float(2 * t.sf(deviations, at.n - 1))
    return at._replace(low=at.mean - below, high=at.mean + above, p=p)


def _mean_score(
    side: Sequence[Any], sentences: Any, score: Callable[[Any], float], scale: Scale
) -> float:
    return fmean(scale.of(score(rows[sentences].sum(axis=0))) for rows in side)
