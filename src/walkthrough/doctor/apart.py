"""Somebody's files, each in a process of its own that ends at limits of time and memory."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def limited(seconds: float, gigabytes: float) -> None:
    """End this process when somebody's code takes too long or too much memory."""

    def end() -> None:
        print(
            f"stopped after {seconds:g} s. Does its top level train or load data? Put "
            "the model into a file of its own, or the rest under `if __name__ == '__main__'`.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(2)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    if sys.platform != "win32":
        import resource

        size = int(gigabytes * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


def each_apart(
    folder: Path,
    command: Sequence[str],
    seconds: float,
    gigabytes: float,
    options: Sequence[str] = (),
) -> Iterator[tuple[Path, dict[str, Any] | str]]:
    """Run a module's command on each file of a folder; yield its JSON, or what it said instead.

    `command` is a module and what comes before the file; `--json`, the limits (which the command
    has to keep by `limited`) and the options come behind it.
    """
    print(f"The code of every file in {folder} is executed.", file=sys.stderr)
    limits = ["--json", f"--seconds={seconds}", f"--gigabytes={gigabytes}"]
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".py", ".ipynb")):
        try:
            done = subprocess.run(
                [sys.executable, "-m", *command, str(path), *limits, *options],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=seconds + 30,  # code that never comes back to Python
            )
            yield path, json.loads(done.stdout[done.stdout.index("{\n") :])
        except subprocess.TimeoutExpired:
            yield path, f"killed after {seconds + 30:g} s"
        except ValueError:
            yield path, done.stderr.strip()[:1000] or f"ended with status {done.returncode}"
