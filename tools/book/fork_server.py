"""The process that kernels are forked from: it imports what chapters import, once, and waits.

It reads a line of JSON for each kernel that is wanted and answers with the kernel's process number.
Only the standard library is used besides what it is told to import, so that a kernel finds nothing
else; it never has a second thread, which a fork would lose.
"""

import gc
import importlib
import json
import os
import random
import signal
import sys
from contextlib import suppress
from types import FrameType


def reap(_signal: int, _frame: FrameType | None) -> None:
    """Wait for kernels that ended, so that their seconds are counted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def become_kernel(argv: list[str], cwd: str, env: dict[str, str]) -> None:
    """In the child: be what `python -m ipykernel_launcher` would be in that folder."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what libraries write goes where the build's own messages go
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(random.SystemRandom().getrandbits(32))  # as in a process of its own
    from ipykernel.kernelapp import IPKernelApp

    # It ends with its parent, whose number it looks for in the environment when it is imported.
    sys.argv = ["ipykernel_launcher", *argv, f"--IPKernelApp.parent_handle={os.getppid()}"]
    IPKernelApp.launch_instance()


def main(imported: list[str]) -> None:
    """Import the modules, then fork a kernel for each line."""
    del sys.path[0]  # this file's folder
    for name in imported:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, reap)
    while line := sys.stdin.readline():
        kernel = os.fork()
        if not kernel:
            become_kernel(**json.loads(line))
            return
        print(kernel, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
