"""What a check's author foresees: mistakes by what they compute, symptoms by how they look."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from walkthrough.checking.cases import Arguments


@dataclass(frozen=True)
class Mistake:
    """A known wrong implementation and the sentence that tells a reader what it does."""

    name: str
    function: Callable[..., Any]
    say: str


@dataclass(frozen=True)
class Symptom:
    """A property of a wrong result that deserves its own sentence.

    `shows(result, expected, arguments)` looks at one case. The first case that shows it decides, so
    the sentence must be true of any answer that shows it once.
    """

    name: str
    shows: Callable[[Any, Any, Arguments], bool]
    say: str

    def is_shown(self, outcome: Any, expected: Any, given: Arguments) -> bool:
        """Return whether one case shows it; a result of another kind does not."""
        if isinstance(outcome, str) and not isinstance(expected, str):
            return False  # "no" would count as True
        try:
            return bool(self.shows(outcome, expected, given))
        except Exception:  # a rule about shapes meets a result of another kind
            return False
