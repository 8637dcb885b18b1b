"""Checks that judge in a way of their own, where no single right answer can be compared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from walkthrough.checking.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class OwnCheck:
    """Judges an answer by experiments, or by properties that many right answers share.

    `judge` answers with a `Verdict` whatever it is given, `None` included; it never raises.
    """

    name: str
    judge: Callable[[Any], Verdict]

    def __call__(self, answer: Any) -> Verdict:
        """Judge the reader's answer."""
        return self.judge(answer)
