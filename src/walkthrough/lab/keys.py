"""What names a run, and how a name that is not there is refused."""

import difflib
from collections.abc import Iterable
from typing import NamedTuple

Number = int | float


class Key(NamedTuple):
    """What names a run: nothing else may tell two lines of a record apart.

    `rate` is a multiple of the arm's own peak rate, `length` a number of updates (0 where nothing
    is trained).
    """

    arm: str
    rate: Number = 1.0
    length: int = 0
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.arm}, rate ×{self.rate:g}, length {self.length}, seed {self.seed}"


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence that refuses a name: with near ones, else with all."""
    names = list(known)
    near = difflib.get_close_matches(name, names, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
    return f"no {what} {name!r}; {hint}"
