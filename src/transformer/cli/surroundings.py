"""What a record says of how it was made: command, commit, date, versions, hardware."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch


def surroundings() -> dict[str, Any]:
    """Return date, versions and hardware, for the record."""
    return {
        "commit": commit(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "machine": platform.machine(),
        "processor": processor(),
        "instructions": instructions(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def package_version() -> str:
    """Return the version of this package, as it is installed."""
    for distribution in ("transformer-walkthrough", "transformer-alone"):
        with suppress(PackageNotFoundError):
            return version(distribution)
    return "of a copy that is not installed"


def command_line() -> str:
    """Return the command as a person types it; `torchrun` too, where it started the process."""
    words = ["-m", "transformer", *sys.argv[1:]]
    processes = os.environ.get("LOCAL_WORLD_SIZE")  # set by torchrun
    if processes is not None:
        many = f"--nproc-per-node={processes}"
        words = ["-m", "torch.distributed.run", "--standalone", many, *words]
    return shlex.join(["python", *words])


def commit() -> str | None:
    """Return the commit of this package's repository, "-dirty" added when it was edited.

    What stands in `results/` is left out: the tools write there while they run.
    """
    if shutil.which("git") is None:
        return None
    name = _git("rev-parse", "HEAD")
    everything_but_results = [":/", ":(top,exclude)results"]
    edited = _git("status", "--porcelain", "--untracked-files=no", "--", *everything_but_results)
    return f"{name}-dirty" if name and edited else name or None


def _git(*words: str) -> str:
    told = subprocess.run(
        ["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() if told.returncode == 0 else ""


def processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def instructions() -> str:
    """Return the widest vector instructions that torch uses here, on which last digits depend."""
    return str(torch.backends.cpu.get_cpu_capability())


def peak_memory_mb() -> int | None:
    """Return the most memory this process has held, where the system tells it."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (2**20 if sys.platform == "darwin" else 2**10))
