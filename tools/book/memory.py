"""How much memory a process takes with all that it starts."""

from contextlib import suppress

import psutil


def resident(pid: int) -> float:
    """Megabytes of a process and its children; what they share counts once on Linux."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        for member in [root, *root.children(recursive=True)]:
            with suppress(psutil.Error):
                taken = member.memory_full_info()
                total += getattr(taken, "pss", taken.rss)
    return total / 1e6
