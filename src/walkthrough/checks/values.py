"""Checks for answers that are values: a number, a tensor, a choice."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from walkthrough.checks.compare import difference, same
from walkthrough.checks.verdict import Verdict


@dataclass(frozen=True)
class WrongValue:
    """A wrong answer that readers give, and the sentence that answers it."""

    value: Any
    say: str


@dataclass(frozen=True, kw_only=True)
class ValueCheck:
    """Judges an answer that is a value. Strings are compared without case and outer blanks.

    Raises:
        ValueError: a listed mistake equals the expected answer, or is not one of the choices.
    """

    name: str
    expected: Any
    mistakes: Sequence[WrongValue] = ()
    choices: Sequence[str] = ()
    tolerance: float = 1e-5
    right: str = "{name}: right"
    hint: str = "replace `None` by your answer, then run this cell again"

    def __post_init__(self) -> None:
        for mistake in self.mistakes:
            if self._same(mistake.value, self.expected):
                raise ValueError(
                    f"a mistake must differ from the expected answer {self.expected!r}; "
                    f"{self.name!r} lists {mistake.value!r}"
                )
        answers = [self.expected, *(mistake.value for mistake in self.mistakes)]
        for answer in answers if self.choices else []:
            if not self._chosen(answer):
                raise ValueError(f"{answer!r} is not one of the choices {list(self.choices)}")

    def __call__(self, answer: Any) -> Verdict:
        """Judge the reader's answer."""
        if answer is None or answer is ...:
            return Verdict("nothing yet", self.hint)
        if self._same(answer, self.expected):
            return Verdict("right", self.right.format(name=self.name))
        for mistake in self.mistakes:
            if self._same(answer, mistake.value):
                return Verdict("wrong", mistake.say, str(mistake.value))
        if self.choices:
            said = "not this one" if self._chosen(answer) else f"{answer!r} is not a choice here"
            return Verdict("wrong", f"{said}; choose one of {', '.join(self.choices)}")
        if isinstance(self.expected, str):
            return Verdict("wrong", f"not {answer!r}")
        return Verdict("wrong", self._unknown(answer))

    def _unknown(self, answer: Any) -> str:
        if all(type(number) in (int, float) for number in (self.expected, answer)):
            if math.isnan(answer):
                return "yours is NaN (not a number)"
            return f"{answer:g} is too {'small' if answer < self.expected else 'large'}"
        return str(difference(answer, self.expected, self.tolerance))

    def _chosen(self, answer: Any) -> bool:
        return any(_plain(answer) == _plain(choice) for choice in self.choices)

    def _same(self, answer: Any, other: Any) -> bool:
        return same(_plain(answer), _plain(other), self.tolerance)


def _plain(answer: Any) -> Any:
    return answer.strip().casefold() if isinstance(answer, str) else answer


def check_value(
    answer: Any,
    expected: Any,
    *,
    mistakes: Mapping[Any, str] | None = None,
    name: str = "your value",
    tolerance: float = 1e-5,
) -> Verdict:
    """Judge one value; `mistakes` maps wrong values to what to say about them."""
    wrong = [WrongValue(value, say) for value, say in (mistakes or {}).items()]
    return ValueCheck(name=name, expected=expected, mistakes=wrong, tolerance=tolerance)(answer)
