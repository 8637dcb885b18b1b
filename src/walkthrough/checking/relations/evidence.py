"""When a relation between results and expected results counts as found, and not as chance.

A false relation is worse than none. One counts when it holds for every wrong case, explains the
result far better than "it differs", and rests on enough different numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LEAST_VALUES = 4
LEAST_TRUTHS = 12


@dataclass(frozen=True)
class Pair:
    """A wrong result beside the expected one, as tensors of float64, and the case it belongs to."""

    mine: Tensor
    wanted: Tensor
    given: Mapping[str, Any]
    label: str
    truths: bool = False

    @property
    def alike(self) -> bool:
        """Whether both have one shape."""
        return self.mine.shape == self.wanted.shape


Guess = Callable[[Pair], Tensor | None]


@dataclass(frozen=True)
class Series:
    """The wrong cases of a check, or one part of them, such as the second of three results."""

    pairs: Sequence[Pair]
    tolerance: float

    @property
    def loose(self) -> float:
        """How near counts as equal: wider than the check's, since a guess adds rounding."""
        return max(10 * self.tolerance, 1e-4)

    def close(self, one: Tensor, other: Tensor) -> bool:
        """Return whether two tensors agree, infinities and NaN included."""
        return one.shape == other.shape and torch.allclose(
            one, other, rtol=self.loose, atol=self._absolute(other), equal_nan=True
        )

    def _absolute(self, values: Tensor) -> float:
        # tiny results, such as rates of 1e-5, must not agree because all are near 0
        finite = values[values.isfinite()].abs()
        size = float(finite.max()) if finite.numel() else 1.0
        return min(self.loose, self.loose * size)

    def explained(self, guess: Guess, *, freedom: int = 0) -> bool:
        """Return whether `guess` gives the reader's result in every wrong case.

        `freedom` is how many numbers the guess takes from the result itself.
        """
        return self._holds([(pair.mine, _safe(guess, pair)) for pair in self.pairs], freedom)

    def completed(self, step: Guess) -> bool:
        """Return whether `step`, applied to the reader's result, gives the expected one."""
        return self._holds([(pair.wanted, _safe(step, pair)) for pair in self.pairs], 0)

    def _holds(self, found: Sequence[tuple[Tensor, Tensor | None]], freedom: int) -> bool:
        for pair, (aim, guess) in zip(self.pairs, found, strict=True):
            if guess is None or not self.close(guess, aim):
                return False
            if bool((pair.mine.isnan() & ~_at(pair.wanted, pair.mine).isnan()).any()):
                return False
            if pair.alike and guess.shape == pair.mine.shape:
                plain = _gap(pair.mine, pair.wanted)
                if not _gap(guess, aim) < plain / 10:
                    return False
        return self.tells(freedom)

    def tells(self, freedom: int = 0) -> bool:
        """Return whether the results hold enough different values to tell relations apart."""
        if any(pair.truths for pair in self.pairs):
            mixed = any(0 < pair.mine.sum() < pair.mine.numel() for pair in self.pairs)
            return mixed and sum(pair.mine.numel() for pair in self.pairs) >= LEAST_TRUTHS
        mine = sum(_distinct(pair.mine) - freedom for pair in self.pairs)
        wanted = sum(_distinct(pair.wanted) - freedom for pair in self.pairs)
        return min(mine, wanted) >= LEAST_VALUES - min(freedom, 1)


def _at(wanted: Tensor, mine: Tensor) -> Tensor:
    return wanted if wanted.shape == mine.shape else torch.zeros_like(mine)


def _safe(guess: Guess, pair: Pair) -> Tensor | None:
    try:
        return guess(pair)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return None


def _distinct(values: Tensor) -> int:
    finite = values[values.isfinite()]
    if not finite.numel():
        return 0
    size = float(finite.abs().max()) or 1.0
    return int((finite / size * 1e4).round().unique().numel())


def _gap(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape:
        return float("inf")
    gap = (one - other).abs().nan_to_num(nan=float("inf"))
    gap[(one == other) | (one.isnan() & other.isnan())] = 0.0
    return float(gap.max()) if gap.numel() else 0.0
