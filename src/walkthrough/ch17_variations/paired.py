"""What pairs of runs show beside the paper, and what fewer of them would have said.

Intervals are Student's t: with five seeds, resampling them (the bootstrap) covers far less than it
says (`coverage`).
"""

import math
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import fmean, stdev
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from walkthrough.ch17_variations.intervals import INSIDE, Interval, t_factor
from walkthrough.ch17_variations.rows import BASE, ROWS
from walkthrough.lab import Comparison, curves, frame
from walkthrough.lab.measures import scale_of


def by_seed(record: str, figure: str) -> pd.DataFrame:
    """Return a figure of each run, a line a seed and a column a row of the table.

    Perplexity is 100 · its logarithm: small differences are per cents.
    """
    return _in_unit(frame(record).assign(value=lambda runs: runs[figure]), figure)


def on_the_way(record: str, update: int, figure: str = "valid/-/perplexity") -> pd.DataFrame:
    """Return the same after so many updates.

    Raises:
        ValueError: nothing was measured there.
    """
    points = curves(record)
    points = points[points[["split", "decode", "measure"]].agg("/".join, axis=1) == figure]
    there = sorted(set(points["update"]))
    if update not in there:
        raise ValueError(f"{record} is measured after {there} updates, not after {update}")
    return _in_unit(points[points["update"] == update], figure)


def _in_unit(long: pd.DataFrame, figure: str) -> pd.DataFrame:
    return long.pivot(index="seed", columns="arm", values="value").map(scale_of(figure).of)


def differences(values: pd.DataFrame) -> pd.DataFrame:
    """Return what each row has more than base, pair by pair."""
    rows = [row for row in ROWS if row in values and row != BASE]
    return values[rows].sub(values[BASE], axis=0)


@dataclass(frozen=True)
class Luck:
    """What fewer runs than all say of a row: how often they point away from what all say at last.

    `one` is one run of each, with seeds drawn apart, as in a table with a run a row; `two` is how
    often both of two pairs do. `spread` compares differences within a pair with differences
    across pairs: below 1, pairing helps.
    """

    one: float
    two: float
    spread: float


def luck(values: pd.DataFrame, row: str, last: pd.DataFrame | None = None) -> Luck:
    """Return how fewer runs than all would have misled; `last` is what all said in the end."""
    last = values if last is None else last
    truth = (last[row] - last[BASE]).mean()
    base, ours, paired = values[BASE], values[row], values[row] - values[BASE]
    return Luck(
        one=fmean((ours[a] - base[b]) * truth <= 0 for a, b in permutations(values.index, 2)),
        two=fmean(all(d * truth <= 0 for d in both) for both in combinations(paired, 2)),
        spread=stdev(paired) / math.hypot(stdev(base), stdev(ours)),
    )


def printed_difference(row: str, measure: Literal["perplexity", "bleu"] = "perplexity") -> float:
    """Return what a row has more than base in the paper; perplexity as in `by_seed`."""
    of = scale_of(measure).of
    return of(getattr(ROWS[row].printed, measure)) - of(getattr(ROWS[BASE].printed, measure))


def beside(printed: float, found: Interval | Comparison) -> str:
    """Return in words how our interval relates to a printed difference."""
    side = (found.low > 0) - (found.high < 0)
    if abs(printed) < 1e-9:
        return "no difference either" if side == 0 else "a difference here"
    if side == 0:
        return "not told apart"
    return "same direction" if side * printed > 0 else "other direction"


def coverage(n: int, *, trials: int = 2000, resamples: int = 500) -> dict[str, float]:
    """Return how often three 95 % intervals of n normal values cover the true mean."""
    random = np.random.default_rng(0)
    values = random.standard_normal((trials, n))
    means, errors = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(n)
    drawn = random.integers(n, size=(resamples, n))
    resampled = values[:, drawn].mean(axis=2)
    low, high = np.quantile(resampled, [(1 - INSIDE) / 2, (1 + INSIDE) / 2], axis=1)
    return {
        "t": _share(np.abs(means) < t_factor(n) * errors),
        "1.96 for t": _share(np.abs(means) < 1.96 * errors),
        "bootstrap": _share((low < 0) & (high > 0)),
    }


def _share(truths: NDArray[np.bool_]) -> float:
    return float(truths.mean())
