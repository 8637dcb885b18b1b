"""Run a function on a check's inputs and keep what comes out, exceptions included."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from walkthrough.checking.cases import Arguments
from walkthrough.checking.changes import change_said
from walkthrough.checking.compare import same
from walkthrough.checking.forbidden import Forbidden, Watch
from walkthrough.checking.limit import NeverEnds, limited

SEED = 2017


@dataclass(frozen=True)
class Raised:
    """A call that ended in an exception instead of a result."""

    error: BaseException

    @property
    def kind(self) -> str:
        """The exception's name."""
        return type(self.error).__name__

    @property
    def words(self) -> str:
        """The exception's message."""
        return str(self.error)


@dataclass(frozen=True)
class Run:
    """What a function gave for every case, and what it did besides."""

    outcomes: list[Any]
    changed: str | None = None
    forbidden: list[Forbidden] = field(default_factory=list)


def call(function: Callable[..., Any], given: Arguments) -> Any:
    """Return a function's result, or `Raised`. Random numbers are the same at every call."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(SEED)  # `torch.manual_seed` does more, and is slow
        try:
            return function(*given.positional)
        except Exception as error:
            return Raised(error)


def run(
    function: Callable[..., Any],
    inputs: Sequence[Arguments],
    *,
    forbidden: Sequence[Forbidden] = (),
) -> Run:
    """Call a function with a copy of each input, and watch what it changes and calls.

    After a call that never ends there is no other.
    """
    watch, changed = Watch(forbidden), None
    outcomes: list[Any] = []
    for given in inputs:
        handed = copy.deepcopy(given)
        try:
            with limited(), watch.watching(function):
                outcomes.append(call(function, handed))
        except NeverEnds as error:
            left = len(inputs) - len(outcomes)
            return Run(outcomes + [Raised(error)] * left, changed, watch.seen)
        changed = changed or change_said(function, given, handed)
    return Run(outcomes, changed, watch.seen)


def same_outcome(one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two outcomes are alike; exceptions by kind and message."""
    if isinstance(one, Raised) or isinstance(other, Raised):
        both = isinstance(one, Raised) and isinstance(other, Raised)
        return both and (one.kind, one.words) == (other.kind, other.words)
    return same(one, other, tolerance)
