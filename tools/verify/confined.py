"""Run a command, and all it starts, under one hard limit of memory and on a few cores.

Binder gives a reader 2 GB for everything together. The first of these that works here is used:

- `systemd-run --scope`, where systemd runs;
- a control group (version 2, then 1), where we may make one;
- a watchdog that adds up the group's memory five times a second and ends it above the limit. It can
  miss a peak between two looks; the others cannot.
"""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil

CGROUPS = Path("/sys/fs/cgroup")
EVERY = 0.2  # seconds between two looks


@dataclass(frozen=True)
class Fence:
    """One way to hold a group of processes: what goes before the command, and what cleans up."""

    how: str
    prefix: tuple[str, ...] = ()
    hard: bool = True
    folder: Path | None = None
    kills: Callable[[], int] = lambda: 0

    def remove(self) -> None:
        """Remove the control group; the last of its processes may take a moment to leave."""
        end = time.monotonic() + 5
        while self.folder is not None and self.folder.exists() and time.monotonic() < end:
            try:
                self.folder.rmdir()
            except OSError:
                time.sleep(EVERY)


def fence(limit: int) -> Fence:
    """Return the strictest fence that this machine allows, for `limit` bytes."""
    for build in (_systemd, _cgroup2, _cgroup1):
        found = build(limit)
        if found is not None:
            return found
    return Fence("watchdog", hard=False)


def _systemd(limit: int) -> Fence | None:
    if not shutil.which("systemd-run"):
        return None
    scope = ["systemd-run", *(["--user"] if os.getuid() else []), "--scope", "--quiet", "--collect"]
    scope += ["-p", f"MemoryMax={limit}", "-p", "MemorySwapMax=0"]
    tried = subprocess.run([*scope, "true"], capture_output=True, check=False)
    return None if tried.returncode else Fence("systemd-run --scope", tuple(scope))


def _cgroup2(limit: int) -> Fence | None:
    return _cgroup("cgroup v2", CGROUPS, {"memory.max": limit}, "memory.events", "oom_kill ")


def _cgroup1(limit: int) -> Fence | None:
    limits = {"memory.limit_in_bytes": limit}
    return _cgroup("cgroup v1", CGROUPS / "memory", limits, "memory.oom_control", "oom_kill ")


def _cgroup(how: str, root: Path, limits: dict[str, int], events: str, word: str) -> Fence | None:
    folder = root / f"confined-{os.getpid()}-{time.monotonic_ns()}"
    try:
        folder.mkdir()
        for name, value in limits.items():
            if not (folder / name).exists():
                raise FileNotFoundError(name)
            (folder / name).write_text(str(value), "utf-8")
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        return None

    def kills() -> int:
        lines = (folder / events).read_text("utf-8").splitlines()
        return sum(int(line.removeprefix(word)) for line in lines if line.startswith(word))

    enter = f'echo $$ > "{folder}/cgroup.procs" && exec "$@"'
    return Fence(how, ("sh", "-c", enter, "sh"), folder=folder, kills=kills)


class Confined:
    """A command behind a fence. Leaving the `with` block ends the whole group.

    `peak` is the largest sum of proportional set sizes seen (a page that two processes share counts
    once), in bytes. `overrun` says that the limit was met and something was killed for it.
    """

    def __init__(
        self,
        command: list[str],
        *,
        limit: int,
        cores: int,
        by: Fence | None = None,
        **popen: Any,
    ) -> None:
        self.fence = by or fence(limit)
        self.limit, self.cores = limit, cores
        self.command, self.popen = command, popen
        self.peak = 0
        self.overrun = False
        self._over = threading.Event()

    def __enter__(self) -> Self:
        """Start the command."""
        allowed = sorted(os.sched_getaffinity(0))[: self.cores]
        self.process = subprocess.Popen(
            [*self.fence.prefix, *self.command],
            start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed),
            **self.popen,
        )
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """End the group and whatever left it, then remove the fence."""
        members = self.members()
        self._over.set()
        self._watcher.join()
        with suppress(OSError):
            self.overrun = self.overrun or self.fence.kills() > 0
        _end(members)
        self.process.wait()
        self.fence.remove()

    def members(self) -> list[psutil.Process]:
        """Return the command's process and all that it started."""
        try:
            root = psutil.Process(self.process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            members = self.members()
            used = sum(_memory(member) for member in members)
            self.peak = max(self.peak, used)
            if not self.fence.hard and used > self.limit:
                self.overrun = True
                _end(members)


def _memory(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


def _end(members: list[psutil.Process]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        for member in members:
            with suppress(psutil.NoSuchProcess):
                member.send_signal(how)
        _, members = psutil.wait_procs(members, timeout=5)
