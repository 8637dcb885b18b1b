"""How large is a difference that means something? Pairs of runs, and what fewer of them would say.

Two runs of one seed are a pair. Their intervals are Student's t: with five seeds, resampling them
(the bootstrap) covers far less than it says (`coverage`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import fmean, stdev
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from walkthrough.ch17_variations.rows import BASE, ROWS
from walkthrough.lab.intervals import INSIDE, Interval, t_factor

Measure = Literal["perplexity", "bleu"]


Runs = Sequence[Mapping[str, Any]]


def value(run: Mapping[str, Any], split: str, measure: Measure) -> float:
    """Return a run's figure; perplexity as 100 · its logarithm: small differences are per cents."""
    found = float(run[split][measure])
    return 100 * math.log(found) if measure == "perplexity" else found


def by_seed(runs: Runs, row: str, split: str, measure: Measure) -> dict[int, float]:
    """Return the figure of each run of a row, by seed.

    Raises:
        ValueError: there is no run of that row.
    """
    found = {run["seed"]: value(run, split, measure) for run in runs if run["row"] == row}
    if not found:
        raise ValueError(f"no run of {row!r} is recorded")
    return found


def with_points(runs: Runs) -> list[dict[str, Any]]:
    """Return runs of the command line with their curves as those of the phrasebook have them.

    A point is a number of updates and the perplexity on validation pairs.
    """
    return [
        {**run, "curve": [(point["update"], point["valid_perplexity"]) for point in run["curve"]]}
        for run in runs
    ]


def differences(runs: Runs, row: str, split: str, measure: Measure = "perplexity") -> list[float]:
    """Return what a row has more than base, a number for each seed that both have."""
    base, ours = (by_seed(runs, name, split, measure) for name in (BASE, row))
    return [ours[seed] - base[seed] for seed in sorted(base.keys() & ours.keys())]


def misled_by_one(runs: Runs, row: str, split: str, measure: Measure = "perplexity") -> float:
    """Return how often one run of each, seeds drawn apart, points away from the mean of all pairs.

    That is what a table with one run a row shows.
    """
    base, ours = (by_seed(runs, name, split, measure) for name in (BASE, row))
    seeds = sorted(base.keys() & ours.keys())
    mean = fmean(differences(runs, row, split, measure))
    return fmean((ours[a] - base[b]) * mean <= 0 for a, b in permutations(seeds, 2))


def complete_rows(runs: Runs, n: int) -> list[str]:
    """Return the rows, in the table's order and without base, of which n seeds are recorded."""
    return [row for row in ROWS if row != BASE and sum(run["row"] == row for run in runs) >= n]


def curve_values(runs: Runs, row: str, update: int) -> dict[int, float]:
    """Return what each run of a row had on validation pairs after so many updates, by seed.

    Raises:
        ValueError: a run was not measured there.
    """
    found = {}
    for run in (one for one in runs if one["row"] == row):
        points = dict(run["curve"])
        if update not in points:
            raise ValueError(
                f"{row} is measured after {sorted(points)} updates, not after {update}"
            )
        found[run["seed"]] = 100 * math.log(points[update])
    return found


def curve_differences(runs: Runs, row: str, update: int) -> list[float]:
    """Return what a row has more than base after so many updates, a number for each seed."""
    base, ours = (curve_values(runs, name, update) for name in (BASE, row))
    return [ours[seed] - base[seed] for seed in sorted(base.keys() & ours.keys())]


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


def luck(runs: Runs, row: str, update: int, last: int) -> Luck:
    """Return how fewer runs than all would have misled, stopped at `update` of `last`."""
    base, ours = (curve_values(runs, name, update) for name in (BASE, row))
    seeds = sorted(base.keys() & ours.keys())
    truth = fmean(curve_differences(runs, row, last))
    apart = [ours[a] - base[b] for a, b in permutations(seeds, 2)]
    paired = curve_differences(runs, row, update)
    twos = list(combinations(paired, 2))
    unpaired = math.hypot(stdev(base[s] for s in seeds), stdev(ours[s] for s in seeds))
    return Luck(
        one=fmean(d * truth <= 0 for d in apart),
        two=fmean(all(d * truth <= 0 for d in both) for both in twos),
        spread=stdev(paired) / unpaired,
    )


def printed_difference(row: str, measure: Measure = "perplexity") -> float:
    """Return what a row has more than base in the paper; perplexity as in `value`."""
    ours, base = ROWS[row].printed, ROWS[BASE].printed
    if measure == "bleu":
        return ours.bleu - base.bleu
    return 100 * math.log(ours.perplexity / base.perplexity)


def verdict(printed: float, found: Interval) -> str:
    """Return in words how our interval relates to a printed difference."""
    if abs(printed) < 1e-9:
        return "no difference either" if found.side == 0 else "a difference here"
    if found.side == 0:
        return "not told apart"
    return "same direction" if found.side * printed > 0 else "other direction"


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
