"""Checks for answers that are a number."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from walkthrough.checking.compare import difference, same, short
from walkthrough.checking.verdict import Verdict

NOTHING_YET = Verdict("nothing yet", "replace `None` by your answer, then run this cell again")


@dataclass(frozen=True)
class WrongValue:
    """A wrong answer that readers give, and the sentence that answers it."""

    value: int | float
    say: str


@dataclass(frozen=True, kw_only=True)
class ValueCheck:
    """Judges an answer that is a number. A wrong one is not told the right one.

    `means(answer)` says in words what a number that no mistake explains would mean.

    Raises:
        ValueError: a listed mistake equals the expected answer.
    """

    name: str
    expected: int | float
    mistakes: Sequence[WrongValue] = ()
    tolerance: float = 1e-5
    right: str = "{name}: right"
    means: Callable[[float], str] | None = None

    def __post_init__(self) -> None:
        for mistake in self.mistakes:
            if same(mistake.value, self.expected, self.tolerance):
                raise ValueError(
                    f"a mistake must differ from the expected answer {self.expected!r}; "
                    f"{self.name!r} lists {mistake.value!r}"
                )

    def __call__(self, answer: Any) -> Verdict:
        """Judge the reader's answer."""
        if answer is None or answer is ...:
            return NOTHING_YET
        if same(answer, self.expected, self.tolerance):
            return Verdict("right", self.right.format(name=self.name))
        for mistake in self.mistakes:
            if same(answer, mistake.value, self.tolerance):
                return Verdict("wrong", mistake.say, str(mistake.value))
        return Verdict("wrong", self._unknown(answer))

    def _unknown(self, answer: Any) -> str:
        number = answer.item() if getattr(answer, "ndim", None) == 0 else answer
        if not isinstance(number, Real) or isinstance(number, bool):
            return str(difference(answer, self.expected, self.tolerance))
        if number != number:
            return "yours is NaN (not a number)"
        more = _relation(float(number), float(self.expected), self.tolerance)
        more = more or (self.means and self.means(float(number)))
        size = "small" if number < self.expected else "large"
        said = f"{short(float(number), 6)} is too {size}"
        return f"{said}: {more}" if more else said


_FACTORS = {2: "", 10: "", 60: ": minutes, seconds, hours?", 24: ": hours, days?", 1000: "",
            3600: ": seconds, hours?", 86_400: ": seconds, days?", 1_000_000: ""}  # fmt: skip
_TIMES = {
    **{f"it is a factor of {by} off{unit}": (by, 1 / by) for by, unit in _FACTORS.items()},
    "it has the wrong sign": (-1,),
    "it is in per cent; asked is a share": (100,),
    "asked is per cent, and this is a share": (0.01,),
}


def _relation(number: float, right: float, tolerance: float) -> str | None:
    """Return how a wrong number relates to the right one, or None. The right one is not told."""
    near = max(tolerance, 1e-6)
    for sentence, factors in _TIMES.items():
        if any(math.isclose(number, right * by, rel_tol=near) for by in factors):
            return sentence
    if math.isclose(abs(number - right), 1, rel_tol=near):
        return f"it is one too {'large' if number > right else 'small'}"
    return None
