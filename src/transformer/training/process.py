"""The process a run lives in: its threads, its random numbers, its precision, its signals."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


def seed_from(*parts: int) -> None:
    """Make what is random from here on a function of `parts`."""
    torch.manual_seed(int(np.random.SeedSequence(parts).generate_state(1)[0]))


@contextmanager
def threads(number: int | None) -> Iterator[None]:
    """Use that many threads inside; None changes nothing."""
    before = torch.get_num_threads()
    if number is not None:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def stop_signal(*, enabled: bool) -> Iterator[list[int]]:
    """Collect the first SIGINT or SIGTERM in a list; the second one ends the process at once."""
    received: list[int] = []
    if not enabled or threading.current_thread() is not threading.main_thread():
        yield received
        return

    def note(number: int, _frame: object) -> None:
        received.append(number)
        signal.signal(number, before[number])

    before: dict[int, Any] = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def autocast(precision: str, device: torch.device) -> Callable[[], Any]:
    """Return a maker of contexts in which the forward pass runs in the precision asked for."""
    if precision == "auto":
        gains = device.type == "cuda" and torch.cuda.is_bf16_supported()
        precision = "bfloat16" if gains else "float32"
    dtype = getattr(torch, precision)
    enabled = precision != "float32"
    return lambda: torch.autocast(device.type, dtype if enabled else None, enabled=enabled)
