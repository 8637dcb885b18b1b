"""The cases of a check with both results, and when a relation between them counts as proved.

A false relation is worse than none. One counts when it gives the reader's result in every case, the
right ones included, in three at least, and rests on enough different numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from walkthrough.checking.cases import Case
from walkthrough.checking.kinds import as_values

LEAST_CASES = 3
LEAST_VALUES = 4
LEAST_TRUTHS = 12


@dataclass(frozen=True, eq=False)
class Tried:
    """One case: the reader's result, the expected one, and the arguments by name."""

    mine: Any
    wanted: Any
    given: Mapping[str, Any]
    case: Case
    right: bool

    def part(self, place: Any, same: Callable[[Any, Any], bool]) -> "Tried":
        """Return the case as one about a part of both results."""
        mine, wanted = self.mine[place], self.wanted[place]
        return replace(self, mine=mine, wanted=wanted, right=same(mine, wanted))


@dataclass(frozen=True, eq=False)
class Pair:
    """Both results of a case as tensors of float64."""

    mine: Tensor
    wanted: Tensor
    given: Mapping[str, Any]
    right: bool
    truths: bool

    @property
    def alike(self) -> bool:
        """Whether both have one shape."""
        return self.mine.shape == self.wanted.shape


Guess = Callable[[Pair], Tensor | None]


@dataclass(frozen=True)
class Series:
    """Both results of every case."""

    pairs: Sequence[Pair]
    tolerance: float

    @property
    def wrong(self) -> list[Pair]:
        """The cases that are wrong."""
        return [pair for pair in self.pairs if not pair.right]

    @property
    def truths(self) -> bool:
        """Whether results are truth values."""
        return any(pair.truths for pair in self.pairs)

    def near(self, mine: Tensor, wanted: Tensor) -> Tensor:
        """Return where two tensors of one shape agree."""
        return torch.isclose(mine, wanted, self.tolerance, self.tolerance, equal_nan=True)

    def proves(self, guess: Guess) -> bool:
        """Return whether `guess` gives the reader's result in every case, and not by chance."""
        if len(self.pairs) < LEAST_CASES or not self._tells():
            return False
        return all(self._is(guess, pair) for pair in self.pairs)

    def _is(self, guess: Guess, pair: Pair) -> bool:
        try:
            guessed = guess(pair)
        except (RuntimeError, IndexError, ValueError, TypeError):
            return False
        if guessed is None or guessed.shape != pair.mine.shape or not pair.mine.isfinite().all():
            return False
        # tiny results, such as rates of 1e-5, must not agree because all are near 0
        largest = float(pair.mine.abs().max()) if pair.mine.numel() else 0.0
        loose = max(10 * self.tolerance, 1e-4)
        if not torch.allclose(guessed, pair.mine, rtol=loose, atol=min(loose, loose * largest)):
            return False
        if pair.right or not pair.alike:
            return True
        return bool((guessed - pair.mine).abs().max() < (pair.wanted - pair.mine).abs().max() / 10)

    def _tells(self) -> bool:
        wrong = self.wrong
        mine, wanted = [pair.mine for pair in wrong], [pair.wanted for pair in wrong]
        if self.truths:
            every = torch.cat([values.flatten() for values in mine])
            return bool(0 < every.sum() < len(every)) and len(every) >= LEAST_TRUTHS
        if all(values.numel() == 1 for values in mine):
            return min(len(set(map(_rounded, every))) for every in (mine, wanted)) >= LEAST_CASES
        return min(map(_differing, (mine, wanted))) >= LEAST_VALUES


def _rounded(number: Tensor) -> str:
    return f"{float(number) + 0.0:.4g}"  # −0 is 0


def _differing(every: Iterable[Tensor]) -> int:
    """Return how many values differ from one that stands beside them."""
    return sum(len(set(map(_rounded, values.flatten()[:200]))) - 1 for values in every)


def series_of(tried: Sequence[Tried], tolerance: float) -> Series | None:
    """Return both results as tensors; None where one is no number, or of another kind."""
    pairs = []
    for trial in tried:
        mine, wanted = as_values(trial.mine), as_values(trial.wanted)
        if mine is None or wanted is None or mine.is_complex() or wanted.is_complex():
            return None
        truths = mine.dtype == torch.bool
        if truths != (wanted.dtype == torch.bool):
            return None
        pairs.append(Pair(mine.double(), wanted.double(), trial.given, trial.right, truths))
    return Series(pairs, tolerance)
