"""Stop a call that takes too long: right code may run for ever on arguments of another size."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class TooLong(BaseException):
    """The call had not returned in time."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` inside when Python code has used this much time."""
    timed = hasattr(signal, "SIGVTALRM") and threading.current_thread() is threading.main_thread()
    with _by_timer(seconds) if timed else _by_trace(seconds):
        yield


@contextmanager
def _by_timer(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _by_trace(seconds: float) -> Iterator[None]:
    end = time.thread_time() + seconds

    def watch(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if time.thread_time() > end:
            raise TooLong
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)
