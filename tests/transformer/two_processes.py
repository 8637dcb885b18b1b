"""Two real processes, as torchrun starts them on two machines, forked from this one: no import."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks as on Unix")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def in_two_processes(work: Callable[[int], int]) -> list[tuple[int, str]]:
    """Run `work(rank)` in two processes; return the exit code and standard error of each."""
    import_module("torch._dynamo")  # DistributedDataParallel would, for seconds, in each of them
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(rank) for rank in range(2)]
        children = [_fork(work, rank, file, shared) for rank, file in enumerate(files)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        return [(code, file.read_text()) for code, file in zip(codes, files, strict=True)]


def commands(words: Sequence[Sequence[object]]) -> list[tuple[int, str]]:
    """Run one command of `python -m transformer` in each of two processes."""
    from transformer.cli import main

    return in_two_processes(lambda rank: main([str(word) for word in words[rank]]))


def _fork(work: Callable[[int], int], rank: int, told: Path, shared: dict[str, str]) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.environ.update(shared, RANK=str(rank), LOCAL_RANK="0")
        with told.open("w", encoding="utf-8") as file:
            sys.stdout = sys.stderr = file
            try:
                code = work(rank)
            except SystemExit as stop:
                code = int(stop.code or 0)
            except BaseException as error:
                print(repr(error), file=file)
    finally:
        os._exit(code)
