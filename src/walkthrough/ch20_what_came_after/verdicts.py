"""What the recorded seeds allow to say: paired differences with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from walkthrough.ch20_what_came_after.figures import frame
from walkthrough.lab.intervals import Interval, t_interval


@dataclass(frozen=True)
class Difference:
    """What paired runs have more than those they are held against; below 0 is better."""

    pairs: tuple[float, ...]

    @property
    def interval(self) -> Interval:
        """The mean difference and its interval of 95 %."""
        return t_interval(self.pairs)

    @property
    def lower(self) -> str:
        """Say in how many pairs ours is the lower one."""
        return f"{sum(gap < 0 for gap in self.pairs)} of {len(self.pairs)}"

    @property
    def verdict(self) -> str:
        """Say what the interval allows; else whether all pairs agree."""
        if side := self.interval.side:
            return "worse" if side > 0 else "helps"
        if all(gap < 0 for gap in self.pairs):
            return "better in every pair"
        return "worse in every pair" if all(gap > 0 for gap in self.pairs) else "no difference seen"


def paired(ours: Sequence[float], base: Sequence[float]) -> Difference:
    """Return the difference of runs that share their seeds, pair by pair.

    Raises:
        ValueError: not as many of the one as of the other.
    """
    if len(ours) != len(base):
        raise ValueError(f"pairs need as many runs of each, got {len(ours)} and {len(base)}")
    return Difference(tuple(one - other for one, other in zip(ours, base, strict=True)))


def block_verdicts(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each change: best rate, loss with its range, difference to 2017's best rate.

    The best rate is the one with the lower mean loss, chosen for each block apart.
    """
    runs = frame(record, "block")
    base = _at_best_rate(runs[runs.block == "2017"])
    rows = []
    for name in dict.fromkeys(runs.block):
        one = _at_best_rate(runs[runs.block == name])
        row = {"block": name, "rate": one.peak.iloc[0], **_compared(one, base)}
        rows.append(row | {"verdict": ""} if name == "2017" else row)
    return pd.DataFrame(rows).set_index("block")


STEPS = (
    ("pre-norm", "pre-norm, RMSNorm"),
    ("no biases", "no biases, QK-norm"),
    ("no biases, QK-norm", "today"),
)
"""A block → one that has what it has and more."""


def step_verdicts(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return what a block adds to one that lacks some of it, each at its own best rate."""
    runs = frame(record, "block")
    rows = [
        {
            "from": less,
            "to": more,
            **_compared(*(_at_best_rate(runs[runs.block == block]) for block in (more, less))),
        }
        for less, more in STEPS
    ]
    return pd.DataFrame(rows).set_index(["from", "to"])


def optimiser_verdicts(record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the same for optimisers and schedules, at one rate, against Adam with a line."""
    runs = frame(record, "optimiser")
    blocks = frame(record, "block")
    (peak,) = runs.peak.unique()
    base = blocks[(blocks.block == "2017") & (blocks.peak == peak)]
    rows = [
        {"optimiser": f"{optimizer}, {schedule}", **_compared(one, base)}
        for (optimizer, schedule), one in runs.groupby(["optimizer", "schedule"], sort=False)
    ]
    return pd.DataFrame(rows).set_index("optimiser")


def _compared(ours: pd.DataFrame, base: pd.DataFrame) -> dict[str, Any]:
    both = ours.merge(base, on="seed", suffixes=("", "_base"))
    found = paired(both.loss.tolist(), both.loss_base.tolist())
    return {
        "loss": ours.loss.mean(),
        "lowest": ours.loss.min(),
        "highest": ours.loss.max(),
        "difference": found.interval.mean,
        "±": found.interval.high - found.interval.mean,
        "lower in": found.lower,
        "verdict": found.verdict,
    }


def _at_best_rate(runs: pd.DataFrame) -> pd.DataFrame:
    best = runs.groupby("peak").loss.mean().idxmin()
    return runs[runs.peak == best]
