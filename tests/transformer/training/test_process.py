"""What a run does to its process: signals, threads, precision; and what it leaves alone."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from transformer.training import process
from transformer.training.process import autocast, seed_from, stop_signal, threads


def test_the_second_signal_ends_the_process_at_once() -> None:
    """The first asks the run to save; whoever asks again does not want to wait for it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` ignores it
    try:
        with stop_signal(enabled=True) as received:
            os.kill(os.getpid(), signal.SIGINT)
            assert received == [signal.SIGINT]
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "it is put back"
    finally:
        signal.signal(signal.SIGINT, before)


def test_signals_stay_as_they_are_where_nothing_is_saved() -> None:
    before = signal.getsignal(signal.SIGINT)
    with stop_signal(enabled=False) as received:
        assert signal.getsignal(signal.SIGINT) is before
    assert received == []


def test_a_run_in_another_thread_leaves_the_signals_alone() -> None:
    """Python lets only the main thread handle them, and would raise."""

    def run() -> list[int]:
        with stop_signal(enabled=True) as received:
            return received

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(run).result() == []


def test_threads_are_changed_inside_only() -> None:
    before = torch.get_num_threads()
    for number, inside in ((before + 1, before + 1), (None, before)):
        with threads(number):
            assert torch.get_num_threads() == inside
        assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("precision", "device", "supported", "expected"),
    [
        ("auto", "cpu", True, None),
        ("auto", "cuda", True, torch.bfloat16),
        ("auto", "cuda", False, None),
        ("float32", "cuda", True, None),
        ("bfloat16", "cpu", False, torch.bfloat16),
        ("float16", "cuda", True, torch.float16),
    ],
)
def test_the_precision_asked_for(monkeypatch, precision, device, supported, expected) -> None:
    asked = []
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: supported)
    monkeypatch.setattr(torch, "autocast", lambda *given, enabled: asked.append((given, enabled)))
    autocast(precision, torch.device(device))()
    assert asked == [((device, expected), expected is not None)]


def test_the_random_numbers_of_recorded_runs() -> None:
    """Another rule would make every recorded run another one."""
    seed_from(1, 2, 0)
    assert torch.initial_seed() == process.np.random.SeedSequence((1, 2, 0)).generate_state(1)[0]
