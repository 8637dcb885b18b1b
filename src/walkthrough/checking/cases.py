"""What a check's author gives: inputs, mistakes by what they compute, symptoms by their looks."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Arguments:
    """The values of one call."""

    positional: tuple[Any, ...]


def arguments(*positional: Any) -> Arguments:
    """Return the values that a case calls the reader's function with."""
    return Arguments(positional)


@dataclass(frozen=True)
class Case:
    """One input: a label that can finish "wrong for …", and how to make the arguments.

    `special` is a sentence on what sets it apart. It is told where this case alone fails, or only
    cases with the same sentence do. `where` is the heading of the page that warns of it.

    Raises:
        ValueError: there is a `where` and nothing `special`.
    """

    label: str
    make: Callable[[torch.Generator], Arguments]
    special: str = ""
    where: str = ""

    def __post_init__(self) -> None:
        if self.where and not self.special:
            raise ValueError(f"case {self.label!r} leads to {self.where!r} and says not when")


def fixed(label: str, *values: Any, special: str = "") -> Case:
    """Return a case that always has these values."""
    return Case(label, lambda _generator: arguments(*copy.deepcopy(values)), special)


def drawn(label: str, *values: Any, special: str = "") -> Case:
    """Return a case in which each tuple stands for a tensor of that shape, drawn from N(0, 1).

    Other values are handed over as they are.
    """

    def make(generator: torch.Generator) -> Arguments:
        return arguments(
            *(
                torch.randn(value, generator=generator) if isinstance(value, tuple) else value
                for value in values
            )
        )

    return Case(label, make, special)


@dataclass(frozen=True)
class Mistake:
    """A known wrong implementation and the sentence that tells a reader what it does.

    `also` are variants of which the same sentence is true. `where` is the heading of the page's
    own warning against it.
    """

    name: str
    function: Callable[..., Any]
    say: str
    where: str = ""
    also: tuple[Callable[..., Any], ...] = ()


@dataclass(frozen=True)
class Symptom:
    """A property of a wrong result that deserves its own sentence.

    `shows(result, expected, arguments)` looks at one case. The first case that shows it decides, so
    the sentence must be true of any answer that shows it once.
    """

    name: str
    shows: Callable[[Any, Any, Arguments], bool]
    say: str
    where: str = ""

    def is_shown(self, outcome: Any, expected: Any, given: Arguments) -> bool:
        """Return whether one case shows it; a result of another kind does not."""
        if isinstance(outcome, str) and not isinstance(expected, str):
            return False  # "no" would count as True
        try:
            return bool(self.shows(outcome, expected, given))
        except Exception:  # a rule about shapes meets a result of another kind
            return False
