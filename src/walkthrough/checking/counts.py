"""Counts that are sums of products of the arguments: which of the terms is wrong.

A reader's count such as `4·d² + 2·d·d_ff` is called on sizes of its own, and solved for the number
before each product. So a verdict can say "`d · n` is counted 12 times; 24 times is right".
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 2017
MOST_TOLD = 3
FURTHER = 6  # points beside those that the equations need: they show if the terms are enough


@dataclass(frozen=True)
class CountTerms:
    """The products that a count may hold, each as written ("d·d·n") with what is counted by it.

    `names` are the arguments in order; their sizes are drawn as whole multiples of `steps`.
    """

    names: Sequence[str]
    counts: Mapping[str, str]
    steps: Sequence[int]
    further: Sequence[str] = ()

    def said(self, function: Callable[..., Any], reference: Callable[..., Any]) -> str | None:
        """Return which terms are wrong; None where many are, or where the count is no such sum."""
        terms = [*self.counts, *self.further]
        mine, wanted = (self._numbers(count, terms) for count in (function, reference))
        if mine is None or wanted is None or not any(mine.values()):
            return None
        wrong = [term for term in terms if mine[term] != wanted[term]]
        told = [self._term_said(term, mine[term], wanted[term]) for term in wrong[:MOST_TOLD]]
        n_more = len(wrong) - len(told)
        end = f"{n_more} more are wrong" if n_more else "All other terms are right"
        return f"term by term: {' '.join(told)} {end}" if told else None

    def _term_said(self, term: str, mine: float, wanted: float) -> str:
        name = f"`{' · '.join(term.split('·'))}`"
        if not wanted:
            return f"{name} is counted {_times(mine)}, and does not belong there."
        counts = f" ({self.counts[term]})" if self.counts.get(term) else ""
        begin = f"is counted {_times(mine)}" if mine else "is not counted"
        return f"{name} {begin}; {_times(wanted)} is right{counts}."

    def _numbers(self, count: Callable[..., Any], terms: Sequence[str]) -> dict[str, float] | None:
        """Return the number before each term, a whole or a half; None where no such sum fits."""
        draw = random.Random(SEED)
        points = [
            [step * draw.randint(1, 7) for step in self.steps] for _ in range(len(terms) + FURTHER)
        ]
        sizes = [dict(zip(self.names, point, strict=True)) for point in points]
        rows = np.array(
            [[math.prod(size[name] for name in term.split("·")) for term in terms]
             for size in sizes]
        )  # fmt: skip
        try:
            values = np.array([float(count(*point)) for point in points])
        except Exception:  # a function that allows only some sizes
            return None
        if not np.isfinite(values).all():
            return None
        scale = np.abs(rows).max(axis=0)
        numbers = np.round(2 * np.linalg.lstsq(rows / scale, values, rcond=None)[0] / scale) / 2
        fits = np.allclose(rows @ numbers, values, rtol=1e-9, atol=1e-6)
        return dict(zip(terms, map(float, numbers), strict=True)) if fits else None


def _times(number: float) -> str:
    return "once" if number == 1 else f"{number:g} times"
