"""An interval for the mean of a few numbers, one a seed: Student's t, and what short cuts keep."""

import math

import numpy as np

INSIDE = 0.95


def t_factor(n: int) -> float:
    """Return how many standard errors the interval of n values reaches to each side.

    Raises:
        ValueError: n below 2.
    """
    if n < 2:
        raise ValueError(f"an interval needs at least two values, got {n}")
    from scipy.stats import t  # a second

    return float(t.ppf((1 + INSIDE) / 2, n - 1))


def coverage(n: int, *, trials: int = 2000, resamples: int = 500) -> dict[str, float]:
    """Return how often three 95 % intervals of n normal values cover the true mean."""
    random = np.random.default_rng(0)
    values = random.standard_normal((trials, n))
    means, errors = values.mean(axis=1), values.std(axis=1, ddof=1) / math.sqrt(n)
    resampled = values[:, random.integers(n, size=(resamples, n))].mean(axis=2)
    low, high = np.quantile(resampled, [(1 - INSIDE) / 2, (1 + INSIDE) / 2], axis=1)
    return {
        "t": float((np.abs(means) < t_factor(n) * errors).mean()),
        "1.96 for t": float((np.abs(means) < 1.96 * errors).mean()),
        "bootstrap": float(((low < 0) & (high > 0)).mean()),
    }
