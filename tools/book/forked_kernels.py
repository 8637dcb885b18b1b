"""Kernels for the build, forked from one process that has imported what most chapters import.

Starting Python and importing PyTorch, pandas, Matplotlib, Seaborn and Altair takes more processor
time than most chapters take after it. A forked kernel has all that at once. Linux alone forks
safely: elsewhere, and where a kernel may have several threads, each starts by itself; so it does
where they are too few to be worth the imports.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import psutil
from jupyter_client import AsyncKernelManager

SERVER = Path(__file__).with_name("fork_server.py")
FEWEST = 5  # kernels that are worth it
IMPORTED = (
    "ipykernel.kernelapp",
    "torch",
    "torch._dynamo",  # an optimiser's first step imports it, for five seconds
    "pandas",
    "matplotlib.pyplot",
    "seaborn",
    "altair",
    "safetensors.torch",
    "joblib",
)
# What a kernel sets before Matplotlib is imported, and what keeps every library at one thread.
SETTINGS = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "OMP_NUM_THREADS": "1"}


@dataclass
class Forked:
    """A kernel that another process started, as jupyter_client looks at one."""

    pid: int
    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """None while it lives."""
        return None if psutil.pid_exists(self.pid) else 0

    def wait(self) -> int:
        """It is asked when the process is gone, whose status its parent alone knows."""
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal.

        Raises:
            ProcessLookupError: it is gone.
        """
        os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


@contextmanager
def kernel_managers(kernels: int, threads: int) -> Iterator[type[AsyncKernelManager]]:
    """The class that starts so many kernels of so many threads; by forks, where that is well."""
    if sys.platform != "linux" or threads > 1 or kernels < FEWEST:
        yield AsyncKernelManager
        return
    with subprocess.Popen(
        [sys.executable, str(SERVER), *IMPORTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **SETTINGS},
        text=True,
        start_new_session=True,
    ) as server:
        one_at_a_time = Lock()

        def fork(**wanted: Any) -> int:
            with one_at_a_time:
                print(json.dumps(wanted), file=server.stdin, flush=True)
                return int(server.stdout.readline())

        class ForkedKernelManager(AsyncKernelManager):
            async def _async_launch_kernel(self, kernel_cmd: list[str], **given: Any) -> None:
                argv = kernel_cmd[kernel_cmd.index("ipykernel_launcher") + 1 :]
                pid = fork(argv=argv, cwd=str(given["cwd"]), env=given["env"])
                self.provisioner.process = Forked(pid)
                self.provisioner.pid = self.provisioner.pgid = pid
                self._reconcile_connection_info(self.provisioner.connection_info)

        yield ForkedKernelManager
