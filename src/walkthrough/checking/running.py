"""Run a function on a check's inputs and keep what comes out, exceptions included."""

import copy
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from walkthrough.checking.cases import Arguments
from walkthrough.checking.changes import change_said
from walkthrough.checking.forbidden import Forbidden, Watch

SEED = 2017
# of processor time: it ends a loop without an end, no verdict on an answer that returns needs it
SECONDS = 20.0


@dataclass(frozen=True)
class Raised:
    """A call that ended in an exception instead of a result."""

    error: BaseException


@dataclass(frozen=True)
class Run:
    """What a function gave for every case, and what it did besides."""

    outcomes: list[Any]
    changed: str | None = None
    forbidden: Sequence[str] = ()


class NeverEnds(BaseException):
    """The call had not returned in time."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise `NeverEnds` inside when Python code has used `SECONDS` of processor time.

    Where there is no such timer (Windows, a browser, a second thread) nothing is stopped.
    """
    if not (hasattr(signal, "SIGVTALRM") and threading.current_thread() is threading.main_thread()):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise NeverEnds(f"it had not returned after {SECONDS:g} seconds: a loop without an end?")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


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
