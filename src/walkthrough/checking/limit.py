"""Stop the reader's function when it never ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 20.0
"""Processor time for one call. Right answers take thousandths of it: it guards against a loop
without an end, and no verdict on an answer that returns depends on it."""


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
