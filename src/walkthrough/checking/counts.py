"""Counts that are sums of products of the arguments: which of the terms is wrong.

A reader's count such as `4·d² + 2·d·d_ff` is called on small sizes of its own, and solved for the
number before each product. So a verdict can say "before d_model · n_layers stands 12, and 24
belongs there", whatever slip has led to it.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 2017
MOST_TOLD = 3
FURTHER = 6
"""Points beside those that the equations need: they show whether the terms are enough."""


@dataclass(frozen=True)
class Term:
    """A product of arguments: their powers by place, and which parts are counted by it."""

    name: str
    powers: tuple[int, ...]
    counts: str = ""


@dataclass(frozen=True)
class CountTerms:
    """The products that a count may hold; sizes are drawn as whole multiples of `steps`."""

    terms: Sequence[Term]
    steps: Sequence[int]

    def said(
        self, function: Callable[..., Any], reference: Callable[..., Any], *, most: int
    ) -> str | None:
        """Return which terms of a reader's count are wrong; None for more than `most` of them.

        None also where the count is no such sum.
        """
        mine, wanted = self._numbers(function), self._numbers(reference)
        if mine is None or wanted is None or not any(mine):
            return None
        wrong = [place for place in range(len(self.terms)) if mine[place] != wanted[place]]
        if not wrong or len(wrong) > most:
            return None
        told = [self._term_said(p, mine[p], wanted[p]) for p in wrong[:MOST_TOLD]]
        n_more = len(wrong) - len(told)
        end = f"{n_more} more are wrong" if n_more else "All other terms are right"
        return f"term by term: {' '.join(told)} {end}"

    def _term_said(self, place: int, mine: float, wanted: float) -> str:
        term = self.terms[place]
        if not wanted:
            return f"`{term.name}` is counted {_times(mine)}, and does not belong there."
        counts = f" ({term.counts})" if term.counts else ""
        if not mine:
            return f"`{term.name}` is not counted; {_times(wanted)} is right{counts}."
        return f"`{term.name}` is counted {_times(mine)}; {_times(wanted)} is right{counts}."

    def _numbers(self, function: Callable[..., Any]) -> list[float] | None:
        """Return the number before each term, a whole or a half; None where no such sum fits."""
        points = self._points()
        rows = np.array([[_product(point, t.powers) for t in self.terms] for point in points])
        try:
            values = np.array([float(function(*point)) for point in points])
        except Exception:  # a function that allows only some sizes
            return None
        if not np.isfinite(values).all():
            return None
        scale: NDArray[np.float64] = np.abs(rows).max(axis=0)
        solved = np.linalg.lstsq(rows / scale, values, rcond=None)[0] / scale
        numbers = np.round(2 * solved) / 2
        if not np.allclose(rows @ numbers, values, rtol=1e-9, atol=1e-6):
            return None
        return [float(number) for number in numbers]

    def _points(self) -> list[tuple[int, ...]]:
        draw = random.Random(SEED)
        n_points = len(self.terms) + FURTHER
        return [tuple(step * draw.randint(1, 7) for step in self.steps) for _ in range(n_points)]


def _product(point: Sequence[int], powers: Sequence[int]) -> float:
    return float(math.prod(size**power for size, power in zip(point, powers, strict=True)))


def _times(number: float) -> str:
    return "once" if number == 1 else f"{number:g} times"


def terms_of(
    names: Sequence[str], counts: Mapping[str, str], *, further: Sequence[str] = ()
) -> list[Term]:
    """Return terms by how they are written, such as "d·d·n": those that count, and `further`."""
    return [
        Term(
            " · ".join(written.split("·")),
            tuple(written.split("·").count(name) for name in names),
            counts.get(written, ""),
        )
        for written in [*counts, *further]
    ]
