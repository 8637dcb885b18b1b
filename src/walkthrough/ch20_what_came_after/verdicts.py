"""What the recorded seeds allow to say: paired differences with an interval."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import mean, stdev
from typing import Any, NamedTuple

import pandas as pd

from walkthrough.ch20_what_came_after.figures import frame

T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}
"""Student's t for an interval of 95 %, by the number of pairs."""


class Difference(NamedTuple):
    """The mean of paired differences, how far the interval reaches to both sides, and the pairs."""

    mean: float
    reach: float
    pairs: tuple[float, ...]

    @property
    def lower(self) -> str:
        """Say in how many pairs ours is the lower one."""
        return f"{sum(gap < 0 for gap in self.pairs)} of {len(self.pairs)}"

    @property
    def verdict(self) -> str:
        """Say what the interval allows; else whether all pairs agree. Below 0 is better."""
        if self.mean + self.reach < 0:
            return "helps"
        if self.mean - self.reach > 0:
            return "worse"
        if all(gap < 0 for gap in self.pairs):
            return "better in every pair"
        return "worse in every pair" if all(gap > 0 for gap in self.pairs) else "no difference seen"


def paired(ours: Sequence[float], base: Sequence[float]) -> Difference:
    """Return the difference of runs that share their seeds, pair by pair.

    Raises:
        ValueError: not as many of the one as of the other, or a number without a table entry.
    """
    if len(ours) != len(base) or len(ours) not in T_95:
        raise ValueError(
            f"pairs must be {sorted(T_95)} in number, got {len(ours)} and {len(base)} runs"
        )
    gaps = [one - other for one, other in zip(ours, base, strict=True)]
    return Difference(mean(gaps), T_95[len(gaps)] * stdev(gaps) / sqrt(len(gaps)), tuple(gaps))


def block_verdicts(record: Mapping[str, Any], *, measure: str = "loss") -> pd.DataFrame:
    """Return a row for each change: best rate, loss with its range, difference to 2017's best rate.

    The best rate is the one with the lower mean loss, chosen for each block apart.
    """
    runs = frame(record, "block")
    base = _at_best_rate(runs[runs.block == "2017"])
    rows = []
    for name in dict.fromkeys(runs.block):
        one = _at_best_rate(runs[runs.block == name])
        found = _paired_by_seed(one, base, measure)
        rows.append(
            {
                "block": name,
                "rate": one.peak.iloc[0],
                "loss": one.loss.mean(),
                "lowest": one.loss.min(),
                "highest": one.loss.max(),
                "difference": found.mean,
                "±": found.reach,
                "lower in": found.lower,
                "verdict": "" if name == "2017" else found.verdict,
            }
        )
    return pd.DataFrame(rows).set_index("block")


def optimiser_verdicts(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the same for optimisers and schedules, at one rate, against Adam with a line."""
    runs = frame(record, "optimiser")
    blocks = frame(record, "block")
    (peak,) = runs.peak.unique()
    base = blocks[(blocks.block == "2017") & (blocks.peak == peak)].sort_values("seed")
    rows = []
    for (optimizer, schedule), one in runs.groupby(["optimizer", "schedule"], sort=False):
        found = _paired_by_seed(one, base, "loss")
        rows.append(
            {
                "optimiser": f"{optimizer}, {schedule}",
                "loss": one.loss.mean(),
                "lowest": one.loss.min(),
                "highest": one.loss.max(),
                "difference": found.mean,
                "±": found.reach,
                "lower in": found.lower,
                "verdict": found.verdict,
            }
        )
    return pd.DataFrame(rows).set_index("optimiser")


def _paired_by_seed(ours: pd.DataFrame, base: pd.DataFrame, measure: str) -> Difference:
    both = ours.merge(base, on="seed", suffixes=("", "_base"))
    return paired(both[measure].tolist(), both[f"{measure}_base"].tolist())


def _at_best_rate(runs: pd.DataFrame) -> pd.DataFrame:
    best = runs.groupby("peak").loss.mean().idxmin()
    return runs[runs.peak == best].sort_values("seed")
