"""An interval for the mean of a few numbers, one a seed: Student's t."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

INSIDE = 0.95


@dataclass(frozen=True)
class Interval:
    """The mean of n differences, and the interval that covers the true one 95 times in 100."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def side(self) -> int:
        """1 or −1 when the whole interval lies on that side of 0, else 0."""
        return (self.low > 0) - (self.high < 0)


def t_interval(differences: Sequence[float], inside: float = INSIDE) -> Interval:
    """Return mean ± t · s/√n.

    Raises:
        ValueError: fewer than two differences.
    """
    n = len(differences)
    if n < 2:
        raise ValueError(f"an interval needs at least two differences, got {n}")
    mean = fmean(differences)
    half = t_factor(n, inside) * stdev(differences) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def t_factor(n: int, inside: float = INSIDE) -> float:
    """Return how many standard errors the interval of n values reaches to each side.

    Raises:
        ValueError: n below 2, or a share outside (0, 1).
    """
    if n < 2 or not 0 < inside < 1:
        raise ValueError(f"t needs n of at least 2 and a share in (0, 1), got {n} and {inside}")
    from scipy.stats import t  # a second

    return float(t.ppf((1 + inside) / 2, n - 1))
